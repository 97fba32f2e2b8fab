"""One run is enough: a second one with the same options finds nothing to do."""

import pathlib
import random

import lance
import lance.optimize
import pyarrow as pa
import pytest

import glaive
from glaive.optimize import Compaction


def rows_of(start, count, width=20):
    return pa.table(
        {
            "id": pa.array(range(start, start + count), pa.int64()),
            "text": [f"{i:x}" * (i % width) for i in range(start, start + count)],
        }
    )


def append(path, sizes, start=0, **options):
    for size in sizes:
        glaive.write_dataset(rows_of(start, size), path, mode="append", **options)
        start += size
    return start


def counts(dataset):
    return [fragment.count_rows() for fragment in dataset.get_fragments()]


def contents(dataset, stable):
    """All rows by id; with stable row ids also these."""
    table = dataset.to_table(with_row_id=stable)
    return table.sort_by("id")


def compact_once(path, **options):
    """The dataset after a run; both engines read what was there before, and a second run is empty."""
    stable = glaive.dataset(path).has_stable_row_ids
    before = contents(lance.dataset(path), stable)
    dataset = glaive.dataset(path)
    metrics = dataset.optimize.compact_files(**options)
    for engine in (lance, glaive):
        assert contents(engine.dataset(path), stable) == before
    lance.dataset(path).validate()
    version = dataset.version
    again = dataset.optimize.compact_files(**options)
    assert (again.fragments_removed, dataset.version) == (0, version), counts(dataset)
    return dataset, metrics


