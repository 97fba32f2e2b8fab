"""Arrays as callers bring them: sliced at every level, in every other form."""

import glaive
import lance
import pyarrow as pa
import pytest

NESTED = pa.list_(pa.list_(pa.int16(), 2), 3)
CUBES = [[[i * 6 + j * 2 + k for k in range(2)] for j in range(3)] for i in range(6)]


@pytest.fixture
def uri(tmp_path):
    return str(tmp_path / "t.lance")


def cubes(offset, count):
    whole = pa.table({"id": range(6), "x": pa.array(CUBES, NESTED)})
    return whole.slice(offset, count)


def stored(uri):
    rows = glaive.dataset(uri).to_table().to_pylist()
    assert rows == lance.dataset(uri).to_table().to_pylist()
    return {row["id"]: row["x"] for row in rows}


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_slices_of_nested_fixed_size_lists(uri, offset):
    part = cubes(offset, 2)
    blank = [[[0, 0]] * 3] * 6
    glaive.write_dataset(pa.table({"id": range(6), "x": pa.array(blank, NESTED)}), uri)
    expected = dict(enumerate(blank)) | {i: CUBES[i] for i in (offset, offset + 1)}
    glaive.dataset(uri).merge_insert("id").when_matched_update_all().execute(part)
    assert stored(uri) == expected

    dataset = glaive.write_dataset(pa.table({"id": range(6)}), uri, mode="overwrite")
    dataset.merge(part, "id")
    assert stored(uri) == dict.fromkeys(range(6)) | {i: CUBES[i] for i in (offset, offset + 1)}

    dataset = glaive.write_dataset(cubes(0, 6), uri, mode="overwrite")
    dataset.delete("id = 3")
    values = iter(pa.table({"y": pa.array(CUBES, NESTED)}).slice(offset % 2, 5).to_batches())
    dataset.add_columns(pa.RecordBatchReader.from_batches(pa.schema({"y": NESTED}), values))
    found = glaive.dataset(uri).to_table()["y"].to_pylist()
    assert found == CUBES[offset % 2 : offset % 2 + 5]


FORMS = {
    "views": (pa.utf8(), lambda text: pa.array(text, pa.string_view())),
    "dictionaries": (pa.utf8(), lambda text: pa.array(text, pa.utf8()).dictionary_encode()),
    "null and repeated words": (
        pa.utf8(),
        lambda text: pa.DictionaryArray.from_arrays(
            pa.array([[None, "x", "y", "x", "unused"].index(value) for value in text], pa.int8()),
            pa.array([None, "x", "y", "x", "unused"]),
        ),
    ),
}


@pytest.mark.parametrize("nest", ["plain", "struct", "list"])
@pytest.mark.parametrize("form", FORMS)
def test_other_forms(uri, form, nest):
    kind, make = FORMS[form]
    text = ["x", None, "y", "x", "x", None, "y"]

    def wrap(array):
        if nest == "struct":
            return pa.StructArray.from_arrays([array], ["s"])
        if nest == "list":
            return pa.ListArray.from_arrays(pa.array(range(len(array) + 1), pa.int32()), array)
        return array

    plain = wrap(pa.array(text, kind))
    parts = [wrap(make(text[:3])), wrap(make(text[3:]))]
    given = pa.table({"id": range(7), "x": pa.chunked_array(parts)})
    blank = pa.table({"id": range(7), "x": pa.nulls(7, plain.type)})
    expected = dict(enumerate(plain.to_pylist()))

    dataset = glaive.write_dataset(blank, uri)
    dataset.merge_insert("id").when_matched_update_all().execute(given)
    assert stored(uri) == expected
    dataset = glaive.write_dataset(blank, uri, mode="overwrite")
    glaive.write_dataset(given.slice(2), uri, mode="append")
    assert glaive.dataset(uri).to_table()["x"].to_pylist()[7:] == plain.to_pylist()[2:]
    dataset = glaive.write_dataset(blank, uri, mode="overwrite")
    fragment = dataset.get_fragments()[0]
    changed, modified = fragment.update_columns(given.slice(1).to_reader(), "id", "id")[:2]
    operation = glaive.LanceOperation.Update(
        removed_fragment_ids=[],
        updated_fragments=[changed],
        new_fragments=[],
        fields_modified=modified,
    )
    glaive.LanceDataset.commit(uri, operation, read_version=dataset.version)
    assert stored(uri) == expected | {0: None}


