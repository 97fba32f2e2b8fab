"""Targets that travel, and what a process keeps of them."""

import copy
import json
import os
import pickle
import shutil
import threading

import glaive
import pyarrow as pa
import pytest
from glaive import LanceOperation, _native
from glaive.commit import CommitConflictError
from glaive.fragment import FragmentMetadata, write_fragments

MORE = pa.table({"a": [100], "s": ["more"]})


def append(path, fragments, read_version, **options):
    operation = LanceOperation.Append(fragments)
    return glaive.LanceDataset.commit(path, operation, read_version=read_version, **options)


def cost(call):
    """Requests that a call makes of its stores: gets, puts, lists and heads."""
    recorder = _native.IoRecorder()
    call()
    stats = recorder.stats()
    return stats.get_requests, stats.put_requests, stats.list_requests, stats.head_requests


def recreate(path):
    shutil.rmtree(path)
    return glaive.write_dataset(pa.table({"a": [7], "s": ["x"]}), path)


@pytest.fixture(autouse=True)
def nothing_kept():
    yield
    glaive.WriteTarget.close_cached()


def test_a_target_travels(small, path):
    target = pickle.loads(pickle.dumps(small.write_target()))
    assert target == small.write_target()
    assert hash(target) == hash(small.write_target())
    assert (target.uri, target.version) == (path, 1)
    assert target.transaction_uuid == small.read_transaction(1).uuid
    assert target.schema == small.schema
    assert (target.data_storage_version, target.has_stable_row_ids) == ("2.2", False)
    assert target.base_paths() == [] and target.config() == small.config()
    assert repr(target) == f"WriteTarget({path!r}, version=1)"

    fragments = write_fragments(MORE, target)
    assert append(path, fragments, target.version).count_rows() == 31
    transaction = write_fragments(MORE, target, return_transaction=True)
    assert glaive.LanceDataset.commit(path, transaction).count_rows() == 32


def test_relative_paths_do_not_travel(small, path, monkeypatch):
    monkeypatch.chdir(os.path.dirname(path))
    assert glaive.dataset("table").write_target().uri == path


def test_its_size_does_not_depend_on_the_table(path):
    schema = pa.schema([(f"column_{i}", pa.list_(pa.float32())) for i in range(300)])
    dataset = glaive.write_dataset(schema.empty_table(), path)
    size = len(pickle.dumps(dataset.write_target()))
    assert size < 64 * 1024
    one = pa.table({"column_0": pa.array([[1.0]], schema.field(0).type)})
    (fragment,) = write_fragments(one, dataset)
    many = append(path, [fragment] * 1000, 1)
    assert len(many.get_fragments()) == 1000
    assert abs(len(pickle.dumps(many.write_target())) - size) < 64  # another transaction's uuid


def test_ten_thousand_columns_travel(path):
    schema = pa.schema([(f"feature_{i}_of_group_{i % 37}", pa.float32()) for i in range(10_000)])
    target = glaive.write_dataset(schema.empty_table(), path).write_target()
    data = pickle.dumps(target)
    assert len(data) < 64 * 1024
    assert pickle.loads(data).schema == schema


def test_each_damaged_byte_is_noticed(small):
    data = small.write_target().to_bytes()
    for at in range(len(data)):
        for change in (1, 0x80, 0xFF):
            bad = bytearray(data)
            bad[at] ^= change
            with pytest.raises(OSError, match="damaged"):
                glaive.WriteTarget.from_bytes(bytes(bad))


def test_a_table_is_written_by_its_target_in_two_steps(small):
    with pytest.raises(TypeError, match="write_fragments.*LanceDataset.commit"):
        glaive.write_dataset(MORE, small.write_target(), mode="append")


def test_another_branch_of_the_table(small, path):
    branch = small.create_branch("side")
    branch.insert(MORE)
    fragments = write_fragments(MORE, branch.write_target())
    with pytest.raises(CommitConflictError, match="branch 'side'.*commit it to a handle on 'side'"):
        append(path, fragments, 1)
    assert len(append(branch, fragments, branch.version).to_table()) == len(small.to_table()) + 2
    of_main = write_fragments(MORE, glaive.write_dataset(MORE, path, mode="append").write_target())
    with pytest.raises(CommitConflictError, match="branch 'main'"):
        append(branch, of_main, branch.version)


