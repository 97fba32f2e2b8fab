"""Files of version 2.3: each engine writes, the other reads, and tables of them live on."""

import glaive
import lance
import numpy as np
import pyarrow as pa
import pytest

ROWS = 5000
SPARSE = {"lance-encoding:structural-encoding": "sparse"}
rng = np.random.default_rng(23)


def texts(count, low, high):
    return [chr(97 + i % 26) * int(n) for i, n in enumerate(rng.integers(low, high, count))]


def with_nulls(values, kind, share=0.3):
    return pa.array(values, kind, mask=rng.random(len(values)) < share)


def lists(kind, values, most=6):
    out, at = [], 0
    for n in rng.integers(-1, most, ROWS):
        if n < 0:
            out.append(None)
        else:
            out.append([values[(at + i) % len(values)] for i in range(n)])
            at += int(n)
    return pa.array(out, pa.list_(kind))


COLUMNS = {
    "int32": lambda: with_nulls(rng.integers(0, 1 << 30, ROWS), pa.int32()),
    "int64 sorted": lambda: pa.array(np.arange(ROWS)),
    "runs": lambda: with_nulls(np.repeat(rng.integers(0, 1 << 40, ROWS // 50), 50), pa.int64()),
    "few": lambda: with_nulls(rng.integers(0, 1 << 40, 9)[rng.integers(0, 9, ROWS)], pa.int64()),
    "constant with nulls": lambda: with_nulls(np.full(ROWS, 7), pa.int16()),
    "all null": lambda: pa.nulls(ROWS, pa.float64()),
    "bool": lambda: with_nulls(rng.random(ROWS) < 0.5, pa.bool_()),
    "utf8": lambda: with_nulls(texts(ROWS, 0, 9), pa.utf8()),
    "utf8 of one size": lambda: pa.array([f"{i:08}" for i in range(ROWS)]),
    "wide, mostly null": lambda: with_nulls(texts(ROWS, 300, 400), pa.utf8(), 0.9),
    "wide few": lambda: pa.array(
        [None if i % 3 else f"{i % 40:04}" * 700 for i in range(ROWS)], pa.large_utf8()
    ),
    "vectors": lambda: pa.FixedSizeListArray.from_arrays(
        pa.array(rng.random(ROWS * 4, np.float32)), 4
    ),
    "few vectors": lambda: pa.FixedSizeListArray.from_arrays(
        pa.array(np.tile(np.arange(12, dtype=np.float32), ROWS // 3 + 1)[: ROWS * 4]), 4
    ),
    "list<int32>": lambda: lists(pa.int32(), list(range(1000)) + [None]),
    "list<constant>": lambda: lists(pa.int8(), [5, None]),
    "list<null>": lambda: lists(pa.int8(), [None]),
    "list<utf8>": lambda: lists(pa.utf8(), texts(50, 0, 20) + [None]),
    "few lists": lambda: pa.array(
        [list(range(i % 7)) if i % 900 == 0 else [] for i in range(70_000)], pa.list_(pa.int32())
    ),
    "long rows": lambda: pa.array(
        [[[1] * (i % 3)] * 30_000 for i in range(12)], pa.list_(pa.list_(pa.int16()))
    ),
    "struct": lambda: pa.StructArray.from_arrays(
        [with_nulls(np.arange(ROWS), pa.int32()), lists(pa.int16(), [1, 2, None])],
        ["a", "b"],
        mask=pa.array(rng.random(ROWS) < 0.2),
    ),
}
METADATA = {"plain": None, "sparse": SPARSE}


def table_of(name, metadata=None):
    values = COLUMNS[name]()
    fields = [pa.field("id", pa.int64()), pa.field("c", values.type, metadata=metadata)]
    return pa.table([pa.array(np.arange(len(values))), values], schema=pa.schema(fields))


def check_reads(dataset, expected):
    rows = expected.num_rows
    assert dataset.to_table().equals(expected)
    assert dataset.count_rows() == rows
    for offset, limit in ((0, 1), (rows // 3, 100), (rows - 7, 7)):
        window = dataset.to_table(offset=offset, limit=limit)
        assert window.equals(expected.slice(offset, limit).combine_chunks())
    taken = sorted(rng.choice(rows, min(rows, 50), replace=False).tolist())
    assert dataset.take(taken).equals(expected.take(taken))
    assert dataset.count_rows(filter="c IS NULL") == expected["c"].null_count
    found = dataset.to_table(filter=f"id >= {rows // 2} AND id < {rows // 2 + 9}")
    assert found.equals(expected.slice(rows // 2, 9).combine_chunks())


@pytest.mark.parametrize("metadata", METADATA)
@pytest.mark.parametrize("name", COLUMNS)
def test_pylances_files_are_read(tmp_path, name, metadata):
    expected = table_of(name, METADATA[metadata])
    lance.write_dataset(expected, tmp_path / "t", data_storage_version="2.3")
    dataset = glaive.dataset(tmp_path / "t")
    assert dataset.data_storage_version == "2.3"
    check_reads(dataset, expected)


@pytest.mark.parametrize("name", COLUMNS)
def test_pylance_reads_what_is_written(tmp_path, name):
    expected = table_of(name)
    glaive.write_dataset(expected, tmp_path / "t", data_storage_version="next")
    check_reads(glaive.dataset(tmp_path / "t"), expected)
    dataset = lance.dataset(tmp_path / "t")
    assert dataset.data_storage_version == "2.3"
    check_reads(dataset, expected)


# What is not written as small as pylance does: runs of packed lengths, dictionaries of texts of 256
# bytes and more, and of fixed-size lists.
LARGER = {"runs", "wide few", "few vectors"}


@pytest.mark.parametrize("name", sorted(COLUMNS.keys() - LARGER))
def test_files_are_no_larger_than_pylances(tmp_path, name):
    expected = table_of(name)
    sizes = {}
    for engine in (lance, glaive):
        path = tmp_path / engine.__name__
        engine.write_dataset(expected, path, data_storage_version="2.3")
        sizes[engine] = sum(file.stat().st_size for file in path.glob("data/*"))
    assert sizes[glaive] <= 1.02 * sizes[lance] + 4096, sizes


@pytest.mark.parametrize("first", [glaive, lance], ids=["glaive", "pylance"])
def test_tables_live_on(tmp_path, first):
    """Appends, deletes, updates, merges, new columns and compactions, by both engines."""
    uri = tmp_path / "t"
    rows = pa.table(
        {
            "id": pa.array(np.arange(1000)),
            "s": pa.array([None if i % 5 == 0 else f"text {i}" for i in range(1000)]),
            "l": pa.array([list(range(i % 4)) for i in range(1000)], pa.list_(pa.int32())),
        }
    )
    first.write_dataset(rows.slice(0, 400), uri, data_storage_version="2.3", max_rows_per_file=150)
    glaive.write_dataset(rows.slice(400, 300), uri, mode="append")
    lance.write_dataset(rows.slice(700, 300), uri, mode="append")
    glaive.dataset(uri).delete("id % 7 = 3")
    glaive.dataset(uri).update({"s": "'changed'"}, where="id % 11 = 0")
    glaive.dataset(uri).merge_insert("id").when_matched_update_all().execute(rows.slice(20, 5))
    glaive.dataset(uri).add_columns({"twice": "id * 2"})
    lance.dataset(uri).delete("id = 999")

    keys = [i for i in range(999) if i % 7 != 3]
    restored = {i for i in range(20, 25)}
    text = {
        i: rows["s"][i].as_py() if i % 11 or i in restored else "changed" for i in keys
    }

    def check(dataset):
        found = dataset.to_table().sort_by("id")
        assert found["id"].to_pylist() == keys
        assert found["s"].to_pylist() == [text[i] for i in keys]
        assert found["l"].to_pylist() == [rows["l"][i].as_py() for i in keys]
        assert found["twice"].to_pylist() == [2 * i for i in keys]

    for engine in (glaive, lance):
        check(engine.dataset(uri))
    glaive.dataset(uri).optimize.compact_files()
    files = [f for fragment in lance.dataset(uri).get_fragments() for f in fragment.data_files()]
    assert {(f.file_major_version, f.file_minor_version) for f in files} == {(2, 3)}
    for engine in (glaive, lance):
        check(engine.dataset(uri))


def test_versions_are_changed_by_a_compaction(tmp_path):
    expected = table_of("list<int32>")
    glaive.write_dataset(expected, tmp_path / "t", max_rows_per_file=1000)
    dataset = glaive.dataset(tmp_path / "t")
    dataset.optimize.compact_files(data_storage_version="2.3")
    (fragment,) = lance.dataset(tmp_path / "t").get_fragments()
    assert {f.file_minor_version for f in fragment.data_files()} == {3}
    assert lance.dataset(tmp_path / "t").to_table().equals(expected)
    assert glaive.dataset(tmp_path / "t").to_table().equals(expected)
