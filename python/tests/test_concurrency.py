"""Threads, signals and forks."""

import os
import threading

import glaive
import pyarrow as pa
import pytest


def test_scans_run_in_parallel_threads(small):
    """A scan that waits for its Python source does not hold up another."""
    inside, finished = threading.Event(), threading.Event()
    schema = pa.schema({"a": pa.int64()})

    def batches():
        inside.set()
        assert finished.wait(20)
        yield pa.record_batch({"a": [1]})

    writer = threading.Thread(
        target=lambda: glaive.write_dataset(batches(), small.uri + "2", schema=schema)
    )
    writer.start()
    assert inside.wait(20)
    assert small.to_table().num_rows == 30
    finished.set()
    writer.join(20)
    assert glaive.dataset(small.uri + "2").count_rows() == 1


def test_one_stream_read_by_many_threads(path):
    dataset = glaive.write_dataset(pa.table({"a": range(1000)}), path, max_rows_per_file=50)
    stream = dataset.scanner(batch_size=10)._open()
    seen, lock = [], threading.Lock()

    def read():
        while (batch := stream.next()) is not None:
            with lock:
                seen.extend(pa.record_batch(batch)["a"].to_pylist())

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(seen) == list(range(1000))


def test_interrupt_leaves_nothing(tmp_path, run):
    """Ctrl-C while a source is read: no version and no file, whichever side notices it."""
    out = run(
        f"""
        import os, signal, threading
        import pyarrow as pa, glaive

        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        schema = pa.schema({{"a": pa.int64()}})
        batch = pa.record_batch({{"a": list(range(100_000))}})

        def batches():
            for i in range(20_000):  # 16 GB, if the interrupt were not noticed
                if i == 20:
                    interrupt = (os.getpid(), signal.SIGINT)
                    threading.Thread(target=os.kill, args=interrupt).start()
                yield batch

        try:
            glaive.write_dataset(batches(), {str(tmp_path / "t")!r}, schema=schema,
                                 max_rows_per_file=200_000)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    assert out == "interrupted\n"
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_interrupt_of_a_native_source(tmp_path, run):
    """The engine itself looks for signals while no Python code runs."""
    out = run(
        f"""
        import os, signal, threading
        import numpy as np, pyarrow as pa, glaive

        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        path = {str(tmp_path / "t")!r}
        column = pa.array(np.random.default_rng(0).integers(0, 1 << 60, 4_000_000))
        column = pa.chunked_array([column] * 10)
        table = pa.table({{f"c{{i}}": column for i in range(60)}})  # 20 GB of rows, 32 MB of memory

        def interrupt_once_it_writes():
            while not os.path.isdir(path + "/data") or not os.listdir(path + "/data"):
                pass
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt_once_it_writes).start()
        try:
            glaive.write_dataset(table, path, max_page_bytes=1 << 20)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    assert out == "interrupted\n"
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_an_interrupt_that_comes_too_late_says_which_version_there_is(tmp_path, run):
    out = run(
        f"""
        import os, signal, threading, time
        import pyarrow as pa, glaive

        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        path = {str(tmp_path / "t")!r}
        dataset = glaive.write_dataset(pa.table({{"a": [1]}}), path)

        def interrupt_once_there_is(name):
            while not os.path.exists(name):
                pass
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        for _ in range(2_000):  # until it comes between the put and the return
            version = glaive.dataset(path).version + 1
            name = f"{{path}}/_versions/{{2**64 - 1 - version:020}}.manifest"
            threading.Thread(target=interrupt_once_there_is, args=[name]).start()
            try:
                dataset.insert(pa.table({{"a": [2]}}))
                time.sleep(10)  # it came later still
            except KeyboardInterrupt as interrupt:
                assert glaive.dataset(path).version == version
                if str(interrupt):
                    assert str(interrupt).endswith(f"t is at version {{version}}"), interrupt
                    print("told")
                    break
        """
    )
    assert out == "told\n"


@pytest.mark.parametrize("budget", [1 << 20])
def test_a_source_that_scans_on_one_thread(tmp_path, run, budget):
    """The source runs on the thread that writes, and asks the same engine for rows."""
    out = run(
        f"""
        import pyarrow as pa, glaive

        source = glaive.write_dataset(
            pa.table({{"a": range(100_000)}}), {str(tmp_path / "source")!r}, max_rows_per_file=5_000
        )

        def batches():
            for start in range(0, 100_000, 10_000):
                condition = f"a >= {{start}} AND a < {{start + 10_000}}"
                yield from source.to_batches(filter=condition)

        copy = glaive.write_dataset(
            batches(), {str(tmp_path / "copy")!r}, schema=source.schema, data_cache_bytes={budget}
        )
        copy.delete("a < 10")
        copy.insert(copy.scanner(limit=100).to_reader())
        copy.optimize.compact_files(data_cache_bytes={budget})
        assert source.to_table().num_rows == 100_000
        print(copy.count_rows())
        """,
        {"GLAIVE_CPU_THREADS": "1", "GLAIVE_IO_THREADS": "1"},
    )
    assert int(out) == 100_090


def test_a_forked_child_reads_and_writes(small, path):
    small.to_table()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            dataset = glaive.dataset(path)
            dataset.delete("a = 3")
            os.write(write_end, f"{small.to_table().num_rows} {dataset.count_rows()}".encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    answer = os.read(read_end, 100).decode()
    _, status = os.waitpid(child, 0)
    os.close(read_end)
    assert (status, answer) == (0, "30 29")
    small.checkout_latest()
    assert small.to_table().num_rows == 29


def test_import_starts_no_thread(run):
    program = "import pyarrow, os; before = len(os.listdir('/proc/self/task'))\n"
    program += "import glaive; print(len(os.listdir('/proc/self/task')) - before)"
    assert run(program) == "0\n"
