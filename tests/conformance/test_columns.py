"""Staged column writes for existing fragments.

The API under test, in Python:

    schema = ds.new_column_schema(pa.schema([...]))         # assigns field ids centrally
    staged = ds.write_fragment_column(fragment_id, data, schema)   # one uncommitted file; picklable
    ds.commit_column_writes([staged, ...])                  # one atomic version; `ds` moves to it
    ds.commit_column_writes(staged, reads=["v"])            # ... unless v changed on a written fragment meanwhile

`schema` is the result of `new_column_schema`, or `ds.lance_schema` names for existing columns given as
a pa.Schema. `data` has one value for each physical row of the fragment, deleted rows included. A staged
write is bound to the snapshot it was made from: if the rows, the schema or the stored bytes behind its
fields changed since, the commit fails and publishes nothing.
"""
import pickle

import pyarrow as pa
import pytest

import corpus
from harness import submodule
from oracle import assert_same

pytestmark = pytest.mark.beyond_pylance("pylance has no write_fragment_column / commit_column_writes")

REFUSED = (OSError, ValueError)  # CommitConflictError is an OSError
INT = pa.int32()


def schema_of(nullable=True, **types) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=nullable) for name, kind in types.items()])


def stage_new(ds, fragment_id, nullable=True, **columns):
    """Stages int32 columns that the dataset does not have yet."""
    arrow = schema_of(nullable, **{name: INT for name in columns})
    return ds.write_fragment_column(fragment_id, pa.table(columns, schema=arrow), ds.new_column_schema(arrow))


def stage_existing(ds, fragment_id, **columns):
    arrow = pa.schema([ds.schema.field(name) for name in columns])
    return ds.write_fragment_column(fragment_id, pa.table(columns, schema=arrow), arrow)


@pytest.fixture
def path(oracle, workdir):
    """Two fragments: ids 0-1 and 2-3, `v` = id * 10, `w` = id * 100."""
    table = pa.table({"id": pa.array(range(4), INT), "v": pa.array([0, 10, 20, 30], INT), "w": pa.array([0, 100, 200, 300], INT)})
    oracle.write_dataset(table, workdir / "ds", max_rows_per_file=2)
    return str(workdir / "ds")


def values(oracle, path, column):
    dataset = oracle.dataset(path)
    dataset.validate()
    return dataset.to_table()[column].to_pylist()


def data_files(path):
    import os

    return set(os.listdir(os.path.join(path, "data")))


# --- the plain path -------------------------------------------------------------------------------------------


def test_new_column(impl, oracle, path):
    ds = impl.dataset(path)
    staged = [stage_new(ds, 0, y=[1, 2]), stage_new(ds, 1, y=[3, 4])]
    assert oracle.dataset(path).version == 1
    ds.commit_column_writes(staged)
    assert ds.version == oracle.dataset(path).version == 2
    assert values(oracle, path, "y") == [1, 2, 3, 4]
    assert values(oracle, path, "v") == [0, 10, 20, 30]


def test_existing_column(impl, oracle, path):
    ds = impl.dataset(path)
    ds.commit_column_writes([stage_existing(ds, 1, v=[-20, -30])])
    assert values(oracle, path, "v") == [0, 10, -20, -30]
    assert values(oracle, path, "w") == [0, 100, 200, 300]
    assert oracle.dataset(path).schema == impl.dataset(path, version=1).schema


def test_partial_coverage_reads_null(impl, oracle, path):
    ds = impl.dataset(path)
    ds.commit_column_writes([stage_new(ds, 1, y=[3, 4])])
    assert values(oracle, path, "y") == [None, None, 3, 4]


def test_staged_writes_travel_between_processes(impl, oracle, path):
    schema = pa.schema([("y", INT)])
    staged = []
    for fragment_id in (0, 1):
        worker = impl.dataset(path, version=1)
        one = worker.write_fragment_column(fragment_id, pa.table({"y": [7, 8]}, schema=schema), worker.new_column_schema(schema))
        staged.append(pickle.loads(pickle.dumps(one)))
    impl.dataset(path).commit_column_writes(staged)
    assert values(oracle, path, "y") == [7, 8, 7, 8]


