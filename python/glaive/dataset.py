"""Tables: open, read, write and change them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pyarrow as pa
import pyarrow.dataset

from . import _native
from ._engine.arguments import (
    split_progress,
    check_reference,
    check_size,
    native_dataset,
    refuse,
    uri_text,
)
from ._engine.batches import coerce_rows
from ._engine.operations import Index as Index
from ._engine.operations import IndexFile as IndexFile
from ._engine.operations import LanceOperation as LanceOperation
from ._engine.operations import Transaction as Transaction
from ._engine.option_kinds import set_option
from ._engine.options import (
    DEFAULT_MAX_BYTES_PER_FILE,
    DEFAULT_MAX_ROWS_PER_FILE,
    DEFAULT_MAX_ROWS_PER_GROUP,
    ProgressFunction,
    auto_cleanup_config,
    version_options,
    write_options,
)
from ._engine.session import Session as Session
from ._engine.session import native_session
from ._engine.shown import ShownAs
from ._engine.write_target import WriteTarget
from ._verbs.column_writes import ColumnWriteVerbs
from ._verbs.column_writes import StagedColumns as StagedColumns
from ._verbs.columns import ColumnVerbs
from ._verbs.commits import BulkCommitResult as BulkCommitResult
from ._verbs.commits import CommitVerbs
from ._verbs.commits import LANCE_COMMIT_MESSAGE_KEY as LANCE_COMMIT_MESSAGE_KEY
from ._verbs.files import FileVerbs
from ._verbs.files import IOStats as IOStats
from ._verbs.fragments import LanceFragments
from ._verbs.indices import IndexVerbs
from ._verbs.merge_insert import ExecuteResult as ExecuteResult
from ._verbs.merge_insert import MergeInsertBuilder as MergeInsertBuilder
from ._verbs.rows import DeleteResult as DeleteResult
from ._verbs.rows import RowVerbs
from ._verbs.rows import UpdateResult as UpdateResult
from ._verbs.scanner import ColumnOrdering as ColumnOrdering
from ._verbs.scanner import LanceScanner as LanceScanner
from ._verbs.scanner import ScannerBuilder as ScannerBuilder
from ._verbs.scans import ScanVerbs
from ._verbs.stats import LanceStats
from ._verbs.unbuilt import UnbuiltDataset
from ._verbs.versions import Version as Version
from ._verbs.versions import VersionRef as VersionRef
from ._verbs.versions import VersionVerbs
from .errors import InvalidInput, as_os_errors, unbuilt
from .fragment import LanceFragment
from .optimize import DatasetOptimizer
from .schema import LanceSchema

if TYPE_CHECKING:
    from .commit import CommitLock
    from .progress import FragmentWriteProgress
    from .types import ReaderLike

_READ_PARAMS = {"cache_repetition_index", "validate_on_decode"}


class LanceDataset(
    ScanVerbs,
    RowVerbs,
    ColumnVerbs,
    ColumnWriteVerbs,
    VersionVerbs,
    CommitVerbs,
    IndexVerbs,
    FileVerbs,
    UnbuiltDataset,
    ShownAs,
):
    """A table at one version.

    Verbs that change the table move this object on to the version they make;
    `checkout_version` and `write_dataset` give new objects. The parameters are those of
    `glaive.dataset`.
    """

    _shown_as = pa.dataset.Dataset

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
        cache = native_session(session)
        if version is None:
            self._ds = _native.Dataset.open(uri_text(uri), None, cache)
        else:
            check_reference("version", version)
            self._ds = _native.open_reference(uri_text(uri), version, cache)

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

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.scanner().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"LanceDataset({self.uri!r}, version={self.version})"

    # --- what a version is -----------------------------------------------------------------------

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
    def stats(self) -> LanceStats:
        return LanceStats(self)

    @property
    def optimize(self) -> DatasetOptimizer:
        return DatasetOptimizer(self)

    def session(self) -> Session:
        """The cache that this object was opened with, or the process's own."""
        return Session._of(self._ds.session)

    def insert(self, data: ReaderLike, *, mode: str = "append", **kwargs: Any) -> None:
        """Writes `data` to this table; `kwargs` are those of `write_dataset`."""
        self._ds = write_dataset(data, self, mode=mode, **kwargs)._ds

    def write_target(self) -> WriteTarget:
        """What workers need to write rows for this version, and nothing else: see `WriteTarget`."""
        return WriteTarget(_native.write_target_of(self._ds))

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
        if type(fragment_id) is not int or fragment_id < 0:  # asked a million times, a call is seen
            check_size("fragment_id", fragment_id, 0)
        entry = self._ds.get_fragment(fragment_id)
        return None if entry is None else self._fragment(entry)

    def _fragment(self, entry: _native.FragmentMetadata) -> LanceFragment:
        return LanceFragment(self, None, fragment=entry)

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


