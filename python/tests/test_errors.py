"""Each error is pylance's built-in class, and carries what programs read."""

import errno
import pickle
import resource
from pathlib import Path

import glaive
import glaive.commit
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from glaive import errors
from glaive.optimize import Compaction


@pytest.mark.parametrize(
    "call",
    [
        lambda path: glaive.dataset(path + "/nothing"),
        lambda path: glaive.dataset(path, version=99),
    ],
)
def test_not_found(small, path, call):
    with pytest.raises((ValueError, OSError), match="was not found") as caught:
        call(path)
    assert caught.value.kind == "NotFound" and caught.value.retryable is False


def test_what_lies_where_no_table_is(small, path, tmp_path):
    parquet = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1]}), parquet)
    for place, text in {
        parquet: "a Parquet file lies there; a table is a folder",
        tmp_path: "lies there; a table is a folder with manifests in _versions/",
        path + "/data": f"within the table {path}",
    }.items():
        for version in (None, 1):
            with pytest.raises(ValueError, match="was not found") as caught:
                glaive.dataset(place, version=version)
            assert text in str(caught.value)
        with pytest.raises(OSError, match="was not found") as caught:
            glaive.LanceDataset.commit(place, glaive.LanceOperation.Append([]), read_version=1)
        assert text in str(caught.value)


def test_checkout_of_what_is_not_there_is_an_oserror_as_in_pylance(small, path):
    for version in (99, "no-tag", ("no-branch", None)):
        with pytest.raises(OSError) as caught:
            glaive.dataset(path).checkout_version(version)
        assert caught.value.kind == "NotFound"


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda ds: ds.to_table(columns=["nope"]), "nope"),
        (lambda ds: ds.to_table(filter="nope = 1"), "nope"),
        (lambda ds: ds.to_table(filter="a ="), "a ="),
        (lambda ds: ds.delete("nope = 1"), "nope"),
        (lambda ds: ds.take([30]), "30"),
        (lambda ds: ds.take([0], columns=["nope"]), "nope"),
        (lambda ds: ds.scanner(limit=-1), "Limit must be non-negative"),
        (lambda ds: ds.scanner(batch_size=0), "batch_size"),
        (lambda ds: ds.insert(pa.table({"b": [1]})), "b"),
        (lambda ds: Compaction.plan(ds, {"bogus": 1}), "bogus"),
        (lambda ds: glaive.dataset(ds.uri, default_scan_options={"nope": 1}).to_table(), "nope"),
        (lambda ds: ds.get_fragments(filter="a > 1"), "filter"),
    ],
)
def test_invalid_input(small, call, text):
    with pytest.raises((ValueError, OSError), match=text) as caught:
        call(small)
    assert isinstance(caught.value, errors.InvalidInput | errors.RefusedInput)
    assert small.version == 1 and glaive.dataset(small.uri).version == 1


def test_other_schemes(path):
    with pytest.raises(NotImplementedError, match="s3"):
        glaive.dataset("s3://bucket/table")


def test_wrong_types():
    with pytest.raises(TypeError, match="int"):
        glaive.write_dataset(pa.table({"a": [1]}), 17)
    with pytest.raises(TypeError, match="int"):
        glaive.write_dataset(5, "memory://wrong_types")
    with pytest.raises(ValueError, match="schema"):
        glaive.write_dataset(iter([]), "memory://wrong_types")


def test_missing_file_is_named(small, path):
    victim = small.get_fragment(1).data_files()[0].path
    Path(path, "data", victim).unlink()
    with pytest.raises(FileNotFoundError, match=victim) as caught:
        list(glaive.dataset(path).to_batches())
    assert victim in caught.value.path
    assert glaive.dataset(path).get_fragment(0).to_table().num_rows == 10


def test_damaged_file(small, path):
    victim = Path(path, "data", small.get_fragment(1).data_files()[0].path)
    victim.write_bytes(victim.read_bytes()[:-1])
    fresh = glaive.dataset(path, session=glaive.Session())
    for read in (fresh.to_table, lambda: list(fresh.to_batches())):
        with pytest.raises(OSError) as caught:
            read()
        assert caught.value.kind == "Corrupt" and victim.name in caught.value.path


def test_conflict(small, path):
    other = glaive.dataset(path)
    plan = Compaction.plan(small, {})
    results = [task.execute(small) for task in plan.tasks]
    other.optimize.compact_files()
    with pytest.raises(glaive.commit.CommitConflictError, match="Commit conflict for version") as c:
        Compaction.commit(small, results)
    assert isinstance(c.value, OSError) and c.value.retryable is True
    copy = pickle.loads(pickle.dumps(c.value))
    assert (str(copy), copy.retryable, copy.kind) == (str(c.value), True, "CommitConflict")


UNBUILT = [
    lambda ds: ds.scanner(full_text_query="words"),
    lambda ds: ds.take([0], columns={"b": "a + 1"}),
    lambda ds: ds.filter(None),
    lambda ds: ds.get_fragment(0).partition_expression,
]


@pytest.mark.parametrize("number", range(len(UNBUILT)))
def test_what_is_not_built_says_so(small, number):
    with pytest.raises(NotImplementedError, match="not supported by glaive yet"):
        UNBUILT[number](small)


class Broken(Exception):
    pass


def test_a_sources_exception_is_raised_itself(path, files, tmp_path):
    schema = pa.schema({"a": pa.int64()})

    def batches():
        yield pa.record_batch({"a": [1]})
        raise Broken("halfway", 42)

    for source in (batches(), pa.RecordBatchReader.from_batches(schema, batches())):
        with pytest.raises(Broken) as caught:
            glaive.write_dataset(source, path, schema=schema)
        assert caught.value.args == ("halfway", 42)
        assert not files(tmp_path)


def test_errors_of_a_glaive_source_keep_their_class(small, path, tmp_path):
    victim = Path(path, "data", small.get_fragment(2).data_files()[0].path)
    victim.unlink()
    with pytest.raises(errors.FileNotFound):
        glaive.write_dataset(glaive.dataset(path), tmp_path / "copy")
    assert not (tmp_path / "copy" / "_versions").exists()


def test_text_of_damaged_files(small):
    manifest = max(Path(small.uri).glob("_versions/*.manifest"))
    damaged = manifest.read_bytes().replace(b"int64", b"int\xff4")
    manifest.write_bytes(damaged)
    with pytest.raises(errors.EngineError, match=r"int\\xff4"):
        glaive.dataset(small.uri).to_table()


def test_the_systems_number_is_there(path):
    """As for any OSError: a full disk, here a limit on sizes, is told from other failures."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    rows = pa.table({"a": np.random.default_rng(1).integers(0, 1 << 60, 100_000)})
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError) as caught:
            glaive.write_dataset(rows, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert caught.value.kind == "IO" and caught.value.__cause__ is None
    assert not list(Path(path).glob("data/*.lance"))


def test_a_missing_file_has_its_number_too(small, path):
    victim = small.get_fragment(1).data_files()[0].path
    Path(path, "data", victim).unlink()
    with pytest.raises(FileNotFoundError) as caught:
        glaive.dataset(path, session=glaive.Session()).to_table()
    assert caught.value.errno == errno.ENOENT