def test_bytes_that_are_no_target(small):
    data = small.write_target().to_bytes()
    for bad in (b"", b"GLWT", data[:-1], data + b"x", data[:40] + b"?" + data[41:]):
        with pytest.raises(OSError, match="write target"):
            glaive.WriteTarget.from_bytes(bad)


def test_requests(small, path):
    target = small.write_target()
    session = glaive.Session()
    tiny = glaive.Session(metadata_cache_size_bytes=1 << 20)
    write_fragments(MORE, path, session=session)
    write_fragments(MORE, path, session=tiny)
    write_fragments(MORE, path)
    assert cost(lambda: write_fragments(MORE, target)) == (0, 1, 0, 0)
    assert cost(lambda: write_fragments(MORE, small)) == (0, 1, 0, 0)
    assert cost(lambda: write_fragments(MORE, small, return_transaction=True)) == (0, 1, 0, 0)
    for warm in (session, tiny, None):
        gets, puts, lists, heads = cost(lambda: write_fragments(MORE, path, session=warm))
        assert (gets, puts, lists + heads) == (0, 1, 1)


def test_another_table_in_its_place(small, path):
    target = small.write_target()
    before = write_fragments(MORE, target)
    new = recreate(path)
    after = write_fragments(MORE, target)
    transaction = write_fragments(MORE, target, return_transaction=True)
    for fragments in (before, after, pickle.loads(pickle.dumps(after)), copy.deepcopy(after)):
        for place in (path, new, small):
            with pytest.raises(CommitConflictError, match="another table") as refused:
                append(place, fragments, 1)
            assert not refused.value.retryable
    as_json = [FragmentMetadata.from_json(json.dumps(f.to_json())) for f in after]
    for fragments in (as_json, transaction.operation.fragments):
        with pytest.raises(CommitConflictError, match="another table"):
            append(path, fragments, 1)
    with pytest.raises(CommitConflictError, match="another table"):
        glaive.LanceDataset.commit(path, pickle.loads(pickle.dumps(transaction)))
    with pytest.raises(CommitConflictError, match="another table"):
        glaive.LanceDataset.commit_batch(path, [transaction])
    assert glaive.dataset(path).version == 1


def test_what_pylance_commits_of_it(small, path):
    lance = pytest.importorskip("lance")
    (fragment,) = write_fragments(MORE, small.write_target())
    theirs = lance.FragmentMetadata.from_json(json.dumps(fragment.to_json()))
    operation = lance.LanceOperation.Append([theirs])
    assert lance.LanceDataset.commit(path, operation, read_version=1).count_rows() == 31


def test_cached(small, path):
    cached = glaive.WriteTarget.cached
    assert cost(lambda: cached(path, 1))[0] > 0
    assert cost(lambda: cached(path, 1)) == (0, 0, 0, 0)
    assert cost(lambda: cached(f"file://{path}", 1)) == (0, 0, 0, 0)
    assert _native.stats_of_cached_write_targets().num_targets == 1

    assert cost(lambda: cached(path, 1, {"key": "value"}))[0] > 0
    assert cost(lambda: cached(path, 1, {"key": "value"})) == (0, 0, 0, 0)
    glaive.write_dataset(MORE, path, mode="append")
    assert cached(path, 2).version == 2
    assert cost(lambda: cached(path, 1))[0] > 0
    assert cached(path).version == 2
    assert _native.stats_of_cached_write_targets().num_targets == 1

    glaive.WriteTarget.close_cached(path)
    assert _native.stats_of_cached_write_targets().num_targets == 0
    with pytest.raises(glaive.NotFound, match="version 9"):
        cached(path, 9)
    with pytest.raises(TypeError):
        cached(17, 1)