@pytest.mark.parametrize("options", [{"target_rows_per_fragment": 500}, "bytes"])
def test_no_fragment_is_below_half_the_target(path, options):
    wide = [bytes([i % 251]) * 2000 for i in range(2000)]
    for start in range(0, 2000, 200):
        table = pa.table({"id": range(start, start + 200), "data": wide[start : start + 200]})
        glaive.write_dataset(table, path, mode="append", max_page_bytes=1 << 20)
    if options == "bytes":
        sizes = [f.data_files()[0].file_size_bytes for f in glaive.dataset(path).get_fragments()]
        options = {"target_bytes_per_fragment": 5 * sizes[0] // 2}
    dataset, metrics = compact_once(path, **options)
    assert metrics.fragments_removed == 10
    assert counts(dataset) == [600, 600, 800]


@pytest.mark.parametrize("options", [{"target_rows_per_fragment": 500}, "bytes"])
def test_a_small_fragment_between_two_full_ones_stays(path, options):
    append(path, [600, 200, 600])
    if options == "bytes":
        sizes = [f.data_files()[0].file_size_bytes for f in glaive.dataset(path).get_fragments()]
        options = {"target_bytes_per_fragment": sizes[0]}
    dataset, metrics = compact_once(path, **options)
    assert metrics.fragments_removed == 0
    assert counts(dataset) == [600, 200, 600]


def test_remainders_are_joined_across_what_stays(path):
    append(path, [2, 2, 10, 3, 3, 10, 1])
    dataset, metrics = compact_once(path, target_rows_per_fragment=10)
    assert (metrics.fragments_removed, metrics.fragments_added) == (5, 1)
    assert counts(dataset) == [10, 10, 11]
    # The joined rows keep their order among themselves.
    ids = [*range(4, 14), *range(20, 30), *range(4), *range(14, 20), 30]
    assert dataset.to_table()["id"].to_pylist() == ids
    assert lance.dataset(path).to_table()["id"].to_pylist() == ids


def test_a_plan_looks_ahead_when_asked(path):
    append(path, [2, 2, 10, 3, 3, 10])
    dataset = glaive.dataset(path)

    def shape(plan):
        return [[fragment.id for fragment in task.fragments] for task in plan.tasks]

    options = {"target_rows_per_fragment": 10}
    theirs = lance.optimize.Compaction.plan(lance.dataset(path), options)
    assert shape(Compaction.plan(dataset, options)) == shape(theirs) == [[0, 1], [3, 4]]
    assert shape(Compaction.plan(dataset, {**options, "look_ahead": True})) == [[0, 1, 3, 4]]


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("mode", ["reencode", "try_binary_copy"])
def test_pylance_runs_tasks_that_are_not_adjacent(path, stable, mode):
    append(path, [2, 2, 10, 3, 3, 10], enable_stable_row_ids=stable, data_storage_version="2.1")
    lance.dataset(path).create_scalar_index("id", "BTREE")
    before = contents(lance.dataset(path), stable)
    options = {"target_rows_per_fragment": 10, "look_ahead": True, "compaction_mode": mode}
    (task,) = Compaction.plan(glaive.dataset(path), options).tasks
    dataset = lance.dataset(path)
    result = lance.optimize.CompactionTask.from_json(task.json()).execute(dataset)
    lance.optimize.Compaction.commit(dataset, [result])
    for engine in (lance, glaive):
        assert contents(engine.dataset(path), stable) == before
        assert counts(engine.dataset(path)) == [10, 10, 10]
    for number in range(30):
        assert lance.dataset(path).count_rows(f"id = {number}") == 1
    lance.dataset(path).validate()


def test_indices_go_with_joined_tasks(path):
    """Of those that can follow, only what all of them cover is joined."""
    rows = append(path, [2, 2, 10, 3, 3, 10], enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("id", "BITMAP", name="by_id")
    append(path, [1, 1, 10, 2, 2], rows)
    dataset, _ = compact_once(path, target_rows_per_fragment=10)
    covered = set(lance.dataset(path).describe_indices()[0].segments[0].fragment_ids)
    live = {fragment.fragment_id: fragment.count_rows() for fragment in dataset.get_fragments()}
    assert sorted(live[i] for i in covered) == [10, 10, 10]
    assert sorted(live[i] for i in set(live) - covered) == [6, 10]
    for number in range(46):
        assert lance.dataset(path).count_rows(f"id = {number}") == 1


def test_pages_of_one_row_say_little_of_its_size(path):
    """Files are cut by the bytes that rows take, though the pages they came in were all padding."""
    rows = 960
    table = pa.table(
        {
            "id": range(rows),
            "lists": [[[i % 7] * (i % 4)] for i in range(rows)],
            "more": [[b"x" * (i % 5)] * (i % 3) for i in range(rows)],
        }
    )
    glaive.write_dataset(table.slice(0, 940), path, max_page_bytes=1)
    glaive.write_dataset(table.slice(940), path, mode="append")
    (large, _) = [f.data_files()[0].file_size_bytes for f in glaive.dataset(path).get_fragments()]
    assert large > 300_000
    dataset, metrics = compact_once(
        path,
        target_rows_per_fragment=500,
        target_bytes_per_fragment=20_000,
        max_bytes_per_file=10_000,
        rewrite_small_pages=True,
        compaction_mode="try_binary_copy",
    )
    assert metrics.fragments_added < 10
    written = [f.data_files()[0].file_size_bytes for f in dataset.get_fragments()]
    assert all(3_000 < size < 10_000 for size in written)


@pytest.mark.parametrize("partial", [False, True])
def test_results_that_are_smaller_than_foreseen_are_joined(path, partial):
    """A small file is footer for the most part, and some of them are hardly more than one."""
    for start in (0, 2005, 4010):
        append(path, [1] * 5, start)
        append(path, [2000], start + 5, max_page_bytes=2000)
    sizes = [f.data_files()[0].file_size_bytes for f in glaive.dataset(path).get_fragments()]
    target = 6 * sizes[0]
    assert max(sizes) > target
    before = glaive.dataset(path).version
    files = set((pathlib.Path(path) / "data").iterdir())
    dataset, metrics = compact_once(path, target_bytes_per_fragment=target, partial=partial)
    assert (metrics.fragments_removed, metrics.fragments_added) == (15, 1)
    assert counts(dataset) == [2000, 2000, 2000, 15]
    assert dataset.version == before + 1
    assert len(set((pathlib.Path(path) / "data").iterdir()) - files) == 1


def test_rows_of_very_different_size_in_one_fragment(path):
    """The bytes of a fragment do not say which of its rows have them."""
    data = [random.Random(1).randbytes(100_000 if i == 2 else 10) for i in range(43)]
    glaive.write_dataset(pa.table({"id": range(43), "data": data}), path)
    append_to = [pa.table({"id": range(43 + i, 44 + i), "data": [b"x"]}) for i in range(3)]
    for table in append_to:
        glaive.write_dataset(table, path, mode="append")
    glaive.dataset(path).delete("id % 4 = 1")
    dataset, _ = compact_once(path, target_bytes_per_fragment=5000)
    assert len(dataset.get_fragments()) <= 3


def random_table(draw, path):
    stable = draw.random() < 0.5
    start = 0
    for _ in range(draw.randint(2, 12)):
        engine = draw.choice([lance, glaive])
        size = draw.choice([1, draw.randint(1, 10), draw.randint(10, 120)])
        engine.write_dataset(
            rows_of(start, size, draw.choice([3, 100])),
            path,
            mode="append",
            enable_stable_row_ids=stable,
            max_rows_per_file=draw.choice([20, 1000]),
            **({"max_page_bytes": 1} if engine is glaive and draw.random() < 0.2 else {}),
        )
        start += size
        if draw.random() < 0.2:
            low = draw.randint(0, start)
            engine.dataset(path).delete(f"id >= {low} and id < {low + draw.randint(1, 30)}")
        if draw.random() < 0.1 and not lance.dataset(path).describe_indices():
            lance.dataset(path).create_scalar_index("id", draw.choice(["BTREE", "BITMAP"]))


def random_options(draw, path):
    size = sum(
        file.file_size_bytes
        for fragment in glaive.dataset(path).get_fragments()
        for file in fragment.data_files()
    )
    options = {"target_rows_per_fragment": draw.choice([5, 30, 100, 10**6])}
    maybe = {
        "target_bytes_per_fragment": max(1, draw.randint(1, size)),
        "max_bytes_per_file": max(1, draw.randint(1, size)),
        "memory_limit": draw.choice([64 << 20, 1 << 30]),
        "materialize_deletions_threshold": draw.choice([0.0, 0.3]),
        "materialize_deletions": False,
        "rewrite_small_pages": True,
        "excluded_fragment_ids": [1, 3],
        "compaction_mode": "try_binary_copy",
        "num_threads": 3,
    }
    return options | {name: value for name, value in maybe.items() if draw.random() < 0.2}


@pytest.mark.parametrize("seed", range(40))
def test_a_second_run_is_empty_for_any_options(path, seed):
    draw = random.Random(seed)
    random_table(draw, path)
    compact_once(path, **random_options(draw, path))
