"""Operations that were put together elsewhere, by this engine or by pylance."""

import json
import pickle
import shutil
import threading
from datetime import timedelta

import glaive
import lance
import pyarrow as pa
import pytest
from glaive import LanceOperation as Op
from glaive._engine import exchange
from glaive._engine.operations import IndexFile
from glaive.commit import CommitConflictError
from glaive.dataset import LANCE_COMMIT_MESSAGE_KEY
from glaive.fragment import FragmentMetadata, write_fragments

ROWS = pa.table({"a": range(6), "s": [f"s{i}" for i in range(6)]})


@pytest.fixture
def table(path):
    return glaive.write_dataset(ROWS, path, max_rows_per_file=3)


def append(dataset, rows=ROWS):
    return write_fragments(rows, dataset, return_transaction=True)


def test_operations_of_either_engine_are_read_alike(table):
    theirs = lance.dataset(table.uri)
    theirs.delete("a = 1")
    theirs.add_columns({"b": "a + 1"})
    theirs.update_config({"k": "v"})
    theirs.create_scalar_index("a", "BTREE")
    theirs.drop_columns(["s"])
    theirs = lance.dataset(table.uri)
    ours = glaive.dataset(table.uri)
    for mine, other in zip(ours.get_transactions(), theirs.get_transactions(), strict=True):
        assert type(mine.operation).__name__ == type(other.operation).__name__
        assert (mine.uuid, mine.read_version) == (other.uuid, other.read_version)
        assert mine.transaction_properties == other.transaction_properties
        copy = pickle.loads(pickle.dumps(mine))
        assert type(copy.operation) is type(mine.operation) and copy.uuid == mine.uuid
    index = ours.read_transaction(5).operation.new_indices[0]
    (listed,) = theirs.read_transaction(5).operation.new_indices
    for name in ("uuid", "name", "fields", "dataset_version", "created_at", "index_details"):
        assert getattr(index, name) == getattr(listed, name)
    assert index.fragment_ids == set(listed.fragment_ids)


def test_fragments_travel_as_json_and_pickles(path):
    lance.write_dataset(ROWS, path, enable_stable_row_ids=True, max_rows_per_file=3)
    lance.dataset(path).delete("a = 1")
    for theirs in lance.dataset(path).get_fragments():
        text = json.dumps(theirs.metadata.to_json())
        ours = FragmentMetadata.from_json(text)
        assert ours.to_json() == theirs.metadata.to_json()
        assert pickle.loads(pickle.dumps(ours)) == ours
        back = lance.fragment.FragmentMetadata.from_json(json.dumps(ours.to_json()))
        assert back.to_json() == theirs.metadata.to_json()
        assert glaive.dataset(path).get_fragment(ours.id).metadata == ours


def test_fragments_of_pylance_are_committed(table):
    fragments = lance.fragment.write_fragments(ROWS, table.uri)
    made = glaive.LanceDataset.commit(table, Op.Append(fragments), read_version=1)
    assert made.count_rows() == 12
    theirs = lance.LanceOperation.Append(fragments)
    made = glaive.LanceDataset.commit(table.uri, theirs, read_version=1)
    assert made.version == 3
    schema = lance.dataset(table.uri).lance_schema
    project = lance.LanceOperation.Project(schema)
    assert glaive.LanceDataset.commit(table.uri, project, read_version=3).schema == ROWS.schema


def test_fragments_are_committed_by_pylance(table):
    fragments = [
        lance.fragment.FragmentMetadata.from_json(json.dumps(f.to_json()))
        for f in write_fragments(ROWS, table)
    ]
    operation = lance.LanceOperation.Append(fragments)
    assert lance.LanceDataset.commit(table.uri, operation, read_version=1).count_rows() == 12


@pytest.mark.parametrize(
    "make",
    [
        lambda: Op.Append(()),
        lambda: Op.Append([1]),
        lambda: Op.Delete("x", [], ""),
        lambda: Op.Rewrite([Op.RewriteGroup([3], [])], []),
        lambda: glaive.LanceDataset.commit(5, Op.Append([]), read_version=1),
        lambda: glaive.LanceDataset.commit("x", "append", read_version=1),
    ],
)
def test_wrong_types(make):
    with pytest.raises(TypeError):
        make()


