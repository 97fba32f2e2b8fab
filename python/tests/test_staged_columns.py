"""Column writes in two steps, and what may be committed in between: docs/column_writes.md numbers
the cases. After each, pylance reads what glaive does."""

import json
import os
import pickle
from datetime import timedelta

import pyarrow as pa
import pytest

import glaive
import lance
from glaive.commit import ColumnWriteConflict, CommitConflictError
from lance.file import LanceFileWriter
from lance.fragment import DataFile

INT = pa.int32()


@pytest.fixture(autouse=True)
def overlays_allowed(monkeypatch):
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")


@pytest.fixture
def path(tmp_path):
    """Fragments 0 and 1 of three rows each: id = 0..5, v = 10 * id, w = 100 * id."""
    rows = pa.table({"id": range(6), "v": range(0, 60, 10), "w": range(0, 600, 100)})
    rows = rows.cast(pa.schema([(name, INT) for name in rows.column_names]))
    lance.write_dataset(rows, tmp_path / "table", max_rows_per_file=3)
    return str(tmp_path / "table")


def fields(nullable=True, **types):
    return pa.schema([pa.field(name, kind, nullable) for name, kind in types.items()])


def stage(dataset, fragment_id, nullable=True, **columns):
    """Stages int32 columns: those that the table has, or new ones."""
    known = dataset.schema.names
    arrow = fields(nullable, **dict.fromkeys(columns, INT))
    if all(name in known for name in columns):
        schema = pa.schema([dataset.schema.field(name) for name in columns])
    else:
        schema = dataset.new_column_schema(arrow)
    return dataset.write_fragment_column(fragment_id, pa.table(columns, schema=arrow), schema)


def read(path):
    """The table's columns, which both engines have to agree about."""
    theirs = lance.dataset(path)
    theirs.validate()
    rows = theirs.to_table()
    assert glaive.dataset(path).to_table().equals(rows)
    return rows.to_pydict()


def data_files(path):
    return set(os.listdir(os.path.join(path, "data")))


def refused(path, dataset, staged, fragment_id=0, field=None, **options):
    """The commit is refused, names what is in the way, and changes nothing."""
    before, version = read(path), lance.dataset(path).version
    with pytest.raises(ColumnWriteConflict) as raised:
        dataset.commit_column_writes(staged, **options)
    error = raised.value
    assert error.retryable and isinstance(error, CommitConflictError)
    assert (error.fragment_id, error.field) == (fragment_id, field)
    assert lance.dataset(path).version == version
    assert read(path) == before
    for each in staged:
        assert each.path in data_files(path)
        each.discard()
        assert each.path not in data_files(path)
    return error


def overlay(path, fragment_id, column, offsets, new_values, name="overlay.lance"):
    dataset = lance.dataset(path)
    schema = pa.schema([(column, INT)])
    with LanceFileWriter(
        f"{path}/data/{name}", schema, version=dataset.data_storage_version
    ) as writer:
        writer.write_batch(pa.record_batch([pa.array(new_values, INT)], schema=schema))
    file = DataFile.create(dataset, name)
    group = lance.LanceOperation.DataOverlayGroup(
        fragment_id, [lance.LanceOperation.DataOverlayFile(file, offsets)]
    )
    operation = lance.LanceOperation.DataOverlay([group])
    lance.LanceDataset.commit(path, operation, read_version=dataset.version)


def edit(path, change):
    """A merge that changes nothing but what the manifest says of fragment 0."""
    dataset = lance.dataset(path)
    fragments = [fragment.metadata for fragment in dataset.get_fragments()]
    change(fragments[0])
    operation = lance.LanceOperation.Merge(fragments, dataset.lance_schema)
    lance.LanceDataset.commit(path, operation, read_version=dataset.version)


def test_staged_columns_are_values(path):
    dataset = glaive.dataset(path)
    staged = stage(dataset, 1, y=[7, 8, 9])
    assert (staged.fragment_id, staged.read_version, staged.physical_rows) == (1, 1, 3)
    assert staged.schema.fields()[0].id() == 3
    assert os.path.getsize(f"{path}/data/{staged.path}") == staged.size_bytes
    assert pickle.loads(pickle.dumps(staged)) == staged
    assert glaive.StagedColumns.from_json(staged.to_json()) == staged
    assert len({staged, pickle.loads(pickle.dumps(staged))}) == 1
    assert "y" in repr(staged) and len(staged.to_json()) < 1200
    with pytest.raises(AttributeError):
        staged.fragment_id = 0


