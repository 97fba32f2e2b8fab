"""Compactions beside other writers, in pieces that go from one engine to the other."""

import os
import pickle
from pathlib import Path

import glaive
import lance
import lance.optimize
import pyarrow as pa
import pytest

ENGINES = {"glaive": glaive, "pylance": lance}
OPTIONS = {"target_rows_per_fragment": 18}


@pytest.fixture(params=[False, True], ids=["addresses", "stable_ids"])
def table(request, tmp_path):
    """Six fragments of ten rows, three tasks; rows 3 and 25 are deleted in version 2."""
    path = str(tmp_path / "table")
    rows = pa.table({"a": range(60), "s": [f"row {i}" for i in range(60)]})
    lance.write_dataset(rows, path, max_rows_per_file=10, enable_stable_row_ids=request.param)
    lance.dataset(path).delete("a IN (3, 25)")
    return path


def content(engine, path):
    dataset = engine.dataset(path)
    stable = dataset.has_stable_row_ids
    return sorted(map(repr, dataset.to_table(with_row_id=stable).to_pylist()))


def check(path, expected):
    lance.dataset(path).validate()
    glaive.dataset(path).validate()
    for engine in (glaive, lance):
        assert content(engine, path) == expected


def results(path, planner, worker, committer):
    """Of each task, made by one engine from the plan of another, for a third."""
    plan = planner.optimize.Compaction.plan(planner.dataset(path), OPTIONS)
    made = []
    for task in worker.optimize.CompactionPlan.from_json(plan.json()).tasks:
        task = pickle.loads(pickle.dumps(worker.optimize.CompactionTask.from_json(task.json())))
        result = pickle.loads(pickle.dumps(task.execute(worker.dataset(path))))
        made.append(committer.optimize.RewriteResult.from_json(result.json()))
    assert len(made) == 3
    return made


def data_files(path):
    return set(os.listdir(Path(path, "data")))


def change_in_place(dataset):
    """Other values for some rows of fragment 2, in place."""
    values = pa.table({"_rowaddr": pa.array([(2 << 32) + 1], pa.uint64()), "s": ["laid over"]})
    fragment = dataset.get_fragment(2)
    updated, fields = fragment.update_columns(values, left_on="_rowaddr", right_on="_rowaddr")
    operation = lance.LanceOperation.Update(
        updated_fragments=[updated], fields_modified=fields, new_fragments=[], removed_fragment_ids=[]
    )
    lance.LanceDataset.commit(dataset.uri, operation, read_version=dataset.version)


@pytest.mark.parametrize("winner", ENGINES)
@pytest.mark.parametrize("worker", ENGINES)
def test_rows_that_changed_meanwhile(table, worker, winner):
    made = results(table, ENGINES[winner], ENGINES[worker], glaive)
    other = ENGINES[winner].dataset(table)
    other.delete("a IN (0, 17, 29) OR (a >= 50)")
    other.update({"s": "'updated'"}, where="a IN (1, 40)")
    other.insert(pa.table({"a": [100], "s": ["new"]}))
    expected = content(lance, table)
    metrics = glaive.optimize.Compaction.commit(glaive.dataset(table), made)
    assert metrics.left == ()
    assert metrics.fragments_removed == 6
    check(table, expected)


def test_pylance_commits_what_glaive_made(table):
    made = results(table, lance, glaive, lance)
    lance.dataset(table).insert(pa.table({"a": [100], "s": ["new"]}))
    expected = content(lance, table)
    lance.optimize.Compaction.commit(lance.dataset(table), made)
    check(table, expected)


def add_column(dataset):
    """A column, which other fragments have no values of."""
    column = pa.table({"n": pa.array(range(10), pa.int32())})
    dataset = glaive.dataset(dataset.uri)
    schema = dataset.new_column_schema(column.schema)
    dataset.commit_column_writes([dataset.write_fragment_column(2, column, schema)])


def lay_over(dataset):
    """Values of a file of their own for some rows of fragment 2."""
    name, schema = "overlay.lance", pa.schema([("s", pa.string())])
    with glaive.file.LanceFileWriter(f"{dataset.uri}/data/{name}", schema, version="2.2") as out:
        out.write_batch(pa.record_batch([["laid", "over"]], schema=schema))
    operation = glaive.LanceOperation
    file = glaive.fragment.DataFile(name, [1], [0], 2, 2)
    group = operation.DataOverlayGroup(2, [operation.DataOverlayFile(file, [0, 9])])
    newest = glaive.dataset(dataset.uri)
    glaive.LanceDataset.commit(newest, operation.DataOverlay([group]), newest.version)


