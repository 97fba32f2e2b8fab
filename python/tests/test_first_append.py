"""Workers that begin a table: whoever makes it, all of their rows are there."""

import multiprocessing
import threading

import glaive
import pyarrow as pa
import pytest

WORKERS = 4
TABLES = 10


def begin(folder, worker, mode, durability):
    for number in range(TABLES):
        rows = pa.table({"a": [worker], "s": [f"of {worker}"]})
        glaive.write_dataset(rows, f"{folder}/{number}", mode=mode, durability=durability)


def check(folder, mode):
    for number in range(TABLES):
        dataset = glaive.dataset(f"{folder}/{number}")
        found = sorted(dataset.to_table()["a"].to_pylist())
        if mode == "append":
            assert found == list(range(WORKERS))
        else:
            assert len(found) == 1
        assert dataset.version == WORKERS
        dataset.validate()


@pytest.mark.parametrize("durability", ["commit", "none"])
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_threads(tmp_path, mode, durability):
    failed = []

    def work(worker):
        try:
            begin(tmp_path, worker, mode, durability)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    check(tmp_path, mode)


@pytest.mark.parametrize("durability", ["commit", "none"])
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_processes(tmp_path, mode, durability):
    fork = multiprocessing.get_context("fork")
    workers = [
        fork.Process(target=begin, args=(str(tmp_path), worker, mode, durability))
        for worker in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * WORKERS
    check(tmp_path, mode)
