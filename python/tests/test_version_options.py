"""Every verb that makes a version takes durability, properties, a message and progress."""

import glaive
import pyarrow as pa
import pytest
from glaive import progress
from glaive.optimize import Compaction

ROWS = pa.table({"id": range(20), "x": range(20)})
MORE = pa.table({"id": range(20, 23), "x": range(3)})
Op = glaive.LanceOperation


def staged(ds):
    values = pa.table({"y": pa.array(range(10), pa.int64())})
    schema = ds.new_column_schema(values.schema)
    return [ds.write_fragment_column(i, values, schema) for i in (0, 1)]


def compact_by_hand(ds, **options):
    plan = Compaction.plan(ds, {"target_rows_per_fragment": 100})
    Compaction.commit(ds, [task.execute(ds) for task in plan.tasks], **options)


def cloned(clone):
    return lambda ds, **options: clone(ds, ds.uri + "-clone", ds.version, **options)


def appended(ds, **options):
    fragments = glaive.fragment.write_fragments(MORE, ds)
    return glaive.LanceDataset.commit(ds, Op.Append(fragments), ds.version, **options)


def batch(ds, **options):
    made = glaive.fragment.write_fragments(MORE, ds, return_transaction=True)
    result = glaive.LanceDataset.commit_batch(ds, [made], **options)
    if options["transaction_properties"]:
        assert result["merged"].transaction_properties["job"] == "7"
    return result["dataset"]


def merged(ds, **options):
    ds.merge_insert("id").when_not_matched_insert_all().execute(MORE, **options)


def merged_later(ds, **options):
    job = ds.merge_insert("id").when_not_matched_insert_all()
    transaction, _ = job.execute_uncommitted(MORE, **options)
    return glaive.LanceDataset.commit(ds, transaction)


def field_metadata(ds, **options):
    ds.update_field_metadata({"id": {"a": "b"}}, **options)


def based(ds, **options):
    ds.add_bases([glaive.DatasetBasePath(ds.uri + "-base")], **options)


VERBS = {
    "write_dataset": lambda ds, **o: glaive.write_dataset(MORE, ds, mode="append", **o),
    "write_dataset to a uri": lambda ds, **o: glaive.write_dataset(ROWS, ds.uri + "-new", **o),
    "insert": lambda ds, **o: ds.insert(MORE, **o),
    "delete": lambda ds, **o: ds.delete("id < 3", **o),
    "truncate_table": lambda ds, **o: ds.truncate_table(**o),
    "update": lambda ds, **o: ds.update({"x": "x + 1"}, "id < 3", **o),
    "merge_insert": merged,
    "merge_insert, uncommitted": merged_later,
    "add_columns": lambda ds, **o: ds.add_columns({"y": "x + 1"}, **o),
    "merge": lambda ds, **o: ds.merge(pa.table({"id": [1], "y": [2]}), "id", **o),
    "alter_columns": lambda ds, **o: ds.alter_columns({"path": "x", "name": "z"}, **o),
    "drop_columns": lambda ds, **o: ds.drop_columns(["x"], **o),
    "commit_column_writes": lambda ds, **o: ds.commit_column_writes(staged(ds), **o),
    "backfill": lambda ds, **o: glaive.backfill(ds, {"y": "x + 1"}, **o) and None,
    "compact_files": lambda ds, **o: ds.optimize.compact_files(**o) and None,
    "compact_files with canary": lambda ds, **o: (
        ds.optimize.compact_files(canary=True, **o) and None
    ),
    "Compaction.commit": compact_by_hand,
    "maintain": lambda ds, **o: glaive.maintain(ds, **o) and None,
    "restore": lambda ds, **o: ds.restore(**o),
    "create_branch": lambda ds, **o: ds.create_branch("b", **o),
    "shallow_clone": cloned(glaive.LanceDataset.shallow_clone),
    "deep_clone": cloned(glaive.LanceDataset.deep_clone),
    "update_config": lambda ds, **o: ds.update_config({"a": "b"}, **o) and None,
    "delete_config_keys": lambda ds, **o: ds.delete_config_keys(["a"], **o),
    "update_metadata": lambda ds, **o: ds.update_metadata({"a": "b"}, **o) and None,
    "update_schema_metadata": lambda ds, **o: ds.update_schema_metadata({"a": "b"}, **o) and None,
    "update_field_metadata": field_metadata,
    "add_bases": based,
    "commit": appended,
    "commit_batch": batch,
}


@pytest.mark.parametrize("verb", VERBS)
def test_verb(tmp_path, verb):
    ds = glaive.write_dataset(ROWS, tmp_path / "t", max_rows_per_file=10)
    with pytest.raises(ValueError, match="durability"):
        VERBS[verb](ds, durability="maybe", transaction_properties={})
    made = VERBS[verb](
        ds,
        durability="none",
        transaction_properties={"job": "7", "__lance_commit_message": "overruled"},
        commit_message="why",
        progress=lambda *told: None,
    )
    made = made if isinstance(made, glaive.LanceDataset) else ds
    properties = made.read_transaction(made.version).transaction_properties
    assert properties["job"] == "7"
    assert properties["__lance_commit_message"] == "why"


def test_progress_is_told_counts_and_may_end_a_call(tmp_path):
    told = []
    ds = glaive.write_dataset(ROWS, tmp_path / "t", max_rows_per_file=5, progress=told.append)
    assert isinstance(told[-1], progress.Progress) and told[-1].rows == 20
    assert "rows=20" in repr(told[-1])

    class Enough(Exception):
        pass

    def stop(now):
        raise Enough(now.rows)

    for verb in ("insert", "delete", "update", "merge_insert", "add_columns", "compact_files"):
        with pytest.raises(Enough):
            VERBS[verb](ds, progress=stop)
        assert ds.latest_version == 1, verb


def test_message_of_a_transaction_joins_its_properties(tmp_path):
    ds = glaive.write_dataset(ROWS, tmp_path / "t")
    made = glaive.fragment.write_fragments(MORE, ds, return_transaction=True)
    made.transaction_properties = {"job": "7", "a": "b"}
    ds = glaive.LanceDataset.commit(ds, made, transaction_properties={"job": "8"})
    assert ds.read_transaction(2).transaction_properties == {"job": "8", "a": "b"}
