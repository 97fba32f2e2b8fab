"""Tables: open, read, write and change them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pyarrow as pa
import pyarrow.dataset

from . import _native
from ._arguments import projection, refuse, row_numbers, uri_text
from ._columns import ColumnVerbs
from ._commits import LANCE_COMMIT_MESSAGE_KEY as LANCE_COMMIT_MESSAGE_KEY
from ._commits import BulkCommitResult as BulkCommitResult
from ._commits import CommitVerbs
from ._commits import Index as Index
from ._commits import IndexFile as IndexFile
from ._commits import LanceOperation as LanceOperation
from ._commits import Transaction as Transaction
from ._files import FileVerbs
from ._files import IOStats as IOStats
from ._indices import IndexVerbs
from ._merge_insert import ExecuteResult as ExecuteResult
from ._merge_insert import MergeInsertBuilder as MergeInsertBuilder
from ._rows import DeleteResult as DeleteResult
from ._rows import RowVerbs
from ._rows import UpdateResult as UpdateResult
from ._scanner import ColumnOrdering as ColumnOrdering
from ._scanner import LanceScanner as LanceScanner
from ._scanner import ScannerBuilder as ScannerBuilder
from ._session import Session as Session
from ._staged import ColumnWriteVerbs
from ._staged import StagedColumns as StagedColumns
from ._stats import LanceStats
from ._unbuilt import UnbuiltDataset
from ._versions import Version as Version
from ._versions import VersionRef as VersionRef
from ._versions import VersionVerbs
from ._write import write_dataset as write_dataset
from ._write_target import WriteTarget
from .errors import InvalidInput, as_os_errors, unbuilt
from ._fragment_list import LanceFragments
from .fragment import LanceFragment
from .optimize import DatasetOptimizer
from .schema import LanceSchema

if TYPE_CHECKING:
    from ._arguments import Filter
    from .commit import CommitLock
    from .types import ReaderLike

    BlobHandling = Literal["all_binary", "blobs_descriptions", "all_descriptions"]
    Columns = list[str] | dict[str, str] | None

_READ_PARAMS = {"cache_repetition_index", "validate_on_decode"}


class LanceDataset(
    RowVerbs,
    ColumnVerbs,
    ColumnWriteVerbs,
    VersionVerbs,
    CommitVerbs,
    IndexVerbs,
    FileVerbs,
    UnbuiltDataset,
    pa.dataset.Dataset,
):
    """A table at one version.

    Verbs that change the table move this object on to the version they make;
    `checkout_version` and `write_dataset` give new objects. The parameters are those of
    `glaive.dataset`.
    """

    def __init__(
        self,
        uri: str | os.PathLike[str],
        version: int | str | None = None,
        block_size: int | None = None,
        index_cache_size: int | None = None,
        metadata_cache_size: int | None = None,
        commit_lock: CommitLock | None = None,
        storage_options: dict[str, str] | None = None,
        serialized_manifest: bytes | None = None,
        default_scan_options: dict[str, Any] | None = None,
        metadata_cache_size_bytes: int | None = None,
        index_cache_size_bytes: int | None = None,
        read_params: dict[str, Any] | None = None,
        session: Session | None = None,
        namespace_client: Any | None = None,
        table_id: list[str] | None = None,
        namespace_client_managed_versioning: bool = False,
        base_store_params: dict[str, dict[str, str]] | None = None,
    ) -> None:
        refuse(
            "dataset",
            commit_lock=commit_lock,
            storage_options=storage_options,
            serialized_manifest=serialized_manifest,
            namespace_client=namespace_client,
            table_id=table_id,
            namespace_client_managed_versioning=namespace_client_managed_versioning,
            base_store_params=base_store_params,
        )
        for name in read_params or {}:
            if name not in _READ_PARAMS:
                raise InvalidInput(f"Unknown read parameter {name}")
        if session is None and metadata_cache_size_bytes is not None:
            session = Session(metadata_cache_size_bytes=metadata_cache_size_bytes)
        self._storage_options = storage_options
        self._default_scan_options = default_scan_options
        self._read_params = read_params
        native_session = None if session is None else session._session
        if version is None:
            self._ds = _native.Dataset.open(uri_text(uri), None, native_session)
        else:
            self._ds = _native.open_reference(uri_text(uri), version, native_session)

    def _with(self, native: _native.Dataset) -> LanceDataset:
        other = LanceDataset.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._ds = native
        return other

    @classmethod
    def _made(cls, native: _native.Dataset) -> LanceDataset:
        dataset = LanceDataset.__new__(cls)
        dataset._storage_options = None
        dataset._default_scan_options = None
        dataset._read_params = None
        dataset._ds = native
        return dataset

    def __reduce__(self) -> tuple[Any, ...]:
        # The version travels, not the caches.
        return LanceDataset._reopened, (
            self.uri,
            self.version,
            self._default_scan_options,
            self._read_params,
        )

    @staticmethod
    def _reopened(
        uri: str,
        version: int,
        default_scan_options: dict[str, Any] | None,
        read_params: dict[str, Any] | None,
    ) -> LanceDataset:
        return LanceDataset(
            uri, version, default_scan_options=default_scan_options, read_params=read_params
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> LanceDataset:
        return self._with(self._ds)

    def __len__(self) -> int:
        return self.count_rows()

    def __repr__(self) -> str:
        return f"LanceDataset({self.uri!r}, version={self.version})"

    # --- what a version is -----------------------------------------------------------------------

    @property
    def uri(self) -> str:
        return self._ds.uri

    @property
    def version(self) -> int:
        return self._ds.version

    @property
    def latest_version(self) -> int:
        """The newest version of the table now, by a look at the store."""
        return self._ds.latest_version()

    @property
    def schema(self) -> pa.Schema:
        """The columns, with the meta columns that `default_scan_options` ask for."""
        if self._default_scan_options:
            return self.scanner().projected_schema
        return pa.schema(self._ds.schema)

    @property
    def lance_schema(self) -> LanceSchema:
        """The columns with their field ids."""
        return LanceSchema(_native.schema_of(self._ds))

    @property
    def data_storage_version(self) -> str:
        """Version of the file format that new files are written in."""
        return self._ds.data_storage_version

    @property
    def max_field_id(self) -> int:
        return self._ds.max_field_id

    @property
    def has_stable_row_ids(self) -> bool:
        return self._ds.has_stable_row_ids

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the table."""
        return self._ds.table_metadata

    @property
    def schema_metadata(self) -> dict[str, str]:
        metadata = pa.schema(self._ds.schema).metadata or {}
        return {key.decode(): value.decode() for key, value in metadata.items()}

    def config(self) -> dict[str, str]:
        return self._ds.config

    @property
    def stats(self) -> LanceStats:
        return LanceStats(self)

    @property
    def optimize(self) -> DatasetOptimizer:
        return DatasetOptimizer(self)

    @property
    def initial_storage_options(self) -> dict[str, str] | None:
        return self._storage_options

    def latest_storage_options(self) -> dict[str, str] | None:
        return self._storage_options

    def session(self) -> Session:
        """The cache that this object was opened with, or the process's own."""
        return Session._of(self._ds.session)

    def write_target(self) -> WriteTarget:
        """What workers need to write rows for this version, and nothing else: see `WriteTarget`."""
        return WriteTarget(_native.write_target_of(self._ds))

    # --- reading ---------------------------------------------------------------------------------

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
        builder = self._apply_default_scan_options(ScannerBuilder(self))
        return builder._given(
            columns=columns,
            filter=filter,
            limit=limit,
            offset=offset,
            nearest=nearest,
            batch_size=batch_size,
            batch_size_bytes=batch_size_bytes,
            batch_readahead=batch_readahead,
            fragment_readahead=fragment_readahead,
            scan_in_order=scan_in_order,
            fragments=fragments,
            index_segments=index_segments,
            full_text_query=full_text_query,
            prefilter=prefilter,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            use_stats=use_stats,
            fast_search=fast_search,
            io_buffer_size=io_buffer_size,
            late_materialization=late_materialization,
            blob_handling=blob_handling,
            use_scalar_index=use_scalar_index,
            include_deleted_rows=include_deleted_rows,
            scan_stats_callback=scan_stats_callback,
            strict_batch_size=strict_batch_size,
            order_by=order_by,
            disable_scoring_autoprojection=disable_scoring_autoprojection,
            row_addr_allowlist=row_addr_allowlist,
            row_addr_blocklist=row_addr_blocklist,
        ).to_scanner()

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
        return self.scanner(
            columns=columns,
            filter=filter,
            limit=limit,
            offset=offset,
            nearest=nearest,
            batch_size=batch_size,
            batch_size_bytes=batch_size_bytes,
            batch_readahead=batch_readahead,
            fragment_readahead=fragment_readahead,
            scan_in_order=scan_in_order,
            prefilter=prefilter,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            use_stats=use_stats,
            fast_search=fast_search,
            full_text_query=full_text_query,
            io_buffer_size=io_buffer_size,
            late_materialization=late_materialization,
            blob_handling=blob_handling,
            use_scalar_index=use_scalar_index,
            include_deleted_rows=include_deleted_rows,
            order_by=order_by,
            disable_scoring_autoprojection=disable_scoring_autoprojection,
        ).to_table()

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
        return self.scanner(
            columns=columns,
            filter=filter,
            limit=limit,
            offset=offset,
            nearest=nearest,
            batch_size=batch_size,
            batch_size_bytes=batch_size_bytes,
            batch_readahead=batch_readahead,
            fragment_readahead=fragment_readahead,
            scan_in_order=scan_in_order,
            prefilter=prefilter,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            use_stats=use_stats,
            full_text_query=full_text_query,
            io_buffer_size=io_buffer_size,
            late_materialization=late_materialization,
            blob_handling=blob_handling,
            use_scalar_index=use_scalar_index,
            strict_batch_size=strict_batch_size,
            order_by=order_by,
            disable_scoring_autoprojection=disable_scoring_autoprojection,
            **kwargs,
        ).to_batches()

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
        return self.scanner(
            columns=columns,
            filter=filter,
            limit=limit,
            offset=offset,
            nearest=nearest,
            batch_size=batch_size,
            batch_readahead=batch_readahead,
            fragment_readahead=fragment_readahead,
            scan_in_order=scan_in_order,
            prefilter=prefilter,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            use_stats=use_stats,
            fast_search=fast_search,
            full_text_query=full_text_query,
            io_buffer_size=io_buffer_size,
            late_materialization=late_materialization,
            use_scalar_index=use_scalar_index,
            include_deleted_rows=include_deleted_rows,
            order_by=order_by,
            disable_scoring_autoprojection=disable_scoring_autoprojection,
        ).to_pandas(blob_mode=blob_mode, **kwargs)

    def count_rows(self, filter: Filter | None = None, **kwargs: Any) -> int:
        """Rows that pass `filter`; `kwargs` are the scanner's."""
        if filter is None and not kwargs:
            return _native.count_rows(self._ds, _native.ScanOptions())
        scanner = ScannerBuilder(self)._given(filter=filter, **kwargs).to_scanner()
        with as_os_errors():
            return scanner.count_rows()

    def head(self, num_rows: int, **kwargs: Any) -> pa.Table:
        """The first rows; `kwargs` are the scanner's."""
        return self.scanner(**{**kwargs, "limit": num_rows}).to_table()

    def slice(self, start: int, end: int, columns: Columns = None) -> pa.Table:
        """The rows from `start` on, before `end`."""
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
        rows = random.sample(range(self.count_rows()), num_rows)
        return self.take(rows if randomize_order else sorted(rows), columns)

    def get_fragments(self, filter: Any | None = None) -> LanceFragments:
        """All fragments, in the order of their ids: a sequence that makes them when asked for.

        `filter` must be None, as for pylance.
        """
        if filter is not None:
            raise InvalidInput("get_fragments() does not take a filter")
        return LanceFragments(self._with(self._ds))

    def fragment_ids(self) -> list[int]:
        """Ids of all fragments, ascending."""
        return self._ds.fragment_ids()

    def get_fragment(self, fragment_id: int) -> LanceFragment | None:
        """The fragment with this id, or None."""
        entry = self._ds.get_fragment(fragment_id)
        return None if entry is None else LanceFragment(self, None, fragment=entry)


    # --- methods of pyarrow that make no sense here; its own read memory that was never set ----

    @property
    def partition_expression(self) -> NoReturn:
        unbuilt("LanceDataset.partition_expression")

    @property
    def _scan_options(self) -> NoReturn:
        unbuilt("LanceDataset._scan_options")

    def _get_fragments(self, filter: Any) -> NoReturn:
        unbuilt("LanceDataset._get_fragments")

    def _scanner_options(self, options: Any) -> NoReturn:
        unbuilt("LanceDataset._scanner_options")

    def filter(self, expression: Any) -> NoReturn:
        unbuilt("LanceDataset.filter")

    def sort_by(self, sorting: Any, **kwargs: Any) -> NoReturn:
        unbuilt("LanceDataset.sort_by")

    def replace_schema(self, schema: Any) -> NoReturn:
        unbuilt("LanceDataset.replace_schema")

    def join(
        self,
        right_dataset: Any,
        keys: Any,
        right_keys: Any = None,
        join_type: Any = "left outer",
        left_suffix: Any = None,
        right_suffix: Any = None,
        coalesce_keys: Any = True,
        use_threads: Any = True,
    ) -> NoReturn:
        unbuilt("LanceDataset.join")

    def join_asof(
        self,
        right_dataset: Any,
        on: Any,
        by: Any,
        tolerance: Any,
        right_on: Any = None,
        right_by: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.join_asof")
