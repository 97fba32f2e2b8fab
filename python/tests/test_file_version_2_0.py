"""Tables whose data files have version 2.0, in both directions with pylance."""

import datetime
import decimal

import glaive
import lance
import numpy as np
import pyarrow as pa
import pytest
from glaive.file import LanceFileReader, LanceFileWriter
from lance.file import LanceFileReader as TheirReader
from lance.file import LanceFileWriter as TheirWriter

ROWS = 1000
VERSION = "2.0"


def some(make, type_, every=7):
    return pa.array([None if i % every == 3 else make(i) for i in range(ROWS)], type_)


def lists(i):
    return [None if k % 3 == 1 else i + k for k in range(i % 5)]


STRUCT = pa.struct([("a", pa.int32()), ("b", pa.utf8()), ("l", pa.list_(pa.int16()))])
COLUMNS = {
    "int8": some(lambda i: i % 100, pa.int8()),
    "int64": some(lambda i: i * 3, pa.int64()),
    "whole": pa.array(range(ROWS), pa.uint32()),
    "nothing": pa.nulls(ROWS, pa.int64()),
    "float16": some(lambda i: np.float16(i), pa.float16()),
    "double": some(float, pa.float64()),
    "bool": some(lambda i: i % 3 == 0, pa.bool_()),
    "decimal": some(lambda i: decimal.Decimal(i), pa.decimal128(12, 3)),
    "decimal256": some(lambda i: decimal.Decimal(i), pa.decimal256(60, 5)),
    "timestamp": some(lambda i: datetime.datetime(2020, 1, 1 + i % 28), pa.timestamp("us", "UTC")),
    "utf8": some(lambda i: "text" * (i % 9) + str(i), pa.utf8()),
    "few": some(lambda i: f"kind {i % 20}", pa.utf8()),
    "null_texts": pa.nulls(ROWS, pa.utf8()),
    "large_utf8": some(lambda i: "x" * (i % 50), pa.large_utf8()),
    "binary": some(lambda i: bytes([i % 256]) * (i % 17), pa.binary()),
    "large_binary": some(lambda i: b"yz" * (i % 17), pa.large_binary()),
    "fixed_binary": some(lambda i: i.to_bytes(5, "little"), pa.binary(5)),
    "fsl": some(lambda i: [i, None, i * 2], pa.list_(pa.float32(), 3)),
    "fsl_fsl": some(lambda i: [[i, i], [1, None]], pa.list_(pa.list_(pa.int16(), 2), 2)),
    "fsl_bool": some(lambda i: [i % 2 == 0, None, True], pa.list_(pa.bool_(), 3)),
    "list": some(lists, pa.list_(pa.int32())),
    "list_texts": some(lambda i: [f"{i}-{k}" for k in range(i % 4)], pa.list_(pa.utf8())),
    "large_list": some(lambda i: [f"{i}"] * (i % 3), pa.large_list(pa.large_utf8())),
    "list_list": some(lambda i: [lists(i), None, lists(i + 1)], pa.list_(pa.list_(pa.int64()))),
    "list_fsl": some(lambda i: [[i, 1]] * (i % 3), pa.list_(pa.list_(pa.float32(), 2))),
    "empty_lists": some(lambda i: [], pa.list_(pa.list_(pa.utf8()))),
    "list_struct": some(
        lambda i: [{"a": k, "b": None if k else "b", "l": [i]} for k in range(i % 3)],
        pa.list_(STRUCT),
    ),
    "struct": pa.array(
        [
            {"a": None if i % 5 == 1 else i, "b": f"{i}", "l": None if i % 4 == 1 else lists(i)}
            for i in range(ROWS)
        ],
        STRUCT,
    ),
}
TABLE = pa.table(COLUMNS)
ENGINES = {"pylance": lance, "glaive": glaive}
PICKED = [0, 1, 3, 10, 499, 500, 501, 998, 999]


@pytest.fixture(params=COLUMNS)
def table(request):
    return pa.table({"id": pa.array(range(ROWS), pa.int64()), "c": COLUMNS[request.param]})


@pytest.fixture(params=["pylance", "glaive"])
def writer(request):
    return ENGINES[request.param]


