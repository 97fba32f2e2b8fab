"""Compaction in one step and in pieces."""

import json
import pickle

import glaive
import lance
import lance.optimize
import pyarrow as pa
import pytest
from glaive.optimize import Compaction, CompactionPlan, CompactionTask, RewriteResult


def test_metrics_are_pylances(tmp_path):
    metrics = []
    for engine in (glaive, lance):
        path = tmp_path / engine.__name__
        engine.write_dataset(pa.table({"a": range(30)}), path, max_rows_per_file=5)
        dataset = engine.dataset(path)
        dataset.delete("a = 3")
        metrics.append(repr(dataset.optimize.compact_files()))
    assert metrics[0] == metrics[1]


def test_pieces_travel(small, path):
    plan = Compaction.plan(small, {"target_rows_per_fragment": 20})
    assert plan.num_tasks() == len(plan.tasks) >= 1
    assert plan.read_version == 1
    for value, cls in ((plan, CompactionPlan), (plan.tasks[0], CompactionTask)):
        assert pickle.loads(pickle.dumps(value)) == value
        assert cls.from_json(value.json()) == value
    assert [f.id for f in plan.tasks[0].fragments][:2] == [0, 1]
    results = [
        pickle.loads(pickle.dumps(task)).execute(glaive.dataset(path)) for task in plan.tasks
    ]
    results = [pickle.loads(pickle.dumps(result)) for result in results]
    assert all(isinstance(result, RewriteResult) for result in results)
    assert small.version == 1 and lance.dataset(path).version == 1
    metrics = Compaction.commit(small, results)
    assert metrics.fragments_removed == sum(len(r.original_fragments) for r in results)
    assert small.version == lance.dataset(path).version > 1
    assert small.to_table()["a"].to_pylist() == list(range(30))


def said(value):
    """The value without what is null or an empty list, which pylance leaves out."""
    if isinstance(value, list):
        return [said(item) for item in value]
    if isinstance(value, dict):
        return {k: said(v) for k, v in value.items() if v is not None and v != []}
    return value


def test_json_is_pylances(small, path):
    ours = json.loads(Compaction.plan(small, {}).json())
    theirs = json.loads(lance.optimize.Compaction.plan(lance.dataset(path), {}).json())
    assert said(ours["tasks"]) == said(theirs["tasks"])
    assert ours["read_version"] == theirs["read_version"]
    task = Compaction.plan(small, {}).tasks[0]
    theirs = lance.optimize.CompactionTask.from_json(task.json())
    assert [f.id for f in theirs.fragments] == [f.id for f in task.fragments]


@pytest.mark.parametrize("option", ["io_buffer_size", "binary_copy_read_batch_bytes"])
def test_hints_are_taken(small, option):
    assert Compaction.plan(small, {option: 1 << 20}).num_tasks() == 1


def test_options_as_none_are_the_defaults(small):
    options = dict.fromkeys(glaive.optimize.CompactionOptions.__annotations__)
    assert Compaction.plan(small, options) == Compaction.plan(small, {})
    with pytest.raises(NotImplementedError, match="defer_index_remap"):
        Compaction.plan(small, {"defer_index_remap": True})
    with pytest.raises(ValueError, match="compaction_mode"):
        Compaction.plan(small, {"compaction_mode": "quick"})
