"""Compactions of tables whose fragments hold the same columns in different ways, by all modes."""

import re
import shutil
from pathlib import Path

import glaive
import lance
import numpy as np
import pyarrow as pa
import pytest
from glaive import LanceOperation as Op
from lance.file import LanceFileReader
from lance.fragment import DataFile

MODES = ["reencode", "try_binary_copy", "force_binary_copy"]
VERSIONS = ["_row_created_at_version", "_row_last_updated_at_version"]
MARK = b"bytes of a column that was dropped"


def rows(begin, end):
    """Columns that are copied (`zipped`, `vector`), and such that are not."""
    random = np.random.default_rng(begin)
    count = end - begin
    nulls = pa.array(random.random(count) < 0.1)
    lists = [None if i % 7 == 3 else list(range(i % 5)) for i in range(count)]
    struct = [{"x": i, "y": None if i % 3 else [{"z": str(i)}] * (i % 4)} for i in range(count)]
    floats = pa.array(random.standard_normal(count * 80, dtype=np.float32))
    return pa.table(
        {
            "id": pa.array(range(begin, end)),
            "zipped": pa.array([random.bytes(300) for _ in range(count)], pa.binary(300)),
            "vector": pa.FixedSizeListArray.from_arrays(floats, 80, mask=nulls),
            "lists": pa.array(lists, pa.list_(pa.int16())),
            "nested": struct,
            "text": [f"text {i}" for i in range(count)],
            "dropped": [MARK] * count,
        }
    )


def write(path, parts=3, **options):
    for i in range(parts):
        part = rows(i * 300, i * 300 + 300 - i % 2)
        lance.write_dataset(part, path, mode="append" if i else "create", **options)


def rewrite_fragments(path, change):
    dataset = lance.dataset(path)
    fragments = [fragment.metadata for fragment in dataset.get_fragments()]
    for i, fragment in enumerate(fragments):
        change(i, fragment)
    operation = lance.LanceOperation.Merge(fragments, dataset.lance_schema)
    lance.LanceDataset.commit(path, operation, read_version=dataset.version)


def plain(path):
    write(path)


def old_files(path):
    write(path, data_storage_version="2.1")


def mixed_versions(path):
    write(path, 2, data_storage_version="2.1")
    lance.write_dataset(rows(600, 900), path, mode="append", data_storage_version="2.2")


def field_in_no_file(path):
    write(path)
    lance.dataset(path).add_columns(pa.field("late", pa.int32()))


def field_in_some_files(path):
    write(path)
    lance.dataset(path).add_columns(pa.field("late", pa.list_(pa.int32())))
    late = pa.array([[i] for i in range(300)], pa.list_(pa.int32()))
    part = rows(900, 1200).append_column("late", late)
    lance.write_dataset(part, path, mode="append")


def dropped(path):
    write(path)
    lance.dataset(path).drop_columns(["dropped"])


def dropped_child(path):
    write(path)
    lance.dataset(path).drop_columns(["nested.y"])


def replaced(path):
    """Field ids of -2, where another file has the values now: of two fragments of three."""
    write(path)
    dataset = lance.dataset(path)
    updated = []
    for fragment in dataset.get_fragments()[:2]:
        ids = fragment.to_table(columns=["id"])["id"]
        values = pa.table({"id": ids, "zipped": pa.array([b"u" * 300] * len(ids), pa.binary(300))})
        metadata, fields = fragment.update_columns(values, "id", "id")
        updated.append(metadata)
    operation = lance.LanceOperation.Update(updated_fragments=updated, fields_modified=fields)
    lance.LanceDataset.commit(path, operation, read_version=dataset.version)
    fragments = lance.dataset(path).get_fragments()
    assert [-2 in f.data_files()[0].fields for f in fragments] == [True, True, False]


def recast(path):
    write(path)
    lance.dataset(path).alter_columns({"path": "id", "data_type": pa.int32()})
    lance.dataset(path).alter_columns({"path": "text", "data_type": pa.large_utf8()})


def several_files(path):
    write(path)
    lance.dataset(path).add_columns({"twice": "id * 2"})
    merged = pa.array([None if i % 4 == 0 else bytes(300) for i in range(900)], pa.binary(300))
    lance.dataset(path).merge(pa.table({"id": range(900), "merged": merged}), "id")


def several_files_in_some(path):
    several_files(path)
    part = lance.dataset(path).to_table(offset=10, limit=280)
    lance.write_dataset(part, path, mode="append")


def permuted(path):
    write(path)

    def permute(i, fragment):
        file = fragment.files[0]
        if i != 1:
            file.fields, file.column_indices = file.fields[::-1], file.column_indices[::-1]

    rewrite_fragments(path, permute)


def renamed(path):
    write(path)
    names = {"zipped": "zippered", "nested.x": "w"}
    changes = [{"path": path, "name": name} for path, name in names.items()]
    lance.dataset(path).alter_columns(*changes)
    lance.write_dataset(lance.dataset(path).to_table(limit=50), path, mode="append")


