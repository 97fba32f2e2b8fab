"""Columns computed fragment by fragment, broken off, gone on with, and raced against."""

import json
import threading
from pathlib import Path

import glaive
import lance
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from glaive.commit import CommitConflictError

Y = pa.schema([pa.field("y", pa.int64())])


@pytest.fixture
def path(tmp_path):
    """Ten fragments of four rows; x = 10 * id."""
    table = tmp_path / "table"
    glaive.write_dataset(pa.table({"id": range(40), "x": range(0, 400, 10)}), table, max_rows_per_file=4)
    return table


def plus_one(batch):
    return pa.record_batch([pc.add(batch["x"], 1)], schema=Y)


class Recorder:
    """`plus_one`, which remembers the ids that it was given and fails at one of them."""

    def __init__(self, fail_at=None):
        self.ids, self.fail_at, self.lock = [], fail_at, threading.Lock()

    def __call__(self, batch):
        with self.lock:
            if self.fail_at in batch["id"].to_pylist():
                raise RuntimeError("out of order")
            self.ids += batch["id"].to_pylist()
        return plus_one(batch)


def check(path, engines=(glaive, lance)):
    """Every row has y = x + 1, by both engines; no file is left over."""
    for engine in engines:
        dataset = engine.dataset(path)
        table = dataset.to_table()
        assert table["y"].to_pylist() == [x + 1 for x in table["x"].to_pylist()]
        dataset.validate()
    return glaive.dataset(path)


def orphans(path):
    """Data files that the newest version does not refer to."""
    used = {file.path for fragment in glaive.dataset(path).get_fragments() for file in fragment.metadata.files}
    return {file.name for file in (Path(path) / "data").iterdir()} - used


@pytest.mark.parametrize("commit_every, versions", [(0, 1), (3, 4), (100, 1)])
def test_all_fragments_get_values(path, commit_every, versions):
    dataset = glaive.dataset(path)
    told = []
    stats = glaive.backfill(
        dataset, Y, plus_one, ["x"], commit_every=commit_every, num_threads=1, progress=lambda *now: told.append(now)
    )
    assert (stats.fragments_committed, stats.fragments_computed, stats.fragments_recomputed) == (10, 10, 0)
    assert 1 <= stats.versions <= versions and dataset.version == 1 + stats.versions
    assert check(path).version == dataset.version
    assert all(done <= total == 10 for done, total, _ in told)
    assert orphans(path) == set()


def test_expressions(path):
    stats = glaive.backfill(path, {"y": "x + 1", "z": "id * 2"}, commit_message="fill")
    assert stats.versions == 1
    assert check(path).to_table()["z"].to_pylist() == list(range(0, 80, 2))
    assert glaive.dataset(path).read_transaction(2).transaction_properties["__lance_commit_message"] == "fill"


def test_columns_that_are_there(path):
    glaive.backfill(path, {"y": "x"})
    with pytest.raises(glaive.InvalidInput, match="'y' is there already"):
        glaive.backfill(path, {"y": "x + 1"})
    stats = glaive.backfill(path, {"y": "x + 1"}, overwrite=True)
    assert (stats.fragments_committed, stats.versions) == (10, 1)
    check(path)


def test_an_empty_table(tmp_path):
    path = tmp_path / "table"
    glaive.write_dataset(pa.table({"x": pa.array([], pa.int64())}), path)
    assert glaive.backfill(path, Y, plus_one, ["x"]).fragments_committed == 0
    assert lance.dataset(path).schema.names == ["x", "y"]


@pytest.mark.parametrize("commit_every", [0, 2])
def test_a_failure_is_gone_on_from(path, tmp_path, commit_every):
    kept = tmp_path / "kept"
    first = Recorder(fail_at=22)
    call = {"checkpoint": kept, "commit_every": commit_every, "num_threads": 1}
    with pytest.raises(RuntimeError, match="out of order"):
        glaive.backfill(path, Y, first, ["id", "x"], **call)
    assert first.ids == list(range(20))
    second = Recorder()
    stats = glaive.backfill(path, Y, second, ["id", "x"], **call)
    assert second.ids == list(range(20, 40))
    assert stats.fragments_computed == 5
    check(path)
    assert not kept.exists() and orphans(path) == set()


def test_without_a_checkpoint_a_failure_leaves_nothing(path):
    with pytest.raises(RuntimeError):
        glaive.backfill(path, Y, Recorder(fail_at=22), ["id", "x"])
    assert glaive.dataset(path).version == 1 and orphans(path) == set()


def test_checkpoints_of_others(path, tmp_path):
    kept = tmp_path / "kept"
    with pytest.raises(RuntimeError):
        glaive.backfill(path, Y, Recorder(fail_at=22), ["id", "x"], checkpoint=kept)
    before = {file.name: file.read_bytes() for file in kept.iterdir()}
    with pytest.raises(glaive.InvalidInput, match="another backfill"):
        glaive.backfill(path, Y, plus_one, ["x"], checkpoint=kept)
    assert {file.name: file.read_bytes() for file in kept.iterdir()} == before
    victim = min(kept.glob("fragment-*.json"))
    for text in ("", "[]", "{}", '{"staged": 1}', '{"committed": "x"}', json.dumps({"staged": {}})):
        victim.write_text(text)
        with pytest.raises(glaive.InvalidInput, match="no file of a checkpoint"):
            glaive.backfill(path, Y, Recorder(), ["id", "x"], checkpoint=kept)
    (kept / "backfill.json").unlink()
    with pytest.raises(glaive.InvalidInput, match="is no checkpoint"):
        glaive.backfill(path, Y, Recorder(), ["id", "x"], checkpoint=kept)


