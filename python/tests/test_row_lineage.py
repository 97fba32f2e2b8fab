"""Stable row ids, and the versions that made and last changed a row."""

import lance
import pyarrow as pa
import pytest

import glaive

COLUMNS = ["a", "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"]


@pytest.fixture(params=[False, True], ids=["addresses", "stable_ids"])
def table(path, request):
    """Rows of three versions, some deleted and some moved by an update."""
    lance.write_dataset(pa.table({"a": range(40)}), path, max_rows_per_file=10, enable_stable_row_ids=request.param)
    lance.dataset(path).delete("a % 7 = 3")
    lance.dataset(path).update({"a": "a + 100"}, where="a > 20 AND a < 30")
    lance.write_dataset(pa.table({"a": range(40, 45)}), path, mode="append")
    return path


def both(path, ask):
    ours, theirs = ask(glaive.dataset(path)), ask(lance.dataset(path))
    assert ours == theirs
    return ours


def test_the_columns_are_pylances(table):
    both(table, lambda ds: ds.to_table(columns=COLUMNS))
    both(table, lambda ds: ds.to_table(columns=COLUMNS, filter="a > 25", limit=7))
    both(table, lambda ds: ds.take([0, 11, 30, 2], columns=COLUMNS).to_pydict())
    both(table, lambda ds: ds.to_table(columns=["a"], filter="_row_last_updated_at_version > 2"))
    both(table, lambda ds: ds.count_rows("_row_created_at_version = 4"))
    everything = {"columns": COLUMNS[:1] + COLUMNS[4:], "with_row_id": True, "include_deleted_rows": True}
    both(table, lambda ds: ds.scanner(**everything).to_table().to_pydict())


def test_compaction_carries_them_on(table):
    def rows():
        return lance.dataset(table).to_table(columns=["a", *COLUMNS[4:]]).sort_by("a")

    ids = lance.dataset(table).to_table(columns=["a"], with_row_id=True).sort_by("a")
    before = rows()
    glaive.dataset(table).optimize.compact_files()
    assert len(lance.dataset(table).get_fragments()) == 1
    assert rows() == before
    if lance.dataset(table).has_stable_row_ids:
        assert lance.dataset(table).to_table(columns=["a"], with_row_id=True).sort_by("a") == ids
    lance.dataset(table).validate()


def test_rows_are_found_by_id_in_every_version(path):
    lance.write_dataset(pa.table({"a": range(20)}), path, max_rows_per_file=5, enable_stable_row_ids=True)
    session = glaive.Session()

    def find(ids, version=None):
        return glaive.dataset(path, version=version, session=session)._take_rows(ids)["a"].to_pylist()

    assert find([3, 17, 99]) == [3, 17]
    lance.dataset(path).update({"a": "a + 100"}, where="a = 3")
    lance.write_dataset(pa.table({"a": [20]}), path, mode="append")
    assert find([3, 17, 20]) == [103, 17, 20]
    assert find([3, 17, 20], version=1) == [3, 17]
    glaive.dataset(path).optimize.compact_files()
    lance.dataset(path).delete("a = 17")
    assert find([20, 17, 3]) == [20, 103]
    assert find([20, 17, 3], version=2) == [17, 103]
