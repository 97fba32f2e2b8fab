"""Verbs that change the rows of a table."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypedDict

import pyarrow as pa

from . import _native
from ._arguments import predicate
from ._options import as_durability
from ._write import write_dataset

if TYPE_CHECKING:
    from ._arguments import Filter
    from .types import ReaderLike


class DeleteResult(TypedDict):
    num_deleted_rows: int


class RowVerbs:
    """Methods of LanceDataset."""

    _ds: _native.Dataset

    def insert(self, data: ReaderLike, *, mode: str = "append", **kwargs: Any) -> None:
        """Writes `data` to this table; `kwargs` are those of `write_dataset`."""
        self._ds = write_dataset(data, self, mode=mode, **kwargs)._ds

    def delete(
        self,
        predicate: Filter,
        *,
        conflict_retries: int = 10,
        retry_timeout: timedelta = timedelta(seconds=30),
        durability: Literal["commit", "none"] | None = None,
    ) -> DeleteResult:
        """Deletes the rows for which `predicate` is true.

        Parameters
        ----------
        conflict_retries : int
            Times to try again on a newer version when another writer changed the same rows.
        retry_timeout : timedelta
            How long to go on trying.
        durability : {"commit", "none"}, optional
            As in `write_dataset`.
        """
        options = _native.DeleteOptions()
        options.durability = as_durability(durability)
        options.conflict_retries = conflict_retries
        options.retry_timeout_ms = retry_timeout // timedelta(milliseconds=1)
        result = _native.delete(self._ds, _predicate_on(self._ds, predicate), options)
        self._ds = result.dataset
        return {"num_deleted_rows": result.num_deleted_rows}


def _predicate_on(dataset: _native.Dataset, condition: Filter) -> _native.Predicate:
    return predicate(condition, pa.schema(dataset.schema))
