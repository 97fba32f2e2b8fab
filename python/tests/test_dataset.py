"""Tables as pylance's users handle them."""

import os
import pickle
from datetime import datetime
from pathlib import Path

import glaive
import lance
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pytest


def test_what_a_version_says(small, path):
    theirs = lance.dataset(path)
    assert small.uri == theirs.uri
    assert (small.version, small.latest_version) == (1, 1)
    assert small.schema.equals(theirs.schema, check_metadata=True)
    assert small.data_storage_version == theirs.data_storage_version
    assert small.max_field_id == theirs.max_field_id
    assert small.has_stable_row_ids is False
    assert small.config() == theirs.config()
    assert small.metadata == theirs.metadata
    assert small.versions() == theirs.versions()
    assert small.get_version() == theirs.get_version()
    assert small.version_refs() == theirs.version_refs()
    assert small.stats.dataset_stats() == theirs.stats.dataset_stats()
    assert len(small) == 30


def test_lance_schema_has_field_ids(path):
    rows = pa.table({"a": [1], "s": [{"x": 1, "y": [1]}]})
    ours = glaive.write_dataset(rows, path).lance_schema
    theirs = lance.dataset(path).lance_schema

    def ids(fields):
        return [(f.name(), f.id(), ids(f.children())) for f in fields]

    assert ids(ours.fields()) == ids(theirs.fields())
    assert ours.field("s.y").id() == theirs.field("s.y").id()
    assert ours.field("nope") is None
    assert ours.to_pyarrow() == rows.schema
    assert ours == glaive.dataset(path).lance_schema


def test_paths_and_uris(small, path):
    for uri in (path, Path(path), f"file://{path}"):
        assert glaive.dataset(uri).count_rows() == 30


def test_memory(small):
    made = glaive.write_dataset(pa.table({"a": [1, 2]}), "memory://test_memory/table")
    assert glaive.dataset("memory://test_memory/table").to_table() == made.to_table()


def test_scanner_window_columns_and_filter(small):
    table = small.to_table()
    assert small.to_table(columns=["s", "a"]) == table.select(["s", "a"])
    assert small.to_table(limit=7, offset=8) == table.slice(8, 7)
    assert small.to_table(filter="a >= 12 AND s != 's20'").num_rows == 17
    assert small.to_table(filter=pc.field("a") < 5)["a"].to_pylist() == [0, 1, 2, 3, 4]
    assert small.count_rows("a IN (1, 2, 99)") == 2
    assert small.count_rows(pc.field("a") > 27) == 2
    assert small.head(3) == table.slice(0, 3)
    assert small.slice(5, 9) == table.slice(5, 4)
    assert small.scanner(columns=["a"]).projected_schema == table.select(["a"]).schema


def test_explicit_batch_size_is_filled_across_fragments(small):
    assert [b.num_rows for b in small.to_batches(batch_size=7)] == [7, 7, 7, 7, 2]
    assert [b.num_rows for b in small.to_batches()] == [10, 10, 10]
    assert [b.num_rows for b in small.scanner(strict_batch_size=True).to_batches()] == [30]


def test_scanner_gives_rows_in_every_form(small):
    scanner, table = small.scanner(), small.to_table()
    assert scanner.to_table() == table
    assert scanner.to_reader().read_all() == table
    assert pa.table(scanner) == table  # __arrow_c_stream__
    assert pa.Table.from_batches(scanner.scan_batches()) == table
    assert scanner.to_pandas().equals(table.to_pandas())
    assert scanner.count_rows() == 30
    assert scanner.head(4) == table.slice(0, 4)
    assert small.to_pandas().equals(table.to_pandas())


def test_row_ids_and_default_scan_options(small, path):
    options = {"with_row_id": True, "with_row_address": True}
    ours, theirs = small.to_table(**options), lance.dataset(path).to_table(**options)
    assert ours == theirs
    view = glaive.dataset(path, default_scan_options={"with_row_id": True, "batch_size": 4})
    assert view.schema.names == ["a", "s", "_rowid"]
    assert next(iter(view.to_batches())).num_rows == 4
    assert view.to_table(with_row_id=False).column_names == ["a", "s"]


def test_take(small):
    table = small.to_table()
    picks = [29, 0, 11, 11]
    for indices in (picks, pa.array(picks), pa.chunked_array([picks]), pa.array(picks).to_numpy()):
        assert small.take(indices) == table.take(picks)
    assert small.take([3], columns=["s"]) == table.select(["s"]).take([3])
    assert small.take([]).num_rows == 0
    assert small._take_rows([(2 << 32) + 1])["a"].to_pylist() == [21]
    assert sorted(small.sample(30)["a"].to_pylist()) == list(range(30))
    with pytest.raises(OverflowError):
        small.take([-1])


def test_row_numbers_are_whole(small):
    with pytest.raises(TypeError, match="float"):
        small.take([1.5])


def test_fragments(small, path):
    ours, theirs = small.get_fragments(), lance.dataset(path).get_fragments()
    assert [f.fragment_id for f in ours] == [0, 1, 2]
    for our, their in zip(ours, theirs, strict=True):
        assert our.metadata.to_json() == their.metadata.to_json()
        assert our.to_table() == their.to_table()
        assert our.physical_rows == 10 and our.num_deletions == 0 and our.deletion_file() is None
        assert our.data_files()[0].path == their.data_files()[0].path
    second = small.get_fragment(1)
    assert second.take([0, 3])["a"].to_pylist() == [10, 13]
    with pytest.raises(OSError, match="ascending"):
        second.take([3, 0])
    assert second.head(2)["a"].to_pylist() == [10, 11]
    assert second.count_rows("a < 12") == 2
    assert sum(b.num_rows for b in second.to_batches(batch_size=3)) == 10
    assert small.scanner(fragments=[ours[2], ours[0]]).to_table()["a"][0].as_py() == 20
    assert small.get_fragment(77) is None