@pytest.mark.parametrize(
    "change",
    [
        {"file": None},
        {"format": 2},
        {"fragment_id": -1},
        {"read_version": "1"},
        {"schema": "0"},
        {"schema": "zz"},
        {"schema": "0a"},
        {"replaced": [1]},
        {"max_field_id": 1 << 40},
    ],
    ids=str,
)
def test_damaged_json_is_refused(path, change):
    parts = json.loads(stage(glaive.dataset(path), 1, y=[7, 8, 9]).to_json())
    with pytest.raises(ValueError, match="staged columns"):
        glaive.StagedColumns.from_json(json.dumps(parts | change))
    parts["file"]["path"] = "../_versions/x.lance"
    with pytest.raises(ValueError, match="data file"):
        glaive.StagedColumns.from_json(json.dumps(parts))


@pytest.mark.parametrize("place", ["fragment_id", "read_version", "column_indices", "fields"])
def test_what_is_staged_is_not_edited(path, place):
    """Values of one fragment or column never become those of another."""
    told = json.loads(stage(glaive.dataset(path), 0, n=[1, 2, 3]).to_json())
    same = json.dumps(dict(reversed(told.items())), indent=2)
    assert glaive.StagedColumns.from_json(same).fragment_id == 0
    holder = told if place in told else told["file"]
    holder[place] = holder[place] + 1 if place in told else [1]
    with pytest.raises(ValueError, match="checksum does not fit|not in the schema"):
        glaive.StagedColumns.from_json(json.dumps(told))


def test_what_is_staged_travels(path, monkeypatch):
    """By a relative path, to where that would be another place."""
    monkeypatch.chdir(os.path.dirname(path))
    dataset = glaive.dataset(os.path.basename(path))
    first, second = (pickle.dumps(stage(dataset, 0, n=[i] * 3)) for i in (1, 2))
    monkeypatch.chdir("/")
    pickle.loads(first).discard()
    assert pickle.loads(first).path not in data_files(path)
    glaive.dataset(path).commit_column_writes(pickle.loads(second))
    assert read(path)["n"][:3] == [2, 2, 2]

def test_one_version_of_many_fragments(path):
    dataset = glaive.dataset(path)
    schema = dataset.new_column_schema(fields(y=INT))
    rows = [pa.table({"y": pa.array([i, i + 1, i + 2], INT)}) for i in (0, 3)]
    staged = dataset.write_fragment_columns([(i, rows[i], schema) for i in (0, 1)])
    assert read(path)["id"] == list(range(6)) and lance.dataset(path).version == 1
    dataset.commit_column_writes(
        staged, commit_message="y for all", transaction_properties={"job": "7"}
    )
    assert dataset.version == 2
    assert read(path)["y"] == list(range(6))
    properties = dataset.get_transactions()[0].transaction_properties
    assert properties == {"__lance_commit_message": "y for all", "job": "7"}


def test_write_column_of_a_fragment(path):
    dataset = glaive.dataset(path)
    schema = dataset.new_column_schema(fields(y=INT))
    staged = dataset.get_fragment(1).write_column(pa.table({"y": pa.array([1, 2, 3], INT)}), schema)
    dataset.commit_column_writes(staged)
    assert read(path)["y"] == [None] * 3 + [1, 2, 3]


def test_what_fails_in_a_group_leaves_no_file(path):
    dataset, before = glaive.dataset(path), data_files(path)
    schema = dataset.new_column_schema(fields(y=INT))
    rows = pa.table({"y": pa.array([1, 2, 3], INT)})
    with pytest.raises(ValueError, match="fragment 9"):
        dataset.write_fragment_columns([(0, rows, schema), (9, rows, schema)])
    assert data_files(path) == before


@pytest.mark.parametrize("rows", [[1], [1, 2, 3, 4], []], ids=["short", "long", "empty"])
def test_case_1_other_numbers_of_rows(path, rows):
    before = data_files(path)
    with pytest.raises(ValueError, match=rf"{len(rows)} rows.* 3\b"):
        stage(glaive.dataset(path), 0, y=rows)
    assert data_files(path) == before


