"""`write_dataset(n_jobs=...)`.

pylance 14 has no `n_jobs`, so all of this is beyond it. The result must be what a sequential write
gives. Glaive also takes create, append and streams, since its engine can commit them
with their own transaction semantics.
"""
import inspect
import threading

import numpy as np
import pyarrow as pa
import pytest

import corpus
from harness import submodule
from oracle import assert_same

pytestmark = pytest.mark.beyond_pylance("write_dataset has no n_jobs")

ROWS = 1000
TABLE = pa.table({"id": np.arange(ROWS), "s": [f"row {i}" for i in range(ROWS)], "l": [[i, i + 1] for i in range(ROWS)]})


# --- equality with the sequential path ----------------------------------------------------------------------


def test_signature(impl):
    parameter = inspect.signature(impl.write_dataset).parameters["n_jobs"]
    assert parameter.default is None
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, 4, 7, 16])
def test_overwrite_equals_sequential(impl, oracle, workdir, n_jobs):
    oracle.write_dataset(TABLE.slice(0, 5), workdir / "ds")
    result = impl.write_dataset(TABLE, workdir / "ds", mode="overwrite", n_jobs=n_jobs)
    assert result.version == 2
    assert_same(oracle.dataset(workdir / "ds").to_table(), TABLE)
    oracle.dataset(workdir / "ds").validate()


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("mode", ["create", "append"])
def test_other_modes_equal_sequential(impl, oracle, workdir, mode, n_jobs):
    expected = [TABLE]
    if mode == "append":
        oracle.write_dataset(TABLE.slice(0, 10), workdir / "ds")
        expected = [TABLE.slice(0, 10), TABLE]
    impl.write_dataset(TABLE, workdir / "ds", mode=mode, n_jobs=n_jobs)
    assert_same(oracle.dataset(workdir / "ds").to_table(), pa.concat_tables(expected))


@pytest.mark.parametrize("version", corpus.VERSIONS, ids=lambda v: f"v{v}")
@pytest.mark.parametrize("kind", ["int32", "utf8", "list_i32", "struct", "fsl_f32", "dict_i8_utf8"])
def test_types(impl, oracle, workdir, version, kind):
    case = corpus.Case(kind, corpus.TYPES[kind], "parallel", corpus.Shape(777), version)
    impl.write_dataset(case.table(), workdir / "ds", mode="overwrite", n_jobs=4, data_storage_version=version)
    dataset = oracle.dataset(workdir / "ds")
    assert dataset.data_storage_version == version
    assert_same(dataset.to_table(), case.table())


def test_order_is_kept_under_uneven_partitions(impl, oracle, workdir):
    """Row sizes differ so much that partitions end in any order; rows must not."""
    table = pa.table({"id": range(400), "pad": ["x" * (200_000 if i < 20 else 3) for i in range(400)]})
    impl.write_dataset(table, workdir / "ds", mode="overwrite", n_jobs=8)
    assert oracle.dataset(workdir / "ds").to_table()["id"].to_pylist() == list(range(400))


@pytest.mark.parametrize("rows, n_jobs", [(0, 2), (1, 4), (3, 8), (4, 4), (5, 4)])
def test_fewer_rows_than_workers(impl, oracle, workdir, rows, n_jobs):
    impl.write_dataset(TABLE.slice(0, rows), workdir / "ds", mode="overwrite", n_jobs=n_jobs)
    dataset = oracle.dataset(workdir / "ds")
    assert_same(dataset.to_table(), TABLE.slice(0, rows))
    assert all(fragment.count_rows() > 0 for fragment in dataset.get_fragments())


def test_max_rows_per_file_holds(impl, oracle, workdir):
    impl.write_dataset(TABLE, workdir / "ds", mode="overwrite", n_jobs=3, max_rows_per_file=90)
    counts = [f.count_rows() for f in oracle.dataset(workdir / "ds").get_fragments()]
    assert max(counts) <= 90 and sum(counts) == ROWS


def test_workers_are_capped(impl, oracle, workdir):
    """A huge n_jobs means as many workers as make sense, not as many threads or files."""
    before = threading.active_count()
    impl.write_dataset(TABLE, workdir / "ds", mode="overwrite", n_jobs=100_000)
    assert threading.active_count() <= before + 2
    assert len(oracle.dataset(workdir / "ds").get_fragments()) <= 256
    assert_same(oracle.dataset(workdir / "ds").to_table(), TABLE)


