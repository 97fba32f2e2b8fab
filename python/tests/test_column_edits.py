"""Columns from functions and streams, casts, and fragments that are edited one by one."""

import pickle
import sqlite3

import numpy as np
import pyarrow as pa
import pytest

import glaive
import lance
from glaive.udf import BatchUDF, batch_udf

STRUCT = pa.struct([("x", pa.int32()), ("y", pa.utf8())])


def rows(count=30):
    return pa.table(
        {
            "a": pa.array(range(count), pa.int64()),
            "v": [i * 1.5 for i in range(count)],
            "l": pa.array([[i, -i] if i % 3 else None for i in range(count)], pa.list_(pa.int32())),
            "s": pa.array([{"x": i, "y": str(i)} if i % 4 else None for i in range(count)], STRUCT),
        }
    )


@pytest.fixture(params=[False, True], ids=["addresses", "stable_ids"])
def tables(request, tmp_path):
    """The same table by path for either engine: three fragments with deleted rows."""
    paths = {}
    for engine in (glaive, lance):
        paths[engine] = str(tmp_path / engine.__name__)
        lance.write_dataset(
            rows(), paths[engine], max_rows_per_file=10, enable_stable_row_ids=request.param
        )
        lance.dataset(paths[engine]).delete("a IN (0, 1, 9, 12, 29)")
    return paths


def commit_merge(engine, path, edit):
    dataset = engine.dataset(path)
    edited = [edit(fragment) for fragment in dataset.get_fragments()]
    schemas = [schema for _, schema in edited]
    assert all(pickle.loads(pickle.dumps(schema)) == schemas[0] for schema in schemas[:1])
    merge = engine.LanceOperation.Merge([fragment for fragment, _ in edited], schemas[0])
    engine.LanceDataset.commit(path, merge, read_version=dataset.version)


def commit_update(engine, path, fragment_id, source, key):
    dataset = engine.dataset(path)
    fragment, fields, offsets = dataset.get_fragment(fragment_id).update_columns(
        source, left_on=key, with_offsets=True
    )
    update = engine.LanceOperation.Update(
        updated_fragments=[fragment],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={fragment_id: offsets},
    )
    engine.LanceDataset.commit(path, update, read_version=dataset.version)


def nested(count):
    values = [{"z": i} if i % 3 else None for i in range(count)]
    return pa.table({"s": pa.array(values, pa.struct([("z", pa.int64())]))})