def test_case_2_one_id_for_two_names(path):
    one, two = glaive.dataset(path), glaive.dataset(path)
    first = [stage(one, 0, first=[1, 2, 3])]
    second = [stage(two, 0, second=[4, 5, 6])]
    one.commit_column_writes(first)
    assert "second" in str(refused(path, two, second, None, "second"))
    with pytest.raises(ColumnWriteConflict):
        one.commit_column_writes([stage(one, 1, other=[1, 2, 3]), stage(two, 1, second=[4, 5, 6])])


def test_case_3_two_columns_of_one_fragment(path):
    dataset = glaive.dataset(path)
    schema = dataset.new_column_schema(fields(first=INT, second=INT))
    staged = [
        dataset.write_fragment_column(0, pa.table({name: pa.array(rows, INT)}), schema)
        for name, rows in (("second", [4, 5, 6]), ("first", [1, 2, 3]))
    ]
    dataset.commit_column_writes(staged)
    found = read(path)
    assert found["first"][:3] == [1, 2, 3] and found["second"][:3] == [4, 5, 6]
    assert dataset.schema.names == ["id", "v", "w", "first", "second"]
    # Columns that the table has, of other lists of fields.
    dataset.commit_column_writes([stage(dataset, 0, v=[1, 1, 1]), stage(dataset, 0, w=[2, 2, 2])])
    assert read(path)["v"][:4] == [1, 1, 1, 30] and read(path)["w"][:4] == [2, 2, 2, 300]


def test_case_4_staged_under_another_name(path):
    dataset = glaive.dataset(path)
    schema = dataset.new_column_schema(fields(b=INT))
    with pytest.raises(ValueError, match="'a'"):
        dataset.write_fragment_column(0, pa.table({"a": pa.array([1, 2, 3], INT)}), schema)


def test_case_5_winner_added_the_same_field(path):
    one, two = glaive.dataset(path), glaive.dataset(path)
    winner, loser = stage(one, 0, y=[1, 2, 3]), [stage(two, 0, y=[4, 5, 6])]
    beside = stage(two, 1, y=[7, 8, 9])
    one.commit_column_writes(winner)
    error = refused(path, two, loser, 0, "y")
    assert error.staged["base"] is None and error.current["base"]["path"] == winner.path
    again = pickle.loads(pickle.dumps(error))
    assert (again.fragment_id, again.field, again.retryable) == (0, "y", True)
    assert (again.staged, again.current) == (error.staged, error.current)
    # Another fragment's values go beside those that are there.
    two.commit_column_writes(beside)
    assert read(path)["y"] == [1, 2, 3, 7, 8, 9]


def test_case_6_winner_forbade_nulls(path):
    one, two = glaive.dataset(path), glaive.dataset(path)
    loser = [stage(two, 0, y=[None, 5, 6])]
    one.commit_column_writes([stage(one, i, nullable=False, y=[1, 2, 3]) for i in (0, 1)])
    refused(path, two, loser, None, "y")


def test_case_7_another_type_under_the_id(path):
    one, two = glaive.dataset(path), glaive.dataset(path)
    loser = [stage(two, 0, y=[1, 2, 3])]
    schema = one.new_column_schema(fields(y=pa.float32()))
    ints = pa.table({"y": pa.array([1, 2, 3], INT)})
    with pytest.raises(ValueError, match="float"):
        one.write_fragment_column(0, ints, schema)
    floats = pa.table({"y": pa.array([1, 2, 3], pa.float32())})
    one.commit_column_writes(one.write_fragment_column(1, floats, schema))
    refused(path, two, loser, None, "y")
    with pytest.raises(ValueError, match="type"):
        one.write_fragment_column(0, ints, fields(y=INT))


def test_case_8_structs(path):
    dataset = glaive.dataset(path)
    kind = pa.struct([("x", INT), ("l", pa.list_(pa.string()))])
    rows = pa.table({"s": pa.array([{"x": 1, "l": ["a"]}, None, {"x": 3, "l": None}], kind)})
    schema = dataset.new_column_schema(rows.schema)
    (s,) = schema.fields()
    ids = [s.id(), *(child.id() for child in s.children()), s.children()[1].children()[0].id()]
    assert ids == [3, 4, 5, 6]
    dataset.commit_column_writes(dataset.write_fragment_column(0, rows, schema))
    assert read(path)["s"][:3] == rows["s"].to_pylist()
    # A field of the struct that is there.
    below = pa.table({"s": pa.array([{"y": 7}, None, {"y": 9}], pa.struct([("y", INT)]))})
    schema = dataset.new_column_schema(below.schema)
    dataset.commit_column_writes(dataset.write_fragment_column(0, below, schema))
    assert read(path)["s"][0] == {"x": 1, "l": ["a"], "y": 7}
    # It is written whole, or not at all.
    with pytest.raises(ValueError):
        dataset.write_fragment_column(0, rows, rows.schema)


