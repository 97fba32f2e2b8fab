"""Column writes in two steps: staged by anyone, committed together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_flag, check_names, check_schema, check_size
from .._engine.batches import coerce_reader
from .._engine.options import Durability, ProgressFunction, version_options
from ..schema import LanceSchema
from .handle import Handle

if TYPE_CHECKING:
    from ..types import ReaderLike

    ColumnSchema: TypeAlias = LanceSchema | pa.Schema
    Read: TypeAlias = str | tuple[int, list[str]] | tuple[int, list[str], Iterable[int]]


class StagedColumns:
    """A file with the values of some columns for all rows of one fragment. No version has it yet.

    Immutable; it travels by pickle or as JSON. `LanceDataset.commit_column_writes` publishes it.
    """

    def __init__(self, native: _native.StagedColumns) -> None:
        self._native = native

    @staticmethod
    def from_json(json: str) -> StagedColumns:
        """What `to_json` gave, maybe in another process.

        InvalidInput for anything else, and if it was changed since.
        """
        return StagedColumns(_native.StagedColumns.from_json(json))

    def to_json(self) -> str:
        return self._native.to_json()

    def __reduce__(self) -> tuple[Any, ...]:
        return StagedColumns.from_json, (self.to_json(),)

    @property
    def fragment_id(self) -> int:
        return self._native.fragment_id

    @property
    def read_version(self) -> int:
        """The version that it was staged from."""
        return self._native.read_version

    @property
    def physical_rows(self) -> int:
        """Rows of the fragment, deleted ones included."""
        return self._native.physical_rows

    @property
    def path(self) -> str:
        """Of the file, below the table's ``data/``."""
        return self._native.path

    @property
    def size_bytes(self) -> int:
        return self._native.size_bytes

    @property
    def schema(self) -> LanceSchema:
        """The columns with their field ids."""
        return LanceSchema(self._native.schema)

    def discard(self) -> None:
        """Removes the file. InvalidInput if a version refers to it."""
        _native.discard_staged_columns(self._native)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StagedColumns):
            return NotImplemented
        return self._native == other._native

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        columns = ", ".join(field.name() for field in self.schema.fields())
        return (
            f"StagedColumns(fragment_id={self.fragment_id}, columns=[{columns}],"
            f" read_version={self.read_version}, path={self.path!r})"
        )


def stage_columns(
    dataset: _native.Dataset,
    items: Iterable[tuple[int, ReaderLike, ColumnSchema]],
    live_rows_only: bool,
    reads: list[str] | None,
) -> list[StagedColumns]:
    """What `LanceDataset.write_fragment_columns` does."""
    check_flag("live_rows_only", live_rows_only)
    if reads is not None:
        check_names("reads", reads)
    items = list(items)
    for fragment_id, _, _ in items:
        check_size("fragment_id", fragment_id, 0)
    given = [
        (fragment_id, coerce_reader(data), _native_schema(dataset, schema))
        for fragment_id, data, schema in items
    ]
    made = _native.stage_columns(dataset, given, live_rows_only, list(reads or ()))
    return [StagedColumns(native) for native in made]


def _native_schema(dataset: _native.Dataset, schema: ColumnSchema) -> _native.TableSchema:
    if isinstance(schema, pa.Schema):
        return _native.column_schema(dataset, schema)
    if isinstance(schema, LanceSchema):
        return schema._native
    return LanceSchema.from_pylance(schema)._native


