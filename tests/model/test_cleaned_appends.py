"""Writers of a table that every commit cleans up at once: no append that was reported is missing."""

import multiprocessing

import glaive
import pyarrow as pa
import pytest

WRITERS = 6
APPENDS = 30
EVERY_VERSION = {
    "lance.auto_cleanup.interval": "1",
    "lance.auto_cleanup.older_than": "0s",
    "lance.auto_cleanup.retain_versions": "1",
}


def append(path, writer, durability, reports):
    done, failed = [], []
    for number in range(APPENDS):
        value = writer * 1000 + number
        try:
            glaive.write_dataset(
                pa.table({"x": [value]}), path, mode="append", durability=durability
            )
            done.append(value)
        except Exception as error:
            failed.append((getattr(error, "retryable", False), repr(error)))
    reports.put((done, failed))


@pytest.mark.parametrize("durability", ["none", "commit"])
def test_no_reported_append_is_missing(tmp_path, durability):
    path = str(tmp_path / "table")
    glaive.write_dataset(pa.table({"x": [0]}), path).update_config(EVERY_VERSION)
    fork = multiprocessing.get_context("fork")
    reports = fork.Queue()
    writers = [
        fork.Process(target=append, args=(path, writer, durability, reports))
        for writer in range(1, WRITERS + 1)
    ]
    for writer in writers:
        writer.start()
    results = [reports.get() for _ in writers]
    for writer in writers:
        writer.join()
    reported = {value for done, _ in results for value in done} | {0}
    failed = [failure for _, failures in results for failure in failures]
    assert [text for retryable, text in failed if not retryable] == []
    rows = glaive.dataset(path).to_table()["x"].to_pylist()
    assert len(rows) == len(set(rows))
    assert reported - set(rows) == set()