def overlays(path):
    write(path)
    fields = lance.dataset(path).lance_schema.fields()
    (zipped,) = [field.id() for field in fields if field.name() == "zipped"]
    for number, fragment_id in enumerate([0, 2, 2]):
        dataset = glaive.dataset(path)
        schema = pa.schema([("zipped", pa.binary(300))])
        name = f"overlay{number}.lance"
        with glaive.file.LanceFileWriter(f"{path}/data/{name}", schema, version="2.2") as out:
            values = [bytes([number]) * 300, None, b"x" * 300]
            out.write_batch(pa.record_batch([pa.array(values, pa.binary(300))], schema=schema))
        file = Op.DataOverlayFile(DataFile(name, [zipped], [0], 2, 2), [3, 100, 200 + number])
        operation = Op.DataOverlay([Op.DataOverlayGroup(fragment_id, [file])])
        glaive.LanceDataset.commit(dataset, operation, dataset.version)


def deletions(path):
    write(path)
    lance.dataset(path).delete("id % 11 = 4 OR id BETWEEN 250 AND 350")


def stable_ids(path):
    write(path, enable_stable_row_ids=True)


def stable_ids_and_updates(path):
    write(path, enable_stable_row_ids=True)
    lance.dataset(path).update({"text": "'updated'"}, where="id % 50 = 7")
    lance.dataset(path).delete("id % 13 = 2")
    lance.dataset(path).add_columns({"twice": "id * 2"})


def everything(path):
    write(path, 2, data_storage_version="2.1", enable_stable_row_ids=True)
    lance.dataset(path).add_columns({"twice": "id * 2"})
    lance.dataset(path).add_columns(pa.field("late", pa.int32()))
    lance.dataset(path).drop_columns(["dropped", "nested.x"])
    lance.dataset(path).alter_columns({"path": "text", "data_type": pa.large_utf8()})
    lance.dataset(path).delete("id % 17 = 3")
    part = lance.dataset(path).to_table(limit=200)
    lance.write_dataset(part, path, mode="append", data_storage_version="2.2")
    lance.dataset(path).update({"late": "id"}, where="id % 10 = 1")


LAYOUTS = [
    plain,
    old_files,
    mixed_versions,
    field_in_no_file,
    field_in_some_files,
    dropped,
    dropped_child,
    replaced,
    recast,
    several_files,
    several_files_in_some,
    permuted,
    renamed,
    overlays,
    deletions,
    stable_ids,
    stable_ids_and_updates,
    everything,
]


@pytest.fixture(scope="module", params=LAYOUTS, ids=lambda layout: layout.__name__)
def table(request, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("layout") / "table")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
        request.param(path)
        yield path


def read(engine, path):
    dataset = engine.dataset(path)
    dataset.validate()
    columns = [*dataset.schema.names, *VERSIONS]
    table = dataset.to_table(columns=columns, with_row_id=dataset.has_stable_row_ids)
    some = list(range(0, len(table), 41))
    assert dataset.take(some, columns=dataset.schema.names).to_pylist() == (
        table.select(dataset.schema.names).take(some).to_pylist()
    )
    return table


def data_files(path):
    return {file.name for file in Path(path, "data").iterdir()}


def outcome(engine, path, mode):
    """None, or the error's text without what is of this table alone."""
    try:
        engine.dataset(path).optimize.compact_files(compaction_mode=mode)
    except Exception as error:  # noqa: BLE001
        text = re.sub(r"\w{8}-(\w{4}-){3}\w{12}", "ID", str(error))
        said = r"compaction task.*?(is not supported|but data file .* uses \d.\d)"
        return re.search(said, text)[0]
    return None


@pytest.mark.parametrize("mode", MODES)
def test_layouts_survive(table, mode, tmp_path):
    path, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    shutil.copytree(table, path)
    before = read(lance, path)
    assert read(glaive, path) == before
    error = outcome(glaive, path, mode)
    if mode == "force_binary_copy":
        shutil.copytree(table, theirs)
        assert error == outcome(lance, theirs, mode)
    else:
        assert error is None
    if error:
        assert glaive.dataset(path).version == lance.dataset(table).version
        assert data_files(path) == data_files(table)
        return
    for engine in (lance, glaive):
        assert read(engine, path) == before
    (fragment,) = lance.dataset(path).get_fragments()
    (file,) = fragment.data_files()
    assert len(file.fields) == len(set(file.fields)) and min(file.fields) >= 0
    assert not fragment.metadata.overlays and fragment.deletion_file() is None
    metadata = LanceFileReader(f"{path}/data/{file.path}").metadata()
    assert [len(column.pages) for column in metadata.columns] == [1] * len(metadata.columns)
    data = Path(path, "data", file.path).read_bytes()
    assert (MARK in data) == ("dropped" in before.schema.names)


def test_forcing_is_refused_where_files_do_not_fit(tmp_path):
    refused = {}
    for layout in LAYOUTS:
        path = str(tmp_path / layout.__name__)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
            layout(path)
            try:
                glaive.dataset(path).optimize.compact_files(compaction_mode="force_binary_copy")
            except glaive.errors.Unsupported as error:
                refused[layout.__name__] = str(error)
    assert "binary copy target is 2.1, but data file" in refused["mixed_versions"]
    for name in ("deletions", "overlays", "several_files", "permuted", "dropped", "replaced"):
        assert "binary copy is not supported" in refused[name]
    assert not {"plain", "old_files", "renamed", "stable_ids"} & set(refused)
