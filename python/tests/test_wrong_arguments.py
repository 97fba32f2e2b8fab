"""What is passed wrongly is named, with what was wanted, and leaves the table as it is."""

from datetime import timedelta

import glaive
import numpy as np
import pyarrow as pa
import pytest
from glaive.fragment import write_fragments
from glaive.optimize import Compaction, RewriteResult

ROWS = pa.table({"id": range(10), "letter": list("abcdefghij")})
MORE = ROWS.slice(0, 1)


@pytest.fixture
def table(path):
    return glaive.write_dataset(ROWS, path, max_rows_per_file=5)


def append(ds, **options):
    return glaive.write_dataset(MORE, ds.uri, mode="append", **options)


def commit(ds, read_version=1, **options):
    operation = glaive.LanceOperation.Append([])
    return glaive.LanceDataset.commit(ds.uri, operation, read_version, **options)


def compact(**options):
    return lambda ds: ds.optimize.compact_files(**options)


def maintain(**options):
    return lambda ds: glaive.maintain(ds, **options)


WRONG_TYPES = {
    "memory_limit must be an int or None, got '1GB'": compact(memory_limit="1GB"),
    "max_page_bytes must be an int or None, got 1.5": compact(max_page_bytes=1.5),
    "num_threads must be an int or None, got '2'": compact(num_threads="2"),
    "materialize_deletions must be a bool or None, got 1": compact(materialize_deletions=1),
    "materialize_deletions_threshold must be a float or None, got 'x'": compact(
        materialize_deletions_threshold="x"
    ),
    "data_storage_version must be a str or None, got 2.1": compact(data_storage_version=2.1),
    "excluded_fragment_ids must be a list of int, got ['0']": compact(excluded_fragment_ids=["0"]),
    "excluded_fragment_ids must be a list of int, got 5": compact(excluded_fragment_ids=5),
    "target_rows_per_fragment must be an int or None, got '3'": lambda ds: Compaction.plan(
        ds, {"target_rows_per_fragment": "3"}
    ),
    "compaction options must be a dict, got 'x'": lambda ds: Compaction.execute(ds, "x"),
    "dataset must be a LanceDataset, got 'd.lance'": lambda ds: Compaction.plan("d.lance", {}),
    "got a str in it: RewriteResult.from_json": lambda ds: Compaction.commit(ds, ["{}"]),
    "got a CompactionTask in it: CompactionTask.execute": lambda ds: Compaction.commit(
        ds, Compaction.plan(ds, {}).tasks
    ),
    "rewrites must be a list of RewriteResult, got 'x'": lambda ds: Compaction.check(ds, "x"),
    "time_limit must be a datetime.timedelta, got '2h'": maintain(time_limit="2h"),
    "older_than must be a datetime.timedelta, got 14": maintain(older_than=14),
    "orphan_age must be a datetime.timedelta, got '7d'": maintain(orphan_age="7d"),
    "commit_interval must be a datetime.timedelta, got 60": maintain(commit_interval=60),
    "canary must be a bool, got 'yes'": maintain(canary="yes"),
    "older_than must be a datetime.timedelta or None, got 14": lambda ds: ds.cleanup_old_versions(14),
    "versions must be a list of int or None, got ['1']": lambda ds: ds.cleanup_old_versions(
        versions=["1"]
    ),
    "limit must be an int or None, got '5'": lambda ds: ds.to_table(limit="5"),
    "offset must be an int or None, got 1.5": lambda ds: ds.to_table(offset=1.5),
    "num_rows must be an int or None, got 'x'": lambda ds: ds.head("x"),
    "batch_size must be an int or None, got '5'": lambda ds: ds.to_table(batch_size="5"),
    "with_row_id must be a bool, got 'x'": lambda ds: ds.to_table(with_row_id="x"),
    "order_by must be a list of columns' names": lambda ds: ds.to_table(order_by="letter"),
    "column 'id' an SQL expression as a str, such as '5', got 5": lambda ds: ds.update({"id": 5}),
    "updates must be a dict": lambda ds: ds.update("id = 5"),
    "retry_timeout must be a datetime.timedelta, got 5": lambda ds: ds.delete("id < 3", retry_timeout=5),
    "conflict_retries must be an int, got '5'": lambda ds: ds.delete("id < 3", conflict_retries="5"),
    "version must be an int or None, got '2'": lambda ds: glaive.WriteTarget.cached(ds.uri, "2"),
    "storage_options must be a dict of str to str": lambda ds: glaive.WriteTarget.cached(ds.uri, 1, {1: 2}),
    "metadata_cache_size_bytes must be an int or None, got '1GB'": lambda ds: glaive.Session(
        metadata_cache_size_bytes="1GB"
    ),
    "version must be an int, the name of a tag": lambda ds: glaive.dataset(ds.uri, version=1.5),
    "reference must be an int, the name of a tag": lambda ds: ds.create_branch("b", 1.5),
    "session must be a Session or None, got 'x'": lambda ds: glaive.dataset(ds.uri, session="x"),
    "fragment_id must be an int or None, got '0'": lambda ds: ds.get_fragment("0"),
    "values must be a dict of str to str or None, got {'a': 1}": lambda ds: ds.update_config({"a": 1}),
    "max_rows_per_file must be an int or None, got 'x'": lambda ds: append(ds, max_rows_per_file="x"),
    "max_page_bytes must be an int or None, got '1MB'": lambda ds: append(ds, max_page_bytes="1MB"),
    "commit_message must be a str or None, got 5": lambda ds: append(ds, commit_message=5),
    "target_bases must be a list of str, got 'x'": lambda ds: append(ds, target_bases="x"),
    "max_bytes_per_file must be an int or None, got '9'": lambda ds: write_fragments(
        MORE, ds, max_bytes_per_file="9"
    ),
    "read_version must be an int or None, got '1'": lambda ds: commit(ds, "1"),
    "max_retries must be an int, got '1'": lambda ds: commit(ds, max_retries="1"),
    "idempotency_token must be a str or None, got 5": lambda ds: commit(ds, idempotency_token=5),
    "commit_timeout must be a datetime.timedelta or None, got 5": lambda ds: commit(ds, commit_timeout=5),
    "columns must be a list of str, got 'id'": lambda ds: ds.drop_columns("id"),
    "name must be a str, got 5": lambda ds: ds.alter_columns({"path": "id", "name": 5}),
    "nullable must be a bool or None": lambda ds: ds.alter_columns({"path": "id", "nullable": "x"}),
    "field_updates['id'] must be a dict": lambda ds: ds.update_field_metadata({"id": {"a": 1}}),
    "keys must be a list of str, got 'abc'": lambda ds: ds.delete_config_keys("abc"),
    "tag must be a str, got 5": lambda ds: ds.tags.create(5, 1),
    "branch must be a str, got 5": lambda ds: ds.branches.delete(5),
    "on must be a list of str, got 5": lambda ds: ds.merge_insert(5),
    "expression of column 'a' must be a str": lambda ds: ds.to_table(columns={"a": 5}),
    "compared_against must be an int or None, got '1'": lambda ds: ds.delta("1"),
    "json must be a str, got 5": lambda ds: RewriteResult.from_json(5),
    "replace must be a bool, got 'x'": lambda ds: ds.update_config({"a": "b"}, replace="x"),
    "replace must be a bool, got 1": lambda ds: ds.update_metadata({"a": "b"}, replace=1),
    "replace must be a bool, got 2": lambda ds: ds.update_schema_metadata({"a": "b"}, replace=2),
    "replace must be a bool, got 3": lambda ds: ds.update_field_metadata({"id": {"a": "b"}}, replace=3),
    "field_updates must be a dict of dict by field, got 5": lambda ds: ds.update_field_metadata(5),
    "field_name must be a str, got 5": lambda ds: ds.replace_field_metadata(5, {}),
    "transaction_properties must be a dict of str to str, got 5": lambda ds: ds.add_bases([], 5),
    "auto_cleanup_options must be a dict, got 5": lambda ds: append(ds, auto_cleanup_options=5),
    "progress must be a FragmentWriteProgress or None, got 5": lambda ds: append(ds, progress=5),
    "columns must be a list of str, got {'id': 1}": lambda ds: ds.drop_columns({"id": 1}),
    "name must be a str, got 7": lambda ds: ds.drop_index(7),
    "left_on must be a str, got 5": lambda ds: ds.merge(MORE, 5),
    "right_on must be a str, got 5": lambda ds: ds.merge(MORE, "id", 5),
    "schema must be a pyarrow.Schema, got 'x'": lambda ds: ds.new_column_schema("x"),
    "commit_message must be a str or None, got 6": lambda ds: ds.commit_column_writes([], commit_message=6),
    "transactions must be a list of Transaction, got 'x' in it": lambda ds: ds.commit_batch(ds.uri, "x"),
    "dataset must be a LanceDataset, got 5": lambda ds: glaive.LanceFragment(5, 0),
    "fragment_id must be an int or None, got 1.5": lambda ds: glaive.LanceFragment(ds, 1.5),
    "filename must be a str, got 5": lambda ds: glaive.LanceFragment.create_from_file(5, ds, 0),
    "max_rows_per_group must be an int or None, got 'x'": lambda ds: ds.stats.dataset_stats("x"),
    "num_threads must be an int or None, got 'x'": lambda ds: glaive.backfill(
        ds, {"n": "id"}, num_threads="x"
    ),
    "commit_every must be an int or None, got '2'": lambda ds: glaive.backfill(
        ds, {"n": "id"}, commit_every="2"
    ),
    "a str or a path is wanted as checkpoint, not int": lambda ds: glaive.backfill(
        ds, {"n": "id"}, checkpoint=5
    ),
    "live_rows_only must be a bool, got 5": lambda ds: ds.write_fragment_column(
        0, MORE, ds.schema, live_rows_only=5
    ),
    "reads must be a list of str, got 'id'": lambda ds: ds.write_fragment_column(
        0, MORE, ds.schema, reads="id"
    ),
    "deleted_fragment_ids must be a list of int, got ['x']": lambda ds: glaive.LanceDataset.commit(
        ds.uri, glaive.LanceOperation.Delete([], ["x"], "id = 1"), 1
    ),
    "deleted_fragment_ids must be a list, got 5": lambda ds: glaive.LanceDataset.commit(
        ds.uri, glaive.LanceOperation.Delete([], 5, "id = 1"), 1
    ),
    "predicate must be a str, got 5": lambda ds: glaive.LanceDataset.commit(
        ds.uri, glaive.LanceOperation.Delete([], [1], 5), 1
    ),
    "LanceOperation.CreateIndex: 'int' object has no": lambda ds: glaive.LanceDataset.commit(
        ds.uri, glaive.LanceOperation.CreateIndex([5], []), 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG_TYPES)
def test_type(table, text):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[text](table)
    assert text in str(caught.value)
    assert glaive.dataset(table.uri).version == 1


OUT_OF_RANGE = {
    "memory_limit must be non-negative, not -1": compact(memory_limit=-1),
    "target_rows_per_fragment must be non-negative, not -5": compact(target_rows_per_fragment=-5),
    "num_threads must be smaller, not 1": compact(num_threads=2**64),
    "retain_versions must be non-negative, not -1": maintain(retain_versions=-1),
    "conflict_retries must be non-negative, not -1": lambda ds: ds.update(
        {"id": "5"}, conflict_retries=-1
    ),
    "version must be non-negative, not -1": lambda ds: glaive.dataset(ds.uri, version=-1),
    "metadata_cache_size_bytes must be less than 18446744073709551616": lambda ds: glaive.Session(0, 2**64),
}


@pytest.mark.parametrize("text", OUT_OF_RANGE)
def test_range(table, text):
    with pytest.raises(ValueError) as caught:
        OUT_OF_RANGE[text](table)
    assert text in str(caught.value)
    assert isinstance(caught.value, OverflowError)  # pylance's
    assert glaive.dataset(table.uri).version == 1


def test_a_negative_time_is_named(table):
    with pytest.raises(ValueError, match="orphan_age is a length of time and not negative"):
        glaive.maintain(table, orphan_age=timedelta(-1))


def test_integers_of_numpy(table):
    rows = table.to_table(limit=np.int64(3), offset=np.uint8(1), batch_size=np.int32(2))
    assert rows.num_rows == 3
    assert glaive.dataset(table.uri, version=np.int64(1)).get_fragment(np.int64(1)) is not None
    append(table, max_rows_per_file=np.int64(9), max_page_bytes=np.uint64(1 << 20))
    table.checkout_latest()
    table.cleanup_old_versions(retain_versions=np.int64(2))
    compacted = table.optimize.compact_files(
        target_rows_per_fragment=np.int64(100),
        materialize_deletions_threshold=np.float64(0.5),
        excluded_fragment_ids=np.array([7]),
    )
    assert compacted.fragments_removed == 3


def test_reports_show_what_was_done(table):
    append(table)
    plan = Compaction.plan(table, {})
    assert repr(plan._native) == "CompactionPlan(read_version=1, tasks=<1>)"
    rewrite = plan.tasks[0].execute(table)
    assert repr(rewrite._native).startswith("RewriteResult(read_version=1, metrics=CompactionMetr")
    assert RewriteResult.from_json(rewrite.json()) == rewrite
    report = glaive.maintain(table)
    text = repr(report)
    assert text.startswith("MaintenanceReport(version_before=2, version=3, dry_run=False, comp")
    assert "done=CompactionLoad(tasks=1, fragments=3, rows=11, bytes=" in text
    assert "fragments_added=1, commits=1, seconds=0." in repr(report.compaction)
    assert repr(report.cleanup).startswith("CleanupReport(outcome='done', old_versions=0, bytes")
    assert " object at " not in text


NO_EFFECT = {
    "canary has no effect without compact": dict(canary=True, compact=False),
    "canary has no effect with dry_run": dict(canary=True, dry_run=True),
    "compaction has no effect without compact": dict(compaction={"num_threads": 2}, compact=False),
    "commit_interval has no effect without compact": dict(
        commit_interval=timedelta(seconds=1), compact=False
    ),
    "older_than has no effect without cleanup": dict(older_than=timedelta(3), cleanup=False),
    "retain_versions has no effect without cleanup": dict(retain_versions=3, cleanup=False),
    "orphan_age has no effect without sweep": dict(orphan_age=timedelta(3), sweep=False),
    "delete_rate_limit has no effect without cleanup and sweep": dict(
        delete_rate_limit=3, cleanup=False, sweep=False
    ),
}


@pytest.mark.parametrize("text", NO_EFFECT)
def test_what_would_have_no_effect(table, text):
    with pytest.raises(ValueError, match=text):
        glaive.maintain(table, **NO_EFFECT[text])
    assert glaive.dataset(table.uri).version == 1


@pytest.mark.parametrize("threshold", [-0.1, float("inf"), float("nan")])
def test_a_threshold_that_cannot_be(table, threshold):
    with pytest.raises(ValueError, match="materialize_deletions_threshold is .* at least 0"):
        table.optimize.compact_files(materialize_deletions_threshold=threshold)
    table.update_config({"lance.compaction.materialize_deletions_threshold": str(threshold)})
    with pytest.raises(ValueError, match="lance.compaction.materialize_deletions_threshold"):
        table.optimize.compact_files()
