"""What changed between two versions of a table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_size
from .._engine.batches import record_batches
from ..errors import InvalidInput


class DatasetDelta:
    """The changes after one version up to and including another; `LanceDataset.delta` makes it."""

    def __init__(self, delta: Any) -> None:
        self._dataset, self._begin, self._end = delta

    def list_transactions(self) -> list[Any]:
        """The changes that made the span's versions, oldest first."""
        versions = _native.versions_in(self._dataset._ds, self._begin, self._end)
        read = [self._dataset.read_transaction(version) for version in versions]
        return [transaction for transaction in read if transaction is not None]

    def get_inserted_rows(self) -> pa.RecordBatchReader:
        """Rows that came in the span and are still there.

        All columns, then ``_rowid``, ``_row_created_at_version`` and
        ``_row_last_updated_at_version``.
        """
        return self._scan(_native.inserted_rows(self._dataset._ds, self._begin, self._end))

    def get_updated_rows(self) -> pa.RecordBatchReader:
        """Rows that were there before the span and changed in it, with the same columns."""
        return self._scan(_native.updated_rows(self._dataset._ds, self._begin, self._end))

    def get_deleted_row_ids(self) -> pa.RecordBatchReader:
        """Ids of rows that the span took away, as ``_rowid``. For tables with stable row ids."""
        ids = _native.deleted_row_ids(self._dataset._ds, self._begin, self._end)
        schema = pa.schema([pa.field("_rowid", pa.uint64())])
        batch = pa.record_batch([pa.array(ids, pa.uint64())], schema=schema)
        return pa.RecordBatchReader.from_batches(schema, [batch] if ids else [])

    def _scan(self, options: _native.ScanOptions) -> pa.RecordBatchReader:
        return _read(_native.scan(self._dataset._ds, options))


def make_delta(
    dataset: Any, compared_against: int | None, begin: int | None, end: int | None
) -> DatasetDelta:
    if compared_against is not None:
        check_size("compared_against", compared_against, 0)
        begin, end = _native.span_between(dataset._ds, compared_against)
    elif begin is None or end is None:
        raise InvalidInput("either compared_against, or begin_version and end_version, is needed")
    return DatasetDelta((dataset, begin, end))


def _read(stream: Any) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(pa.schema(stream.schema), record_batches(stream))
