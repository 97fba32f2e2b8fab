"""Merges by key against pylance's, and against a dict."""

import threading
from pathlib import Path

import glaive
import lance
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("s", pa.utf8())])


def table(rows):
    return pa.Table.from_pylist([dict(zip(("k", "v", "s"), row)) for row in rows], SCHEMA)


ROWS = table([(i if i % 9 else None, i, f"s{i}") for i in range(30)])


def both(folder, rows=ROWS, **options):
    paths = [str(folder / name) for name in ("ours", "theirs")]
    for path in paths:
        lance.write_dataset(rows, path, max_rows_per_file=8, **options)
    return glaive.dataset(paths[0]), lance.dataset(paths[1])


def rows_of(dataset):
    rows = lance.dataset(dataset.uri).to_table().to_pylist()
    return sorted(rows, key=lambda row: [(x is None, x) for x in row.values()])


MATCHED = {
    "keep": lambda b: b,
    "update": lambda b: b.when_matched_update_all(),
    "update_if": lambda b: b.when_matched_update_all("source.v > target.v"),
    "update_if_target": lambda b: b.when_matched_update_all("target.s <> 's4' AND source.v < 20"),
    "delete": lambda b: b.when_matched_delete(),
    "fail": lambda b: b.when_matched_fail(),
}
UNMATCHED = {"ignore": lambda b: b, "insert": lambda b: b.when_not_matched_insert_all()}
BY_SOURCE = {
    "stay": lambda b: b,
    "go": lambda b: b.when_not_matched_by_source_delete(),
    "some": lambda b: b.when_not_matched_by_source_delete("v % 2 = 0"),
}
KEYS = st.one_of(st.none(), st.integers(0, 45))


def ended(call):
    try:
        return call()
    except (ValueError, OSError) as error:
        return "ValueError" if isinstance(error, ValueError) else "OSError"


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_merge_is_pylances(tmp_path_factory, data):
    stable = data.draw(st.booleans())
    ours, theirs = both(tmp_path_factory.mktemp("merge"), enable_stable_row_ids=stable)
    for _ in range(data.draw(st.integers(1, 3))):
        keys = data.draw(st.lists(KEYS, max_size=12))
        source = table([(k, data.draw(st.integers(0, 40)), "new") for k in keys])
        columns = data.draw(st.sampled_from([["k", "v", "s"], ["s", "k", "v"], ["k", "v"]]))
        on = data.draw(st.sampled_from(["k", ["k"], ["k", "v"]]))
        verbs = [data.draw(st.sampled_from(sorted(v))) for v in (MATCHED, UNMATCHED, BY_SOURCE)]
        if verbs[0] == "delete":
            verbs[2] = "stay"  # an internal error of pylance's
        results = []
        for dataset in (ours, theirs):
            builder = dataset.merge_insert(on)
            for verb, choices in zip(verbs, (MATCHED, UNMATCHED, BY_SOURCE)):
                builder = choices[verb](builder)
            results.append(ended(lambda b=builder: b.execute(source.select(columns))))
        assert results[0] == results[1], (verbs, keys, columns, on)
        assert rows_of(ours) == rows_of(theirs)
    if stable:
        check_lineage(ours, theirs)


def check_lineage(ours, theirs):
    """Rows keep their ids and when they were made; those of new rows are in no particular order."""
    columns = ["k", "v", "s", "_row_created_at_version", "_row_last_updated_at_version", "_rowid"]
    tables = [lance.dataset(d.uri).to_table(columns).to_pylist() for d in (ours, theirs)]
    for rows in tables:
        assert len({row["_rowid"] for row in rows}) == len(rows)
        for row in rows:
            if row["_row_created_at_version"] > 1:
                row["_rowid"] = None
        rows.sort(key=lambda row: [(x is None, x) for x in row.values()])
    assert tables[0] == tables[1]


def test_the_model_is_a_dict(tmp_path):
    ours, _ = both(tmp_path, table([(k, k, "old") for k in range(20)]))
    model = {k: (k, "old") for k in range(20)}
    for step in range(6):
        changes = [(k, 100 * step + k, f"step {step}") for k in range(step * 3, step * 3 + 8)]
        builder = ours.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
        stats = builder.execute(table(changes))
        assert stats["num_inserted_rows"] == sum(k not in model for k, _, _ in changes)
        model.update({k: (v, s) for k, v, s in changes})
        rows = ours.to_table().to_pylist()
        assert len(rows) == len(model)
        assert {row["k"]: (row["v"], row["s"]) for row in rows} == model