def test_case_9_winner_appended(path):
    stale = glaive.dataset(path)
    staged = [stage(stale, i, nullable=False, y=[1, 2, 3]) for i in (0, 1)]
    with pytest.raises(ColumnWriteConflict, match="fragment 1"):
        stale.commit_column_writes(staged[:1])
    lance.write_dataset(pa.table({"id": pa.array([9], INT)}), path, mode="append")
    refused(path, stale, staged, 2, "y")


def test_case_10_overlay_before(path):
    overlay(path, 0, "v", [0, 1], [111, 222])
    dataset = glaive.dataset(path)
    dataset.commit_column_writes(stage(dataset, 0, v=[1, 2, 3]))
    assert read(path)["v"] == [1, 2, 3, 30, 40, 50]
    assert lance.dataset(path).get_fragments()[0].metadata.overlays == []
    # Of an overlay for another field of the fragment as well, with a new column.
    overlay(path, 0, "w", [2], [7], "second.lance")
    dataset = glaive.dataset(path)
    dataset.commit_column_writes([stage(dataset, 0, w=[5, 5, 5]), stage(dataset, 1, y=[1, 2, 3])])
    assert read(path)["w"] == [5, 5, 5, 300, 400, 500]


@pytest.mark.parametrize("rows", [[0, 1, 2], [1]], ids=["all", "some"])
def test_case_11_winner_laid_an_overlay(path, rows):
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3])]
    overlay(path, 0, "v", rows, [777] * len(rows))
    error = refused(path, stale, staged, 0, "v")
    assert error.staged["overlays"] == [] and len(error.current["overlays"]) == 1


def test_case_12_winner_rewrote_the_field(path):
    one, two = glaive.dataset(path), glaive.dataset(path)
    winner, loser = stage(one, 0, v=[1, 2, 3]), [stage(two, 0, v=[4, 5, 6])]
    one.commit_column_writes(winner)
    error = refused(path, two, loser, 0, "v")
    assert error.current["base"]["path"] == winner.path


def test_case_13_winner_filled_what_had_no_backing(path):
    base = glaive.dataset(path)
    base.commit_column_writes(stage(base, 0, y=[1, 2, 3]))
    one, two = glaive.dataset(path), glaive.dataset(path)
    winner, loser = stage(one, 1, y=[4, 5, 6]), [stage(two, 1, y=[7, 8, 9])]
    one.commit_column_writes(winner)
    refused(path, two, loser, 1, "y")


def test_case_14_winner_moved_an_overlay(path):
    overlay(path, 0, "v", [0], [777])
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3])]

    def move(fragment):
        fragment.overlays[0].offsets = [1]

    edit(path, move)
    refused(path, stale, staged, 0, "v")


def test_case_15_winner_swapped_columns(path):
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3])]

    def swap(fragment):
        fragment.files[0].column_indices = [0, 2, 1]

    edit(path, swap)
    error = refused(path, stale, staged, 0, "v")
    assert error.staged["base"]["column_index"] == 1
    assert error.current["base"]["column_index"] == 2


def test_case_16_compaction_and_delete(path):
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3])]
    lance.dataset(path).delete("id = 1")
    lance.dataset(path).delete("id = 2 OR id = 4")
    stale.commit_column_writes(staged)
    assert read(path)["v"] == [1, 30, 50]
    staged = [stage(stale, 0, v=[4, 5, 6])]
    lance.dataset(path).optimize.compact_files()
    refused(path, stale, staged, 0)


def test_case_17_unrelated_winners(path):
    stale = glaive.dataset(path)
    staged = stage(stale, 0, v=[1, 2, 3])
    other = glaive.dataset(path)
    other.commit_column_writes([stage(other, 0, w=[7, 7, 7]), stage(other, 1, v=[8, 8, 8])])
    other.commit_column_writes(stage(other, 0, y=[9, 9, 9]))
    overlay(path, 0, "w", [1], [70])
    overlay(path, 1, "v", [1], [80], "second.lance")
    lance.write_dataset(pa.table({"id": pa.array([9], INT)}), path, mode="append")
    stale.commit_column_writes(staged)
    assert read(path) == {
        "id": [0, 1, 2, 3, 4, 5, 9],
        "v": [1, 2, 3, 8, 80, 8, None],
        "w": [7, 70, 7, 300, 400, 500, None],
        "y": [9, 9, 9, None, None, None, None],
    }


