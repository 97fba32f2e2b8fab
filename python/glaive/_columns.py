"""Verbs that change the columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._arguments import refuse
from .errors import unbuilt

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnVerbs:
    """Methods of LanceDataset."""

    _ds: _native.Dataset

    def add_columns(
        self,
        transforms: dict[str, str],
        read_columns: list[str] | None = None,
        reader_schema: pa.Schema | None = None,
        batch_size: int | None = None,
    ) -> None:
        """Adds columns that SQL expressions over the others give.

        Parameters
        ----------
        transforms : dict of str to str
            Name and expression of each column. pylance's other kinds are not supported.
        batch_size : int, optional
            Accepted; rows are computed in batches of the engine's own size.
        """
        refuse("add_columns", read_columns=read_columns, reader_schema=reader_schema)
        if not isinstance(transforms, dict):
            unbuilt(f"add_columns of {type(transforms).__name__}")
        columns = [_native.ComputedColumn(name, sql) for name, sql in transforms.items()]
        self._ds = _native.add_columns(self._ds, columns)

    def drop_columns(self, columns: list[str]) -> None:
        """Takes columns out of the schema. No file is rewritten."""
        self._ds = _native.drop_columns(self._ds, columns)