def test_delete_and_fragment_metadata(small, path):
    old = small.get_fragment(0)
    assert small.delete("a IN (1, 2, 15)") == {"num_deleted_rows": 3}
    assert small.version == 2 and small.count_rows() == 27
    fragment, theirs = small.get_fragment(0), lance.dataset(path).get_fragment(0)
    assert fragment.metadata.to_json() == theirs.metadata.to_json()
    assert fragment.num_deletions == 2
    assert fragment.deletion_file() == theirs.deletion_file()
    assert fragment.metadata.deletion_file.path(0) == theirs.deletion_file()
    assert old.count_rows() == 10 and old.to_table().num_rows == 10  # its version is its own
    assert small.delete(pc.field("a") > 25) == {"num_deleted_rows": 4}


def test_versions_and_checkout(small, path):
    small.delete("a = 1")
    old = small.checkout_version(1)
    assert (small.version, old.version, old.count_rows()) == (2, 1, 30)
    assert glaive.dataset(path, version=1).count_rows() == 30
    assert small.checkout_version((None, 1)).version == 1
    old.checkout_latest()
    assert old.version == 2
    stamp = glaive.dataset(path).versions()[1]["timestamp"]
    assert glaive.dataset(path, asof=stamp).version == 1
    assert glaive.dataset(path, asof=datetime.now()).version == 2
    with pytest.raises(ValueError, match="earlier than the first version"):
        glaive.dataset(path, asof="2000-01-01 00:00:00")


def test_verbs_move_the_object(small, path):
    small.insert(pa.table({"a": [30], "s": ["x"]}))
    assert small.version == 2
    small.optimize.compact_files()
    assert small.version == lance.dataset(path).version
    assert small.count_rows() == 31
    other = glaive.write_dataset(pa.table({"a": [31], "s": ["y"]}), small, mode="append")
    assert other.count_rows() == 32 and small.count_rows() == 31


def test_transactions(path):
    made = glaive.write_dataset(
        pa.table({"a": [1]}), path, commit_message="first", transaction_properties={"job": "7"}
    )
    transaction = made.read_transaction(1)
    theirs = lance.dataset(path).read_transaction(1)
    assert transaction.transaction_properties == theirs.transaction_properties
    assert transaction.uuid == theirs.uuid and transaction.read_version == theirs.read_version
    assert type(transaction.operation).__name__ == "Overwrite"


def test_pickle(small):
    small.delete("a = 1")
    old = small.checkout_version(1)
    for value in (small, old, glaive.dataset(small.uri, default_scan_options={"limit": 2})):
        copy = pickle.loads(pickle.dumps(value))
        assert (copy.version, copy.to_table()) == (value.version, value.to_table())
    fragment = pickle.loads(pickle.dumps(old.get_fragment(1)))
    assert fragment.to_table()["a"].to_pylist() == list(range(10, 20))
    metadata = small.get_fragment(0).metadata
    assert pickle.loads(pickle.dumps(metadata)) == metadata


def test_isinstance_dispatch(small):
    assert isinstance(small, pa.dataset.Dataset)
    assert isinstance(small.scanner(), pa.dataset.Scanner)
    assert isinstance(small.get_fragment(0), pa.dataset.Fragment)


def test_a_session_sees_tables_change_places_within_one_tick(tmp_path):
    """Their manifests have one size and one time; the files are others all the same."""
    session = glaive.Session()
    for name, values in (("a", [1, 2]), ("b", [3, 4])):
        glaive.write_dataset(pa.table({"x": values}), tmp_path / name)
        (manifest,) = (tmp_path / name / "_versions").glob("*.manifest")
        os.utime(manifest, ns=(10**18, 10**18))
    assert glaive.dataset(tmp_path / "a", session=session).to_table()["x"].to_pylist() == [1, 2]
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "b").rename(tmp_path / "a")
    assert glaive.dataset(tmp_path / "a", session=session).to_table()["x"].to_pylist() == [3, 4]


def test_sessions_are_shared(small, path):
    session = glaive.Session(metadata_cache_size_bytes=1 << 20)
    first, second = glaive.dataset(path, session=session), glaive.dataset(path, session=session)
    first.to_table()
    assert first.session().is_same_as(second.session())
    assert not first.session().is_same_as(small.session())
    assert 0 < session.size_bytes() <= 1 << 20


def test_rows_that_an_old_manifest_does_not_count(path):
    """Old writers left row counts to the files."""
    glaive.write_dataset(pa.table({"a": range(60)}), path, max_rows_per_file=20)
    glaive.dataset(path).delete("a in (21, 22, 23)")
    for manifest in (Path(path) / "_versions").glob("*.manifest"):
        # Field 4 of a fragment and of a deletion file, a varint each.
        content = manifest.read_bytes()
        for count in (20, 3):
            content = content.replace(bytes((0x20, count)), bytes((0x20, 0)))
        manifest.write_bytes(content)
    counts = {}
    for engine in (lance, glaive):
        table = engine.dataset(path)
        fragments = table.get_fragments()
        counts[engine] = [
            (f.physical_rows, f.num_deletions, f.count_rows()) for f in fragments
        ] + [table.count_rows(), table.stats.dataset_stats(15)["num_small_files"]]
    assert counts[glaive] == counts[lance] == [(20, 0, 20), (20, 3, 17), (20, 0, 20), 57, 0]
    assert glaive.dataset(path).get_fragments()[0].metadata.physical_rows == 0