@pytest.mark.parametrize(
    "name",
    ["_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"],
)
def test_case_18_reserved_names(path, name):
    dataset = glaive.dataset(path)
    with pytest.raises(ValueError, match=name):
        dataset.new_column_schema(fields(**{name: INT}))
    # By a schema of the caller's own, whose name is as long.
    plain = dataset.new_column_schema(fields(**{"y" * len(name): INT}))
    forged = glaive.schema.LanceSchema._parsed(
        plain._native.serialize().replace(b"y" * len(name), name.encode())
    )
    rows = pa.table({name: pa.array([1, 2, 3], INT)})
    with pytest.raises(ValueError, match=name):
        dataset.write_fragment_column(0, rows, forged)
    staged = stage(dataset, 0, **{"y" * len(name): [1, 2, 3]})
    text = staged.to_json().replace((b"y" * len(name)).hex(), name.encode().hex())
    with pytest.raises(ValueError, match="checksum"):
        dataset.commit_column_writes(glaive.StagedColumns.from_json(text))
    assert lance.dataset(path).version == 1


def test_case_19_after_a_compaction(path):
    dataset = glaive.dataset(path)
    dataset.commit_column_writes([stage(dataset, i, y=[1, 2, 3]) for i in (0, 1)])
    dataset.optimize.compact_files()
    (fragment,) = dataset.get_fragments()
    assert len(fragment.metadata.files) == 1
    dataset.commit_column_writes(stage(dataset, fragment.fragment_id, y=[6, 5, 4, 3, 2, 1]))
    assert read(path)["y"] == [6, 5, 4, 3, 2, 1]
    wide, narrow = lance.dataset(path).get_fragments()[0].metadata.files
    assert wide.fields == [0, 1, 2, -2] and narrow.fields == [3]


@pytest.mark.parametrize("nullable", [True, False])
def test_case_20_few_live_rows(tmp_path, nullable):
    path = str(tmp_path / "deleted")
    rows = 20_000
    lance.write_dataset(pa.table({"id": range(rows)}), path)
    lance.dataset(path).delete(f"id % 10 != 5 OR id > {rows - 2000}")
    dataset = glaive.dataset(path)
    live = dataset.count_rows()
    texts = ["x" * 65536] + ["y"] * (live - 1)
    schema = dataset.new_column_schema(fields(nullable, y=pa.string()))
    staged = dataset.write_fragment_column(
        0, pa.table({"y": texts}, schema=fields(nullable, y=pa.string())), schema,
        live_rows_only=True,
    )  # fmt: skip
    assert staged.size_bytes < 1 << 18
    dataset.commit_column_writes(staged)
    assert read(path)["y"] == texts
    with pytest.raises(ValueError, match=f"{live - 1} rows.* {live} "):
        dataset.write_fragment_column(
            0, pa.table({"y": texts[1:]}), fields(nullable, y=pa.string()), live_rows_only=True
        )


def test_case_21_a_thousand_fragments(tmp_path):
    path = str(tmp_path / "many")
    lance.write_dataset(pa.table({"id": range(2000)}), path, max_rows_per_file=2)
    dataset = glaive.dataset(path)
    schema = dataset.new_column_schema(fields(y=INT))
    staged = dataset.write_fragment_columns(
        (i, pa.table({"y": pa.array([2 * i, 2 * i + 1], INT)}), schema) for i in range(1000)
    )
    dataset.commit_column_writes(pickle.loads(pickle.dumps(staged)))
    assert dataset.version == 2
    assert read(path)["y"] == list(range(2000))


@pytest.mark.parametrize("column", ["v", "w"])
@pytest.mark.parametrize("how", ["update", "merge_insert"])
def test_case_22_moved_rows(path, how, column):
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3]), stage(stale, 0, y=[4, 5, 6])]
    if how == "update":
        lance.dataset(path).update({column: f"{column} + 1"}, where="id = 1")
    else:
        row = {"id": [1], "v": [10], "w": [100]} | {column: [7]}
        rows = pa.table({name: pa.array(values, INT) for name, values in row.items()})
        merge = lance.dataset(path).merge_insert("id").when_matched_update_all()
        merge.execute(rows)
    error = refused(path, stale, staged)
    assert "moved" in str(error)