@pytest.mark.parametrize("engine", [glaive, lance])
@pytest.mark.parametrize("commit_every", [0, 3])
def test_other_writers(path, engine, commit_every):
    """An append, a delete, moved rows and a changed input, while fragment 6 is computed."""
    others = []

    def compute(batch):
        if 24 in batch["id"].to_pylist() and not others:
            others.append(True)
            dataset = engine.dataset(path)
            columns = {"id": [100, 101], "x": [1000, 1010]}
            if "y" in dataset.schema.names:
                columns["y"] = pa.array([None, None], pa.int64())
            dataset.insert(pa.table(columns))
            dataset.delete("id = 5")
            dataset.update({"x": "x + 7"}, where="id = 9")
            dataset.update({"x": "x + 7"}, where="id = 35")
        return plus_one(batch)

    stats = glaive.backfill(path, Y, compute, ["id", "x"], commit_every=commit_every, num_threads=1)
    table = check(path).to_table()
    assert table.num_rows == 41 and set(table["id"].to_pylist()) == (set(range(40)) - {5}) | {100, 101}
    # The old fragments, what moved, and what was appended; the two out of which rows moved may be computed twice.
    assert 13 <= stats.fragments_committed and stats.fragments_recomputed <= 2


def test_only_changed_inputs_are_computed_again(path, tmp_path):
    """Staged values of one fragment are outdated by a column write, those of the others are not."""
    kept = tmp_path / "kept"
    with pytest.raises(RuntimeError):
        glaive.backfill(path, Y, Recorder(fail_at=38), ["id", "x"], checkpoint=kept, num_threads=1)
    dataset = glaive.dataset(path)
    columns = pa.schema([pa.field("x", pa.int64())])
    dataset.commit_column_writes(dataset.write_fragment_column(2, pa.table({"x": [5, 6, 7, 8]}), columns))
    again = Recorder()
    stats = glaive.backfill(path, Y, again, ["id", "x"], checkpoint=kept)
    assert sorted(again.ids) == [8, 9, 10, 11, 36, 37, 38, 39]
    assert (stats.fragments_resumed, stats.fragments_recomputed) == (9, 1)
    check(path)
    assert glaive.dataset(path).to_table(filter="id >= 8 and id < 12")["y"].to_pylist() == [6, 7, 8, 9]


def test_compaction_meanwhile(path, tmp_path):
    kept = tmp_path / "kept"
    with pytest.raises(RuntimeError):
        glaive.backfill(path, Y, Recorder(fail_at=38), ["id", "x"], checkpoint=kept, commit_every=2, num_threads=1)
    lance.dataset(path).optimize.compact_files()
    glaive.backfill(path, Y, Recorder(), ["id", "x"], checkpoint=kept, commit_every=2)
    assert len(check(path).get_fragments()) == 1
    assert not kept.exists()


def test_what_a_function_must_not_give(path):
    for wrong, text in (
        (lambda batch: plus_one(batch).slice(1), "was given 4 rows and gave 3"),
        (lambda batch: 3, ""),
        (lambda batch: pa.record_batch([batch["x"]], names=["z"]), ""),
    ):
        with pytest.raises(Exception, match=text):
            glaive.backfill(path, Y, wrong, ["x"])
        assert glaive.dataset(path).version == 1 and orphans(path) == set()


def test_columns_without_nulls_come_in_one_version(path):
    required = pa.schema([pa.field("y", pa.int64(), nullable=False)])

    def compute(batch):
        return pa.record_batch([pc.add(batch["x"], 1)], schema=required)

    with pytest.raises(glaive.InvalidInput, match="several versions"):
        glaive.backfill(path, required, compute, ["x"], commit_every=2)
    glaive.backfill(path, required, compute, ["x"])
    check(path)


def test_a_column_of_the_same_name_wins(path):
    def compute(batch):
        dataset = glaive.dataset(path)
        if "y" not in dataset.schema.names:
            dataset.add_columns({"y": "'theirs'"})
        return plus_one(batch)

    with pytest.raises(CommitConflictError):
        glaive.backfill(path, Y, compute, ["x"], num_threads=1)
    assert set(glaive.dataset(path).to_table()["y"].to_pylist()) == {"theirs"} and orphans(path) == set()


def test_arguments(path):
    with pytest.raises(glaive.InvalidInput, match="beside a function"):
        glaive.backfill(path, Y)
    with pytest.raises(glaive.InvalidInput, match="beside a function"):
        glaive.backfill(path, {"y": "x"}, plus_one)
    with pytest.raises(glaive.InvalidInput, match="nope"):
        glaive.backfill(path, Y, plus_one, ["nope"])
    with pytest.raises(glaive.InvalidInput):
        glaive.backfill(path, {"_rowid": "x"})
