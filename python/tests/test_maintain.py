"""Maintenance in one run, and compactions that are compared before they are published."""

import hashlib
import os
import signal
import threading
import time
from datetime import timedelta

import glaive
import lance
import pyarrow as pa
import pytest
from glaive.optimize import Compaction
from pyarrow import compute


def rows(first, count):
    ids = pa.array(range(first, first + count), pa.int64())
    return pa.table({"a": ids, "s": pa.array([f"row {i}" for i in range(first, first + count)])})


@pytest.fixture
def table(path):
    """Ten fragments of ten rows by pylance, some rows of which are deleted."""
    lance.write_dataset(rows(0, 100), path, max_rows_per_file=10)
    lance.dataset(path).delete("a % 20 = 3")
    return path


def tree(folder):
    return {
        os.path.join(base, name): hashlib.sha1(
            open(os.path.join(base, name), "rb").read()
        ).hexdigest()
        for base, _, names in os.walk(folder)
        for name in names
    }


def add_orphan(folder, name, days):
    path = os.path.join(folder, "data", name)
    with open(path, "wb") as file:
        file.write(b"x" * 10)
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))
    return path


def test_all_steps(table):
    before = lance.dataset(table).to_table()
    old = add_orphan(table, "old.lance", 8)
    young = add_orphan(table, "young.lance", 6)
    dataset = glaive.dataset(table)
    report = glaive.maintain(dataset, older_than=timedelta(0), canary=True)
    assert report.compaction.outcome == report.cleanup.outcome == report.sweep.outcome == "done"
    assert (report.compaction.done.fragments, report.compaction.done.rows) == (10, 95)
    assert report.compaction.canary.rows == 95
    assert report.cleanup.removed.data_files_removed == 10
    assert report.sweep.removed.bytes_removed == 10
    assert (report.sweep.young_files, report.sweep.young_bytes) == (1, 10)
    assert not os.path.exists(old) and os.path.exists(young)
    assert dataset.version == report.version == lance.dataset(table).version
    assert lance.dataset(table).to_table() == before
    assert len(lance.dataset(table).get_fragments()) == 1


def test_a_dry_run_changes_nothing(table):
    add_orphan(table, "old.lance", 8)
    before = tree(table)
    limits = {"target_rows_per_fragment": 19, "max_source_fragments": 4}
    report = glaive.maintain(table, dry_run=True, older_than=timedelta(0), compaction=limits)
    assert (report.compaction.outcome, report.compaction.done.fragments) == ("limited", 4)
    assert report.compaction.left.fragments == 6
    assert report.cleanup.removed.old_versions == 1
    assert report.sweep.removed.data_files_removed == 1
    assert tree(table) == before


def test_steps_and_times(table):
    report = glaive.maintain(table, compact=False, sweep=False)
    assert report.compaction.outcome == report.sweep.outcome == "not_run"
    assert report.cleanup.removed.old_versions == 0  # none is 14 days old
    assert glaive.maintain(table, time_limit=timedelta(0)).compaction.outcome == "limited"
    with pytest.raises(ValueError, match="not negative"):
        glaive.maintain(table, time_limit=timedelta(-1))
    with pytest.raises(ValueError, match="Invalid compaction option: speed"):
        glaive.maintain(table, compaction={"speed": 1})


def test_beside_a_writer(table):
    """No row is lost, and none comes back, while pylance appends and deletes."""
    stop = threading.Event()
    counts = {"appended": 0}

    def write():
        while not stop.is_set():
            first = 1000 + counts["appended"]
            lance.write_dataset(rows(first, 10), table, mode="append")
            lance.dataset(table).delete(f"a = {first}")
            counts["appended"] += 10

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(6):
            # A minute, since no version may go from which the writer may be at work.
            glaive.maintain(table, older_than=timedelta(minutes=1), commit_interval=timedelta(0))
    finally:
        stop.set()
        writer.join()
    ids = lance.dataset(table).to_table()["a"].to_pylist()
    appended = [1000 + i for i in range(counts["appended"]) if i % 10]
    assert sorted(ids) == [i for i in range(100) if i % 20 != 3] + appended
    glaive.dataset(table).validate()


