"""A pinned dataset object as write target.

A write to a LanceDataset must not look at the table again: no listing of `_versions`, no manifest
read. The tests take `_versions` away between open and write, so that a re-open would fail or, worse,
would take the table for missing.
"""
import contextlib
import os
import subprocess
import sys

import pyarrow as pa
import pytest

import corpus
from harness import submodule
from oracle import assert_same, difference

BASE = pa.table({"a": [1, 2], "s": ["x", "y"]})
MORE = pa.table({"a": [3], "s": ["z"]})


@contextlib.contextmanager
def manifests_hidden(path):
    """The dataset's manifests are out of reach inside the block."""
    visible, hidden = os.path.join(path, "_versions"), os.path.join(path, "_hidden")
    os.rename(visible, hidden)
    try:
        yield
    finally:
        if os.path.isdir(visible):  # a commit inside the block made a new directory
            for name in os.listdir(visible):
                os.rename(os.path.join(visible, name), os.path.join(hidden, name))
            os.rmdir(visible)
        os.rename(hidden, visible)


@pytest.fixture
def path(oracle, workdir):
    oracle.write_dataset(BASE, workdir / "ds")
    return str(workdir / "ds")


def write_fragments(engine, *args, **kwargs):
    return submodule(engine, "fragment").write_fragments(*args, **kwargs)


def commit(engine, target, operation, **kwargs):
    return engine.LanceDataset.commit(target, operation, **kwargs)


# --- no second look -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transaction", [False, True], ids=["fragments", "transaction"])
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_fragments_without_reading_the_manifest(impl, path, mode, transaction):
    pinned = impl.dataset(path)
    with manifests_hidden(path):
        written = [write_fragments(impl, MORE, pinned, mode=mode, return_transaction=transaction) for _ in range(3)]
    assert len(written) == 3
    assert len(os.listdir(os.path.join(path, "data"))) == 4


def test_append_to_pinned_dataset(impl, oracle, path):
    """write_dataset(pinned, append) needs no manifest to write its data; it then commits to the head."""
    pinned = impl.dataset(path)
    result = impl.write_dataset(MORE, pinned, mode="append")
    assert result.version == 2
    assert pinned.version == 1
    assert_same(oracle.dataset(path).to_table(), pa.concat_tables([BASE, MORE]))


def test_schema_check_needs_no_manifest(impl, path):
    pinned = impl.dataset(path)
    with manifests_hidden(path), pytest.raises(OSError, match="unknown_column"):
        write_fragments(impl, pa.table({"unknown_column": [3]}), pinned)


def test_reading_the_pinned_dataset_needs_no_manifest(impl, path):
    pinned = impl.dataset(path)
    with manifests_hidden(path):
        assert_same(pinned.to_table(), BASE)


@pytest.mark.beyond_pylance("pylance takes a table whose manifests are unreachable for missing and writes anyway")
def test_uri_append_to_a_broken_table_is_refused(impl, path):
    """data/ without _versions/ is a damaged table, not an absent one."""
    with manifests_hidden(path), pytest.raises((OSError, ValueError)):
        write_fragments(impl, MORE, path, mode="append")