def winner_deletes(path):
    lance.dataset(path).delete("id < 3")


def winner_overwrites(path):
    rows = {name: pa.array([5, 6, 7], INT) for name in ("id", "v", "w")}
    lance.write_dataset(pa.table(rows), path, mode="overwrite")


def winner_drops(path):
    lance.dataset(path).drop_columns(["v"])


def winner_casts(path):
    lance.dataset(path).alter_columns({"path": "v", "data_type": pa.int64()})


@pytest.mark.parametrize(
    "winner, place",
    [
        (winner_deletes, (0, None)),
        (winner_overwrites, (0, None)),
        (winner_drops, (None, "v")),
        (winner_casts, (None, "v")),
    ],
)
def test_case_23_gone(path, winner, place):
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3])]
    winner(path)
    refused(path, stale, staged, *place)


def test_case_23_overwritten_new_column(path):
    """No file tells that the rows are others; the history does."""
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, y=[1, 2, 3])]
    winner_overwrites(path)
    refused(path, stale, staged, 0)


def test_case_23_restored(path):
    stale = glaive.dataset(path)
    staged = stage(stale, 0, v=[1, 2, 3])
    lance.dataset(path).delete("id = 1")
    lance.dataset(path, version=1).restore()
    stale.commit_column_writes(staged)
    assert read(path)["v"] == [1, 2, 3, 30, 40, 50]


def test_case_24_twice(path):
    dataset = glaive.dataset(path)
    staged = stage(dataset, 0, v=[1, 2, 3])
    again = pickle.loads(pickle.dumps(staged))
    dataset.commit_column_writes(staged)
    for handle in (dataset, glaive.dataset(path, version=1)):
        with pytest.raises(ColumnWriteConflict, match="committed already"):
            handle.commit_column_writes(again)
    assert lance.dataset(path).version == 2
    with pytest.raises(ValueError, match="version 2"):
        again.discard()
    assert read(path)["v"] == [1, 2, 3, 30, 40, 50]


def test_case_25_wrong_tables_and_fields(path, tmp_path):
    dataset = glaive.dataset(path)
    with pytest.raises(ValueError, match="'v' of fragment 0"):
        dataset.commit_column_writes([stage(dataset, 0, v=[1, 2, 3]), stage(dataset, 0, v=[4] * 3)])
    rows = pa.table({name: pa.array([1, 2, 3], INT) for name in ("id", "v", "w")})
    other = glaive.write_dataset(rows, tmp_path / "other")
    with pytest.raises(ValueError, match="another table"):
        dataset.commit_column_writes(stage(other, 0, v=[1, 2, 3]))
    # Made anew under the same name.
    staged = stage(other, 0, v=[1, 2, 3])
    import shutil

    shutil.move(tmp_path / "other", tmp_path / "old")
    other = glaive.write_dataset(rows, tmp_path / "other")
    with pytest.raises(ValueError, match="another table"):
        other.commit_column_writes(staged)
    gone = stage(dataset, 0, v=[1, 2, 3])
    gone.discard()
    with pytest.raises(ValueError, match="not there"):
        dataset.commit_column_writes(gone)
    assert (dataset.version, other.version) == (1, 1)


def test_case_26_nothing(path):
    dataset = glaive.dataset(path)
    with pytest.raises(ValueError, match="no staged columns"):
        dataset.commit_column_writes([])
    assert dataset.write_fragment_columns([]) == []
    assert lance.dataset(path).version == 1


def test_case_27_cleaned_up_meanwhile(path):
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, v=[1, 2, 3]), stage(stale, 1, y=[4, 5, 6])]
    late = [stage(stale, 0, w=[7, 8, 9])]
    lance.write_dataset(pa.table({"id": pa.array([9], INT)}), path, mode="append")
    lance.dataset(path).cleanup_old_versions(timedelta(0))
    # The rows are still those of the file that was there.
    glaive.dataset(path).commit_column_writes(staged)
    assert read(path)["v"] == [1, 2, 3, 30, 40, 50, None]
    assert read(path)["y"] == [None, None, None, 4, 5, 6, None]
    # Nobody can tell any more whether what hid the row was a delete or an update.
    lance.dataset(path).update({"v": "0"}, where="id = 0")
    lance.dataset(path).cleanup_old_versions(timedelta(0))
    refused(path, glaive.dataset(path), late)


