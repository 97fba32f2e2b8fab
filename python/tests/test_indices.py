"""Indices that pylance built: told of, taken away, never built here."""

import lance
import pyarrow as pa
import pytest

import glaive


@pytest.fixture
def indexed(path):
    lance.write_dataset(pa.table({"a": range(100), "b": ["x"] * 100}), path, max_rows_per_file=25)
    dataset = lance.dataset(path)
    dataset.create_scalar_index("a", "BTREE", name="by_a")
    dataset.create_scalar_index("b", "BITMAP", name="by_b")
    lance.write_dataset(pa.table({"a": range(100, 110), "b": ["y"] * 10}), path, mode="append")
    lance.dataset(path).delete("a < 5")
    return glaive.dataset(path)


def test_the_same_description_as_pylances(indexed):
    assert indexed.has_index
    theirs = lance.dataset(indexed.uri).describe_indices()
    for ours, other in zip(indexed.describe_indices(), theirs, strict=True):
        for name in ("name", "type_url", "fields", "field_names", "total_size_bytes"):
            assert getattr(ours, name) == getattr(other, name)
        (segment,), (other_segment,) = ours.segments, other.segments
        assert segment.uuid == other_segment.uuid
        assert segment.created_at == other_segment.created_at
        assert segment.fragment_ids == set(other_segment.fragment_ids)
    assert [index["name"] for index in indexed.list_indices()] == ["by_a", "by_b"]


def test_statistics(indexed):
    ours = indexed.stats.index_stats("by_a")
    theirs = lance.dataset(indexed.uri).stats.index_stats("by_a")
    assert ours == {key: theirs[key] for key in ours}
    with pytest.raises(KeyError, match="nothing"):
        indexed.index_statistics("nothing")


def test_dropping(indexed):
    indexed.drop_index("by_a")
    assert [index.name for index in lance.dataset(indexed.uri).describe_indices()] == ["by_b"]
    with pytest.raises(ValueError, match="'by_a' is not in version"):
        indexed.drop_index("by_a")


def test_building_is_left_to_others(indexed, tmp_path):
    with pytest.raises(NotImplementedError, match="create_scalar_index: glaive does not build"):
        indexed.create_scalar_index("a", "BTREE")
    with pytest.raises(NotImplementedError, match="index 'by_a', 'by_b'"):
        indexed.optimize.optimize_indices()
    plain = glaive.write_dataset(pa.table({"a": [1]}), tmp_path / "plain")
    plain.optimize.optimize_indices()
    assert plain.version == 1 and not plain.has_index