def check(uri, expected):
    for engine in (lance, glaive):
        found = engine.dataset(uri)
        assert found.data_storage_version == VERSION, engine.__name__
        assert found.to_table().equals(expected), engine.__name__
        assert found.count_rows() == expected.num_rows


def numbers_of(uri):
    """The pairs of numbers that the manifest has for the data files."""
    return {
        (file.file_major_version, file.file_minor_version)
        for fragment in lance.dataset(uri).get_fragments()
        for file in fragment.metadata.files
    }


def test_scans_windows_takes_and_filters(path, table, writer):
    writer.write_dataset(
        table, path, data_storage_version=VERSION, max_rows_per_file=600, max_rows_per_group=100
    )
    check(path, table)
    assert numbers_of(path) == {(2, 0)}
    ours = glaive.dataset(path)
    assert ours.take(PICKED).equals(table.take(PICKED))
    for offset, limit in [(0, 1), (17, 3), (595, 10), (999, 1), (123, 777)]:
        found = ours.to_table(offset=offset, limit=limit)
        assert found.equals(table.slice(offset, limit)), (offset, limit)
    found = ours.to_table(filter="id % 97 = 5", columns=["c"])
    wanted = pa.array([i for i in range(ROWS) if i % 97 == 5])
    assert found.equals(table.take(wanted).select(["c"]))
    assert ours.count_rows("id >= 990") == 10
    assert pa.Table.from_batches(ours.to_batches(batch_size=37)).equals(table)


def test_pages_that_end_anywhere(path, table, writer):
    """Pages of 2.0 files of one column end where they will; lists go on from page to page."""
    if writer is lance:
        with TheirWriter(path, table.schema, version=VERSION, max_page_bytes=500) as file:
            file.write_batch(table)
    else:
        with LanceFileWriter(path, table.schema, version=VERSION, max_page_bytes=500) as file:
            for batch in table.to_batches(max_chunksize=33):
                file.write_batch(batch)
    for reader in (TheirReader, LanceFileReader):
        file = reader(path)
        assert file.read_all().to_table().equals(table), reader
        assert file.read_range(313, 300).to_table().equals(table.slice(313, 300)), reader
        assert file.take_rows(PICKED).to_table().equals(table.take(PICKED)), reader


def test_a_life(path, writer):
    """A table that each engine changes in turn stays one of 2.0."""
    other = glaive if writer is lance else lance
    keys = pa.array(range(100), pa.int64())
    texts = [f"s{i % 7}" for i in range(100)]
    rows = pa.table({"id": keys, "s": texts, "l": [[i] for i in range(100)]})
    writer.write_dataset(rows, path, data_storage_version=VERSION, max_rows_per_file=30)
    other.write_dataset(rows, path, mode="append")
    for engine in (writer, other):
        dataset = engine.dataset(path)
        dataset.delete("id = 5")
        dataset.update({"s": "'new'"}, where="id = 6")
        dataset.add_columns({f"{engine.__name__}_d": "id * 2"})
        source = pa.table({"id": pa.array([7, 1000], pa.int64()), "s": ["merged", "merged"]})
        source = source.append_column("l", pa.array([[1, None], None], pa.list_(pa.int64())))
        for name in dataset.schema.names[3:]:
            source = source.append_column(name, pa.array([1, 2], pa.int64()))
        merge = dataset.merge_insert("id")
        merge.when_matched_update_all().when_not_matched_insert_all().execute(source)
        expected = lance.dataset(path).to_table()
        check(path, expected)
        dataset.optimize.compact_files(target_rows_per_fragment=1000)
        found = lance.dataset(path).to_table()
        check(path, found)
        assert sorted(found["id"].to_pylist()) == sorted(expected["id"].to_pylist())
    assert numbers_of(path) == {(2, 0)}


def test_whole_tables(path, writer):
    writer.write_dataset(TABLE, path, data_storage_version=VERSION)
    check(path, TABLE)
    for engine in (lance, glaive):
        found = engine.dataset(path).to_table(columns=["struct.a", "list_struct"], limit=50)
        assert found["list_struct"].equals(TABLE["list_struct"].slice(0, 50))
        assert found["struct.a"].to_pylist() == [s["a"] for s in TABLE["struct"].to_pylist()[:50]]