def test_chunked_table(impl, oracle, workdir):
    chunked = pa.concat_tables([TABLE.slice(i, 13) for i in range(0, ROWS, 13)])
    impl.write_dataset(chunked, workdir / "ds", mode="overwrite", n_jobs=4)
    assert_same(oracle.dataset(workdir / "ds").to_table(), TABLE)


# --- streams ---------------------------------------------------------------------------------------------------


STREAMS = {
    "reader": lambda t: (t.to_reader(max_chunksize=60), None),
    "iterator": lambda t: ((b for b in t.to_batches(max_chunksize=60)), t.schema),
    "pandas": lambda t: (t.to_pandas(), t.schema),
    "batch": lambda t: (t.combine_chunks().to_batches()[0], None),
}


@pytest.mark.parametrize("mode", ["create", "append", "overwrite"])
@pytest.mark.parametrize("kind", STREAMS)
def test_streams(impl, oracle, workdir, kind, mode):
    if mode != "create":
        oracle.write_dataset(TABLE.slice(0, 4), workdir / "ds")
    data, schema = STREAMS[kind](TABLE)
    impl.write_dataset(data, workdir / "ds", schema=schema, mode=mode, n_jobs=3)
    kept = [TABLE.slice(0, 4)] if mode == "append" else []
    assert oracle.dataset(workdir / "ds").to_table().equals(pa.concat_tables([*kept, TABLE]))


def test_stream_is_not_collected(impl, oracle, workdir):
    """Workers keep up with the producer: it never runs far ahead of what is written."""
    produced, seen_files = [], []

    def producer():
        for start in range(0, 40):
            produced.append(start)
            seen_files.append(len(list((workdir / "ds" / "data").glob("*"))) if (workdir / "ds" / "data").exists() else 0)
            yield pa.record_batch({"b": [bytes(1_000_000)] * 2})

    schema = pa.schema([("b", pa.binary())])
    impl.write_dataset(producer(), workdir / "ds", schema=schema, n_jobs=2, max_rows_per_file=8)
    assert seen_files[-1] > 0, "the whole stream was read before the first file was begun"
    assert oracle.dataset(workdir / "ds").count_rows() == 80


# --- rejected arguments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -1, -8])
def test_too_small(impl, workdir, value):
    with pytest.raises(ValueError, match="n_jobs"):
        impl.write_dataset(TABLE, workdir / "ds", mode="overwrite", n_jobs=value)
    assert not (workdir / "ds").exists()


@pytest.mark.parametrize("value", [True, False, 2.0, "2", [2]], ids=repr)
def test_wrong_type(impl, workdir, value):
    with pytest.raises(TypeError, match=r"n_jobs.*\bint"):
        impl.write_dataset(TABLE, workdir / "ds", mode="overwrite", n_jobs=value)
    assert not (workdir / "ds").exists()