@pytest.mark.parametrize("version", corpus.VERSIONS, ids=lambda v: f"v{v}")
@pytest.mark.parametrize("kind", ["utf8", "list_i32", "fsl_f32", "float64", "struct_list", "dict_i8_utf8"])
def test_types_and_versions(impl, oracle, workdir, version, kind):
    """Staged files have the dataset's file version; nested columns round-trip through their leaves."""
    case = corpus.Case(kind, corpus.TYPES[kind], "staged", corpus.Shape(300), version)
    column = case.table().select(["c"])
    oracle.write_dataset(case.table().select(["id"]), workdir / "ds", data_storage_version=version)
    ds = impl.dataset(workdir / "ds")
    ds.commit_column_writes([ds.write_fragment_column(0, column, ds.new_column_schema(column.schema))])
    result = oracle.dataset(workdir / "ds")
    result.validate()
    assert_same(result.to_table(columns=["c"]), column)
    files = result.get_fragments()[0].data_files()
    assert {f"{f.file_major_version}.{f.file_minor_version}" for f in files} == {version}


def test_nested_struct_of_boxes(impl, oracle, path):
    kind = pa.struct([("x", INT)])
    column = pa.table({"s": pa.array([{"x": 1}, {"x": 2}], kind)})
    ds = impl.dataset(path)
    ds.commit_column_writes([ds.write_fragment_column(0, column, ds.new_column_schema(column.schema))])
    assert values(oracle, path, "s")[:2] == [{"x": 1}, {"x": 2}]


def test_stream_input(impl, oracle, path):
    column = pa.table({"y": pa.array([1, 2], INT)})
    ds = impl.dataset(path)
    staged = ds.write_fragment_column(0, column.to_reader(max_chunksize=1), ds.new_column_schema(column.schema))
    ds.commit_column_writes([staged])
    assert values(oracle, path, "y")[:2] == [1, 2]


def test_later_appends_and_compaction(impl, oracle, path):
    ds = impl.dataset(path)
    ds.commit_column_writes([stage_new(ds, 0, y=[1, 2]), stage_new(ds, 1, y=[3, 4])])
    more = pa.table({"id": pa.array([9], INT), "y": pa.array([5], INT)})
    oracle.write_dataset(more, path, mode="append")
    oracle.dataset(path).optimize.compact_files()
    assert values(oracle, path, "y") == [1, 2, 3, 4, 5]


# --- row counts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[7], [7, 8, 9], []], ids=["short", "long", "empty"])
def test_wrong_row_count(impl, path, rows):
    """Refused while staging, naming both counts, and without a file left behind."""
    ds, before = impl.dataset(path), data_files(path)
    with pytest.raises(REFUSED, match=rf"{len(rows)}"):
        stage_new(ds, 0, y=rows)
    assert data_files(path) == before
    assert impl.dataset(path).version == 1


def test_deleted_rows_count_as_physical(impl, oracle, path):
    oracle.dataset(path).delete("id = 0")
    ds = impl.dataset(path)
    with pytest.raises(REFUSED):
        stage_new(ds, 0, y=[2])
    ds.commit_column_writes([stage_new(ds, 0, y=[1, 2])])
    assert values(oracle, path, "y") == [2, None, None]


def test_unknown_fragment(impl, path):
    with pytest.raises(REFUSED, match="77"):
        stage_new(impl.dataset(path), 77, y=[1, 2])


def test_source_error_leaves_no_file(impl, path):
    def source():
        yield pa.record_batch({"y": pa.array([1], INT)})
        raise RuntimeError("source broke")

    ds, before = impl.dataset(path), data_files(path)
    schema = pa.schema([("y", INT)])
    reader = pa.RecordBatchReader.from_batches(schema, source())
    with pytest.raises(Exception, match="source broke"):
        ds.write_fragment_column(0, reader, ds.new_column_schema(schema))
    assert data_files(path) == before


# --- several staged files in one commit -----------------------------------------------------------------------------


def test_two_columns_of_one_fragment(impl, oracle, path):
    """Staged apart for the same fragment, published together: both survive."""
    ds = impl.dataset(path)
    arrow = pa.schema([("first", INT), ("second", INT)])
    schema = ds.new_column_schema(arrow)
    assert len({field.id() for field in schema.fields()}) == 2
    first = ds.write_fragment_column(0, pa.table({"first": pa.array([10, 20], INT)}), schema)
    second = ds.write_fragment_column(0, pa.table({"second": pa.array([30, 40], INT)}), schema)
    ds.commit_column_writes([first, second])
    assert values(oracle, path, "first")[:2] == [10, 20]
    assert values(oracle, path, "second")[:2] == [30, 40]


