"""Compactions that copy and join pages, read back by both engines."""

import glaive
import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute  # noqa: F401
import pytest
from lance.file import LanceFileReader


def lists(random, num_rows, items, nulls):
    """Rows of about so many int16, with null items, null lists and empty ones if there are nulls."""
    lengths = random.integers(items // 2, items * 3 // 2, num_rows)
    if nulls:
        lengths[random.random(num_rows) < 0.1] = 0
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    total = int(offsets[-1])
    values = random.integers(-30000, 30000, total).astype(np.int16)
    items = pa.array(values, mask=random.random(total) < 0.1 if nulls else None)
    mask = pa.array(random.random(num_rows) < 0.1) if nulls else None
    return pa.ListArray.from_arrays(pa.array(offsets), items, mask=mask)


def nested(random, num_rows):
    inner = lists(random, 4 * num_rows, 300, True)
    offsets = pa.array(np.arange(0, 4 * num_rows + 1, 4, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, inner)


def structs(random, num_rows):
    """Two leaves: packed numbers, and floats with nulls above them."""
    packed = pa.array(random.integers(0, 1 << 40, num_rows))
    floats = pa.array(random.standard_normal(num_rows), mask=random.random(num_rows) < 0.2)
    return pa.StructArray.from_arrays([packed, floats], ["p", "f"])


def vectors(random, num_rows, width=96):
    values = pa.array(random.standard_normal(num_rows * width, dtype=np.float32))
    return pa.FixedSizeListArray.from_arrays(values, width)


def long_strings(random, num_rows):
    return pa.array([random.bytes(int(n)).hex() for n in random.integers(100, 400, num_rows)])


def packed_lists(random, num_rows):
    """Lists of numbers that are packed to another width each time."""
    offsets = np.concatenate([[0], np.cumsum(random.integers(0, 11, num_rows))]).astype(np.int32)
    values = random.integers(0, 1 << int(random.integers(20, 40)), int(offsets[-1]))
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


def lists_of_structs(random, num_rows):
    offsets = pa.array(np.arange(0, 3 * num_rows + 1, 3, dtype=np.int32))
    floats = pa.array(random.standard_normal(3 * num_rows), mask=random.random(3 * num_rows) < 0.1)
    points = vectors(random, 3 * num_rows, 4)
    return pa.ListArray.from_arrays(
        offsets, pa.StructArray.from_arrays([floats, points], ["f", "p"])
    )


def binaries(random, num_rows, width):
    nulls = pa.array(random.random(num_rows) < 0.1)
    values = pa.array([random.bytes(width) for _ in range(num_rows)], pa.binary(width))
    return pa.compute.if_else(nulls, pa.scalar(None, values.type), values)


MAKERS = {
    "lists": lambda r: lists(r, int(r.integers(100, 140)), 7000, False),
    "lists_nulls": lambda r: lists(r, int(r.integers(120, 150)), 7000, True),
    "nested": lambda r: nested(r, int(r.integers(600, 700))),
    "structs": lambda r: structs(r, int(r.integers(300_000, 310_000))),
    "vectors": lambda r: vectors(r, int(r.integers(3000, 4000))),
    "long_strings": lambda r: long_strings(r, int(r.integers(2000, 3000))),
    "packed_lists": lambda r: packed_lists(r, int(r.integers(100_000, 110_000))),
    "lists_of_structs": lambda r: lists_of_structs(r, int(r.integers(50_000, 60_000))),
    "small_vectors": lambda r: vectors(r, int(r.integers(60_000, 70_000)), 5),
    "binaries_in_chunks": lambda r: binaries(r, int(r.integers(30_000, 32_000)), 40),
    "zipped_binaries": lambda r: binaries(r, int(r.integers(300, 400)), 400),
}


def pages(path):
    (fragment,) = lance.dataset(path).get_fragments()
    metadata = LanceFileReader(f"{path}/data/{fragment.data_files()[0].path}").metadata()
    return [len(column.pages) for column in metadata.columns]


def check(path, expected, random):
    for engine in (lance, glaive):
        dataset = engine.dataset(path)
        dataset.validate()
        assert dataset.to_table().equals(expected.cast(dataset.schema))
        rows = sorted(random.choice(len(expected), 40, replace=False).tolist())
        assert dataset.take(rows).to_pylist() == expected.take(rows).to_pylist()


@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("writer", [lance, glaive], ids=lambda engine: engine.__name__)
@pytest.mark.parametrize("kind", MAKERS)
def test_joined_pages_hold_the_rows(tmp_path, kind, writer, version):
    random = np.random.default_rng([len(kind), len(version), len(writer.__name__)])
    path = str(tmp_path / "t")
    tables = []
    for i in range(5):
        column = MAKERS[kind](random)
        tables.append(pa.table({"v": column, "id": pa.array(range(len(column)))}))
        mode = "append" if i else "create"
        writer.write_dataset(tables[-1], path, mode=mode, data_storage_version=version)
    glaive.dataset(path).optimize.compact_files()
    assert set(pages(path)) == {1}
    check(path, pa.concat_tables(tables), random)


def test_joined_pages_join_again(tmp_path):
    random = np.random.default_rng(5)
    path = str(tmp_path / "t")
    tables = []
    for i in range(4):
        tables.append(pa.table({"v": lists(random, 101, 7001, True)}))
        glaive.write_dataset(tables[-1], path, mode="append" if i else "create")
        glaive.dataset(path).optimize.compact_files(compaction_mode="try_binary_copy")
        assert pages(path) == [1]
    check(path, pa.concat_tables(tables), random)


def test_pages_that_lie_in_two_files_are_made_anew(tmp_path):
    random = np.random.default_rng(6)
    path = str(tmp_path / "t")
    tables = [pa.table({"v": lists(random, 100, 7000, False)}) for _ in range(4)]
    for i, table in enumerate(tables):
        glaive.write_dataset(table, path, mode="append" if i else "create")
    glaive.dataset(path).optimize.compact_files(target_rows_per_fragment=150)
    dataset = lance.dataset(path)
    assert [f.count_rows() for f in dataset.get_fragments()] == [200, 200]
    check(path, pa.concat_tables(tables), random)


def test_force_is_refused_in_pylances_words(tmp_path):
    path = str(tmp_path / "t")
    for i in range(3):
        glaive.write_dataset(pa.table({"a": range(10)}), path, mode="append" if i else "create")
    glaive.dataset(path).delete("a = 3")
    for engine in (lance, glaive):
        with pytest.raises(Exception, match="binary copy is not supported") as refused:
            engine.dataset(path).optimize.compact_files(compaction_mode="force_binary_copy")
    assert isinstance(refused.value, glaive.errors.Unsupported)
    glaive.dataset(path).optimize.compact_files(compaction_mode="try_binary_copy")
    assert lance.dataset(path).count_rows() == 27


def test_force_copies_what_it_can(tmp_path):
    path = str(tmp_path / "t")
    for i in range(3):
        glaive.write_dataset(pa.table({"a": range(10)}), path, mode="append" if i else "create")
    glaive.dataset(path).optimize.compact_files(compaction_mode="force_binary_copy")
    assert pages(path) == [1]
    assert lance.dataset(path).to_table()["a"].to_pylist() == 3 * list(range(10))


@pytest.mark.parametrize("writer", [lance, glaive], ids=lambda engine: engine.__name__)
def test_many_empty_lists_between_values(tmp_path, writer):
    """So many that chunks which move by a value may have more levels than a chunk can."""
    random = np.random.default_rng(9)
    path = str(tmp_path / "t")
    tables = []
    for i in range(4):
        values = pa.array([random.bytes(200) for _ in range(6001)], pa.binary(200))
        gaps = np.zeros(6001, np.int64)
        gaps[random.choice(6001, 40, replace=False)] = 7000
        gaps[1000:1003] = 7000
        offsets = np.repeat(np.arange(6002), np.append(gaps, 0) + 1)
        column = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)
        tables.append(pa.table({"v": column}))
        writer.write_dataset(tables[-1], path, mode="append" if i else "create")
    glaive.dataset(path).optimize.compact_files(target_rows_per_fragment=10_000_000)
    check(path, pa.concat_tables(tables), random)