OPTIONS = {
    "commit_message": "hello",
    "transaction_properties": {"job": "7"},
    "enable_stable_row_ids": True,
    "schema": TABLE.schema,
    "max_rows_per_group": 100,
    "data_cache_bytes": 1 << 20,
    "max_page_bytes": 1 << 16,
    "enable_v2_manifest_paths": False,
    "auto_cleanup_options": {"interval": 5, "older_than_seconds": 60},
    "allow_external_blob_outside_bases": True,
    "blob_pack_file_size_threshold": 1 << 20,
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_honoured_or_refused(impl, oracle, workdir, name):
    """An option is either taken as in a sequential write, or refused by its name: never dropped."""
    try:
        impl.write_dataset(TABLE, workdir / "ds", n_jobs=2, **{name: OPTIONS[name]})
    except (ValueError, NotImplementedError) as error:
        assert name in str(error)
        assert not (workdir / "ds" / "_versions").exists()
        return
    oracle.write_dataset(TABLE, workdir / "sequential", **{name: OPTIONS[name]})
    ours, theirs = oracle.dataset(workdir / "ds"), oracle.dataset(workdir / "sequential")
    assert_same(ours.to_table(), theirs.to_table())
    assert ours.config() == theirs.config()
    assert ours.has_stable_row_ids == theirs.has_stable_row_ids
    ours_props, theirs_props = (d.read_transaction(1).transaction_properties for d in (ours, theirs))
    assert ours_props == theirs_props
    names = [[len(p.name) for p in (workdir / d / "_versions").glob("*.manifest")] for d in ("ds", "sequential")]
    assert names[0] == names[1]


def test_commit_lock_and_progress(impl, oracle, workdir):
    """Hooks are called as in a sequential write, or the call is refused by the hook's name."""
    begun, done, locked = [], [], []

    class Progress(submodule(impl, "progress").FragmentWriteProgress):
        def begin(self, fragment, **kwargs):
            begun.append(fragment)

        def complete(self, fragment, **kwargs):
            done.append(fragment)

    class Lock:
        def __call__(self, version):
            locked.append(version)
            return self

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return False

    for name, hook in (("progress", Progress()), ("commit_lock", Lock())):
        try:
            impl.write_dataset(TABLE, workdir / name, n_jobs=2, max_rows_per_file=100, **{name: hook})
        except (ValueError, NotImplementedError) as error:
            assert name in str(error)
        else:
            fragments = len(oracle.dataset(workdir / name).get_fragments())
            assert locked == [1] if name == "commit_lock" else len(begun) == len(done) == fragments


# --- failures ----------------------------------------------------------------------------------------------------------


def broken_stream(fail_at):
    def batches():
        for i in range(10):
            if i == fail_at:
                raise RuntimeError(f"source broke at batch {i}")
            yield pa.record_batch({"id": pa.array(range(i * 10, i * 10 + 10), pa.int64())})

    return batches()


@pytest.mark.parametrize("fail_at", [0, 4, 9])
def test_source_error_leaves_no_version(impl, oracle, workdir, fail_at):
    oracle.write_dataset(pa.table({"id": [1]}), workdir / "ds")
    with pytest.raises(Exception, match=f"source broke at batch {fail_at}"):
        schema = pa.schema([("id", pa.int64())])
        impl.write_dataset(broken_stream(fail_at), workdir / "ds", schema=schema, mode="append", n_jobs=3)
    assert oracle.dataset(workdir / "ds").version == 1
    assert_same(oracle.dataset(workdir / "ds").to_table(), pa.table({"id": [1]}))


def test_worker_error_names_the_partition(impl, oracle, workdir):
    """A directory in the data folder's place makes each worker fail; the error says which rows it held."""
    oracle.write_dataset(TABLE.slice(0, 1), workdir / "ds")
    data = workdir / "ds" / "data"
    data.rename(workdir / "ds" / "moved")
    data.write_text("not a directory")
    with pytest.raises((OSError, RuntimeError), match=r"(?i)partition.*\d+"):
        impl.write_dataset(TABLE, workdir / "ds", mode="overwrite", n_jobs=4)
    assert oracle.dataset(workdir / "ds").version == 1


def test_create_on_existing_is_refused_before_writing(impl, oracle, workdir):
    oracle.write_dataset(TABLE.slice(0, 1), workdir / "ds")
    files = len(list((workdir / "ds" / "data").iterdir()))
    with pytest.raises(OSError, match="already exists"):
        impl.write_dataset(TABLE, workdir / "ds", mode="create", n_jobs=2)
    assert len(list((workdir / "ds" / "data").iterdir())) == files


def test_append_with_wrong_schema(impl, oracle, workdir):
    oracle.write_dataset(TABLE, workdir / "ds")
    with pytest.raises(OSError, match="other"):
        impl.write_dataset(pa.table({"other": [1, 2, 3]}), workdir / "ds", mode="append", n_jobs=2)
    assert oracle.dataset(workdir / "ds").version == 1


# --- concurrency ---------------------------------------------------------------------------------------------------------


def test_two_parallel_appends(impl, oracle, workdir):
    oracle.write_dataset(TABLE.slice(0, 1), workdir / "ds")
    parts = [TABLE.slice(0, 500), TABLE.slice(500)]
    writers = [
        threading.Thread(target=impl.write_dataset, args=(part, str(workdir / "ds")), kwargs={"mode": "append", "n_jobs": 2})
        for part in parts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    ids = sorted(oracle.dataset(workdir / "ds").to_table()["id"].to_pylist())
    assert ids == sorted([0, *range(ROWS)])


def test_racing_creates_have_one_winner(impl, oracle, workdir):
    outcomes = []

    def create(i):
        try:
            impl.write_dataset(TABLE.slice(i * 10, 10), str(workdir / "ds"), mode="create", n_jobs=2)
            outcomes.append("ok")
        except OSError:
            outcomes.append("refused")

    threads = [threading.Thread(target=create, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["ok", "refused", "refused", "refused"]
    assert oracle.dataset(workdir / "ds").count_rows() == 10


def test_stable_row_ids_are_sequential(impl, oracle, workdir):
    oracle.write_dataset(TABLE.slice(0, 5), workdir / "ds", enable_stable_row_ids=True)
    impl.write_dataset(TABLE, workdir / "ds", mode="append", n_jobs=4)
    ids = oracle.dataset(workdir / "ds").to_table(with_row_id=True)["_rowid"].to_pylist()
    assert ids == list(range(ROWS + 5))