def test_cached_by_threads_and_forked_children(small, path):
    made = []

    def work():
        for version in (1, 1, 1):
            target = glaive.WriteTarget.cached(path, version)
            made.extend(write_fragments(MORE, target))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            target = glaive.WriteTarget.cached(path, 1)
            os.write(write_end, pickle.dumps(write_fragments(MORE, target)))
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    for thread in threads:
        thread.join()
    with os.fdopen(read_end, "rb") as pipe:
        made += pickle.loads(pipe.read())
    assert os.waitpid(child, 0)[1] == 0
    assert append(path, made, 1).count_rows() == 30 + 6 * 3 + 1


def test_workers_read_nothing(small, path, run):
    """Each with nothing but the bytes of the target."""
    program = """
        import pickle, sys
        import pyarrow as pa
        import glaive
        from glaive import _native
        from glaive.fragment import write_fragments

        target = pickle.loads(bytes.fromhex({!r}))
        rows = pa.table({{"a": [1], "s": ["x"]}})
        recorder = _native.IoRecorder()
        fragments = write_fragments(rows, target)
        stats = recorder.stats()
        assert (stats.get_requests, stats.list_requests, stats.head_requests) == (0, 0, 0)
        assert stats.bytes_read == 0
        print(pickle.dumps(fragments).hex())
    """.format(pickle.dumps(small.write_target()).hex())
    os.rename(f"{path}/_versions", f"{path}/_hidden")
    fragments = []
    for _ in range(2):
        fragments += pickle.loads(bytes.fromhex(run(program)))
    os.rename(f"{path}/_hidden", f"{path}/_versions")
    assert append(path, fragments, 1).count_rows() == 32


# --- sessions ------------------------------------------------------------------------------------


def test_a_session_holds_no_more_than_its_bytes(tmp_path):
    limit = 1 << 20
    session = glaive.Session(metadata_cache_size_bytes=limit)
    base = glaive.write_dataset(MORE, tmp_path / "many")
    (fragment,) = write_fragments(MORE, base)
    glaive.LanceDataset.commit(base, LanceOperation.Append([fragment] * 20_000), read_version=1)
    glaive.dataset(tmp_path / "many", session=session)
    assert session.size_bytes() < limit
    for i in range(150):
        glaive.write_dataset(MORE, tmp_path / f"{i}")
        dataset = glaive.dataset(tmp_path / f"{i}", session=session)
        assert dataset.to_table().num_rows == 1
        assert 0 < session.size_bytes() <= limit


def test_entries_that_take_a_session(small, path, tmp_path):
    session = glaive.Session()
    same = [
        glaive.dataset(path, session=session),
        glaive.write_dataset(MORE, path, mode="append", session=session),
        glaive.write_dataset(MORE, tmp_path / "new", session=session),
        append(path, write_fragments(MORE, path, session=session), 1, session=session),
    ]
    transaction = write_fragments(MORE, path, return_transaction=True, session=session)
    batch = glaive.LanceDataset.commit_batch(path, [transaction], session=session)
    same.append(batch["dataset"])
    glaive.LanceFragment.create(path, MORE, session=session)
    for dataset in same:
        assert dataset.session().is_same_as(session)
    assert not small.session().is_same_as(session)
    assert small.session().is_same_as(glaive.dataset(path).session())
    assert session.size_bytes() > 0


def test_a_foreign_session(small):
    with pytest.raises(ValueError, match="session"):
        write_fragments(MORE, small, session=glaive.Session())
    assert write_fragments(MORE, small, session=small.session())


def test_threads_share_a_session(small, path):
    session = glaive.Session(metadata_cache_size_bytes=1 << 16)
    wrong = []

    def work():
        for _ in range(20):
            if glaive.dataset(path, session=session).to_table().num_rows != 30:
                wrong.append("rows")
            if len(write_fragments(MORE, path, session=session)) != 1:
                wrong.append("fragments")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and session.size_bytes() <= 1 << 16


# --- a table that is damaged ---------------------------------------------------------------------


def test_a_table_without_versions(small, path, tmp_path):
    small.insert(MORE)  # the transaction of a first version alone may be of one that is to come
    os.rename(f"{path}/_versions", f"{path}/_hidden")
    with pytest.raises(ValueError, match="damaged"):
        write_fragments(MORE, path)
    # Files of a table to come are no damage.
    for _ in range(2):
        assert write_fragments(MORE, tmp_path / "new")
