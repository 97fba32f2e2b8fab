"""Tables: open, read, write and change them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.dataset

from . import _native
from ._arguments import check_reference, check_size, refuse, uri_text
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
from ._scans import ScanVerbs
from ._session import Session as Session
from ._session import native_session
from ._staged import ColumnWriteVerbs
from ._staged import StagedColumns as StagedColumns
from ._stats import LanceStats
from ._shown import ShownAs
from ._unbuilt import UnbuiltDataset
from ._versions import Version as Version
from ._versions import VersionRef as VersionRef
from ._versions import VersionVerbs
from ._write import write_dataset as write_dataset
from ._write_target import WriteTarget
from .errors import InvalidInput, unbuilt
from ._fragment_list import LanceFragments
from .fragment import LanceFragment
from .optimize import DatasetOptimizer
from .schema import LanceSchema

if TYPE_CHECKING:
    from .commit import CommitLock

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

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.scanner().__arrow_c_stream__(requested_schema)

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