@pytest.mark.parametrize("scheme", ["zstd", "lz4", "fsst"])
def test_compressed_texts(path, scheme, writer):
    field = pa.field("s", pa.utf8(), metadata={"lance-encoding:compression": scheme})
    texts = pa.array([None if i % 9 == 1 else f"a text {i} " * 9 for i in range(ROWS)])
    table = pa.table([texts], pa.schema([field]))
    writer.write_dataset(table, path, data_storage_version=VERSION)
    for engine in (lance, glaive):
        dataset = engine.dataset(path)
        assert dataset.to_table()["s"].to_pylist() == texts.to_pylist()
        assert dataset.take([0, 1, 77, 999])["s"].to_pylist() == texts.take(
            pa.array([0, 1, 77, 999])).to_pylist()


def test_sizes_are_those_of_pylance(path, tmp_path):
    """The same choices of encoding: strings of few kinds are numbered, compression is as asked."""
    few = pa.table({"s": pa.array([f"kind {i % 30}" for i in range(20000)]), "i": range(20000)})
    sizes = []
    for name, engine in ENGINES.items():
        uri = str(tmp_path / name)
        engine.write_dataset(few, uri, data_storage_version=VERSION)
        (fragment,) = engine.dataset(uri).get_fragments()
        sizes += [file.file_size_bytes for file in fragment.metadata.files]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("shape", ["struct", "list", "struct_in_struct"])
def test_structs_with_nulls_are_refused_by_name(path, shape):
    null = {
        "struct": pa.array([{"x": 1}, None]),
        "list": pa.array([[{"x": 1}, None]]),
        "struct_in_struct": pa.array([{"x": {"y": 1}}, {"x": None}]),
    }[shape]
    with pytest.raises(Exception, match="q"):
        glaive.write_dataset(pa.table({"q": null}), path, data_storage_version=VERSION)


LATER = [pa.map_(pa.utf8(), pa.int32()), pa.list_(pa.struct([("x", pa.int8())]), 2)]


@pytest.mark.parametrize("kind", LATER)
def test_types_of_later_versions_are_refused_by_name(path, kind):
    with pytest.raises(Exception, match="q.*2\\.0"):
        glaive.write_dataset(pa.table({"q": pa.nulls(2, kind)}), path, data_storage_version=VERSION)


def test_hidden_structs_are_no_nulls(path):
    """Structs that lie behind a null list are not there, whatever they are."""
    items = pa.array([{"x": 1}, None, {"x": 3}])
    ends = pa.array([0, 1, 2, 3], pa.int32())
    column = pa.ListArray.from_arrays(ends, items, mask=pa.array([False, True, False]))
    table = pa.table({"q": column})
    glaive.write_dataset(table, path, data_storage_version=VERSION)
    check(path, pa.table({"q": [[{"x": 1}], None, [{"x": 3}]]}))


def test_compaction_from_and_to_other_versions(path):
    table = TABLE.select(["int64", "utf8", "few", "list", "list_struct", "struct"])
    glaive.write_dataset(table, path, data_storage_version=VERSION, max_rows_per_file=300)
    for version in ("2.1", VERSION, "2.2", VERSION):
        dataset = glaive.dataset(path)
        dataset.optimize.compact_files(
            target_rows_per_fragment=10**6, data_storage_version=version
        )
        for engine in (lance, glaive):
            assert engine.dataset(path).to_table().equals(table), (engine, version)
        glaive.write_dataset(table.slice(0, 10), path, mode="append")
        table = pa.concat_tables([table, table.slice(0, 10)])


def test_empty(path):
    empty = TABLE.slice(0, 0)
    glaive.write_dataset(empty, path, data_storage_version=VERSION)
    check(path, empty)
    file = path + ".lance"
    with LanceFileWriter(file, empty.schema, version=VERSION) as writer:
        writer.write_batch(empty)
    assert TheirReader(file).num_rows() == LanceFileReader(file).num_rows() == 0
