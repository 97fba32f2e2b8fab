"""Re-encoding compaction must form pages as a direct write does, within row and byte limits.

The rule tested here: a column's page is cut at `max_page_bytes`, when the writer's buffers reach `data_cache_bytes`
and this column holds most, and at an explicit `max_rows_per_group` once it holds 8 MiB; nowhere else. Bytes are those of
the rows, before encoding; a limit of the format itself may cut too. Fragment borders and scan batches leave no trace.
"""
import pickle

import numpy as np
import pyarrow as pa
import pytest

import corpus
from harness import submodule
from oracle import assert_same, page_counts, page_sizes, rows_sorted
from rss import peak_growth

MIB = 1 << 20
versions = pytest.mark.parametrize("version", corpus.VERSIONS, ids=lambda v: f"v{v}")


def lists(rows, items_per_row, seed=0) -> pa.Table:
    rng = np.random.default_rng(seed)
    items = rng.integers(-100, 100, rows * items_per_row, dtype=np.int16)
    offsets = np.arange(0, (rows + 1) * items_per_row, items_per_row, dtype=np.int32)
    return pa.table({"feat": pa.ListArray.from_arrays(pa.array(offsets), pa.array(items)), "id": np.arange(rows)})


def small_fragments(oracle, path, table, rows_per_file, **options):
    """One file, so one page per column, for every `rows_per_file` rows."""
    oracle.write_dataset(table, path, max_rows_per_file=rows_per_file, **options)
    assert len(oracle.dataset(path).get_fragments()) == -(-table.num_rows // rows_per_file)


def compact(impl, path, **options):
    dataset = impl.dataset(path)
    metrics = dataset.optimize.compact_files(compaction_mode="reencode", **options)
    return dataset, metrics


# --- pages --------------------------------------------------------------------------------------------------


@versions
def test_small_lists_become_one_page(impl, oracle, workdir, version):
    table = lists(rows=6000, items_per_row=20)
    small_fragments(oracle, workdir / "ds", table, 300, data_storage_version=version)
    compact(impl, workdir / "ds")
    dataset = oracle.dataset(workdir / "ds")
    direct = oracle.write_dataset(table, workdir / "direct", data_storage_version=version)
    for column in (0, 1):
        assert page_counts(dataset, column) == page_counts(direct, column) == [1]
    assert_same(dataset.to_table(), table)


PAGE_PER_FRAGMENT = "pylance writes one page per source fragment once a fragment exceeds the writer's 8 MiB buffer"


@pytest.mark.beyond_pylance(PAGE_PER_FRAGMENT)
@pytest.mark.parametrize("version", corpus.SINCE_21, ids=lambda v: f"v{v}")
def test_fat_lists_are_coalesced(impl, oracle, workdir, version):
    """A short form of the reproduction at full size below: 4 fragments of 10 MB each."""
    table = lists(rows=1000, items_per_row=20_000)
    small_fragments(oracle, workdir / "ds", table, 250, data_storage_version=version)
    compact(impl, workdir / "ds", batch_size=1000)
    dataset = oracle.dataset(workdir / "ds")
    direct = oracle.write_dataset(table, workdir / "direct", data_storage_version=version)
    assert page_counts(dataset) == page_counts(direct)
    assert_same(dataset.to_table(), table)


@pytest.mark.slow
@pytest.mark.beyond_pylance(PAGE_PER_FRAGMENT)
def test_reproduction_at_full_size(impl, oracle, workdir):
    """20 fragments x 300 rows x 20,000 int16: one page after compaction."""
    table = lists(rows=6000, items_per_row=20_000)
    small_fragments(oracle, workdir / "ds", table, 300)
    compact(impl, workdir / "ds", batch_size=6000)
    assert page_counts(oracle.dataset(workdir / "ds")) == [1]


@pytest.mark.parametrize("kind", ["int64", "utf8", "binary", "fsl_f32", "struct", "list_struct", "dict_i32_large_utf8"])
def test_other_columns_become_one_page(impl, oracle, workdir, kind):
    shape = corpus.Shape(2000, nulls=0.1)
    table = corpus.Case(kind, corpus.TYPES[kind], "compact", shape, "2.2").table()
    small_fragments(oracle, workdir / "ds", table, 100)
    compact(impl, workdir / "ds")
    dataset = oracle.dataset(workdir / "ds")
    direct = oracle.write_dataset(table, workdir / "direct")
    assert page_counts(dataset, 1) == page_counts(direct, 1)
    assert_same(dataset.to_table(), table)


def test_uneven_and_single_row_fragments(impl, oracle, workdir):
    rng = np.random.default_rng(4)
    table, start = lists(rows=400, items_per_row=10), 0
    while start < 400:
        size = int(rng.choice([1, 1, 2, 37]))
        oracle.write_dataset(table.slice(start, size), workdir / "ds", mode="append")
        start += size
    compact(impl, workdir / "ds")
    dataset = oracle.dataset(workdir / "ds")
    assert page_counts(dataset, 0) == page_counts(dataset, 1) == [1]
    assert_same(dataset.to_table(), table)


# --- limits -----------------------------------------------------------------------------------------------------


@pytest.mark.beyond_pylance("pylance's compact_files has no byte limit for pages")
@pytest.mark.parametrize("limit", [64 << 10, 256 << 10, MIB])
@pytest.mark.parametrize("option", ["max_page_bytes", "data_cache_bytes"])
def test_byte_limit(impl, oracle, workdir, option, limit):
    """No page above the limit (plus one row), and no more pages than twice the ideal number."""
    row_bytes = 2000
    table = lists(rows=3000, items_per_row=row_bytes // 2)
    small_fragments(oracle, workdir / "ds", table, 150)
    compact(impl, workdir / "ds", **{option: limit})
    dataset = oracle.dataset(workdir / "ds")
    sizes = page_sizes(dataset)
    columns = 2 if option == "data_cache_bytes" else 1  # that budget is shared by the columns
    assert max(sizes) <= limit + row_bytes
    assert len(sizes) <= 2 * columns * -(-table.num_rows * row_bytes // limit)
    assert_same(dataset.to_table(), table)


@pytest.mark.beyond_pylance("pylance ignores max_rows_per_group for 2.x files")
@pytest.mark.parametrize("group", [1000, 1500])
def test_row_limit(impl, oracle, workdir, group):
    """Rows of 10 KB: a page ends at the limit, since it then holds more than 8 MiB."""
    table = lists(rows=3000, items_per_row=5000)
    small_fragments(oracle, workdir / "ds", table, 120)
    compact(impl, workdir / "ds", max_rows_per_group=group)
    dataset = oracle.dataset(workdir / "ds")
    assert page_counts(dataset) == [-(-3000 // group)]
    assert_same(dataset.to_table(), table)


def test_row_limit_never_shreds_narrow_columns(impl, oracle, workdir):
    """A page that holds less than 8 MiB is not ended by a row limit."""
    table = lists(rows=3000, items_per_row=50)
    small_fragments(oracle, workdir / "ds", table, 120)
    compact(impl, workdir / "ds", max_rows_per_group=250)
    dataset = oracle.dataset(workdir / "ds")
    assert page_counts(dataset, 0) == page_counts(dataset, 1) == [1]
    assert_same(dataset.to_table(), table)


@pytest.mark.parametrize("batch_size", [1, 7, 300, 6000])
def test_batch_size_leaves_no_trace(impl, oracle, workdir, batch_size):
    table = lists(rows=600, items_per_row=10)
    small_fragments(oracle, workdir / "ds", table, 50)
    compact(impl, workdir / "ds", batch_size=batch_size)
    dataset = oracle.dataset(workdir / "ds")
    assert page_counts(dataset) == [1]
    assert_same(dataset.to_table(), table)


@pytest.mark.parametrize("target", [100, 333, 1000])
def test_target_rows_bound_the_output(impl, oracle, workdir, target):
    table = lists(rows=1000, items_per_row=4)
    small_fragments(oracle, workdir / "ds", table, 20)
    compact(impl, workdir / "ds", target_rows_per_fragment=target)
    counts = [f.count_rows() for f in oracle.dataset(workdir / "ds").get_fragments()]
    assert max(counts) < 2 * target
    assert min(counts) >= target // 2
    assert_same(oracle.dataset(workdir / "ds").to_table(), table)


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.beyond_pylance("pylance's peak grows with the size of the table")
def test_peak_memory_is_bounded(impl, oracle, workdir):
    """128 MB of source rows, budget 16 MiB: the peak stays below two budgets, 64 MiB and one source batch."""
    rng = np.random.default_rng(0)
    for start in range(0, 3200, 200):
        rows = pa.table({"id": np.arange(start, start + 200), "b": [rng.bytes(40_000) for _ in range(200)]})
        oracle.write_dataset(rows, workdir / "ds", mode="append")
    oracle.write_dataset(pa.table({"a": [1]}), workdir / "warm")
    statement = "engine.dataset(path).optimize.compact_files(compaction_mode='reencode', num_threads=1, data_cache_bytes=16 << 20)"
    if impl is oracle:  # pylance has no byte budget for compaction; its smallest batch is the closest
        statement = statement.replace("data_cache_bytes=16 << 20", "batch_size=20")
    grown = peak_growth(impl, statement, path=str(workdir / "ds"), warm=str(workdir / "warm"))
    assert grown < (2 * 16 + 64 + 8) * MIB, f"peak grew by {grown / MIB:.0f} MiB"


# --- content ------------------------------------------------------------------------------------------------------


MODES = ["reencode", "try_binary_copy", "force_binary_copy"]


@pytest.mark.parametrize("mode", MODES)
@versions
def test_content_survives_each_mode(impl, oracle, workdir, version, mode):
    names = ["int32", "utf8", "list_i32", "fsl_f32", "bool", "decimal128", "timestamp_us_tz"]
    builder = corpus.Builder(np.random.default_rng(6), corpus.Shape(500), null_structs=version != "2.0")
    table = pa.table({name: builder.column(corpus.TYPES[name].type) for name in names})
    small_fragments(oracle, workdir / "ds", table, 60, data_storage_version=version)
    dataset = impl.dataset(workdir / "ds")
    dataset.optimize.compact_files(compaction_mode=mode)
    assert len(dataset.get_fragments()) == 1
    oracle.dataset(workdir / "ds").validate()
    assert_same(oracle.dataset(workdir / "ds").to_table(), table)
    assert_same(dataset.to_table(), table)


@pytest.mark.parametrize("stable", [True, False], ids=["stable_ids", "addresses"])
def test_row_ids(impl, oracle, workdir, stable):
    small_fragments(oracle, workdir / "ds", lists(400, 5), 40, enable_stable_row_ids=stable)
    oracle.dataset(workdir / "ds").delete("id % 7 = 2")
    before = oracle.dataset(workdir / "ds").to_table(columns=["id"], with_row_id=True)
    compact(impl, workdir / "ds")
    after = oracle.dataset(workdir / "ds").to_table(columns=["id"], with_row_id=True)
    assert after["id"] == before["id"]
    assert (after["_rowid"] == before["_rowid"]) == stable
    if stable:
        picks = before["_rowid"].to_pylist()[50:60]
        assert impl.dataset(workdir / "ds")._take_rows(picks)["id"].to_pylist() == before["id"].to_pylist()[50:60]


def test_deletions_are_materialised(impl, oracle, workdir):
    table = lists(600, 5)
    small_fragments(oracle, workdir / "ds", table, 100)
    oracle.dataset(workdir / "ds").delete("id % 3 = 0 OR id BETWEEN 200 AND 299")
    _, metrics = compact(impl, workdir / "ds", materialize_deletions_threshold=0.0)
    dataset = oracle.dataset(workdir / "ds")
    assert [f.num_deletions for f in dataset.get_fragments()] == [0]
    assert metrics.fragments_removed == 5 and metrics.fragments_added == 1
    ids = table["id"].to_numpy()
    assert_same(dataset.to_table(), table.filter(pa.array((ids % 3 != 0) & ~((ids >= 200) & (ids < 300)))))


@pytest.mark.parametrize("threshold, rewritten", [(0.05, True), (0.5, False)])
def test_deletion_threshold(impl, oracle, workdir, threshold, rewritten):
    """One fragment above the target size is only rewritten if enough of it is deleted."""
    oracle.write_dataset(lists(100, 3), workdir / "ds")
    oracle.dataset(workdir / "ds").delete("id < 10")
    options = {"target_rows_per_fragment": 50, "materialize_deletions_threshold": threshold}
    _, metrics = compact(impl, workdir / "ds", **options)
    assert (metrics.fragments_removed > 0) == rewritten
    assert oracle.dataset(workdir / "ds").count_rows() == 90


def test_dropped_columns_leave_the_files(impl, oracle, workdir):
    small_fragments(oracle, workdir / "ds", lists(200, 200), 20)
    oracle.dataset(workdir / "ds").drop_columns(["feat"])
    compact(impl, workdir / "ds")
    (fragment,) = oracle.dataset(workdir / "ds").get_fragments()
    assert [f.fields for f in fragment.metadata.files] == [[2]]


def test_added_null_column_and_mixed_layouts(impl, oracle, workdir):
    path = workdir / "ds"
    small_fragments(oracle, path, pa.table({"id": range(30)}), 10)
    oracle.dataset(path).add_columns(pa.field("n", pa.int32()))
    oracle.write_dataset(pa.table({"id": [30], "n": pa.array([5], pa.int32())}), path, mode="append")
    oracle.dataset(path).add_columns({"m": "id * 2"})
    expected = oracle.dataset(path).to_table()
    dataset, _ = compact(impl, path)
    assert_same(oracle.dataset(path).to_table(), expected)
    assert_same(dataset.to_table(), expected)
    dataset.validate()


@pytest.mark.parametrize("version", ["2.0", "2.1"], ids=lambda v: f"v{v}")
def test_legacy_blobs(impl, oracle, workdir, version):
    blob = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    schema = pa.schema([pa.field("id", pa.int64()), blob])
    values = [None if i % 5 == 0 else b"" if i % 5 == 1 else bytes([i]) * (i * 100) for i in range(40)]
    small_fragments(oracle, workdir / "ds", pa.table([range(40), values], schema=schema), 8, data_storage_version=version)
    compact(impl, workdir / "ds")
    blobs = oracle.dataset(workdir / "ds").take_blobs("b", indices=list(range(40)))
    assert [None if b is None else b.read() for b in blobs] == values


@pytest.mark.parametrize("version", ["2.2", "2.3"], ids=lambda v: f"v{v}")
def test_blobs_v2(impl, oracle, workdir, version):
    values = [None if i % 5 == 0 else b"" if i % 5 == 1 else bytes([i]) * (i * 3000) for i in range(40)]
    schema = pa.schema([pa.field("id", pa.int64()), oracle.blob_field("b")])
    table = pa.table([pa.array(range(40), pa.int64()), oracle.blob_array(values)], schema=schema)
    small_fragments(oracle, workdir / "ds", table, 8, data_storage_version=version)
    compact(impl, workdir / "ds")
    blobs = oracle.dataset(workdir / "ds").take_blobs("b", indices=list(range(40)))
    assert [None if b is None else b.read() for b in blobs] == values


# --- planning ---------------------------------------------------------------------------------------------------------


def test_second_run_does_nothing(impl, oracle, workdir):
    small_fragments(oracle, workdir / "ds", lists(1000, 3), 100)
    dataset, _ = compact(impl, workdir / "ds", target_rows_per_fragment=450)
    version = dataset.version
    _, metrics = compact(impl, workdir / "ds", target_rows_per_fragment=450)
    assert (metrics.fragments_removed, metrics.fragments_added) == (0, 0)
    assert oracle.dataset(workdir / "ds").version == version


def plan_shape(impl, path, **options):
    plan = submodule(impl, "optimize").Compaction.plan(impl.dataset(path), options)
    return [[fragment.id for fragment in task.fragments] for task in plan.tasks]


PLANS = {
    "default": {},
    "target": {"target_rows_per_fragment": 45},
    "source_fragments": {"max_source_fragments": 4, "target_rows_per_fragment": 20},
    "source_rows": {"max_source_rows": 45, "target_rows_per_fragment": 20},
    "excluded": {"excluded_fragment_ids": [3, 99]},
    "no_materialize": {"materialize_deletions": False, "target_rows_per_fragment": 10},
    "materialize": {"materialize_deletions_threshold": 0.01, "target_rows_per_fragment": 10},
}


@pytest.mark.parametrize("name", PLANS)
def test_plan_equals_the_oracles(impl, oracle, workdir, name):
    for size in (10, 10, 10, 10, 3, 30, 2, 2, 10):
        oracle.write_dataset(lists(size, 2), workdir / "ds", mode="append")
    oracle.dataset(workdir / "ds").delete("id = 1")
    assert plan_shape(impl, workdir / "ds", **PLANS[name]) == plan_shape(oracle, workdir / "ds", **PLANS[name])


def test_distributed_compaction(impl, oracle, workdir):
    """plan, execute each pickled task on its own handle, commit the pickled results."""
    path = workdir / "ds"
    table = lists(500, 5)
    small_fragments(oracle, path, table, 25)
    optimize = submodule(impl, "optimize")
    plan = optimize.Compaction.plan(impl.dataset(path), {"target_rows_per_fragment": 100})
    assert plan.num_tasks() == len(plan.tasks) > 1
    results = []
    for task in plan.tasks:
        task = pickle.loads(pickle.dumps(task))
        results.append(pickle.loads(pickle.dumps(task.execute(impl.dataset(path)))))
    metrics = optimize.Compaction.commit(impl.dataset(path), results)
    assert metrics.fragments_removed == 20
    assert metrics.fragments_added == len(oracle.dataset(path).get_fragments())
    assert_same(oracle.dataset(path).to_table(), table)


CONCURRENT = {
    "delete": lambda ds: ds.delete("id < 10"),
    "update": lambda ds: ds.update({"id": "id + 1000"}, where="id < 10"),
    "append": lambda ds: ds.insert(lists(5, 5)),
    "add_column": lambda ds: ds.add_columns({"w": "id + 1"}),
}


@pytest.mark.parametrize("name", CONCURRENT)
def test_no_resurrection(impl, oracle, workdir, name):
    """Rows changed between plan and commit are never undone: a clean conflict, or both effects."""
    path = workdir / "ds"
    small_fragments(oracle, path, lists(100, 5), 20)
    optimize = submodule(impl, "optimize")
    planned = impl.dataset(path)
    plan = optimize.Compaction.plan(planned, {})
    CONCURRENT[name](oracle.dataset(path))
    expected = rows_sorted(oracle.dataset(path).to_table())
    results = [task.execute(planned) for task in plan.tasks]
    try:
        optimize.Compaction.commit(impl.dataset(path), results)
    except OSError as error:
        assert "conflict" in str(error).lower()
    assert_same(rows_sorted(oracle.dataset(path).to_table()), expected)


def test_unknown_option(impl, oracle, workdir):
    oracle.write_dataset(pa.table({"a": [1]}), workdir / "ds")
    with pytest.raises(ValueError, match="bogus"):
        submodule(impl, "optimize").Compaction.plan(impl.dataset(workdir / "ds"), {"bogus": 1})


def test_defaults_from_the_config(impl, oracle, workdir):
    small_fragments(oracle, workdir / "ds", lists(100, 3), 10)
    oracle.dataset(workdir / "ds").update_config({"lance.compaction.target_rows_per_fragment": "20"})
    compact(impl, workdir / "ds")
    assert [f.count_rows() for f in oracle.dataset(workdir / "ds").get_fragments()] == [20] * 5


@pytest.mark.parametrize("target", ["2.1", "2.3"])
def test_output_version(impl, oracle, workdir, target):
    table = lists(100, 3)
    small_fragments(oracle, workdir / "ds", table, 10, data_storage_version="2.2")
    compact(impl, workdir / "ds", data_storage_version=target)
    (fragment,) = oracle.dataset(workdir / "ds").get_fragments()
    (data_file,) = fragment.data_files()
    assert f"{data_file.file_major_version}.{data_file.file_minor_version}" == target
    assert_same(oracle.dataset(workdir / "ds").to_table(), table)