def write_dataset(
    data_obj: ReaderLike,
    uri: str | os.PathLike[str] | LanceDataset | None = None,
    schema: pa.Schema | None = None,
    mode: str = "create",
    *,
    max_rows_per_file: int = DEFAULT_MAX_ROWS_PER_FILE,
    max_rows_per_group: int = DEFAULT_MAX_ROWS_PER_GROUP,
    max_bytes_per_file: int = DEFAULT_MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    commit_lock: CommitLock | None = None,
    progress: FragmentWriteProgress | ProgressFunction | None = None,
    storage_options: dict[str, str] | None = None,
    data_storage_version: Literal["stable", "2.0", "2.1", "2.2", "2.3", "next", "legacy", "0.1"]
    | None = None,
    use_legacy_format: bool | None = None,
    enable_v2_manifest_paths: bool = True,
    enable_stable_row_ids: bool = False,
    auto_cleanup_options: Any | None = None,
    commit_message: str | None = None,
    transaction_properties: dict[str, str] | None = None,
    initial_bases: list[Any] | None = None,
    target_bases: list[str] | None = None,
    target_all_bases: bool | None = None,
    base_store_params: dict[str, dict[str, str]] | None = None,
    external_blob_mode: Literal["reference", "ingest"] = "reference",
    allow_external_blob_outside_bases: bool = False,
    blob_pack_file_size_threshold: int | None = None,
    namespace_client: Any | None = None,
    table_id: list[str] | None = None,
    session: Session | None = None,
    durability: Literal["commit", "none"] | None = None,
    n_jobs: int | None = None,
) -> LanceDataset:
    """Writes rows as one new version of a table. A failed call leaves no version and no file.

    Parameters
    ----------
    data_obj : table, batch, reader, data frame, dict, list of dicts, dataset, scanner or iterable
        The rows. An iterable of RecordBatch needs a `schema`.
    uri : str, path or LanceDataset
        Where. An open handle's schema and version are taken as they are.
    schema : pyarrow.Schema, optional
        What the data is cast to.
    mode : {"create", "append", "overwrite"}
        ``create`` fails where there is a table; the others create one where there is none.
    max_rows_per_file : int
        Rows after which a new file is begun.
    max_rows_per_group : int
        Ends pages that hold 8 MiB or more after so many rows. The default is no such limit.
    max_bytes_per_file : int, default 90 GiB
        Size at which a new file is begun.
    data_cache_bytes : int, default 256 MiB
        The largest open page ends when all open ones together would pass this.
    max_page_bytes : int, default 256 MiB
        A page ends when its next row would pass this. Bytes of rows, before encoding.
    data_storage_version : str, optional
        Version of the file format; the table's own, or "2.2" for a new one.
    enable_v2_manifest_paths, enable_stable_row_ids : bool
        For a new table.
    progress : glaive.progress.FragmentWriteProgress or callable, optional
        Told of each fragment that is begun and completed. A function is given a
        `glaive.progress.Progress` from time to time, on the thread that made the call; what it
        raises ends the call.
    initial_bases : list of DatasetBasePath, optional
        Other places for files of a new table.
    target_bases : list of str, optional
        Names or paths of bases that take turns at the new files; the table's own URI is its own
        folder, which gets them all without this.
    target_all_bases : bool, optional
        All bases take turns; True: the table's own folder first.
    auto_cleanup_options : dict, optional
        Old versions of a new table are cleaned up after each commit whose number ``interval``
        (20) divides, when they are ``older_than_seconds`` (14 days).
    commit_message : str, optional
        Kept in the transaction.
    transaction_properties : dict of str to str, optional
        Kept in the transaction.

    durability : {"commit", "none"}, optional
        Whether the version is on stable storage, data and names, before this returns. "commit"
        unless GLAIVE_DURABILITY says otherwise.
    n_jobs : int, optional
        How many files may be written at a time, at least 1. None and 1: file after file.

        A table, a data frame, a batch, a dict, or a list of batches is cut into at most this many
        partitions of equal bytes, none below 32 MiB or one full file, each with its part of
        `data_cache_bytes`. Of a stream (a reader, a scanner, a generator), and where files end by
        `max_bytes_per_file` and hold several pages of a column, the files stay as they would be;
        they are finished while the next ones are filled. Either way rows keep their
        order, there are at most ``n_jobs - 1`` files more than without, all of them or none get
        into the version, and memory stays within what one writer may take. An error of a
        partition names it and has the error itself as its ``__cause__``.

        The name is scikit-learn's and joblib's, for how many jobs run at once. It adds no
        processes, and no threads that compute: those are ``GLAIVE_CPU_THREADS`` (one for each
        core) for all calls, and a write uses them for the pages of a file whatever `n_jobs` is.
        What grows with it is how many files wait for the store, up to the larger one of that and
        ``GLAIVE_IO_THREADS`` (8).

    Others
        Not supported: NotImplementedError when they are given.
    """
    refuse(
        "write_dataset",
        commit_lock=commit_lock,
        storage_options=storage_options,
        base_store_params=base_store_params,
        external_blob_mode=external_blob_mode if external_blob_mode != "reference" else None,
        allow_external_blob_outside_bases=allow_external_blob_outside_bases,
        blob_pack_file_size_threshold=blob_pack_file_size_threshold,
        namespace_client=namespace_client,
        table_id=table_id,
    )
    options = write_options(
        mode=mode or "create",
        max_rows_per_file=max_rows_per_file,
        max_rows_per_group=max_rows_per_group,
        max_bytes_per_file=max_bytes_per_file,
        data_cache_bytes=data_cache_bytes,
        max_page_bytes=max_page_bytes,
        data_storage_version=data_storage_version,
        use_legacy_format=use_legacy_format,
        session=session,
        initial_bases=initial_bases,
        target_bases=target_bases,
        target_all_bases=target_all_bases,
        n_jobs=n_jobs,
    )
    if enable_v2_manifest_paths is not None and enable_v2_manifest_paths is not True:
        set_option(options, "enable_v2_manifest_paths", enable_v2_manifest_paths)
    if enable_stable_row_ids is not None and enable_stable_row_ids is not False:
        set_option(options, "enable_stable_row_ids", enable_stable_row_ids)
    if auto_cleanup_options is not None:
        options.initial_config = auto_cleanup_config(auto_cleanup_options)
    events, told = split_progress(progress)
    version = version_options(durability, transaction_properties, commit_message, told)
    if isinstance(uri, WriteTarget):
        raise TypeError(
            "a WriteTarget is what workers write files for, and makes no version: call "
            "fragment.write_fragments(data, target), then LanceDataset.commit(target.uri, "
            "LanceOperation.Append(fragments), target.version)"
        )
    target: Any = native_dataset(uri)
    if target is None:
        target = uri_text(uri)
    reader = coerce_rows(data_obj, schema)
    with as_os_errors():
        result = _native.write_dataset(reader, target, options, events, version)
    return LanceDataset._made(result.dataset)
