"""Writing: what is taken as rows, and where rows go."""

import json
from pathlib import Path

import glaive
import lance
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pytest
from glaive import _native
from glaive._engine import options
from glaive._engine.fragment_metadata import from_native
from glaive.fragment import DEFAULT_MAX_BYTES_PER_FILE, FragmentMetadata, write_fragments

TABLE = pa.table({"a": pa.array(range(10), pa.int64()), "s": [f"s{i}" for i in range(10)]})


class Foreign:
    """Some other library's table."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


SOURCES = {
    "table": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "reader": lambda: TABLE.to_reader(max_chunksize=3),
    "python reader": lambda: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(3)),
    "pandas": lambda: TABLE.to_pandas(),
    "dict": lambda: TABLE.to_pydict(),
    "rows": lambda: TABLE.to_pylist(),
    "arrow dataset": lambda: pa.dataset.dataset(TABLE),
    "arrow scanner": lambda: pa.dataset.dataset(TABLE).scanner(),
    "generator": lambda: (batch for batch in TABLE.to_batches(max_chunksize=4)),
    "foreign": Foreign,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_sources(path, kind):
    schema = TABLE.schema if kind == "generator" else None
    glaive.write_dataset(SOURCES[kind](), path, schema=schema)
    assert lance.dataset(path).to_table().to_pydict() == TABLE.to_pydict()


def test_tables_of_both_engines_as_source(tmp_path):
    ours = glaive.write_dataset(TABLE, tmp_path / "ours")
    theirs = lance.write_dataset(TABLE, tmp_path / "theirs")
    for number, source in enumerate((ours, theirs, ours.scanner(), theirs.scanner())):
        copy = glaive.write_dataset(source, tmp_path / f"copy{number}")
        assert copy.to_table() == TABLE


def test_schema_casts(path):
    schema = pa.schema({"a": pa.int32(), "s": pa.large_utf8()})
    for mode, source in (("create", TABLE), ("append", TABLE.to_reader()), ("append", [])):
        glaive.write_dataset(source, path, schema=schema, mode=mode)
    assert lance.dataset(path).schema == schema
    assert lance.dataset(path).count_rows() == 20


def test_modes(path):
    with pytest.raises(OSError, match="exists"):
        for _ in range(2):
            glaive.write_dataset(TABLE, path)
    assert glaive.write_dataset(TABLE, path, mode="append").count_rows() == 20
    replaced = glaive.write_dataset(pa.table({"b": [1.5]}), path, mode="overwrite")
    assert replaced.schema.names == ["b"] and replaced.version == 3
    with pytest.raises(ValueError, match="merge"):
        glaive.write_dataset(TABLE, path, mode="merge")


@pytest.mark.parametrize("odd", [None, "", "short"])
def test_long_text_with_gaps_for_pylance(path, odd):
    rows = pa.table({"text": [letter * 40_000 for letter in "abcd"] + [odd]})
    glaive.write_dataset(rows, path)
    assert lance.dataset(path).to_table() == rows
    assert lance.dataset(path).take([4, 0]) == rows.take([4, 0])


def test_none_is_the_default(path):
    dataset = glaive.write_dataset(
        TABLE, path, mode=None, enable_v2_manifest_paths=None, enable_stable_row_ids=None
    )
    assert not dataset.has_stable_row_ids
    assert (Path(path) / "_versions" / f"{2**64 - 2}.manifest").exists()


def test_alternating_with_pylance(path):
    engines = (glaive, lance)
    rows = 0
    for turn in range(6):
        engines[turn % 2].write_dataset(TABLE, path, mode="append")
        rows += 10
        victim = engines[(turn + 1) % 2].dataset(path)
        victim.delete(f"a = {turn}")
        rows -= sum(1 for _ in range(turn + 1))
        assert [engine.dataset(path).count_rows() for engine in engines] == [rows, rows]
        assert glaive.dataset(path).to_table() == lance.dataset(path).to_table()
    engines[1].dataset(path).optimize.compact_files()
    glaive.write_dataset(TABLE, path, mode="append")
    glaive.dataset(path).optimize.compact_files()
    lance.dataset(path).validate()
    assert glaive.dataset(path).to_table() == lance.dataset(path).to_table()


def test_write_fragments(path):
    fragments = write_fragments(TABLE, path, mode="create", max_rows_per_file=4)
    assert [f.physical_rows for f in fragments] == [4, 4, 2]
    assert all(isinstance(f, FragmentMetadata) and f.id == 0 for f in fragments)
    theirs = [lance.fragment.FragmentMetadata.from_json(_text(f)) for f in fragments]
    operation = lance.LanceOperation.Overwrite(TABLE.schema, theirs)
    lance.LanceDataset.commit(path, operation)
    assert glaive.dataset(path).to_table() == TABLE
    assert DEFAULT_MAX_BYTES_PER_FILE == lance.fragment.DEFAULT_MAX_BYTES_PER_FILE
    onto = write_fragments({"a": [1], "s": ["x"]}, glaive.dataset(path))
    assert onto[0].files[0].fields == fragments[0].files[0].fields
    assert glaive.dataset(path).version == 1


def test_what_fragments_say(path):
    """Values that are handed over one by one are those of the engine's JSON."""
    table = glaive.write_dataset(TABLE, path)
    target = table.write_target()
    (onto,) = write_fragments(TABLE, table)
    (made,) = write_fragments(TABLE, target)
    assert onto._written_for is None
    assert made._written_for == {"version": 1, "transaction": target.transaction_uuid}
    table.delete("a = 3")
    (deleted,) = [fragment.metadata for fragment in table.get_fragments()]
    assert deleted.num_deletions == 1
    for fragment in (onto, made, deleted):
        native = _native.FragmentMetadata.from_json(_text(fragment))
        assert (native.plain_values() is None) == (fragment is deleted)
        assert json.loads(native.to_json()) == fragment.to_json()
        again = from_native(native)
        assert again == fragment
        assert again._written_for == fragment._written_for
        assert again.to_json() == fragment.to_json()