CHANGES = {
    "stream": lambda e, p: e.dataset(p).add_columns(
        pa.table({"n": range(25), "m": [[i] for i in range(25)]}).to_reader(max_chunksize=4)
    ),
    "nulls": lambda e, p: e.dataset(p).add_columns([pa.field("n", STRUCT)]),
    "callable": lambda e, p: e.dataset(p).add_columns(
        lambda batch: pa.record_batch({"n": batch["a"]}), read_columns=["a", "_rowaddr"]
    ),
    "in_struct": lambda e, p: e.dataset(p).add_columns(nested(25)),
    "merge": lambda e, p: e.dataset(p).merge(pa.table({"a": [3, 28, 99], "n": ["p", "q", "r"]}), "a"),
    "cast": lambda e, p: e.dataset(p).alter_columns(
        {"path": "s.x", "name": "xx", "data_type": pa.int64()},
        {"path": "l", "data_type": pa.large_list(pa.int16())},
    ),
    "rename": lambda e, p: e.dataset(p).alter_columns({"path": "s.y", "name": "yy"}),
    "required": lambda e, p: e.dataset(p).alter_columns({"path": "a", "nullable": False}),
    "drop": lambda e, p: e.dataset(p).drop_columns(["s", "s.x", "v"]),
    "merge_columns": lambda e, p: commit_merge(e, p, lambda f: f.merge_columns({"n": "a * 2"})),
    "merge_columns_in_struct": lambda e, p: commit_merge(
        e, p, lambda f: f.merge_columns(nested(f.count_rows()))
    ),
    "fragment_merge": lambda e, p: commit_merge(
        e, p, lambda f: f.merge(pa.table({"a": [3, 28], "n": [1, 2]}), "a")
    ),
    "update_list": lambda e, p: commit_update(
        e, p, 1, pa.table({"a": [11, 15], "l": pa.array([[7], None], pa.list_(pa.int32()))}), "a"
    ),
    "update_struct": lambda e, p: commit_update(
        e, p, 2, pa.table({"a": [21, 23], "s": pa.array([{"x": -1, "y": "n"}, None], STRUCT)}), "a"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_pylances(tables, name):
    """Values, schema, files and row lineage, as pylance reads them; and read here alike."""
    found = []
    for engine, path in tables.items():
        CHANGES[name](engine, path)
        dataset = lance.dataset(path)
        dataset.validate()
        columns = dataset.schema.names
        if dataset.has_stable_row_ids:
            columns += ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]
        table = dataset.to_table(columns=columns)
        assert glaive.dataset(path).to_table() == table.select(dataset.schema.names)
        files = [[f.fields for f in fragment.metadata.files] for fragment in dataset.get_fragments()]
        found.append((table, dataset.schema, dataset.max_field_id, files))
    assert found[0] == found[1]


def test_a_part_of_a_struct_is_updated(tables):
    path = tables[glaive]
    part = pa.array([{"y": "new"}, {"y": None}], pa.struct([("y", pa.utf8())]))
    commit_update(glaive, path, 1, pa.table({"a": [11, 15], "s": part}), "a")
    found = lance.dataset(path).to_table(filter="a IN (11, 15, 13)")["s"].to_pylist()
    assert found == [{"x": 11, "y": "new"}, {"x": 13, "y": "13"}, {"x": 15, "y": None}]
    assert glaive.dataset(path).to_table() == lance.dataset(path).to_table()


class Broken(Exception):
    pass


def test_a_function_goes_on_from_its_checkpoint(tables, tmp_path):
    path, checkpoint = tables[glaive], tmp_path / "udf.sqlite"
    seen = []

    def make(fail_at):
        @batch_udf(pa.schema([("n", pa.int64())]), checkpoint_file=checkpoint)
        def double(batch):
            seen.append(batch.num_rows)
            if len(seen) == fail_at:
                raise Broken("on purpose")
            return pa.record_batch({"n": pa.array(np.asarray(batch["a"]) * 2)})

        return double

    with pytest.raises(Broken):
        glaive.dataset(path).add_columns(make(5), read_columns=["a"], batch_size=5)
    assert glaive.dataset(path).version == 2
    with sqlite3.connect(checkpoint) as connection:
        kept = [connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("fragments", "batches")]
    assert kept == [2, 0]
    glaive.dataset(path).delete("a = 3")  # the first fragment is not what it was
    seen.clear()
    glaive.dataset(path).add_columns(make(0), read_columns=["a"], batch_size=5)
    assert seen == [2, 4, 5, 4]
    table = lance.dataset(path).to_table()
    assert table["n"].to_pylist() == [2 * i for i in table["a"].to_pylist()]
    assert not checkpoint.exists()
    with pytest.raises(ValueError, match="checkpoint"):
        udf = BatchUDF(lambda batch: batch, checkpoint_file=tmp_path / "other.sqlite")
        glaive.dataset(path).get_fragment(1).merge_columns(udf)


@pytest.mark.parametrize("stale_engine", [glaive, lance])
def test_rows_written_before_a_cast_are_not_lost(tables, stale_engine):
    """A late insert would leave nulls in the new column."""
    path = tables[glaive]
    stale = stale_engine.dataset(path)
    glaive.dataset(path).alter_columns({"path": "a", "data_type": pa.int32()})
    with pytest.raises(OSError, match="(?i)conflict"):
        stale_engine.write_dataset(rows(3), stale, mode="append")
    assert glaive.dataset(path).to_table()["a"].null_count == 0


def test_a_list_that_update_columns_rewrote_is_not_covered(tables):
    """By its LABEL_LIST index, which would give the old labels."""
    path = tables[glaive]
    lance.dataset(path).create_scalar_index("l", "LABEL_LIST")
    labels = pa.array([[1000], [1000]], pa.list_(pa.int32()))
    commit_update(glaive, path, 1, pa.table({"a": [11, 15], "l": labels}), "a")
    dataset = lance.dataset(path)
    found = dataset.to_table(filter="array_has_any(l, [1000])", columns=["a"])
    assert found["a"].to_pylist() == [11, 15]
    assert dataset.to_table(filter="array_has_any(l, [13])", columns=["a"])["a"].to_pylist() == [13]


def test_a_cast_of_an_indexed_column_is_refused(tables, files):
    path = tables[glaive]
    lance.dataset(path).create_scalar_index("a", "BTREE", name="by_a")
    before = files(path)
    with pytest.raises(OSError, match="by_a"):
        glaive.dataset(path).alter_columns({"path": "a", "data_type": pa.int32()})
    assert files(path) == before
    glaive.dataset(path).alter_columns({"path": "a", "name": "b"}, {"path": "v", "data_type": pa.float32()})
    assert lance.dataset(path).to_table(filter="b = 5")["b"].to_pylist() == [5]


def test_refusals_leave_no_file(tables, files):
    path = tables[glaive]
    dataset, before = glaive.dataset(path), files(path)
    fragment = dataset.get_fragment(1)
    wrong = [
        lambda: dataset.add_columns(pa.table({"n": range(24)})),
        lambda: dataset.add_columns(pa.table({"n": range(26)})),
        lambda: dataset.add_columns(pa.table({"_rowid": range(25)})),
        lambda: fragment.merge_columns(pa.table({"n": range(8)})),
        lambda: fragment.merge_columns(pa.table({"n": range(10)})),
        lambda: fragment.update_columns(pa.table({"a": [11], "zz": [1]}), "a"),
        lambda: fragment.update_columns(pa.table({"a": [11], "v": ["x"]}), "a"),
        lambda: fragment.update_columns(pa.table({"a": [11]}), "a"),
        lambda: fragment.merge(pa.table({"a": pa.array([11], pa.int8()), "n": [1]}), "a"),
        lambda: dataset.merge(pa.table({"k": [1], "v": [1.0]}), "a", "k"),
        lambda: dataset.alter_columns({"path": "a", "nane": "b"}),
        lambda: fragment.delete_rows([10]),
    ]
    for call in wrong:
        with pytest.raises((ValueError, OSError)):
            call()
    assert files(path) == before and dataset.latest_version == 2


def test_progress_is_told_in_fragments(tmp_path):
    folder = tmp_path / "progress"
    progress = glaive.progress.FileSystemFragmentWriteProgress(f"file://{folder}", {"who": "me"})
    fragments = glaive.fragment.write_fragments(
        rows(), tmp_path / "t", mode="create", max_rows_per_file=20, progress=progress
    )
    assert len(fragments) == 2
    assert [path.name for path in folder.iterdir()] == ["fragment_0.json"]

    class Failing(glaive.progress.NoopFragmentWriteProgress):
        def complete(self, fragment, **kwargs):
            raise Broken

    with pytest.raises(Broken):
        glaive.write_dataset(rows(), tmp_path / "other", progress=Failing())
    assert not list((tmp_path / "other").rglob("*.lance"))


def test_damaged_fragments_are_found(tables):
    path = tables[glaive]
    fragment = glaive.dataset(path).get_fragment(1)
    fragment.validate()
    with open(f"{path}/data/{fragment.data_files()[0].path}", "r+b") as file:
        file.truncate(100)
    with pytest.raises(OSError, match="lance"):
        glaive.dataset(path, session=glaive.Session()).get_fragment(1).validate()


def test_files_are_listed(tables):
    path = tables[glaive]
    dataset = glaive.dataset(path)
    assert dataset.fragment_ids() == [0, 1, 2]
    theirs = lance.dataset(path)
    for name in ("tracked_files", "all_files"):
        ours, expected = (getattr(d, name)().read_all() for d in (dataset, theirs))
        assert ours.schema.names == expected.schema.names
        assert sorted(map(str, ours.to_pylist())) == sorted(map(str, expected.to_pylist()))
    calls = []
    dataset.tracked_files(min_version=2, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 1)]
    assert dataset.io_stats_snapshot().read_iops == 0
    dataset.to_table()
    assert dataset.io_stats_incremental().read_bytes > 0


def test_debug_names_fields(tables):
    dataset = glaive.dataset(tables[glaive])
    assert '"s.x"' in glaive.debug.format_fragment(dataset.get_fragment(0), dataset)
    assert '"nullable": true' in glaive.debug.format_schema(dataset)
    assert '"version": 2' in glaive.debug.format_manifest(dataset)
    assert [version for version, _ in glaive.debug.list_transactions(dataset)] == [2, 1]