def test_a_source_that_lacks_columns(tmp_path):
    """Updated rows keep what they had, also below structs; new rows get nulls."""
    rows = pa.table({"k": [1, 2, 3], "st": [{"a": i, "b": f"b{i}"} for i in range(3)], "n": [7, 8, 9]})
    ours, _ = both(tmp_path, rows)
    source = pa.table({"st": [{"a": 50}, {"a": 60}, None], "k": [2, 4, 3]})
    ours.merge_insert("k").when_matched_update_all().when_not_matched_insert_all().execute(source)
    assert sorted(lance.dataset(ours.uri).to_table().to_pylist(), key=lambda row: row["k"]) == [
        {"k": 1, "st": {"a": 0, "b": "b0"}, "n": 7},
        {"k": 2, "st": {"a": 50, "b": "b1"}, "n": 8},
        {"k": 3, "st": None, "n": 9},
        {"k": 4, "st": {"a": 60, "b": None}, "n": None},
    ]


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([b"a", b"b", b""]),
        pa.array([1.5, -0.0, float("nan")]),
        pa.array([True, False, None]),
        pa.array(["2020-01-01", "2021-01-01", "2022-01-01"]).cast(pa.date32()),
        pa.array([[1, 2], [], [1]], pa.list_(pa.int32())),
        pa.array([{"x": 1, "y": "a"}, {"x": 1, "y": "b"}, {"x": 2, "y": "a"}]),
        pa.array([1, 2, 3]).cast(pa.decimal128(21, 2)),
        pa.array(["a", "b", ""], pa.large_utf8()),
    ],
    ids=lambda keys: str(keys.type),
)
def test_keys_of_every_kind(tmp_path, keys):
    """All keys but nulls are found again, and none twice."""
    ours, _ = both(tmp_path, pa.table({"k": keys, "v": [1, 2, 3]}))
    source = pa.table({"k": keys, "v": [10, 20, 30]})
    builder = ours.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
    nulls = keys.null_count
    assert builder.execute(source) == {
        "num_inserted_rows": nulls, "num_updated_rows": 3 - nulls, "num_deleted_rows": 0
    }  # fmt: skip
    assert sorted(ours.to_table()["v"].to_pylist()) == sorted([10, 20, 30] + [3] * nulls)


def test_deleting_on_both_sides(tmp_path):
    ours, _ = both(tmp_path)
    builder = ours.merge_insert("k").when_matched_delete()
    stats = builder.when_not_matched_by_source_delete("v > 20").execute(table([(4, 0, "")]))
    assert stats == {"num_inserted_rows": 0, "num_updated_rows": 0, "num_deleted_rows": 10}
    assert [row["v"] for row in ours.to_table().to_pylist()] == [*range(4), *range(5, 21)]


def test_many_small_batches(tmp_path):
    ours, _ = both(tmp_path, table([(k, k, "old") for k in range(0, 400, 2)]))
    source = table([(k, -k, "new") for k in range(400)])
    reader = pa.RecordBatchReader.from_batches(SCHEMA, source.to_batches(max_chunksize=3))
    builder = ours.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
    assert builder.execute(reader)["num_inserted_rows"] == 200
    assert sorted(ours.to_table()["v"].to_pylist()) == list(range(-399, 1))


def test_the_primary_key_is_the_default(tmp_path):
    key = {b"lance-schema:unenforced-primary-key": b"true"}
    schema = pa.schema([pa.field("k", pa.int64(), False, key), ("v", pa.int64())])
    ours, theirs = both(tmp_path, pa.table([[1, 2], [1, 2]], schema=schema))
    for dataset in (ours, theirs):
        builder = dataset.merge_insert().when_matched_update_all().when_not_matched_insert_all()
        builder.execute(pa.table([[2, 3, 4], [20, 30, 40]], schema=schema))
    assert rows_of(ours) == rows_of(theirs)
    # What was inserted is recorded as pylance records it.
    filters = [key_filter(dataset.uri) for dataset in (ours, theirs)]
    assert filters[0] == filters[1]