def test_same_field_twice(impl, path):
    ds = impl.dataset(path)
    staged = [stage_existing(ds, 0, v=[1, 2]), stage_existing(ds, 0, v=[3, 4])]
    with pytest.raises(REFUSED, match="v"):
        ds.commit_column_writes(staged)
    assert impl.dataset(path).version == 1


def test_new_and_existing_together(impl, oracle, path):
    ds = impl.dataset(path)
    ds.commit_column_writes([stage_new(ds, 0, y=[1, 2]), stage_existing(ds, 1, v=[5, 6])])
    assert ds.version == 2
    assert values(oracle, path, "y") == [1, 2, None, None]
    assert values(oracle, path, "v") == [0, 10, 5, 6]


# --- schema contract ---------------------------------------------------------------------------------------------------


def test_data_must_match_the_declared_type(impl, path):
    """Bits of one type must never be read as another."""
    ds = impl.dataset(path)
    schema = ds.new_column_schema(pa.schema([("y", pa.float32())]))
    with pytest.raises((*REFUSED, TypeError)):
        ds.commit_column_writes([ds.write_fragment_column(0, pa.table({"y": pa.array([10, 20], INT)}), schema)])
    assert "y" not in impl.dataset(path).schema.names


def test_data_must_match_the_declared_name(impl, path):
    ds = impl.dataset(path)
    schema = ds.new_column_schema(pa.schema([("declared", INT)]))
    with pytest.raises((*REFUSED, TypeError)):
        ds.commit_column_writes([ds.write_fragment_column(0, pa.table({"staged": pa.array([1, 2], INT)}), schema)])
    assert impl.dataset(path).version == 1


def test_existing_type_cannot_change(impl, path):
    ds = impl.dataset(path)
    with pytest.raises((*REFUSED, TypeError)):
        ds.write_fragment_column(0, pa.table({"v": [1.5, 2.5]}), pa.schema([("v", pa.float64())]))


def test_nulls_for_a_required_field(impl, oracle, workdir):
    schema = schema_of(nullable=False, id=INT)
    oracle.write_dataset(pa.table({"id": [1, 2]}, schema=schema), workdir / "ds")
    ds = impl.dataset(workdir / "ds")
    with pytest.raises(REFUSED):
        data = pa.table({"id": pa.array([1, None], INT)})
        ds.commit_column_writes([ds.write_fragment_column(0, data, data.schema)])
    assert values(oracle, str(workdir / "ds"), "id") == [1, 2]


@pytest.mark.parametrize("name", ["_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"])
def test_reserved_names(impl, path, name):
    ds = impl.dataset(path)
    with pytest.raises(REFUSED, match=name):
        stage_new(ds, 0, **{name: [7, 8]})
    assert impl.dataset(path).version == 1


def test_new_column_schema_refuses_existing_names(impl, path):
    with pytest.raises(REFUSED, match="v"):
        impl.dataset(path).new_column_schema(pa.schema([("v", INT)]))


def test_staged_for_another_dataset(impl, oracle, workdir, path):
    oracle.write_dataset(pa.table({"id": pa.array([8, 9], INT)}), workdir / "other")
    staged = stage_new(impl.dataset(workdir / "other"), 0, y=[1, 2])
    with pytest.raises(REFUSED):
        impl.dataset(path).commit_column_writes([staged])
    assert impl.dataset(path).version == 1


def test_required_column_needs_every_fragment(impl, path):
    ds = impl.dataset(path)
    with pytest.raises(REFUSED):
        ds.commit_column_writes([stage_new(ds, 0, nullable=False, y=[1, 2])])
    assert impl.dataset(path).version == 1


# --- races: the loser fails, the winner's values stay -------------------------------------------------------------------


def refuse_and_keep(impl, oracle, path, stale, staged, column, expected):
    """The stale commit fails, publishes nothing, and `column` still reads as `expected`."""
    version = oracle.dataset(path).version
    with pytest.raises(REFUSED):
        stale.commit_column_writes(staged)
    assert oracle.dataset(path).version == version
    assert values(oracle, path, column) == expected


