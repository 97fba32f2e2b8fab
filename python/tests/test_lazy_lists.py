"""Fragments and versions that are made, or read, when they are asked for."""

import json
import pickle
import random
from collections.abc import Sequence

import glaive
import lance
import numpy as np
import pyarrow as pa
import pytest


@pytest.fixture
def many(path):
    rows = pa.table({"a": range(40)})
    glaive.write_dataset(rows, path, max_rows_per_file=2)
    dataset = glaive.dataset(path)
    dataset.delete("a IN (4, 5, 9, 30)")  # fragment 2 is gone
    return dataset


def test_fragments_of_a_table_in_its_place_are_others(path):
    rows = pa.table({"a": range(4)})
    old = glaive.write_dataset(rows, path).get_fragments()
    assert old == glaive.dataset(path).get_fragments()
    session = glaive.Session()
    glaive.LanceDataset.drop(path, session=session)
    assert old != glaive.write_dataset(rows, path, session=session).get_fragments()


def test_sessions_hold_what_fits_64_bits():
    for size in (2**64, -1):
        with pytest.raises(OverflowError):
            glaive.Session(metadata_cache_size_bytes=size)
    glaive.Session(metadata_cache_size_bytes=2**64 - 1)


def ids(fragments):
    return [fragment.fragment_id for fragment in fragments]


def test_any_index_and_slice(many):
    fragments, every = many.get_fragments(), [i for i in range(20) if i != 2]
    assert isinstance(fragments, Sequence) and len(fragments) == 19
    assert ids(fragments) == every and ids(reversed(fragments)) == every[::-1]
    draw = random.Random(4)
    for _ in range(200):
        bounds = [draw.choice([None, *range(-22, 23)]) for _ in range(2)]
        step = draw.choice([None, 1, 2, 5, -1, -3])
        assert ids(fragments[slice(*bounds, step)]) == every[slice(*bounds, step)]
    assert ids(fragments[3:][2:9:3][-1:]) == every[3:][2:9:3][-1:]
    assert fragments[np.int64(4)].fragment_id == 5
    for beyond in (19, -20):
        with pytest.raises(IndexError):
            fragments[beyond]


def test_like_a_list(many):
    fragments = many.get_fragments()
    listed = list(fragments)
    assert fragments == listed and listed == fragments and fragments == fragments[:]
    assert fragments != listed[1:] and fragments != 7
    assert fragments[1:3] + fragments[:1] == [listed[1], listed[2], listed[0]]
    assert fragments[:1] + [1] == [listed[0], 1] and [1] + fragments[:1] == [1, listed[0]]
    assert listed[7] in fragments and listed[7] not in fragments[:3]
    assert (fragments.index(listed[7]), fragments.count(listed[7])) == (7, 1)
    assert "LanceFragment(id=0" in repr(fragments) and repr(fragments[:1]) == repr(listed[:1])
    assert repr(fragments[:0]) == "[]" and not fragments[:0]
    assert len(np.array_split(fragments, 3)) == 3
    with pytest.raises(TypeError):
        hash(fragments)


def test_of_one_version(many):
    old = many.get_fragments()
    again = pickle.loads(pickle.dumps(old[5:]))
    many.delete("a = 39")
    assert again == old[5:] and again[0].to_table() == old[5].to_table()
    assert old[-1].count_rows() == 2 and many.get_fragments()[-1].count_rows() == 1
    assert old != many.get_fragments() and old[0] != many.get_fragments()[0]
    assert old[0] not in many.get_fragments()
    assert pickle.loads(pickle.dumps(old[-1])).count_rows() == 2


def test_wherever_fragments_go(many, path):
    expected = lance.dataset(path).to_table()
    assert many.scanner(fragments=many.get_fragments()).to_table() == expected
    assert many.scanner(fragments=many.get_fragments()[::2]).count_rows() == 19
    metadata = [fragment.metadata for fragment in many.get_fragments()]
    made = glaive.LanceDataset.commit(
        path, glaive.LanceOperation.Overwrite(expected.schema, metadata[:1])
    )
    assert made.count_rows() == 2


def test_versions_are_read_when_asked_for(many, path):
    theirs = lance.dataset(path).versions()
    before = many.io_stats_snapshot()
    numbers = [entry["version"] for entry in many.versions()]
    after = many.io_stats_snapshot()
    assert numbers == [1, 2] and after.read_bytes == before.read_bytes
    assert many.versions() == theirs and theirs == many.versions()
    assert many.versions()[0] != theirs[1]


@pytest.mark.parametrize(
    "use",
    [
        dict,
        lambda v: {**v},
        lambda v: v.copy(),
        lambda v: v | {},
        lambda v: {} | v,
        lambda v: dict(v.items()),
        lambda v: {k: v[k] for k in v},
        lambda v: {k: v.get(k) for k in v.keys()},
        lambda v: dict(zip(v, v.values(), strict=True)),
        lambda v: pickle.loads(pickle.dumps(v)),
        lambda v: {"version": v["version"], "timestamp": v["timestamp"], "metadata": v["metadata"]},
        lambda v: {k: v.pop(k) for k in ("version", "timestamp", "metadata")},
    ],
)
def test_a_version_is_a_dict(many, path, use):
    theirs = lance.dataset(path).versions()[0]
    assert use(many.versions()[0]) == theirs
    assert use(many.get_version()) == lance.dataset(path).get_version()


def test_a_version_as_text(many, path):
    ours, theirs = many.versions(), lance.dataset(path).versions()
    assert json.dumps(ours, default=str) == json.dumps(theirs, default=str)
    assert repr(many.versions()) == repr(theirs)
    assert pa.Table.from_pylist(many.versions()) == pa.Table.from_pylist(theirs)


def test_keys_that_a_version_lacks(many):
    entry = many.versions()[0]
    assert "tag" not in entry and entry.get("tag", 3) == 3 and len(entry) == 3
    with pytest.raises(KeyError, match="tag"):
        entry["tag"]


def test_a_version_that_went(many, path):
    entries = many.versions()
    many.cleanup_old_versions(retain_versions=1)
    assert entries[0]["version"] == 1
    with pytest.raises(ValueError, match="version 1 was not found"):
        entries[0]["timestamp"]
    assert [len(entry) for entry in entries] == [3] * len(entries)
    assert repr(entries[0]) == "<version 1, cleaned up>"
