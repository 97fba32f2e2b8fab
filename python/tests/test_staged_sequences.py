"""Random commits of both engines between staging and commit: every value of a staged column lands
at its row, or none does and the table is as it was."""

import random
from datetime import timedelta

import pyarrow as pa
import pytest

import glaive
import lance
from glaive.commit import ColumnWriteConflict

INT = pa.int32()


def table(**columns):
    return pa.table({name: pa.array(values, INT) for name, values in columns.items()})


def rows(path):
    """The rows by id, which both engines have to agree about."""
    theirs = lance.dataset(path)
    theirs.validate()
    found = theirs.to_table()
    assert glaive.dataset(path).to_table().equals(found)
    return {row["id"]: row for row in found.to_pylist()}


def delete(engine, path, choose):
    engine.dataset(path).delete(f"id = {choose(rows(path))}")


def update(engine, path, choose):
    engine.dataset(path).update({"w": "w + 1"}, where=f"id = {choose(rows(path))}")


def update_many(engine, path, choose):
    engine.dataset(path).update({"v": "v + 1"}, where=f"id < {choose(rows(path))}")


def append(engine, path, choose):
    engine.write_dataset(table(id=[1000 + lance.dataset(path).version]), path, mode="append")


def compact(engine, path, choose):
    engine.dataset(path).optimize.compact_files(target_rows_per_fragment=4)


def add_column(engine, path, choose):
    dataset = engine.dataset(path)
    dataset.add_columns({f"c{dataset.version}": "id + 1"})


def replace(engine, path, choose):
    dataset = glaive.dataset(path)
    fragment = choose(dataset.get_fragments())
    field = dataset.schema.field(choose(dataset.schema.names[1:]))
    values = pa.table({field.name: pa.array([7] * fragment.physical_rows, field.type)})
    dataset.commit_column_writes(fragment.write_column(values, pa.schema([field])))


def clean(engine, path, choose):
    lance.dataset(path).cleanup_old_versions(timedelta(0))


def restore(engine, path, choose):
    versions = [version["version"] for version in lance.dataset(path).versions()]
    engine.dataset(path, version=choose(versions)).restore()


WINNERS = [delete, update, update_many, append, compact, add_column, replace, clean, restore]


def ids_by_row(path, fragment_id):
    """The ids of a fragment's live rows, by their physical offsets."""
    dataset = lance.dataset(path)
    fragment = dataset.get_fragment(fragment_id)
    found = dataset.scanner(columns=["id"], with_row_address=True, fragments=[fragment]).to_table()
    offsets = [address & 0xFFFFFFFF for address in found["_rowaddr"].to_pylist()]
    return dict(sorted(zip(offsets, found["id"].to_pylist())))


def commit_some(path, chance, most):
    for _ in range(chance.randrange(most)):
        winner, engine = chance.choice(WINNERS), chance.choice([lance, glaive])
        if rows(path):
            winner(engine, path, lambda choices: chance.choice(list(choices)))


@pytest.mark.parametrize("seed", range(40))
def test_between_staging_and_commit(tmp_path, seed):
    chance, path = random.Random(seed), str(tmp_path / "table")
    first = table(id=range(9), v=range(0, 90, 10), w=range(0, 900, 100))
    lance.write_dataset(first, path, max_rows_per_file=3, enable_stable_row_ids=seed % 3 == 0)
    commit_some(path, chance, 3)
    dataset = glaive.dataset(path)
    fragments = list(dataset.get_fragments())
    if not fragments:
        return
    fragment = chance.choice(fragments)
    ids = ids_by_row(path, fragment.fragment_id)
    column, live_rows_only = chance.choice(["v", "y", "z"]), chance.random() < 0.5
    if column in dataset.schema.names:
        schema = pa.schema([dataset.schema.field(column)])
    else:
        schema = dataset.new_column_schema(pa.schema([(column, INT)]))
    offsets = ids if live_rows_only else range(fragment.physical_rows)
    values = table(**{column: [ids.get(offset, 0) * 1000 for offset in offsets]})
    staged = fragment.write_column(values, schema, live_rows_only=live_rows_only)
    commit_some(path, chance, 5)
    before, version = rows(path), lance.dataset(path).version
    committer = chance.choice([dataset, glaive.dataset(path)])
    try:
        committer.commit_column_writes(staged)
    except ColumnWriteConflict:
        assert rows(path) == before and lance.dataset(path).version == version
        staged.discard()
        return
    expected = {
        number: row | {column: number * 1000 if number in ids.values() else row.get(column)}
        for number, row in before.items()
    }
    assert rows(path) == expected
