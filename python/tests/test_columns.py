"""Columns that are computed, and columns that go."""

import pyarrow as pa
import pytest

import glaive
import lance

EXPRESSIONS = {
    "sum": "a + b",
    "half": "b / 2",
    "flag": "a > 10 AND b IS NOT NULL",
}


@pytest.fixture
def tables(tmp_path):
    """The same table by path for either engine: three fragments, nulls, deleted rows."""
    b = [None if i % 5 == 0 else i * 10 for i in range(30)]
    rows = pa.table(
        {"a": range(30), "b": pa.array(b, pa.int64()), "s": [{"x": i} for i in range(30)]}
    )
    paths = {}
    for engine in (glaive, lance):
        paths[engine] = str(tmp_path / engine.__name__)
        lance.write_dataset(rows, paths[engine], max_rows_per_file=10)
        lance.dataset(paths[engine]).delete("a IN (3, 11, 12)")
    return paths


def test_values_are_pylances(tables):
    results = []
    for engine, path in tables.items():
        dataset = engine.dataset(path)
        dataset.add_columns(EXPRESSIONS)
        dataset.add_columns({"again": "half + s.x"})
        assert dataset.version == 4
        results.append(lance.dataset(path).to_table())
        assert glaive.dataset(path).to_table() == results[-1]
        lance.dataset(path).validate()
    assert results[0] == results[1]


def test_a_constant_is_nullable(small):
    """pylance has it required, which would keep writers from leaving it out."""
    small.add_columns({"seven": "7"})
    assert small.schema.field("seven") == pa.field("seven", pa.int64())
    assert set(small.to_table()["seven"].to_pylist()) == {7}


def test_ids_and_files_are_pylances(tables):
    shapes = []
    for engine, path in tables.items():
        dataset = engine.dataset(path)
        dataset.add_columns({"w": "a + 1"})
        dataset.drop_columns(["a", "s.x"])
        dataset.add_columns({"v": "w + 1"})
        dataset.drop_columns(["w"])
        dataset = lance.dataset(path)
        files = [[d.fields for d in f.metadata.files] for f in dataset.get_fragments()]
        shapes.append((dataset.schema, dataset.max_field_id, files))
        assert glaive.dataset(path).to_table() == dataset.to_table()
    assert shapes[0] == shapes[1]


def test_what_was_added_goes_on(small, path):
    small.add_columns({"double": "a * 2"})
    small.insert(pa.table({"a": [30], "s": ["x"], "double": [60]}))
    lance.dataset(path).delete("double = 4")
    small.checkout_latest()
    small.optimize.compact_files()
    assert small.to_table()["double"].to_pylist() == [2 * i for i in range(31) if i != 2]
    assert len(small.get_fragments()[0].metadata.files) == 1


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda ds: ds.add_columns({"a": "a + 1"}), "a already exists"),
        (lambda ds: ds.add_columns({"b": "nope + 1"}), "nope"),
        (lambda ds: ds.add_columns({"b": "a +"}), "a \\+"),
        (lambda ds: ds.add_columns({"": "1"}), "cannot be called"),
        (lambda ds: ds.alter_columns({"path": "a", "name": "_rowid"}), "cannot be called"),
        (lambda ds: ds.drop_columns(["nope"]), "nope"),
        (lambda ds: ds.drop_columns(["a", "s"]), "all columns"),
    ],
)
def test_refusals(small, path, files, change, text):
    before = files(path)
    with pytest.raises((ValueError, OSError), match=text):
        change(small)
    assert files(path) == before and small.version == 1


def test_a_race_leaves_no_file(small, path, files):
    stale = glaive.dataset(path)
    small.insert(pa.table({"a": [30], "s": ["x"]}))
    before = files(path)
    with pytest.raises(glaive.commit.CommitConflictError) as caught:
        stale.add_columns({"b": "a + 1"})
    assert caught.value.retryable is True
    assert files(path) == before
    stale.checkout_latest()
    stale.add_columns({"b": "a + 1"})
    assert stale.to_table()["b"].to_pylist() == list(range(1, 32))