class ColumnWriteVerbs(Handle):
    """Methods of LanceDataset."""

    def new_column_schema(self, schema: pa.Schema) -> LanceSchema:
        """Columns to be added, with the field ids that they will have.

        All workers that write one column have to be given the same. Ids go on from the highest
        that this version knows; of two handles that give one id to different columns, the second
        to commit is refused.

        Parameters
        ----------
        schema : pyarrow.Schema
            The new columns. A struct that the table has may be named, with the fields to add to it.

        Raises
        ------
        ValueError
            For a name that is taken or reserved.
        """
        check_schema("schema", schema)
        return LanceSchema(_native.new_column_schema(self._ds, schema))

    def write_fragment_column(
        self,
        fragment_id: int,
        data: ReaderLike,
        schema: ColumnSchema,
        *,
        live_rows_only: bool = False,
        reads: list[str] | None = None,
    ) -> StagedColumns:
        """Writes columns of one fragment into a new file, which no version refers to yet.

        Parameters
        ----------
        fragment_id : int
        data : reader-like
            A value for each physical row of the fragment, deleted ones included, in order. Some of
            the columns of `schema`, or all.
        schema : LanceSchema or pyarrow.Schema
            What `new_column_schema` gave, or columns that the table has; those are rewritten whole.
        live_rows_only : bool, default False
            `data` lacks the deleted rows. They get nulls, or where those may not be, empty values.
        reads : list of str, optional
            Columns of the table that the values were computed from. If one of them was changed in
            the fragment by then, the commit is refused.

        Returns
        -------
        StagedColumns
            For `commit_column_writes`. The file is on stable storage, as ``GLAIVE_DURABILITY``
            says.

        Raises
        ------
        ValueError
            For another number of rows, values of other types or names than those of `schema`, and
            nulls where there may be none. No file is left then.
        """
        return stage_columns(self._ds, [(fragment_id, data, schema)], live_rows_only, reads)[0]

    def write_fragment_columns(
        self,
        items: Iterable[tuple[int, ReaderLike, ColumnSchema]],
        *,
        live_rows_only: bool = False,
        reads: list[str] | None = None,
    ) -> list[StagedColumns]:
        """As `write_fragment_column` for many fragments, whose files are synced in one round.

        Parameters
        ----------
        items : iterable of (int, reader-like, LanceSchema or pyarrow.Schema)
            Fragment ids, data and schemas. All are staged, or none.
        """
        return stage_columns(self._ds, items, live_rows_only, reads)

    def commit_column_writes(
        self,
        staged: StagedColumns | Iterable[StagedColumns],
        *,
        reads: list[Read] | None = None,
        commit_message: str | None = None,
        transaction_properties: dict[str, str] | None = None,
        durability: Durability = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Makes one version of all that was staged, and moves this dataset to it.

        What was committed since may have deleted rows and changed other columns and fragments in
        any way. Fragments that get no values of a new column have nulls there.

        Parameters
        ----------
        staged : StagedColumns or iterable of them
            Several for one fragment must be for different columns.
        reads : list of str or tuple, optional
            What the values were computed from. A column's name is as in `write_fragment_column`,
            for all of `staged`. ``(fragment_id, columns)`` and ``(fragment_id, columns, rows)`` say
            it of one fragment, written or not, and of some of its physical rows, by their offsets:
            changes of other rows, as by an overlay or an update, do not count then. Since the
            fragment was staged; where it was not, since the first of `staged` was.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.

        Raises
        ------
        ColumnWriteConflict
            If a fragment is gone, rows were moved out of it, a column is backed otherwise than when
            it was staged or read, or a fragment would lack values that it must have. The table is
            unchanged, and the staged files are as they were.
        ValueError
            If nothing is given, what is given belongs to another table, writes a column of a
            fragment twice, or is gone.
        """
        given = [staged] if isinstance(staged, StagedColumns) else list(staged)
        for each in given:
            if not isinstance(each, StagedColumns):
                raise TypeError(f"expected StagedColumns, got {type(each).__name__}")
        version = version_options(durability, transaction_properties, commit_message, progress)
        natives = [each._native for each in given]
        names = [read for read in reads or [] if isinstance(read, str)]
        rows = [_rows_read(*read) for read in reads or [] if not isinstance(read, str)]
        self._ds = _native.commit_columns(self._ds, natives, names, rows, version)


def _rows_read(
    fragment_id: int, columns: list[str], rows: Iterable[int] | None = None
) -> tuple[int, list[str], list[int] | None]:
    return fragment_id, columns, None if rows is None else list(rows)