def test_wrong_values(table):
    transaction = append(table)
    with pytest.raises(ValueError, match="commit_message is not supported"):
        glaive.LanceDataset.commit(table, transaction, commit_message="no")
    with pytest.raises(ValueError, match="read_version is required"):
        glaive.LanceDataset.commit(table, Op.Append([]))
    with pytest.raises(ValueError, match="commit_timeout"):
        glaive.LanceDataset.commit(table, transaction, commit_timeout=timedelta(0))
    with pytest.raises(OSError, match="version 99 was not found") as caught:
        glaive.LanceDataset.commit(table, Op.Append([]), read_version=99)
    assert caught.value.kind == "NotFound" and not isinstance(caught.value, ValueError)


def test_messages_and_properties(table):
    made = glaive.LanceDataset.commit(
        table, Op.UpdateConfig(Op.UpdateMap({"k": "v"})), read_version=1, commit_message="why"
    )
    assert made.config() == {"k": "v"}
    theirs = lance.dataset(table.uri).read_transaction(2)
    assert theirs.transaction_properties == {LANCE_COMMIT_MESSAGE_KEY: "why"}


def test_strict(table):
    early = append(table)
    glaive.LanceDataset.commit(table, append(table), strict=True)
    with pytest.raises(glaive.commit.CommitConflictError) as caught:
        glaive.LanceDataset.commit(table, early, strict=True)
    assert caught.value.retryable
    assert glaive.LanceDataset.commit(table, early).version == 3


def test_one_token_makes_one_version(table):
    transaction = append(table)
    made = []

    def commit():
        made.append(
            glaive.LanceDataset.commit(table.uri, transaction, idempotency_token="load").version
        )

    threads = [threading.Thread(target=commit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [2] * 4
    assert lance.dataset(table.uri).count_rows() == 12


def test_a_batch_keeps_properties(table):
    batch = [append(table) for _ in range(3)]
    batch[1].transaction_properties = {"job": "42"}
    result = glaive.LanceDataset.commit_batch(table, batch)
    assert result["dataset"].version == 2 and result["dataset"].count_rows() == 24
    assert lance.dataset(table.uri).read_transaction(2).transaction_properties == {"job": "42"}
    assert len(result["merged"].operation.fragments) == 3


def test_renumbered_fields_are_refused(table):
    """Ids are what ties a column to its files: those of a new schema are not the table's."""
    renumbered = glaive.schema.LanceSchema.from_pyarrow(ROWS.schema.remove(0))
    with pytest.raises(OSError, match="id"):
        glaive.LanceDataset.commit(table, Op.Project(renumbered), read_version=1)
    assert table.latest_version == 1


HELD = {
    "insert": lambda held: held.insert(pa.table({"a": [5]})),
    "append": lambda held: glaive.write_dataset(pa.table({"a": [5]}), held, mode="append"),
    "config": lambda held: held.update_config({"x": "1"}),
    "staged": lambda held: held.commit_column_writes(
        [held.write_fragment_column(0, pa.table({"a": [3] * 10}), held.schema)]
    ),
}


@pytest.mark.parametrize("verb", HELD)
def test_a_handle_outlives_its_table(tmp_path, verb):
    """The table that was made anew at the same place, with the same version, keeps its rows."""
    path = str(tmp_path / "t")
    held = glaive.write_dataset(pa.table({"a": [0] * 10}), path)
    shutil.rmtree(path)
    glaive.write_dataset(pa.table({"a": [1] * 10}), path)
    with pytest.raises(CommitConflictError, match="another one is in its place"):
        HELD[verb](held)
    for engine in (glaive, lance):
        dataset = engine.dataset(path)
        assert dataset.version == 1
        assert dataset.to_table()["a"].to_pylist() == [1] * 10


def test_a_round_trip_drops_nothing_of_an_operation():
    operation = Op.Rewrite(
        [],
        [
            Op.RewrittenIndex(
                "00000000-0000-0000-0000-000000000001",
                "00000000-0000-0000-0000-000000000002",
                "/lance.table.BTreeIndexDetails",
                b"",
                1,
                [IndexFile("page_data.lance", 12)],
            )
        ],
    )
    assert exchange.operation_from_native(exchange.operation_to_native(operation)) == operation
    overwrite = Op.Overwrite(
        pa.schema({"a": pa.int64()}), [], config_upserts={"key": "value"}
    )
    made = exchange.operation_from_native(exchange.operation_to_native(overwrite))
    assert made.config_upserts == {"key": "value"}