def test_race_for_a_field_id(impl, oracle, path):
    """Two handles derive the same next id for different columns: never one's bytes under the other's name."""
    one, two = impl.dataset(path), impl.dataset(path)
    first = [stage_new(one, f, first=[10, 20]) for f in (0, 1)]
    second = [stage_new(two, f, second=[30, 40]) for f in (0, 1)]
    one.commit_column_writes(first)
    try:
        two.commit_column_writes(second)
    except REFUSED:
        assert "second" not in oracle.dataset(path).schema.names
    else:
        assert values(oracle, path, "second") == [30, 40, 30, 40]
    assert values(oracle, path, "first") == [10, 20, 10, 20]


def test_race_for_a_new_name(impl, oracle, path):
    one, two = impl.dataset(path), impl.dataset(path)
    winner, loser = stage_new(one, 0, y=[10, 20]), stage_new(two, 0, y=[30, 40])
    one.commit_column_writes([winner])
    refuse_and_keep(impl, oracle, path, two, [loser], "y", [10, 20, None, None])


def test_race_for_a_new_name_with_other_nullability(impl, oracle, path):
    one, two = impl.dataset(path), impl.dataset(path)
    winner = [stage_new(one, f, nullable=False, y=[10, 20]) for f in (0, 1)]
    loser = [stage_new(two, 0, y=[30, None])]
    one.commit_column_writes(winner)
    refuse_and_keep(impl, oracle, path, two, loser, "y", [10, 20, 10, 20])


def test_race_for_an_existing_column(impl, oracle, path):
    one, two = impl.dataset(path), impl.dataset(path)
    winner, loser = stage_existing(one, 0, v=[30, 40]), stage_existing(two, 0, v=[50, 60])
    one.commit_column_writes([winner])
    refuse_and_keep(impl, oracle, path, two, [loser], "v", [30, 40, 20, 30])


def test_race_for_an_uncovered_fragment(impl, oracle, path):
    """`y` exists but fragment 1 has no file for it; absence is part of the expectation."""
    base = impl.dataset(path)
    base.commit_column_writes([stage_new(base, 0, y=[1, 2])])
    one, two = impl.dataset(path), impl.dataset(path)
    winner, loser = stage_existing(one, 1, y=[30, 31]), stage_existing(two, 1, y=[50, 51])
    one.commit_column_writes([winner])
    refuse_and_keep(impl, oracle, path, two, [loser], "y", [1, 2, 30, 31])


def test_race_with_update(impl, oracle, path):
    """An update moves rows to a new fragment; the staged values no longer line up."""
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 60])
    oracle.dataset(path).update({"v": "v + 1"}, where="id = 0")
    expected = values(oracle, path, "v")
    try:
        stale.commit_column_writes([staged])
    except REFUSED:
        assert values(oracle, path, "v") == expected
    else:  # the rewritten row keeps the update, the one left in place takes the staged value
        rows = dict(zip(values(oracle, path, "id"), values(oracle, path, "v")))
        assert rows == {0: 1, 1: 60, 2: 20, 3: 30}


def test_race_with_update_of_another_column(impl, oracle, path):
    """The update moved a row to a new fragment with its old `v`: publishing would lose the staged value of that row."""
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 60])
    oracle.dataset(path).update({"w": "w + 1"}, where="id = 0")
    expected = values(oracle, path, "v")
    with pytest.raises(REFUSED):
        stale.commit_column_writes([staged])
    assert values(oracle, path, "v") == expected


def test_same_staged_write_twice(impl, oracle, path):
    """A retried job commits once: the second commit is refused or gives the version of the first."""
    ds = impl.dataset(path)
    staged = stage_new(ds, 0, y=[1, 2])
    again = pickle.loads(pickle.dumps(staged))
    ds.commit_column_writes([staged])
    late = impl.dataset(path, version=1)
    try:
        late.commit_column_writes([again])
    except REFUSED:
        pass
    assert oracle.dataset(path).version == 2
    assert values(oracle, path, "y")[:2] == [1, 2]


