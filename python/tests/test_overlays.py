"""Values laid over some rows of a fragment."""

import glaive
import lance
import pyarrow as pa
import pytest
from glaive import LanceOperation as Op
from glaive.fragment import DataFile

ROWS = pa.table({"a": range(6), "s": [f"s{i}" for i in range(6)]})


@pytest.fixture
def table(path):
    return glaive.write_dataset(ROWS, path, max_rows_per_file=3)


def column_file(table, name, values):
    schema = pa.schema([("a", pa.int64())])
    with glaive.file.LanceFileWriter(f"{table.uri}/data/{name}", schema, version="2.2") as out:
        out.write_batch(pa.record_batch([pa.array(values, pa.int64())], schema=schema))
    return DataFile(name, [0], [0], 2, 2)


def overlay(table, number, offsets, values, fragment_id=0):
    file = column_file(table, f"overlay{number}.lance", values)
    group = Op.DataOverlayGroup(fragment_id, [Op.DataOverlayFile(file, offsets)])
    newest = glaive.dataset(table.uri)
    return glaive.LanceDataset.commit(newest, Op.DataOverlay([group]), newest.version)


def test_overlays(table, monkeypatch):
    with pytest.raises(NotImplementedError, match="LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"):
        overlay(table, 0, [0], [9])
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    overlay(table, 1, [2, 0], [10, 12])  # the lowest row has the first value
    made = overlay(table, 2, [1, 2], [21, None])
    assert made.to_table()["a"].to_pylist() == [10, 21, None, 3, 4, 5]
    assert made.to_table(filter="a > 9")["s"].to_pylist() == ["s0", "s1"]
    assert made.take([2, 0], columns=["a"])["a"].to_pylist() == [None, 10]
    assert lance.dataset(table.uri).to_table() == made.to_table()
    metadata = made.get_fragment(0).metadata
    assert [o.committed_version for o in metadata.overlays] == [2, 3]
    assert [list(o.offsets) for o in metadata.overlays] == [[0, 2], [1, 2]]
    theirs = lance.dataset(table.uri).get_fragment(0).metadata
    assert metadata.to_json() == theirs.to_json()
    made.delete("a = 21")
    assert made.to_table()["a"].to_pylist() == [10, None, 3, 4, 5]
    made.optimize.compact_files()
    assert made.to_table()["a"].to_pylist() == [10, None, 3, 4, 5]
    assert [f.metadata.overlays for f in made.get_fragments()] == [[]]
    lance.dataset(table.uri).validate()


def test_a_replacement_is_not_hidden_by_an_older_overlay(table, monkeypatch):
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    file = column_file(table, "new.lance", [7, 8, 9])
    overlay(table, 1, [0], [100])
    operation = Op.DataReplacement([Op.DataReplacementGroup(0, file)])
    made = glaive.LanceDataset.commit(table, operation, read_version=1)
    assert made.to_table()["a"].to_pylist() == [7, 8, 9, 3, 4, 5]
    assert lance.dataset(table.uri).to_table() == made.to_table()


NESTED = pa.table(
    {
        "p": [{"x": i, "y": str(i)} for i in range(5)],
        "l": [[i] * i for i in range(5)],
    },
    schema=pa.schema(
        [
            pa.field(
                "p", pa.struct([("x", pa.int64()), ("y", pa.string())]), nullable=False
            ),
            ("l", pa.list_(pa.int32())),
        ]
    ),
)


def test_overlays_of_nested_fields(path, monkeypatch):
    """A child of a struct, and a list; each with rows of its own."""
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    table = glaive.write_dataset(NESTED, path)
    ids = {name: table.lance_schema.field(name).id() for name in ("p.y", "l.item")}
    parent = pa.field("p", pa.struct([("y", pa.string())]), nullable=False)
    schema = pa.schema([parent, ("l", pa.list_(pa.int32()))])
    values = pa.table({"p": [{"y": "new"}, {"y": None}], "l": [[7, 8], None]}, schema=schema)
    with glaive.file.LanceFileWriter(f"{path}/data/o.lance", schema, version="2.2") as out:
        for batch in values.to_batches():
            out.write_batch(batch)
    file = DataFile("o.lance", [ids["p.y"], ids["l.item"]], [0, 1], 2, 2)
    group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, [[1, 4], [0, 1]])])
    made = glaive.LanceDataset.commit(table, Op.DataOverlay([group]), 1)
    expected = NESTED.to_pydict()
    expected["p"][1]["y"], expected["p"][4]["y"] = "new", None
    expected["l"][0], expected["l"][1] = [7, 8], None
    assert made.to_table().to_pydict() == expected
    assert made.to_table(columns=["p.y"])["p.y"].to_pylist() == ["0", "new", "2", "3", None]
    assert made.take([4, 1], columns=["l"])["l"].to_pylist() == [[4] * 4, None]
    assert lance.dataset(path).to_table() == made.to_table()


@pytest.mark.parametrize(
    "offsets, text", [([0, 9], "covers row 9"), ([1, 1], "twice"), ([[0], [1]], "1 fields")]
)
def test_coverage_that_cannot_be(table, monkeypatch, offsets, text):
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    with pytest.raises((ValueError, OSError), match=text):
        overlay(table, 1, offsets, [1, 2])
    assert table.latest_version == 1


def test_an_update_of_covered_rows(table, monkeypatch):
    """Rows that moved away from under an overlay keep their new values."""
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    made = overlay(table, 1, [0, 1], [10, 11])
    made.update({"a": "a + 1"}, where="a = 11")
    assert sorted(made.to_table()["a"].to_pylist()) == [2, 3, 4, 5, 10, 12]
    assert lance.dataset(table.uri).to_table() == made.to_table()
