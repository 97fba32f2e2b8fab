"""Nulls that some pages of a column have and others lack: pylance reads such files as well."""

import glaive
import lance
import numpy as np
import pyarrow as pa
import pytest

ROWS = 3000


def lists(offsets, values):
    return pa.ListArray.from_arrays(pa.array(np.asarray(offsets, np.int32)), values)


def column(shape, nulls):
    """`ROWS` structs of lists, null where `nulls` says."""
    inner, leaves = 3 * ROWS, 12 * ROWS
    leaf = pa.array((np.arange(leaves) % 50000).astype(np.uint16))
    pairs = pa.StructArray.from_arrays([leaf, leaf], ["g", "h"])
    ends, inner_ends = np.arange(ROWS + 1), np.arange(inner + 1) * 4
    values = {
        "list<int>": lambda: lists(ends * 12, leaf),
        "list<struct>": lambda: lists(ends * 12, pairs),
        "list<list<int>>": lambda: lists(ends * 3, lists(inner_ends, leaf)),
        "list<list<struct>>": lambda: lists(ends * 3, lists(inner_ends, pairs)),
        "struct<list<int>>": lambda: pa.StructArray.from_arrays([lists(ends * 12, leaf)], ["z"]),
    }[shape]()
    return pa.StructArray.from_arrays([values], ["f"], mask=pa.array(nulls))


SHAPES = ["list<int>", "list<struct>", "list<list<int>>", "list<list<struct>>", "struct<list<int>>"]
NULLS = {
    "last": np.arange(ROWS) >= ROWS - 5,
    "first": np.arange(ROWS) < 5,
    "none": np.zeros(ROWS, bool),
}


def check(uri, expected):
    for engine in (lance, glaive):
        assert engine.dataset(uri).to_table().equals(expected), engine.__name__


@pytest.mark.parametrize("nulls", NULLS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_pages_of_a_file(tmp_path, shape, nulls, version):
    uri = str(tmp_path / "t.lance")
    table = pa.table({"c": column(shape, NULLS[nulls])})
    glaive.write_dataset(table, uri, data_storage_version=version, max_page_bytes=16 << 10)
    check(uri, table)


@pytest.mark.parametrize("mode", ["reencode", "try_binary_copy"])
@pytest.mark.parametrize("shape", ["list<int>", "list<list<struct>>"])
def test_compaction_of_files_that_differ(tmp_path, shape, mode):
    uri = str(tmp_path / "t.lance")
    tables = [pa.table({"c": column(shape, NULLS[nulls])}) for nulls in ("none", "last", "none")]
    for table in tables:
        glaive.write_dataset(table, uri, mode="append")
    dataset = glaive.dataset(uri)
    dataset.optimize.compact_files(compaction_mode=mode)
    assert len(glaive.dataset(uri).get_fragments()) == 1
    check(uri, pa.concat_tables(tables))


def test_rows_that_come_while_a_page_is_written(tmp_path):
    """The rows that tell how a large page is encoded have no nulls; some of the last do."""
    uri = str(tmp_path / "t.lance")
    count = 400
    values = lists(np.arange(count + 1) * 8192, pa.array(np.zeros(count * 8192, np.float32)))
    nulls = np.arange(count) == count - 1
    table = pa.table({"c": pa.StructArray.from_arrays([values], ["f"], mask=pa.array(nulls))})
    glaive.write_dataset(table, uri)
    check(uri, table)