def test_read_version_cleaned_up_meanwhile(impl, oracle, path):
    from datetime import timedelta

    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 60])
    oracle.write_dataset(pa.table({"id": pa.array([9], INT), "v": pa.array([9], INT), "w": pa.array([9], INT)}), path, mode="append")
    oracle.dataset(path).cleanup_old_versions(older_than=timedelta(0))
    before = oracle.dataset(path).version
    try:
        stale.commit_column_writes([staged])
    except REFUSED:
        assert oracle.dataset(path).version == before
    else:
        assert values(oracle, path, "v")[:2] == [50, 60]


def test_race_with_delete_lands_aligned(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_new(stale, 0, y=[1, 2])
    oracle.dataset(path).delete("id = 0")
    stale.commit_column_writes([staged])
    assert values(oracle, path, "id") == [1, 2, 3]
    assert values(oracle, path, "y") == [2, None, None]


def test_race_with_delete_of_the_whole_fragment(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    oracle.dataset(path).delete("id < 2")
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [20, 30])


def test_race_with_compaction(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    oracle.dataset(path).optimize.compact_files()
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [0, 10, 20, 30])


def test_race_with_append_of_a_required_column(impl, oracle, path):
    """Publishing would leave the appended fragment without values for a non-nullable field."""
    stale = impl.dataset(path)
    staged = [stage_new(stale, f, nullable=False, y=[1, 2]) for f in (0, 1)]
    oracle.write_dataset(pa.table({"id": pa.array([9], INT)}), path, mode="append")
    refuse_and_keep(impl, oracle, path, stale, staged, "id", [0, 1, 2, 3, 9])


def test_race_with_append_of_a_nullable_column(impl, oracle, path):
    stale = impl.dataset(path)
    staged = [stage_new(stale, f, y=[1, 2]) for f in (0, 1)]
    oracle.write_dataset(pa.table({"id": pa.array([9], INT)}), path, mode="append")
    stale.commit_column_writes(staged)
    assert values(oracle, path, "y") == [1, 2, 1, 2, None]


def test_race_with_cast(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    oracle.dataset(path).alter_columns({"path": "v", "data_type": pa.int64()})
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [0, 10, 20, 30])


def test_race_with_drop(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    oracle.dataset(path).drop_columns(["v"])
    refuse_and_keep(impl, oracle, path, stale, [staged], "w", [0, 100, 200, 300])
    assert oracle.dataset(path).schema.names == ["id", "w"]


def test_race_with_overwrite(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    table = pa.table({"id": pa.array([5, 6], INT), "v": pa.array([7, 8], INT)})
    oracle.write_dataset(table, path, mode="overwrite")
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [7, 8])


def test_race_with_restore(impl, oracle, path):
    """Back to an equal state at a later version: either outcome is right, a mixture is not."""
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    oracle.dataset(path).restore()
    try:
        stale.commit_column_writes([staged])
    except REFUSED:
        assert values(oracle, path, "v") == [0, 10, 20, 30]
    else:
        assert values(oracle, path, "v") == [1, 2, 20, 30]


def test_race_with_unrelated_column(impl, oracle, path):
    stale, other = impl.dataset(path), impl.dataset(path)
    mine, theirs = stage_existing(stale, 0, v=[1, 2]), stage_existing(other, 0, w=[3, 4])
    other.commit_column_writes([theirs])
    stale.commit_column_writes([mine])
    assert values(oracle, path, "v") == [1, 2, 20, 30]
    assert values(oracle, path, "w") == [3, 4, 200, 300]


def test_rename_does_not_break_the_binding(impl, oracle, path):
    """Same field id under a new name: the write lands in that field, or is refused; no other column moves."""
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[1, 2])
    oracle.dataset(path).alter_columns({"path": "v", "name": "renamed"})
    try:
        stale.commit_column_writes([staged])
    except REFUSED:
        assert values(oracle, path, "renamed") == [0, 10, 20, 30]
    else:
        assert values(oracle, path, "renamed") == [1, 2, 20, 30]
    assert oracle.dataset(path).schema.names == ["id", "renamed", "w"]


# --- overlays ------------------------------------------------------------------------------------------------------------


def commit_overlay(oracle, path, name, column, offsets, new_values, fragment_id=0):
    """Lays `new_values` over `column` of one fragment, by the oracle."""
    dataset = oracle.dataset(path)
    writer = submodule(oracle, "file").LanceFileWriter
    schema = pa.schema([(column, INT)])
    with writer(f"{path}/data/{name}", schema, version=dataset.data_storage_version) as out:
        out.write_batch(pa.record_batch([pa.array(new_values, INT)], schema=schema))
    data_file = submodule(oracle, "fragment").DataFile.create(dataset, name)
    op = oracle.LanceOperation
    overlay = op.DataOverlayFile(data_file, offsets)
    operation = op.DataOverlay([op.DataOverlayGroup(fragment_id, [overlay])])
    return oracle.LanceDataset.commit(path, operation, read_version=dataset.version)


def test_overlay_before_staging_is_replaced(impl, oracle, path):
    """A full replacement made on top of an overlay is authoritative."""
    commit_overlay(oracle, path, "overlay.lance", "v", [0, 1], [111, 222])
    ds = impl.dataset(path)
    ds.commit_column_writes([stage_existing(ds, 0, v=[30, 40])])
    assert values(oracle, path, "v") == [30, 40, 20, 30]


def test_race_with_overlay(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 50])
    commit_overlay(oracle, path, "overlay.lance", "v", [0, 1], [30, 31])
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [30, 31, 20, 30])


