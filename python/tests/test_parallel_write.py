"""`n_jobs` of write_dataset, write_fragments and insert."""

import os
import subprocess
import sys
import threading

import glaive
import lance
import numpy as np
import pyarrow as pa
import pytest
from glaive.fragment import write_fragments
from glaive.progress import FragmentWriteProgress

TABLE = pa.table(
    {"id": np.arange(1000), "s": [f"row {i}" for i in range(1000)], "l": [[i] * (i % 5) for i in range(1000)]}
)
# Full files may be partitions, however small they are.
SMALL_FILES = {"max_rows_per_file": 90}


def rows_of(path):
    return lance.dataset(path).to_table()


SOURCES = {
    "table": lambda: TABLE,
    "chunked": lambda: pa.concat_tables([TABLE.slice(i, 13) for i in range(0, 1000, 13)]),
    "batches": lambda: TABLE.to_batches(max_chunksize=70),
    "reader": lambda: TABLE.to_reader(max_chunksize=60),
    "generator": lambda: (batch for batch in TABLE.to_batches(max_chunksize=60)),
    "dataset": lambda: pa.dataset.dataset(TABLE),
}


@pytest.mark.parametrize("n_jobs", [2, 3, 100])
@pytest.mark.parametrize("kind", SOURCES)
def test_sources(path, kind, n_jobs):
    for mode in ("create", "append", "overwrite"):
        glaive.write_dataset(
            SOURCES[kind](), path, TABLE.schema, mode, n_jobs=n_jobs, **SMALL_FILES
        )
        times = 2 if mode == "append" else 1
        assert rows_of(path).equals(pa.concat_tables([TABLE] * times))
        dataset = lance.dataset(path)
        dataset.validate()
        counts = [fragment.count_rows() for fragment in dataset.get_fragments()]
        assert max(counts) <= 90
        assert len(counts) <= 12 * times + min(n_jobs, 12) - 1
    assert lance.dataset(path).version == 3


def test_large_tables_are_cut_by_bytes(path):
    rng = np.random.default_rng(1)
    table = pa.table({"id": np.arange(10_000), "v": list(rng.bytes(10_000) for _ in range(10_000))})
    glaive.write_dataset(table, path, n_jobs=2)
    assert [f.count_rows() for f in lance.dataset(path).get_fragments()] == [5000, 5000]
    assert rows_of(path).equals(table)


def test_insert_and_write_fragments(path):
    dataset = glaive.write_dataset(TABLE, path)
    dataset.insert(TABLE, n_jobs=3, **SMALL_FILES)
    assert dataset.version == 2
    fragments = write_fragments(TABLE, dataset, n_jobs=3, **SMALL_FILES)
    assert [fragment.physical_rows for fragment in fragments] == [90] * 11 + [10]
    operation = glaive.LanceOperation.Append(fragments)
    glaive.LanceDataset.commit(path, operation, read_version=2)
    assert rows_of(path).equals(pa.concat_tables([TABLE] * 3))


@pytest.mark.parametrize("value", [True, False, 2.0, "2", [2], np.bool_(True)], ids=repr)
def test_no_number(path, value):
    with pytest.raises(TypeError, match=r"n_jobs must be an int or None, got "):
        glaive.write_dataset(TABLE, path, n_jobs=value)
    with pytest.raises(TypeError, match=r"n_jobs must be an int or None, got "):
        write_fragments(TABLE, path, n_jobs=value)
    assert not os.path.exists(path)


@pytest.mark.parametrize("value", [0, -1, -(10**30)])
def test_too_small(path, value):
    with pytest.raises(ValueError, match="n_jobs must be at least 1, not"):
        glaive.write_dataset(TABLE, path, n_jobs=value)
    assert not os.path.exists(path)


def test_numbers_of_numpy_and_huge_ones(path):
    for value in (np.int64(3), 10**30):
        glaive.write_dataset(TABLE, path, mode="overwrite", n_jobs=value, **SMALL_FILES)
        assert rows_of(path).equals(TABLE)


def test_an_error_names_the_partition(path, tmp_path):
    glaive.write_dataset(TABLE.slice(0, 1), path)
    data = tmp_path / os.path.basename(path) / "data"
    data.rename(data.with_name("moved"))
    data.write_text("no folder")
    for source in ("table", "reader"):
        with pytest.raises(OSError, match=r"partition \d+ \(first row \d+, \d+ rows\): ") as raised:
            glaive.write_dataset(SOURCES[source](), path, mode="append", n_jobs=3, **SMALL_FILES)
        cause = raised.value.__cause__
        assert type(cause) is type(raised.value)
        assert cause.kind == raised.value.kind
        assert "partition" not in str(cause)
    assert lance.dataset(path).version == 1


def test_an_error_of_the_source_is_its_own(path):
    def batches():
        yield from TABLE.to_batches(max_chunksize=60)[:10]
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        glaive.write_dataset(batches(), path, TABLE.schema, n_jobs=3, **SMALL_FILES)
    assert not os.listdir(os.path.join(path, "data"))


def test_python_is_called_by_one_thread(path):
    threads = set()

    def batches():
        for batch in TABLE.to_batches(max_chunksize=60):
            threads.add(threading.get_ident())
            yield batch

    class Progress(FragmentWriteProgress):
        def begin(self, fragment, **kwargs):
            threads.add(threading.get_ident())

        def complete(self, fragment, **kwargs):
            threads.add(threading.get_ident())

    for source in (batches(), TABLE):
        glaive.write_dataset(
            source, path, TABLE.schema, "overwrite", n_jobs=3, progress=Progress(), **SMALL_FILES
        )
    assert threads == {threading.get_ident()}


def test_ctrl_c(path):
    """An interrupt ends the write, and leaves neither files nor a version."""
    script = f"""
import glaive, numpy as np, os, pyarrow as pa, signal, threading
column = pa.chunked_array([pa.array(np.arange(4_000_000))] * 500)
table = pa.table({{"v": column}})  # 16 GB, if the interrupt were not noticed
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
def interrupt_once_it_writes():
    while not os.path.isdir({str(path)!r} + "/data"):
        pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt_once_it_writes).start()
try:
    glaive.write_dataset(table, {str(path)!r}, n_jobs=3, max_rows_per_file=1000)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "interrupted", done.stderr
    assert not os.path.exists(path) or os.listdir(path) in ([], ["data"])
    assert not os.path.exists(path) or not os.listdir(os.path.join(path, "data"))
