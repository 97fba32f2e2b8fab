"""Reading a table: scans and takes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_integer, given, projection, refuse, row_numbers
from ..errors import InvalidInput, as_os_errors
from .handle import Handle
from .scanner import ColumnOrdering, LanceScanner, ScannerBuilder

if TYPE_CHECKING:
    from .._engine.arguments import Filter

    BlobHandling = Literal["all_binary", "blobs_descriptions", "all_descriptions"]
    Columns = list[str] | dict[str, str] | None


class ScanVerbs(Handle):
    """Methods of LanceDataset."""

    def _apply_default_scan_options(self, builder: ScannerBuilder) -> ScannerBuilder:
        if self._default_scan_options:
            builder = builder.apply_defaults(self._default_scan_options)
        return builder

    def scanner(
        self,
        columns: Columns = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        nearest: Any | None = None,
        batch_size: int | None = None,
        batch_size_bytes: int | None = None,
        batch_readahead: int | None = None,
        fragment_readahead: int | None = None,
        scan_in_order: bool | None = None,
        fragments: Any | None = None,
        index_segments: Any | None = None,
        full_text_query: Any | None = None,
        *,
        prefilter: bool | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        use_stats: bool | None = None,
        fast_search: bool | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        blob_handling: BlobHandling | None = None,
        use_scalar_index: bool | None = None,
        include_deleted_rows: bool | None = None,
        scan_stats_callback: Any | None = None,
        strict_batch_size: bool | None = None,
        order_by: list[Any] | None = None,
        disable_scoring_autoprojection: bool | None = None,
        row_addr_allowlist: bytes | None = None,
        row_addr_blocklist: bytes | None = None,
    ) -> LanceScanner:
        """A scan of this version.

        Parameters
        ----------
        columns : list of str, optional
            Names of columns, dotted below structs, in the order of the result. ``_rowid``,
            ``_rowaddr``, ``_rowoffset``, ``_row_created_at_version`` and
            ``_row_last_updated_at_version`` may be among them. All columns without it.
        filter : str or pyarrow.compute.Expression, optional
            Only rows for which this is true.
        limit, offset : int, optional
            A window of the rows that pass the filter.
        batch_size : int, optional
            Rows of every batch but the last, across fragments. Without it a batch has at most 8192
            rows and ends where its fragment does.
        scan_in_order : bool, default True
            In the order of fragments and rows. False: as batches are ready.
        fragments : iterable of LanceFragment, optional
            Only these, in this order.
        with_row_id, with_row_address : bool, default False
            Adds ``_rowid``, ``_rowaddr``.
        io_buffer_size : int, default 64 MiB
            Bytes that may be read ahead of the caller.
        include_deleted_rows : bool, default False
            Deleted rows come too, with a null ``_rowid``.
        strict_batch_size : bool, default False
            Fills batches of 8192 rows where no `batch_size` is given.

        Others
            `ScannerBuilder` lists what is accepted without an effect. What is not supported raises
            NotImplementedError when it is given.
        """
        options = given(locals())
        builder = self._apply_default_scan_options(ScannerBuilder(self))
        return builder._given(**options).to_scanner()

    def to_table(
        self,
        columns: Columns = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        nearest: Any | None = None,
        batch_size: int | None = None,
        batch_size_bytes: int | None = None,
        batch_readahead: int | None = None,
        fragment_readahead: int | None = None,
        scan_in_order: bool | None = None,
        *,
        prefilter: bool | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        use_stats: bool | None = None,
        fast_search: bool | None = None,
        full_text_query: Any | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        blob_handling: BlobHandling | None = None,
        use_scalar_index: bool | None = None,
        include_deleted_rows: bool | None = None,
        order_by: list[ColumnOrdering] | None = None,
        disable_scoring_autoprojection: bool | None = None,
    ) -> pa.Table:
        """All rows of a scan, in memory. The parameters are those of `scanner`."""
        return self.scanner(**given(locals())).to_table()

    def to_batches(
        self,
        columns: Columns = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        nearest: Any | None = None,
        batch_size: int | None = None,
        batch_size_bytes: int | None = None,
        batch_readahead: int | None = None,
        fragment_readahead: int | None = None,
        scan_in_order: bool | None = None,
        *,
        prefilter: bool | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        use_stats: bool | None = None,
        full_text_query: Any | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        blob_handling: BlobHandling | None = None,
        use_scalar_index: bool | None = None,
        strict_batch_size: bool | None = None,
        order_by: list[ColumnOrdering] | None = None,
        disable_scoring_autoprojection: bool | None = None,
        **kwargs: Any,
    ) -> Iterator[pa.RecordBatch]:
        """Batches of a scan, as they are asked for. The parameters are those of `scanner`."""
        return self.scanner(**given(locals())).to_batches()

    def to_pandas(
        self,
        columns: Columns = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        nearest: Any | None = None,
        batch_size: int | None = None,
        batch_readahead: int | None = None,
        fragment_readahead: int | None = None,
        scan_in_order: bool | None = None,
        *,
        prefilter: bool | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        use_stats: bool | None = None,
        fast_search: bool | None = None,
        full_text_query: Any | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        blob_mode: str = "lazy",
        use_scalar_index: bool | None = None,
        include_deleted_rows: bool | None = None,
        order_by: list[ColumnOrdering] | None = None,
        disable_scoring_autoprojection: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """All rows of a scan as a pandas DataFrame; `kwargs` are those of `Table.to_pandas`."""
        options = given(locals(), but=("blob_mode", "kwargs"))
        return self.scanner(**options).to_pandas(blob_mode=blob_mode, **kwargs)

    def count_rows(self, filter: Filter | None = None, **kwargs: Any) -> int:
        """Rows that pass `filter`; `kwargs` are the scanner's."""
        if filter is None and not kwargs:
            return _native.count_rows(self._ds, _native.ScanOptions())
        scanner = ScannerBuilder(self)._given(filter=filter, **kwargs).to_scanner()
        with as_os_errors():
            return scanner.count_rows()

    def head(self, num_rows: int, **kwargs: Any) -> pa.Table:
        """The first rows; `kwargs` are the scanner's."""
        check_integer("num_rows", num_rows)
        return self.scanner(**{**kwargs, "limit": num_rows}).to_table()

    def slice(self, start: int, end: int, columns: Columns = None) -> pa.Table:
        """The rows from `start` on, before `end`."""
        check_integer("start", start)
        check_integer("end", end)
        if start < 0:
            raise InvalidInput(f"start must be non-negative, not {start}")
        if end < start:
            raise InvalidInput(f"end ({end}) is before start ({start})")
        return self.scanner(offset=start, limit=end - start, columns=columns).to_table()

    def take(self, indices: Any, columns: Columns = None) -> pa.Table:
        """Rows by their position, in the order asked, repeats allowed."""
        options = _native.TakeOptions()
        options.columns = projection(columns, "take")
        rows = row_numbers(indices)
        with as_os_errors():
            return pa.table(_native.take(self._ds, rows, options))

    def _take_rows(
        self,
        row_ids: Any,
        columns: Columns = None,
        *,
        ignore_deletions: bool = False,
        **kargs: Any,
    ) -> pa.Table:
        """Rows by id: the row's address on tables without stable ids."""
        refuse("_take_rows", ignore_deletions=ignore_deletions, **kargs)
        options = _native.TakeOptions()
        options.columns = projection(columns, "_take_rows")
        return pa.table(_native.take_rows(self._ds, row_numbers(row_ids), options))

    def sample(
        self,
        num_rows: int,
        columns: Columns = None,
        randomize_order: bool = True,
        **kwargs: Any,
    ) -> pa.Table:
        """Rows drawn at random, each at most once."""
        refuse("sample", **kwargs)
        check_integer("num_rows", num_rows)
        rows = random.sample(range(self.count_rows()), num_rows)
        return self.take(rows if randomize_order else sorted(rows), columns)