@pytest.mark.parametrize("change", [change_in_place, add_column, lay_over])
@pytest.mark.parametrize("worker", ENGINES)
def test_values_that_changed_in_place(table, worker, change, monkeypatch):
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    made = results(table, glaive, ENGINES[worker], glaive)
    change(lance.dataset(table))
    glaive.dataset(table).delete("a = 45")
    expected = content(lance, table)
    before = data_files(table)
    metrics = glaive.optimize.Compaction.commit(glaive.dataset(table), made)
    assert [task.fragment_ids for task in metrics.left] == [[2, 3]]
    assert "fragment 2" in metrics.left[0].reason and metrics.left[0].retryable
    assert metrics.fragments_removed == 4
    # Another machine may be committing what was left here.
    assert data_files(table) == before
    check(table, expected)
    # The next run takes what was left.
    assert glaive.dataset(table).optimize.compact_files(**OPTIONS).left == ()
    check(table, expected)


def test_a_result_lands_once(table):
    made = results(table, glaive, glaive, glaive)
    dataset = glaive.dataset(table)
    glaive.optimize.Compaction.commit(dataset, made[:2])
    expected = content(lance, table)
    version, files = dataset.version, data_files(table)
    with pytest.raises(glaive.commit.CommitConflictError, match="committed already") as caught:
        glaive.optimize.Compaction.commit(dataset, made[:2])
    assert caught.value.retryable is False
    # A job that does not know how far an earlier one came.
    metrics = glaive.optimize.Compaction.commit(dataset, made, partial=True)
    assert [task.fragment_ids for task in metrics.left] == [[0, 1], [2, 3]]
    assert dataset.version == version + 1
    metrics = glaive.optimize.Compaction.commit(dataset, made, partial=True)
    assert len(metrics.left) == 3 and metrics.fragments_added == 0
    assert dataset.version == version + 1 and data_files(table) == files
    check(table, expected)


@pytest.mark.parametrize("threads", [None, 2])
def test_a_task_that_fails(table, threads):
    """Fragment 2 has lost a file: its task fails, each time it is tried, and leaves nothing."""
    victim = glaive.dataset(table).get_fragment(2).data_files()[0].path
    file = Path(table, "data", victim)
    bytes_there = file.read_bytes()
    file.write_bytes(bytes_there[: len(bytes_there) // 2])
    before = data_files(table)
    dataset = glaive.dataset(table, session=glaive.Session())
    with pytest.raises(OSError, match=victim[:8]):
        dataset.optimize.compact_files(**OPTIONS, num_threads=threads)
    assert data_files(table) == before
    metrics = dataset.optimize.compact_files(**OPTIONS, num_threads=threads, partial=True)
    assert [task.fragment_ids for task in metrics.left] == [[2, 3]]
    assert victim[:8] in metrics.left[0].reason
    assert metrics.fragments_removed == 4
    assert len(data_files(table)) == len(before) + 2
    file.write_bytes(bytes_there)
    dataset = glaive.dataset(table, session=glaive.Session())
    plan = glaive.optimize.Compaction.plan(dataset, OPTIONS)
    (task,) = [task for task in plan.tasks if 2 in [f.id for f in task.fragments]]
    glaive.optimize.Compaction.commit(dataset, [task.execute(dataset)])
    assert sorted(dataset.to_table()["a"].to_pylist()) == [
        i for i in range(60) if i not in (3, 25)
    ]


def test_versions_that_were_cleaned_up(table):
    """What happened is told by the newest version alone, if need be."""
    from datetime import timedelta

    made = results(table, glaive, glaive, glaive)
    dataset = glaive.dataset(table)
    dataset.insert(pa.table({"a": [100], "s": ["new"]}))
    dataset.delete("a = 7")
    expected = content(lance, table)
    dataset.cleanup_old_versions(older_than=timedelta(0))
    made_files = {f.path for r in made for n in r.new_fragments for f in n.files}
    assert made_files <= data_files(table)
    dataset = glaive.dataset(table, session=glaive.Session())
    metrics = glaive.optimize.Compaction.commit(dataset, made)
    # Which rows of fragment 0 were left out is told by a deletion file that is gone.
    assert [task.fragment_ids for task in metrics.left] == [[0, 1]]
    assert metrics.fragments_removed == 4
    check(table, expected)


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
@pytest.mark.parametrize("worker", ENGINES)
def test_indices_stay_right(table, worker, when, kind):
    if when == "before":
        lance.dataset(table).create_scalar_index("a", kind)
    made = results(table, glaive, ENGINES[worker], glaive)
    if when == "meanwhile":
        lance.dataset(table).create_scalar_index("a", kind)
    lance.dataset(table).delete("a IN (8, 44)")
    lance.dataset(table).update({"s": "'updated'"}, where="a = 21")
    lance.dataset(table).update({"a": "a + 1000"}, where="a IN (11, 47)")
    change_in_place(lance.dataset(table))
    expected = content(lance, table)
    metrics = glaive.optimize.Compaction.commit(glaive.dataset(table), made)
    assert len(metrics.left) == 1
    check(table, expected)
    dataset = lance.dataset(table)
    for condition in ("a IN (3, 8, 9, 11, 21, 22, 44, 47, 1011)", "a < 12", "a > 40"):
        indexed = dataset.to_table(filter=condition)["a"].to_pylist()
        scanned = dataset.scanner(filter=condition, use_scalar_index=False).to_table()
        assert sorted(indexed) == sorted(scanned["a"].to_pylist())
