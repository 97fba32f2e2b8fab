"""What a handle that is behind commits must not undo or misread what came between."""

import random

import lance
import pyarrow as pa
import pytest

import glaive
from glaive.commit import CommitConflictError

VERSIONS = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def rows_of(path, **options):
    return glaive.dataset(path).to_table(**options).to_pylist()


def test_rows_that_moved_twice_keep_when_they_were_made(path):
    rows = pa.table({"id": range(100), "v": [0] * 100})
    ds = glaive.write_dataset(rows, path, enable_stable_row_ids=True)
    ds.update({"v": "1"}, where="id = 50")
    glaive.dataset(path).update({"v": "2"}, where="id = 50 or id = 60")
    found = rows_of(path, columns=["id", *VERSIONS], filter="id = 50 or id = 60")
    assert sorted(row["_row_created_at_version"] for row in found) == [1, 1]


@pytest.mark.parametrize("seed", range(8))
def test_row_versions_agree_with_a_model(path, seed):
    choose = random.Random(seed)
    rows = pa.table({"id": range(30), "v": [0] * 30})
    glaive.write_dataset(rows, path, max_rows_per_file=10, enable_stable_row_ids=True)
    model = {id: (id, 1, 1, 0) for id in range(30)}  # row id, created, updated, v
    next_id = 30
    for _ in range(25):
        ds = glaive.dataset(path)
        version = ds.version + 1
        chosen = sorted(choose.sample(sorted(model), min(len(model), choose.randint(1, 6))))
        where = f"id in ({', '.join(map(str, chosen))})"
        verb = choose.choice(["update"] * 3 + ["upsert", "delete", "append", "compact"])
        if verb == "update":
            ds.update({"v": str(version)}, where=where)
            for id in chosen:
                model[id] = (*model[id][:2], version, version)
        elif verb == "upsert":
            source = pa.table({"id": [*chosen, next_id], "v": [version] * (len(chosen) + 1)})
            merge = ds.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(source)
            for id in chosen:
                model[id] = (*model[id][:2], version, version)
            model[next_id] = (None, version, version, version)
            next_id += 1
        elif verb == "delete" and len(model) > 10:
            ds.delete(where)
            for id in chosen:
                del model[id]
        elif verb == "append":
            ds.insert(pa.table({"id": range(next_id, next_id + 3), "v": [version] * 3}))
            for id in range(next_id, next_id + 3):
                model[id] = (None, version, version, version)
            next_id += 3
        elif verb == "compact":
            ds.optimize.compact_files()
        found = {}
        for row in rows_of(path, columns=["id", *VERSIONS, "v"]):
            id = row.pop("id")
            found[id] = tuple(row.values())
            row_id, *others = model[id]
            model[id] = (found[id][0] if row_id is None else row_id, *others)
        assert found == model, f"after {verb} made version {version}"


def test_a_late_append_of_a_column_whose_id_another_one_got_is_refused(path):
    ds = glaive.write_dataset(pa.table({"a": [1, 2]}), path)
    ds.add_columns({"price": "a * 10"})
    late = glaive.dataset(path)
    glaive.dataset(path).drop_columns(["price"])
    glaive.dataset(path).add_columns({"age": "a + 30"})
    with pytest.raises(CommitConflictError, match="column 'price' is no longer") as raised:
        late.insert(pa.table({"a": [3], "price": [999]}))
    assert raised.value.retryable
    assert rows_of(path) == [{"a": 1, "age": 31}, {"a": 2, "age": 32}]


def test_a_late_append_follows_a_rename(path):
    late = glaive.write_dataset(pa.table({"a": [1], "b": [2]}), path)
    glaive.dataset(path).alter_columns({"path": "b", "name": "c"})
    late.insert(pa.table({"a": [3], "b": [4]}))
    assert rows_of(path) == [{"a": 1, "c": 2}, {"a": 3, "c": 4}]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()], ids=str)
def test_a_late_compaction_of_a_column_whose_id_another_one_got_is_left(path, kind):
    glaive.write_dataset(pa.table({"a": [1, 2]}), path)
    glaive.write_dataset(pa.table({"a": [3, 4]}), path, mode="append")
    glaive.dataset(path).add_columns([pa.field("text", pa.string())])
    ds = glaive.dataset(path)
    results = [task.execute(ds) for task in glaive.optimize.Compaction.plan(ds, {}).tasks]
    assert len(results) == 1
    glaive.dataset(path).drop_columns(["text"])
    glaive.dataset(path).add_columns([pa.field("other", kind)])
    with pytest.raises(CommitConflictError, match="'other'") as raised:
        glaive.optimize.Compaction.commit(glaive.dataset(path), results)
    assert raised.value.retryable
    assert [row["other"] for row in rows_of(path)] == [None] * 4
    glaive.dataset(path).optimize.compact_files()
    assert len(glaive.dataset(path).get_fragments()) == 1


