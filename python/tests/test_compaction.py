"""Compaction in one step and in pieces."""

import json
import pickle
import re

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
    with pytest.raises(ValueError, match="compaction_mode"):
        Compaction.plan(small, {"compaction_mode": "quick"})


SETTINGS = {
    "target_rows_per_fragment": ("7", 7),
    "target_bytes_per_fragment": ("7000", 7000),
    "rewrite_small_pages": ("True", True),
    "memory_limit": ("80000000", 80_000_000),
    "max_rows_per_group": ("9", 9),
    "max_bytes_per_file": ("10000", 10_000),
    "max_page_bytes": ("11", 11),
    "data_cache_bytes": ("12", 12),
    "materialize_deletions": ("FALSE", False),
    "materialize_deletions_threshold": ("0.25", 0.25),
    "max_overlays_per_fragment": ("3", 3),
    "defer_index_remap": ("TRUE", True),
    "num_threads": ("2", 2),
    "batch_size": ("13", 13),
    "max_source_fragments": ("14", 14),
    "max_source_rows": ("15", 15),
    "max_source_bytes": ("16", 16),
    "data_storage_version": ("2.1", "2.1"),
}


@pytest.mark.parametrize("name", [*SETTINGS, "compaction_mode"])
def test_the_config_is_read(small, name):
    text, value = SETTINGS.get(name, ("try_binary_copy", "try_binary_copy"))
    key = f"lance.compaction.{name}"
    small.update_config({key: text})
    options = Compaction.plan(small, {})._native.options
    if name == "compaction_mode":
        assert options.mode.name == value
    else:
        assert getattr(options, name) == value
    for wrong in ("", "many", "-1", "nan", "1.5x"):
        small.update_config({key: wrong})
        for call in (Compaction.plan, Compaction.execute):
            with pytest.raises((ValueError, NotImplementedError), match=re.escape(key)) as error:
                call(small, {})
            assert wrong in str(error.value)
    # An option that is given is not looked up.
    Compaction.plan(small, {name: value})


@pytest.mark.parametrize(
    "name, text",
    [("io_buffer_size", "+7"), ("binary_copy_read_batch_bytes", "+7"), ("index_remap_mode", "Compact")],
)
def test_the_config_is_checked_where_it_has_no_effect(small, name, text):
    key = f"lance.compaction.{name}"
    small.update_config({key: text})
    Compaction.plan(small, {})
    small.update_config({key: "many"})
    with pytest.raises(ValueError, match=f"{re.escape(key)}: 'many'"):
        small.optimize.compact_files()


@pytest.mark.parametrize("by_config", [False, True])
def test_nothing_is_deferred_where_there_is_something(path, by_config):
    """As in pylance, where there is nothing that could follow the rows the option does not matter."""

    def compact(engine, with_index):
        engine.write_dataset(pa.table({"a": range(60)}), path, mode="overwrite", max_rows_per_file=20)
        if with_index:
            lance.dataset(path).create_scalar_index("a", "BTREE")
        table = engine.dataset(path)
        if by_config:
            table.update_config({"lance.compaction.defer_index_remap": "true"})
        table.optimize.compact_files(**({} if by_config else {"defer_index_remap": True}))
        return len(table.get_fragments())

    assert compact(glaive, False) == compact(lance, False) == 1
    with pytest.raises(NotImplementedError, match="defer_index_remap.*'a_idx'"):
        compact(glaive, True)
    # False overrules the config.
    glaive.dataset(path).optimize.compact_files(defer_index_remap=False)
    assert len(glaive.dataset(path).get_fragments()) == 1


@pytest.mark.parametrize("engine", [glaive, lance])
def test_nothing_is_deferred_with_stable_row_ids(path, engine):
    rows = pa.table({"a": range(60)})
    engine.write_dataset(rows, path, max_rows_per_file=20, enable_stable_row_ids=True)
    table = engine.dataset(path)
    table.update_config({"lance.compaction.defer_index_remap": "true"})
    with pytest.raises(Exception, match="defer_index_remap.*stable row"):
        table.optimize.compact_files()


def test_signs_in_the_config(small):
    key = "lance.compaction.target_rows_per_fragment"
    small.update_config({key: "+7"})
    assert Compaction.plan(small, {})._native.options.target_rows_per_fragment == 7
    for wrong in ("+", "++7", "+-7"):
        small.update_config({key: wrong})
        with pytest.raises(ValueError, match=re.escape(f"{key}: '{wrong}'")):
            Compaction.plan(small, {})


def test_no_limit_on_overlays(small):
    small.update_config({"lance.compaction.max_overlays_per_fragment": "none"})
    assert Compaction.plan(small, {})._native.options.max_overlays_per_fragment == 2**64 - 1
    small.update_config({"lance.compaction.memory_limit": "0"})
    with pytest.raises(ValueError, match="lance.compaction.memory_limit: '0'.*at least 67108864"):
        small.optimize.compact_files()


def test_a_limit_on_memory_that_would_make_small_pages(small):
    before = small.version
    for limit in (0, 1, (64 << 20) - 1):
        with pytest.raises(ValueError, match=f"memory_limit is {limit} bytes.*at least 67108864"):
            small.optimize.compact_files(memory_limit=limit)
    assert glaive.dataset(small.uri).version == before
    small.optimize.compact_files(memory_limit=64 << 20)