def test_case_28_last_updated(tmp_path):
    path = str(tmp_path / "stable")
    rows = pa.table({"id": pa.array(range(4), INT), "v": pa.array(range(4), INT)})
    lance.write_dataset(rows, path, max_rows_per_file=2, enable_stable_row_ids=True)
    dataset = glaive.dataset(path)
    dataset.commit_column_writes(stage(dataset, 1, v=[7, 8]))
    changed = lance.dataset(path).delta(compared_against=1).get_updated_rows().read_all()
    assert changed["id"].to_pylist() == [2, 3]
    ours = dataset.delta(compared_against=1).get_updated_rows().read_all()
    assert ours["id"].to_pylist() == [2, 3]
    read(path)


@pytest.mark.parametrize("new", [False, True], ids=["replacement", "merge"])
def test_case_29_index(path, new):
    lance.dataset(path).create_scalar_index("v", "BTREE")
    dataset = glaive.dataset(path)
    staged = [stage(dataset, 0, v=[41, 42, 43])]
    if new:
        staged.append(stage(dataset, 0, y=[1, 2, 3]))
    dataset.commit_column_writes(staged)
    (index,) = lance.dataset(path).describe_indices()
    assert index.segments[0].fragment_ids == {1}
    for value, ids in ((42, [1]), (10, []), (40, [4])):
        assert lance.dataset(path).to_table(filter=f"v = {value}")["id"].to_pylist() == ids
    read(path)


def test_case_29_index_on_rows_without_backing(path):
    dataset = glaive.dataset(path)
    dataset.commit_column_writes(stage(dataset, 0, y=[1, 2, 3]))
    lance.dataset(path).create_scalar_index("y", "BTREE")
    dataset = glaive.dataset(path)
    dataset.commit_column_writes([stage(dataset, 1, y=[4, 5, 6]), stage(dataset, 0, z=[1, 2, 3])])
    assert lance.dataset(path).to_table(filter="y = 5")["id"].to_pylist() == [4]
    assert lance.dataset(path).to_table(filter="y IS NULL")["id"].to_pylist() == []


def test_case_30_staging_streams(tmp_path, run):
    """A stream of batches, each of which lives but shortly."""
    program = f"""
        import numpy, pyarrow as pa, glaive
        rows, batch = 2_000, 500
        path = {str(tmp_path / "wide")!r}
        dataset = glaive.write_dataset(pa.table({{"id": range(rows)}}), path)
        kind = pa.list_(pa.float32(), 4096)
        schema = pa.schema([("y", kind)])
        values = pa.array(numpy.random.default_rng(7).random(batch * 4096, numpy.float32))
        one = pa.record_batch([pa.FixedSizeListArray.from_arrays(values, 4096)], schema=schema)
        source = pa.RecordBatchReader.from_batches(schema, (one for _ in range(rows // batch)))
        staged = dataset.write_fragment_column(0, source, dataset.new_column_schema(schema))
        dataset.commit_column_writes(staged)
        assert dataset.take([rows - 1])["y"].to_pylist()[0] == one["y"][-1].as_py()
        print(staged.size_bytes)
    """
    assert int(run(program)) > 2_000 * 4096 * 4


def test_reads(path):
    """Published from what was read, or not at all."""
    for changed, lands in (("v", False), ("w", True)):
        stale, other = glaive.dataset(path), glaive.dataset(path)
        staged = [stage(stale, 0, y=[1, 2, 3])]
        other.commit_column_writes(stage(other, 0, **{changed: [5, 6, 7]}))
        if lands:
            stale.commit_column_writes(staged, reads=["v"])
            assert read(path)["y"] == [1, 2, 3, None, None, None]
        else:
            error = refused(path, stale, staged, 0, "v", reads=["v"])
            assert "computed from" in str(error)