def test_a_late_compaction_follows_a_column_without_values(path):
    glaive.write_dataset(pa.table({"a": [1, 2]}), path)
    glaive.write_dataset(pa.table({"a": [3, 4]}), path, mode="append")
    glaive.dataset(path).add_columns([pa.field("text", pa.string())])
    ds = glaive.dataset(path)
    results = [task.execute(ds) for task in glaive.optimize.Compaction.plan(ds, {}).tasks]
    glaive.dataset(path).update_config({"x": "1"})
    glaive.optimize.Compaction.commit(glaive.dataset(path), results)
    assert len(glaive.dataset(path).get_fragments()) == 1
    assert [row["text"] for row in rows_of(path)] == [None] * 4


def test_a_drop_of_columns_keeps_metadata_that_was_set_meanwhile(path):
    ds = glaive.write_dataset(pa.table({"a": [1], "b": [2]}), path)
    late = glaive.dataset(path)
    ds.update_schema_metadata({"owner": "me"})
    ds.update_field_metadata({"a": {"unit": "m"}})
    late.drop_columns(["b"])
    schema = glaive.dataset(path).schema
    assert schema.metadata == {b"owner": b"me"}
    assert schema.field("a").metadata == {b"unit": b"m"}
    assert schema.names == ["a"]


def test_a_rename_keeps_metadata_that_was_set_meanwhile(path):
    ds = glaive.write_dataset(pa.table({"a": [1], "b": [2]}), path)
    late = glaive.dataset(path)
    ds.update_field_metadata({"b": {"unit": "m"}})
    late.alter_columns({"path": "b", "name": "c"})
    assert glaive.dataset(path).schema.field("c").metadata == {b"unit": b"m"}


@pytest.mark.parametrize("column, expected", [("k", [5, 2]), ("v", [1, 2, 5])])
def test_no_key_is_inserted_beside_a_replacement_of_the_key_column(path, column, expected):
    ds = glaive.write_dataset(pa.table({"k": [1, 2], "v": [1, 2]}), path)
    late = glaive.dataset(path)
    values = pa.table({column: [5, 2]})
    staged = ds.write_fragment_column(0, values, pa.schema([ds.schema.field(column)]))
    ds.commit_column_writes([staged])
    merge = late.merge_insert("k").when_not_matched_insert_all()
    merge.execute(pa.table({"k": [5], "v": [50]}))
    assert sorted(row["k"] for row in rows_of(path)) == sorted(expected)


@pytest.fixture
def without_a_file(path):
    """Two rows that have no value, and one that has, as drop_columns leaves them."""
    glaive.write_dataset(pa.table({"id": [1, 2]}), path)
    glaive.dataset(path).add_columns([pa.field("x", pa.int64())])
    glaive.write_dataset(pa.table({"id": [3], "x": [7]}), path, mode="append")
    return path


@pytest.mark.parametrize("engine", [glaive, lance], ids=["glaive", "pylance"])
def test_a_fragment_whose_values_were_all_dropped_reads_as_nulls(without_a_file, engine):
    path = without_a_file
    engine.dataset(path).drop_columns(["id"])
    ds = glaive.dataset(path)
    assert ds.to_table()["x"].to_pylist() == [None, None, 7]
    assert ds.take([0, 2])["x"].to_pylist() == [None, 7]
    assert ds.count_rows() == 3 and ds.count_rows("x is null") == 2
    assert ds.to_table(filter="x = 7").num_rows == 1
    assert ds.to_table(with_row_id=True, columns=[]).num_rows == 3
    ds.validate()
    if engine is glaive:
        assert lance.dataset(path).to_table()["x"].to_pylist() == [None, None, 7]
    ds.update({"x": "1"}, where="x is null")
    assert sorted(glaive.dataset(path).to_table()["x"].to_pylist()) == [1, 1, 7]


@pytest.mark.parametrize("engine", [glaive, lance], ids=["glaive", "pylance"])
def test_a_fragment_whose_values_were_all_dropped_can_be_changed(without_a_file, engine):
    path = without_a_file
    engine.dataset(path).drop_columns(["id"])
    glaive.dataset(path).delete("_rowaddr = 0")
    glaive.dataset(path).add_columns({"y": "x + 1"})
    assert rows_of(path) == [{"x": None, "y": None}, {"x": 7, "y": 8}]
    glaive.dataset(path).optimize.compact_files()
    assert rows_of(path) == [{"x": None, "y": None}, {"x": 7, "y": 8}]
    assert lance.dataset(path).to_table().to_pylist() == rows_of(path)