def test_ctrl_c_keeps_what_was_committed(table):
    before = lance.dataset(table).to_table()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.08)
        with pytest.raises(KeyboardInterrupt):
            while True:
                glaive.maintain(
                    table,
                    compaction={"target_rows_per_fragment": 19},
                    commit_interval=timedelta(0),
                )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    dataset = glaive.dataset(table)
    assert dataset.to_table().sort_by("a") == before  # new fragments come behind old ones
    referred = {file.path for fragment in dataset.get_fragments() for file in fragment.data_files()}
    assert referred <= {name for name in os.listdir(os.path.join(table, "data"))}


@pytest.mark.parametrize("stable", [False, True])
def test_a_canary_stops_a_compaction_that_changes_a_row(path, stable):
    glaive.write_dataset(rows(0, 40), path, max_rows_per_file=10, enable_stable_row_ids=stable)
    dataset = glaive.dataset(path)
    (task,) = Compaction.plan(dataset, {}).tasks
    result = task.execute(dataset)
    assert Compaction.check(dataset, [result]) == 40
    file = os.path.join(path, "data", result.new_fragments[0].files[0].path)
    content = open(file, "rb").read()
    with open(file, "wb") as out:
        out.write(content.replace(b"row 17", b"row 71"))
    before = tree(path)
    with pytest.raises(OSError, match=r"fragment 1 row 7: column s: row 17 \| row 71") as caught:
        Compaction.check(dataset, [result])
    assert os.path.basename(file) in str(caught.value)
    assert tree(path) == before


def test_a_canary_publishes_what_is_the_same(table):
    dataset = glaive.dataset(table)
    metrics = dataset.optimize.compact_files(canary=True)
    assert (metrics.fragments_removed, metrics.fragments_added) == (10, 1)
    assert compute.sum(lance.dataset(table).to_table()["a"]).as_py() == sum(
        i for i in range(100) if i % 20 != 3
    )
    assert not [name for name in os.listdir(f"{table}/_versions") if name.startswith("d")]


@pytest.mark.parametrize("wanted", ["true", "false"])
def test_branches_are_cleaned_as_the_config_says(table, wanted):
    """Old versions of a branch go first where the table says so, and then what they held."""
    dataset = lance.dataset(table)
    dataset.update_config({"lance.auto_cleanup.referenced_branch": wanted})
    branch = dataset.create_branch("dev")
    branch.update_config(
        {
            "lance.auto_cleanup.referenced_branch": "false",
            "lance.auto_cleanup.interval": "1",
            "lance.auto_cleanup.older_than": "0s",
        }
    )
    # By a handle that does not clean up itself.
    branch = lance.dataset(table).checkout_version(("dev", None))
    with_versions = len(branch.versions())
    glaive.maintain(table, compact=False, sweep=False, older_than=timedelta(0))
    left = len(lance.dataset(table).checkout_version(("dev", None)).versions())
    assert (left < with_versions) == (wanted == "true")
    with pytest.raises(ValueError, match="lance.auto_cleanup.referenced_branch.*perhaps"):
        dataset = lance.dataset(table)
        dataset.update_config({"lance.auto_cleanup.referenced_branch": "perhaps"})
        glaive.maintain(table)


def test_pages_are_counted_by_what_ended_them(path):
    for i in range(3):
        glaive.write_dataset(rows(i * 10, 10), path, mode="append" if i else "create")
    pages = glaive.maintain(path).compaction.written.pages
    assert pages.total > 0
    assert pages.by_file_end == pages.total
    parts = [name for name in dir(pages) if name.startswith("by_")]
    assert sum(getattr(pages, name) for name in parts) == pages.total