def test_more_words_than_one_dictionary_numbers(uri):
    """Batches whose dictionaries together have more words than an int8 can number."""
    dataset = glaive.write_dataset(pa.table({"id": range(300), "x": pa.nulls(300, pa.utf8())}), uri)
    batches = []
    for begin in (0, 100, 200):
        words = pa.array([f"word {i}" for i in range(begin, begin + 100)])
        column = pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), words)
        batches.append(pa.record_batch({"id": range(begin, begin + 100), "x": column}))
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    dataset.merge_insert("id").when_matched_update_all().execute(reader)
    assert stored(uri) == {i: f"word {i}" for i in range(300)}


UNKEPT = {
    "run ends": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8])),
    "list views": pa.array([[1], None, [2, 3]], pa.list_view(pa.int32())),
    "unions": pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([1, 2, 3])]),
    "intervals": pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()),
}


@pytest.mark.parametrize("wrap", ["plain", "struct"])
@pytest.mark.parametrize("kind", UNKEPT)
def test_forms_that_are_not_kept_are_refused_by_name(uri, kind, wrap):
    column = UNKEPT[kind]
    if wrap == "struct":
        column = pa.StructArray.from_arrays([column], ["s"])
    with pytest.raises(
        NotImplementedError,
        match=r"column .(x|x\.s|s).: Unsupported data type|column .(x|x\.s|s). ",
    ):
        glaive.write_dataset(pa.table({"x": column}), uri)
    glaive.write_dataset(pa.table({"x": pa.array([1, 2, 3])}), uri)
    with pytest.raises(OSError, match="`x` should have type"):
        glaive.write_dataset(pa.table({"x": column}), uri, mode="append")


LISTS_OF_LISTS = [  # of fixed size, where pylance says nothing of what is below
    [[None, None], [None, None]],
    [[None, None], None],
    [[[None], [None]], [[None], None]],
    [None, [None, None], [[5], None]],
]


@pytest.mark.parametrize("values", LISTS_OF_LISTS, ids=str)
@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_null_lists_in_fixed_size_lists_by_pylance(uri, values, version):
    kind = pa.list_(pa.list_(pa.uint16(), 1), 2)
    lance.write_dataset(pa.table({"x": pa.array(values, kind)}), uri, data_storage_version=version)
    assert glaive.dataset(uri).to_table()["x"].to_pylist() == values


@pytest.mark.parametrize("wrap", ["list", "struct"])
def test_batches_without_rows_of_extensions_in_other_fields(uri, wrap):
    def batch(ids):
        uuids = pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([bytes([i]) * 16 for i in ids], pa.binary(16))
        )
        lists = pa.ListArray.from_arrays(pa.array(range(len(ids) + 1), pa.int32()), uuids)
        column = lists if wrap == "list" else pa.StructArray.from_arrays([uuids], ["u"])
        return pa.record_batch([pa.array(ids, pa.int64()), column], names=["id", "x"])

    glaive.write_dataset(pa.Table.from_batches([batch([1])]), uri)
    given = pa.Table.from_batches([batch([]), batch([2, 3])]).to_reader()
    glaive.dataset(uri).merge_insert("id").when_not_matched_insert_all().execute(given)
    assert glaive.dataset(uri).to_table()["id"].to_pylist() == [1, 2, 3]
    schema = batch([]).rename_columns(["id", "y"]).schema
    nothing = pa.RecordBatchReader.from_batches(schema, [])
    glaive.dataset(uri).merge(nothing, "id")
    assert glaive.dataset(uri).to_table()["y"].to_pylist() == [None] * 3