PROBE = """
import importlib, os, sys
import pyarrow as pa
engine = importlib.import_module(sys.argv[1])
fragment = importlib.import_module(sys.argv[1] + ".fragment")
path = sys.argv[2]
pinned = engine.dataset(path)
rows = pa.table({"a": [3], "s": ["z"]})
fragment.write_fragments(rows, pinned)  # warm
os.unlink(os.path.join(path, "_versions", os.listdir(os.path.join(path, "_versions"))[0]))
for _ in range(5):
    fragment.write_fragments(rows, pinned)
print("written")
"""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_worker_process_with_a_vanished_manifest(impl, path):
    """The same in a fresh process, as a worker of a distributed write would do it."""
    done = subprocess.run([sys.executable, "-c", PROBE, impl.__name__, path], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip().endswith("written"), done.stderr[-1000:]


# --- which version and schema apply -----------------------------------------------------------------------------


def test_transaction_reads_the_pinned_version(impl, oracle, path):
    pinned = impl.dataset(path)
    for _ in range(2):
        oracle.write_dataset(MORE, path, mode="append")
    transaction = write_fragments(impl, MORE, pinned, return_transaction=True)
    assert transaction.read_version == 1
    result = commit(impl, path, transaction)
    assert result.version == 4
    assert_same(oracle.dataset(path).to_table(), pa.concat_tables([BASE, MORE, MORE, MORE]))


def test_new_column_after_the_pin(impl, oracle, path):
    """The pinned schema applies at write time; the new column reads as null for these rows."""
    pinned = impl.dataset(path)
    oracle.dataset(path).add_columns({"b": "a * 10"})
    with pytest.raises(OSError, match="b"):
        write_fragments(impl, pa.table({"a": [3], "s": ["z"], "b": [30]}), pinned)
    transaction = write_fragments(impl, MORE, pinned, return_transaction=True)
    commit(impl, path, transaction)
    assert oracle.dataset(path).to_table()["b"].to_pylist() == [10, 20, None]


def test_dropped_column_after_the_pin(impl, oracle, path):
    """Either refused as a conflict, or appended without the dropped column; never misread."""
    pinned = impl.dataset(path)
    transaction = write_fragments(impl, MORE, pinned, return_transaction=True)
    oracle.dataset(path).drop_columns(["s"])
    with contextlib.suppress(OSError):
        commit(impl, path, transaction)
    table = oracle.dataset(path).to_table()
    assert table.schema.names == ["a"]
    assert table["a"].to_pylist() in ([1, 2], [1, 2, 3])


def test_overwrite_after_the_pin(impl, oracle, path):
    """An append staged against a replaced schema must not bring back old field ids."""
    pinned = impl.dataset(path)
    transaction = write_fragments(impl, MORE, pinned, return_transaction=True)
    replacement = pa.table({"other": [1.5]})
    oracle.write_dataset(replacement, path, mode="overwrite")
    with pytest.raises(OSError):
        commit(impl, path, transaction)
    assert_same(oracle.dataset(path).to_table(), replacement)


def test_pinned_old_version(impl, oracle, path):
    oracle.dataset(path).add_columns({"b": "a * 10"})
    old = impl.dataset(path, version=1)
    assert write_fragments(impl, MORE, old, return_transaction=True).read_version == 1
    assert old.schema.names == ["a", "s"]


@pytest.mark.parametrize("version", corpus.VERSIONS, ids=lambda v: f"v{v}")
def test_file_version_of_the_pinned_dataset(impl, oracle, workdir, version):
    oracle.write_dataset(BASE, workdir / "ds", data_storage_version=version)
    (fragment,) = write_fragments(impl, MORE, impl.dataset(workdir / "ds"))
    assert f"{fragment.files[0].file_major_version}.{fragment.files[0].file_minor_version}" == version


def test_field_ids_of_the_pinned_dataset(impl, oracle, path):
    """Columns are matched by name; ids come from the dataset, whatever the order of the data."""
    (fragment,) = write_fragments(impl, MORE.select(["s", "a"]), impl.dataset(path))
    ids = dict(zip(fragment.files[0].fields, fragment.files[0].column_indices))
    assert set(ids) == {0, 1}
    commit(impl, path, impl.LanceOperation.Append([fragment]), read_version=1)
    assert_same(oracle.dataset(path).to_table(), pa.concat_tables([BASE, MORE]))


def test_stable_row_ids_continue(impl, oracle, workdir):
    oracle.write_dataset(BASE, workdir / "ds", enable_stable_row_ids=True)
    pinned = impl.dataset(workdir / "ds")
    oracle.write_dataset(MORE, workdir / "ds", mode="append")
    commit(impl, str(workdir / "ds"), write_fragments(impl, MORE, pinned, return_transaction=True))
    ids = oracle.dataset(workdir / "ds").to_table(with_row_id=True)["_rowid"].to_pylist()
    assert ids == [0, 1, 2, 3]


def test_many_flushes_one_commit(impl, oracle, path):
    """One pinned object, many small flushes, one commit on the driver."""
    pinned = impl.dataset(path)
    fragments = []
    for i in range(20):
        fragments += write_fragments(impl, pa.table({"a": [i], "s": [str(i)]}), pinned)
    commit(impl, pinned, impl.LanceOperation.Append(fragments), read_version=pinned.version)
    table = oracle.dataset(path).to_table()
    assert table["a"].to_pylist() == [1, 2, *range(20)]
    assert [f.fragment_id for f in oracle.dataset(path).get_fragments()] == list(range(21))


def test_commit_to_pinned_dataset_returns_a_new_object(impl, path):
    pinned = impl.dataset(path)
    result = commit(impl, pinned, impl.LanceOperation.Append(write_fragments(impl, MORE, pinned)), read_version=1)
    assert (pinned.version, result.version) == (1, 2)


# --- sessions -------------------------------------------------------------------------------------------------------


def test_own_session_is_accepted(impl, path):
    session = impl.Session()
    pinned = impl.dataset(path, session=session)
    assert len(write_fragments(impl, MORE, pinned, session=session)) == 1


def test_foreign_session_is_refused(impl, path):
    pinned = impl.dataset(path, session=impl.Session())
    with pytest.raises(ValueError, match="session"):
        write_fragments(impl, MORE, pinned, session=impl.Session())


def test_result_shares_the_session(impl, path):
    pinned = impl.dataset(path)
    result = impl.write_dataset(MORE, pinned, mode="append")
    assert result.session().is_same_as(pinned.session())


def test_shared_session_sees_new_versions(impl, oracle, path):
    """A session caches manifests, never the answer to `what is the latest version`."""
    session = impl.Session()
    for expected in range(1, 5):
        assert impl.dataset(path, session=session).version == expected
        oracle.write_dataset(MORE, path, mode="append")


def test_session_after_recreation_of_the_table(impl, oracle, path):
    """A table that was removed and made anew at the same place must not be served from the cache."""
    import shutil

    session = impl.Session()
    assert_same(impl.dataset(path, session=session).to_table(), BASE)
    shutil.rmtree(path)
    other = pa.table({"a": [7, 8, 9], "s": ["p", "q", "r"]})
    oracle.write_dataset(other, path)
    assert difference(impl.dataset(path, session=impl.Session()).to_table(), other) is None


@pytest.mark.parametrize("kind", ["str", "path", "dataset"])
def test_kinds_of_target(impl, oracle, workdir, path, kind):
    target = {"str": path, "path": workdir / "ds", "dataset": impl.dataset(path)}[kind]
    fragments = write_fragments(impl, MORE, target)
    commit(impl, target, impl.LanceOperation.Append(fragments), read_version=1)
    assert oracle.dataset(path).count_rows() == 3


def test_wrong_kind_of_target(impl):
    with pytest.raises(TypeError):
        write_fragments(impl, MORE, 17)