def test_reads_named_when_staged(path):
    stale = glaive.dataset(path)
    rows = pa.table({"y": pa.array([1, 2, 3], INT)})
    schema = stale.new_column_schema(rows.schema)
    staged = [stale.write_fragment_column(i, rows, schema, reads=["v"]) for i in (0, 1)]
    overlay(path, 0, "v", [1], [77])
    overlay(path, 1, "w", [1], [77], "second.lance")
    lance.dataset(path).cleanup_old_versions(timedelta(0))
    # The version that was read is gone; what was read is known all the same.
    latest = glaive.dataset(path)
    refused(path, latest, staged[:1], 0, "v")
    latest.commit_column_writes(staged[1:])
    assert read(path)["y"] == [None, None, None, 1, 2, 3]
    unnamed = [stage(stale, 0, z=[1, 2, 3])]
    with pytest.raises(ColumnWriteConflict, match="gone"):
        latest.commit_column_writes(unnamed, reads=["v"])
    with pytest.raises(ValueError, match="'nowhere'"):
        latest.commit_column_writes(unnamed, reads=["nowhere"])


def test_rows_read(path):
    """Changes of other rows than those that were read do not count."""
    stale = glaive.dataset(path)
    staged = [stage(stale, i, y=[1, 2, 3]) for i in (0, 1)]
    overlay(path, 0, "v", [1], [77])
    lance.dataset(path).update({"v": "0"}, where="id = 5")
    for reads in ([(0, ["v"])], [(0, ["v"], [2, 1])], ["id", (0, ["v"], range(3))]):
        with pytest.raises(ColumnWriteConflict, match="computed from") as raised:
            stale.commit_column_writes(staged[:1], reads=reads)
        assert (raised.value.fragment_id, raised.value.field) == (0, "v")
    with pytest.raises(ColumnWriteConflict, match="moved"):
        stale.commit_column_writes(staged[:1], reads=[(1, ["v"], [2])])
    with pytest.raises(ValueError, match="row 3"):
        stale.commit_column_writes(staged[:1], reads=[(1, ["v"], [3])])
    stale.commit_column_writes(staged[:1], reads=["w", (0, ["v"], [0, 2]), (1, ["v"], [0, 1])])
    assert read(path)["y"] == [1, 2, 3, None, None, None]
    refused(path, stale, staged[1:], 1)


def test_a_merge_of_other_rows(path):
    """Which no witness of another field would notice."""
    stale = glaive.dataset(path)
    staged = [stage(stale, 0, y=[1, 2, 3])]
    rows = pa.table({name: pa.array([9, 8, 7], INT) for name in ("id", "v", "w")})
    with LanceFileWriter(
        f"{path}/data/others.lance", rows.schema, version=stale.data_storage_version
    ) as writer:
        writer.write_batch(rows.to_batches()[0])
    file = DataFile.create(lance.dataset(path), "others.lance")

    def replace(fragment):
        fragment.files[:] = [file]

    edit(path, replace)
    assert "other files" in str(refused(path, stale, staged))


def test_writes_of_both_engines(path):
    """What pylance commits in between counts like what glaive does."""
    dataset = glaive.dataset(path)
    staged = [stage(dataset, i, y=[1, 2, 3]) for i in (0, 1)]
    lance.dataset(path).add_columns({"z": "id + 1"})
    refused(path, dataset, staged, None, "y")
    latest = glaive.dataset(path)
    latest.commit_column_writes([stage(latest, i, y=[1, 2, 3]) for i in (0, 1)])
    lance.dataset(path).add_columns({"sum": "y + z"})
    assert read(path)["sum"] == [2, 4, 6, 5, 7, 9]


def test_races_of_threads(path):
    """Of eight that write one column, one wins; of eight that write eight, all do."""
    from concurrent.futures import ThreadPoolExecutor

    names = [f"c{i}" for i in range(8)]
    base = glaive.dataset(path)
    base.add_columns(fields(**dict.fromkeys(names, INT)))

    def write(name, value):
        dataset = glaive.dataset(path)
        staged = stage(dataset, 0, **{name: [value] * 3})
        try:
            dataset.commit_column_writes(staged)
        except ColumnWriteConflict:
            staged.discard()
            return None
        return value

    handles = [glaive.dataset(path) for _ in range(8)]
    staged = [stage(handle, 0, v=[i] * 3) for i, handle in enumerate(handles)]

    def commit(handle, one):
        try:
            handle.commit_column_writes(one)
        except ColumnWriteConflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(commit, handles, staged)) == 1
        assert list(pool.map(write, names, range(8))) == list(range(8))
    found = read(path)
    assert len(set(found["v"][:3])) == 1
    assert [found[name][0] for name in names] == list(range(8))