def key_filter(uri):
    (path,) = (Path(uri) / "_transactions").glob("1-*")
    text = path.read_bytes()
    begin = text.index(b"\x0a\x80\x80\x02")  # a bitmap of 32 KiB
    return text[begin : begin + 4 + (32 << 10)]


def test_failing_leaves_nothing(tmp_path):
    ours, _ = both(tmp_path)
    files = files_of(ours)
    source = table([(4, 0, "x"), (4, 1, "y")])
    builder = ours.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
    for call in (builder.execute, builder.execute_uncommitted, builder.analyze_plan):
        with pytest.raises((OSError, ValueError), match="k = 4"):
            call(source)
    with pytest.raises(OSError, match="k = 4"):
        ours.merge_insert("k").when_matched_fail().execute(source)
    builder.analyze_plan(source.slice(1))
    assert files_of(ours) == files


def files_of(dataset):
    return sorted(path for path in Path(dataset.uri).rglob("*") if path.is_file())


def test_plans(tmp_path):
    ours, theirs = both(tmp_path)
    for name, verb in MATCHED.items():
        if name != "keep":
            plans = [verb(d.merge_insert("k")).explain_plan().splitlines()[0] for d in (ours, theirs)]
            assert plans[0].split(", when_not")[1] == plans[1].split(", when_not")[1]
    assert "num_updated_rows=1" in verb_plan(ours)


def verb_plan(dataset):
    return dataset.merge_insert("k").when_matched_update_all().analyze_plan(table([(4, 0, "x")]))


# --- two writers ---------------------------------------------------------------------------------


def upsert(dataset, rows, on="k"):
    builder = dataset.merge_insert(on).when_matched_update_all().when_not_matched_insert_all()
    return builder.execute(table(rows))


@pytest.mark.parametrize("on", ["k", "s", ["k", "s"]])
def test_upserts_of_one_new_key_insert_it_once(tmp_path, on):
    ours, _ = both(tmp_path)
    stale = glaive.dataset(ours.uri)
    assert upsert(ours, [(100, 1, "x"), (101, 1, "y")], on)["num_inserted_rows"] == 2
    stats = upsert(stale, [(101, 2, "y"), (102, 2, "z")], on)
    assert stats == {"num_inserted_rows": 1, "num_updated_rows": 1, "num_deleted_rows": 0}
    rows = {row["k"]: row["v"] for row in rows_of(ours) if row["k"] and row["k"] >= 100}
    assert rows == {100: 1, 101: 2, 102: 2}


def test_an_append_meanwhile_is_seen(tmp_path):
    ours, _ = both(tmp_path)
    stale = glaive.dataset(ours.uri)
    ours.insert(table([(100, 1, "appended")]))
    assert upsert(stale, [(100, 2, "x")])["num_updated_rows"] == 1
    assert [row["v"] for row in rows_of(ours) if row["k"] == 100] == [2]


def test_staged_merges_of_one_key_conflict(tmp_path):
    ours, _ = both(tmp_path)
    staged = []
    for rows in ([(100, 1, "x")], [(100, 2, "y")], [(200, 3, "z")], [(None, 4, "n")]):
        builder = ours.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
        staged.append(builder.execute_uncommitted(table(rows))[0])
    glaive.LanceDataset.commit(ours, staged[0])
    with pytest.raises(glaive.commit.CommitConflictError) as error:
        glaive.LanceDataset.commit(ours, staged[1])
    assert error.value.retryable
    glaive.LanceDataset.commit(ours, staged[2])
    glaive.LanceDataset.commit(ours, staged[3])
    assert glaive.dataset(ours.uri).count_rows() == 33


@pytest.mark.parametrize("stable", [False, True])
def test_racing_upserts_never_insert_a_key_twice(tmp_path, stable):
    ours, _ = both(tmp_path, enable_stable_row_ids=stable)
    errors = []

    def work(writer):
        try:
            for turn in range(4):
                keys = range(100 + 3 * turn, 106 + 3 * turn)
                builder = glaive.dataset(ours.uri).merge_insert("k").conflict_retries(100)
                builder.when_matched_update_all().when_not_matched_insert_all()
                builder.execute(table([(k, writer, f"w{writer}") for k in keys]))
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    keys = [row["k"] for row in rows_of(ours) if row["k"] is not None]
    assert sorted(keys) == sorted(set(range(30)) - {0, 9, 18, 27} | set(range(100, 115)))
