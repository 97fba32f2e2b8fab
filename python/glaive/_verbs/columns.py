"""Verbs that change the columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_names, check_text
from .._engine.batches import coerce_reader
from .._engine.options import Durability, ProgressFunction, version_options
from ..errors import InvalidInput, as_commit_conflicts, as_os_errors
from ..udf import BatchUDF, new_columns
from .handle import Handle

if TYPE_CHECKING:
    from ..types import ReaderLike


class AlterColumn(TypedDict, total=False):
    """A change of a column: `path`, and what is to change."""

    path: str
    name: str | None
    nullable: bool | None
    data_type: pa.DataType | None


class ColumnVerbs(Handle):
    """Methods of LanceDataset."""

    def add_columns(
        self,
        transforms: dict[str, str] | BatchUDF | ReaderLike | pa.Field | list[pa.Field] | pa.Schema,
        read_columns: list[str] | None = None,
        reader_schema: pa.Schema | None = None,
        batch_size: int | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Adds columns behind the others, and fields to structs. A failed call leaves no file.

        Parameters
        ----------
        transforms : dict, BatchUDF, callable, reader-like, Field, list of Field or Schema
            SQL expressions by the names of their columns; a function of batches; rows in the order
            of the table's; or columns without values, for which nothing is written.
        read_columns : list of str, optional
            What a function is given; all columns without it.
        reader_schema : pyarrow.Schema, optional
            Schema of an iterable of batches.
        batch_size : int, default 1024
            Rows that a function is given at a time; fewer where some are deleted.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        columns = new_columns(transforms, self, read_columns, reader_schema, batch_size)
        with as_os_errors(), as_commit_conflicts():
            self._ds = _native.add_columns(self._ds, columns, version)
        if isinstance(transforms, BatchUDF) and transforms.cache is not None:
            transforms.cache.cleanup()

    def merge(
        self,
        data_obj: ReaderLike,
        left_on: str,
        right_on: str | None = None,
        schema: pa.Schema | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Adds the columns of other rows to those with the same key; nulls where there is none.

        Parameters
        ----------
        data_obj : reader-like
            The rows; of several with one key the last counts.
        left_on : str
            Key in this table; ``_rowid`` and ``_rowaddr`` will do.
        right_on : str, optional
            Key in `data_obj`, if it is called otherwise.
        schema : pyarrow.Schema, optional
            Of `data_obj`.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        """
        check_text("left_on", left_on)
        check_text("right_on", right_on or left_on)
        reader = coerce_reader(data_obj, schema)
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.merge_columns(self._ds, reader, left_on, right_on or left_on, version)

    def alter_columns(
        self,
        *alterations: AlterColumn,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Renames columns, changes whether they may be null, casts them.

        Parameters
        ----------
        alterations : dict
            ``path`` of the column, dotted below structs, and any of ``name``, ``nullable`` and
            ``data_type``. A column that is cast gets a new field id and is rewritten.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        changes = [_alteration(each) for each in alterations]
        with as_os_errors():
            self._ds = _native.alter_columns(self._ds, changes, version)

    def drop_columns(
        self,
        columns: list[str],
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Takes columns out of the schema. No file is rewritten.

        Parameters
        ----------
        columns : list of str
            Names, or dotted paths below structs.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        """
        check_names("columns", columns)
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.drop_columns(self._ds, columns, version)


def _alteration(given: AlterColumn) -> _native.ColumnAlteration:
    for key in given:
        if key not in ("path", "name", "nullable", "data_type"):
            raise InvalidInput(f"Unknown key: {key}. Valid keys are name, nullable, and data_type.")
    if "path" not in given:
        raise InvalidInput("path is required")
    for key in ("path", "name"):
        if key in given and given[key] is not None:  # type: ignore[literal-required]
            check_text(key, given[key])  # type: ignore[literal-required]
    if not isinstance(given.get("nullable"), (bool, type(None))):
        raise TypeError(f"nullable must be a bool or None, got {given['nullable']!r}")
    kind: Any = given.get("data_type")
    return _native.ColumnAlteration(
        given["path"],
        given.get("name"),
        given.get("nullable"),
        None if kind is None else pa.schema([pa.field("", kind)]),
    )