def test_defaults_are_the_engines():
    limits = _native.WriteOptions().limits
    assert limits.max_rows_per_file == options.DEFAULT_MAX_ROWS_PER_FILE
    assert limits.max_bytes_per_file == DEFAULT_MAX_BYTES_PER_FILE
    assert limits.max_rows_per_group in (None, options.DEFAULT_MAX_ROWS_PER_GROUP)
    assert _native.VersionOptions().durability == _native.Durability.default


class _Marked(pa.ExtensionType):
    """Known to Python alone."""

    def __init__(self):
        super().__init__(pa.int64(), "glaive.tests.marked")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def test_tables_of_every_origin(path):
    """A pyarrow.Table is taken as it is: its chunks, slices, nulls and views of Python's memory."""
    numbers = np.arange(10, dtype=np.int64)
    table = pa.table(
        {
            "a": pa.chunked_array([pa.array(numbers[:4]), pa.array(numbers[4:])]),
            "s": pa.array([None, "x", "", "yy"] * 3)[1:11],
            "n": pa.array([[1, None], None, [], [2], [3]] * 2),
            "v": pa.array(["a", None] * 5, pa.string_view()),
        }
    )
    glaive.write_dataset(table, path)
    assert glaive.dataset(path).to_table().to_pylist() == table.to_pylist()
    glaive.dataset(path).insert(table[3:7])
    glaive.dataset(path).insert(table[:0])
    assert glaive.dataset(path).to_table().to_pylist()[10:] == table[3:7].to_pylist()
    marked = pa.table({"m": pa.ExtensionArray.from_storage(_Marked(), pa.array([1, 2, 3]))})
    glaive.write_dataset(marked, path, mode="overwrite")
    assert glaive.dataset(path).to_table()["m"].to_pylist() == [1, 2, 3]
    theirs = lance.write_dataset(marked, f"{path}_theirs")
    assert glaive.dataset(path).schema == theirs.schema


def _text(fragment):
    return json.dumps(fragment.to_json())


UNSUPPORTED = {
    "commit_lock": lambda version: None,
    "storage_options": {"region": "nowhere"},
    "base_store_params": {"a": {"b": "c"}},
    "external_blob_mode": "ingest",
    "allow_external_blob_outside_bases": True,
    "blob_pack_file_size_threshold": 1,
    "namespace_client": object(),
    "table_id": ["a"],
}


@pytest.mark.parametrize("option", UNSUPPORTED)
def test_unsupported_options_are_refused_by_name(path, files, tmp_path, option):
    with pytest.raises(NotImplementedError, match=option):
        glaive.write_dataset(TABLE, path, **{option: UNSUPPORTED[option]})
    assert not files(tmp_path)


@pytest.mark.parametrize("durability", ["commit", "none", None])
def test_durability_is_a_choice(path, durability):
    dataset = glaive.write_dataset(TABLE, path, max_rows_per_file=5, durability=durability)
    dataset.insert(TABLE, durability=durability)
    dataset.delete("a = 1", durability=durability)
    dataset.optimize.compact_files(durability=durability)
    assert dataset.count_rows() == 18
    with pytest.raises(ValueError, match="durability"):
        dataset.insert(TABLE, durability="maybe")


def test_defaults_are_never_refused(path):
    defaults = dict.fromkeys(UNSUPPORTED)
    defaults |= {
        "storage_options": {},
        "external_blob_mode": "reference",
    }
    defaults["allow_external_blob_outside_bases"] = False
    glaive.write_dataset(TABLE, path, **defaults)
    assert glaive.dataset(path, block_size=None, storage_options={}, read_params={}).version == 1
