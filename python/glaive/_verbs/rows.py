"""Verbs that change the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_time, predicate
from .._engine.option_kinds import set_option
from .._engine.options import Durability, ProgressFunction, version_options
from ..errors import as_os_errors
from .handle import Handle
from .merge_insert import MergeInsertBuilder

if TYPE_CHECKING:
    from .._engine.arguments import Filter


class DeleteResult(TypedDict):
    num_deleted_rows: int


class UpdateResult(TypedDict):
    num_rows_updated: int


class RowVerbs(Handle):
    """Methods of LanceDataset."""

    def delete(
        self,
        predicate: Filter,
        *,
        conflict_retries: int = 10,
        retry_timeout: timedelta = timedelta(seconds=30),
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> DeleteResult:
        """Deletes the rows for which `predicate` is true.

        Parameters
        ----------
        conflict_retries : int
            Times to try again on a newer version when another writer changed the same rows.
        retry_timeout : timedelta
            How long to go on trying.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        """
        options = _native.DeleteOptions()
        version = version_options(durability, transaction_properties, commit_message, progress)
        set_option(options, "conflict_retries", conflict_retries)
        check_time("retry_timeout", retry_timeout)
        options.retry_timeout_ms = retry_timeout // timedelta(milliseconds=1)
        condition = _predicate_on(self._ds, predicate)
        with as_os_errors():
            result = _native.delete(self._ds, condition, options, version)
        self._ds = result.dataset
        return {"num_deleted_rows": result.num_deleted_rows}

    def truncate_table(
        self,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Deletes all rows; the schema stays. The parameters are those of `delete`."""
        self.delete(
            "true",
            durability=durability,
            transaction_properties=transaction_properties,
            commit_message=commit_message,
            progress=progress,
        )

    def update(
        self,
        updates: dict[str, str],
        where: Filter | None = None,
        conflict_retries: int = 10,
        retry_timeout: timedelta = timedelta(seconds=30),
        data_storage_version: str | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> UpdateResult:
        """Gives columns new values in the rows for which `where` is true, or in all.

        Parameters
        ----------
        updates : dict of str to str
            For each column an SQL expression; all see the old values. What it gives is cast to the
            column's type: fractions are cut off, what does not fit is an error.
        where : str or pyarrow Expression, optional
            Which rows. They move to new fragments behind the others, with their stable row ids.
        conflict_retries : int
            Times to try again on a newer version when another writer changed the same rows.
        retry_timeout : timedelta
            How long to go on trying.
        data_storage_version : str, optional
            What the rows are written as; the table's own by default.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        """
        _check_updates(updates)
        options = _native.UpdateOptions()
        version = version_options(durability, transaction_properties, commit_message, progress)
        set_option(options, "conflict_retries", conflict_retries)
        check_time("retry_timeout", retry_timeout)
        options.retry_timeout_ms = retry_timeout // timedelta(milliseconds=1)
        set_option(options, "data_storage_version", data_storage_version)
        condition = None if where is None else _predicate_on(self._ds, where)
        _native.check_update(self._ds, list(updates.items()), condition)
        with as_os_errors():
            result = _native.update(self._ds, list(updates.items()), condition, options, version)
        self._ds = result.dataset
        return {"num_rows_updated": result.num_updated_rows}

    def merge_insert(self, on: str | Iterable[str] | None = None) -> MergeInsertBuilder:
        """A builder for a merge of other rows into this table, by the key columns `on`.

        Without `on` the key is the table's unenforced primary key. Of two merges that insert one
        key at the same time, by whatever columns, the later one finds the row of the other.
        """
        return MergeInsertBuilder(self, on)


def _check_updates(updates: dict[str, str]) -> None:
    if not isinstance(updates, Mapping):
        raise TypeError(f"updates must be a dict of columns to SQL expressions, got {updates!r}")
    for column, expression in updates.items():
        if not isinstance(column, str):
            raise TypeError(f"updates must name columns by str, got {column!r}")
        if not isinstance(expression, str):
            raise TypeError(
                f"updates must give column {column!r} an SQL expression as a str, such as '5', "
                f"got {expression!r}"
            )


def _predicate_on(dataset: _native.Dataset, condition: Filter) -> _native.Predicate:
    return predicate(condition, pa.schema(dataset.schema))