def test_race_with_sparse_overlay(impl, oracle, path):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 50])
    commit_overlay(oracle, path, "overlay.lance", "v", [1], [777])
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [0, 777, 20, 30])


@pytest.mark.parametrize("column, fragment_id", [("w", 0), ("v", 1)], ids=["other_column", "other_fragment"])
def test_race_with_unrelated_overlay(impl, oracle, path, column, fragment_id):
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 51])
    commit_overlay(oracle, path, "overlay.lance", column, [0], [777], fragment_id)
    stale.commit_column_writes([staged])
    expected = {"v": [50, 51, 20, 30], "w": [0, 100, 200, 300]}
    expected[column][2 * fragment_id] = 777
    assert {name: values(oracle, path, name) for name in expected} == expected


def merge_fragments(oracle, path, change):
    """A public Merge commit that only changes the metadata of fragment 0."""
    dataset = oracle.dataset(path)
    fragments = [fragment.metadata for fragment in dataset.get_fragments()]
    change(fragments[0])
    operation = oracle.LanceOperation.Merge(fragments, dataset.lance_schema)
    return oracle.LanceDataset.commit(path, operation, read_version=dataset.version)


def test_race_with_moved_overlay_coverage(impl, oracle, path):
    """The overlay file stays, the rows it covers change."""
    commit_overlay(oracle, path, "overlay.lance", "v", [0], [777])
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 50])

    def move(fragment):
        fragment.overlays[0].offsets = [1]

    merge_fragments(oracle, path, move)
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [0, 777, 20, 30])


def test_race_with_changed_column_mapping(impl, oracle, path):
    """The base file stays, but the field now reads another physical column of it."""
    stale = impl.dataset(path)
    staged = stage_existing(stale, 0, v=[50, 50])

    def swap(fragment):
        fragment.files[0].column_indices = [0, 2, 1]

    merge_fragments(oracle, path, swap)
    refuse_and_keep(impl, oracle, path, stale, [staged], "v", [0, 100, 20, 30])


def test_staged_twice_commit_once(impl, oracle, path):
    """Committing the same staged write again is refused: its snapshot is gone."""
    ds = impl.dataset(path)
    staged = stage_existing(ds, 0, v=[1, 2])
    ds.commit_column_writes([staged])
    refuse_and_keep(impl, oracle, path, impl.dataset(path), [staged], "v", [1, 2, 20, 30])


def test_empty_commit(impl, path):
    with pytest.raises(ValueError):
        impl.dataset(path).commit_column_writes([])
    assert impl.dataset(path).version == 1


# --- read preconditions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed, lands", [("v", False), ("w", True)])
def test_read_precondition(impl, oracle, path, changed, lands):
    """y = f(v) must not be published once v changed on the same fragment; a change of w does not matter."""
    stale, other = impl.dataset(path), impl.dataset(path)
    staged = stage_new(stale, 0, y=[1, 11])
    other.commit_column_writes([stage_existing(other, 0, **{changed: [5, 6]})])
    if lands:
        stale.commit_column_writes([staged], reads=["v"])
        assert values(oracle, path, "y") == [1, 11, None, None]
    else:
        with pytest.raises(OSError):
            stale.commit_column_writes([staged], reads=["v"])
        assert "y" not in oracle.dataset(path).schema.names
