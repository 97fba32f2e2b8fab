"""Fragments of a table: their metadata, reading one, and writing some without a commit."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.dataset

from . import _native
from ._arguments import predicate as as_predicate
from ._arguments import projection, refuse, row_numbers, uri_text
from ._options import write_options
from ._staged import StagedColumns, stage_columns
from ._write_target import WriteTarget
from .errors import IO, InvalidInput, as_os_errors, unbuilt
from .schema import LanceSchema
from .types import _coerce_reader, _coerce_rows
from .udf import BatchUDF, new_columns

if TYPE_CHECKING:
    from ._arguments import Filter
    from ._scanner import LanceScanner
    from ._operations import Transaction
    from ._session import Session
    from .dataset import LanceDataset
    from .progress import FragmentWriteProgress
    from .types import ReaderLike

DEFAULT_MAX_BYTES_PER_FILE = 90 * 1024 * 1024 * 1024


class _Path(str):
    """The path of a data file. Calling it is pylance's older spelling."""

    def __call__(self) -> str:
        warnings.warn(
            "DataFile.path() is deprecated, use DataFile.path", DeprecationWarning, stacklevel=2
        )
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


@dataclass(init=False)
class DataFile:
    """A data file of a fragment.

    Attributes
    ----------
    path : str
        Relative to the table's ``data`` folder.
    fields : list of int
        Id of each field that the file holds.
    column_indices : list of int
        Column of the file for each entry of `fields`.
    file_major_version, file_minor_version : int
        Version of the file format.
    file_size_bytes : int, optional
        Size of the file, where known.
    base_id : int, optional
        The base path that `path` is under, where it is not the table's own.
    """

    _path: str
    fields: list[int]
    column_indices: list[int] = field(default_factory=list)
    file_major_version: int = 0
    file_minor_version: int = 0
    file_size_bytes: int | None = None
    base_id: int | None = None

    def __init__(
        self,
        path: str,
        fields: list[int],
        column_indices: list[int] | None = None,
        file_major_version: int = 0,
        file_minor_version: int = 0,
        file_size_bytes: int | None = None,
        base_id: int | None = None,
    ) -> None:
        self._path = path
        self.fields = fields
        self.column_indices = column_indices or []
        self.file_major_version = file_major_version
        self.file_minor_version = file_minor_version
        self.file_size_bytes = file_size_bytes
        self.base_id = base_id

    @property
    def path(self) -> str:
        return _Path(self._path)

    def field_ids(self) -> list[int]:
        warnings.warn(
            "DataFile.field_ids is deprecated, use DataFile.fields",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.fields

    @classmethod
    def create(cls, dataset: LanceDataset, path: str, *, base_id: int | None = None) -> DataFile:
        """As operations that replace columns want it: a file in the table's ``data`` folder.

        Its columns are matched to the table's by name.
        """
        info = _native.describe_data_file(dataset._ds, path, base_id)
        return cls(
            info.path,
            info.fields,
            info.column_indices,
            info.file_major_version,
            info.file_minor_version,
            info.file_size_bytes,
            info.base_id,
        )

    def _asdict(self) -> dict[str, Any]:
        return {
            "path": self._path,
            "fields": self.fields,
            "column_indices": self.column_indices,
            "file_major_version": self.file_major_version,
            "file_minor_version": self.file_minor_version,
            "file_size_bytes": self.file_size_bytes,
            "base_id": self.base_id,
        }


@dataclass
class DeletionFile:
    """The file that names a fragment's deleted rows."""

    read_version: int
    id: int
    file_type: Literal["array", "bitmap"]
    num_deleted_rows: int
    base_id: int | None = None

    def asdict(self) -> dict[str, Any]:
        return {
            "read_version": self.read_version,
            "id": self.id,
            "file_type": self.file_type,
            "num_deleted_rows": self.num_deleted_rows,
            "base_id": self.base_id,
        }

    def path(self, fragment_id: int, base_uri: str | None = None) -> str:
        """Where the file is; relative to the table's root without a `base_uri`."""
        suffix = "arrow" if self.file_type == "array" else "bin"
        relative = f"_deletions/{fragment_id}-{self.read_version}-{self.id}.{suffix}"
        return relative if base_uri is None else f"{base_uri}/{relative}"

    def json(self) -> str:
        return json.dumps(self.asdict())

    @classmethod
    def from_json(cls, json: str) -> DeletionFile:
        return cls(**_parse(json))


def _parse(text: str) -> Any:
    return json.loads(text)


class _Opaque:
    """Metadata that is carried along as the JSON it came as."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def asdict(self) -> Any:
        return self._value

    def json(self) -> str:
        return json.dumps(self._value)

    @classmethod
    def from_json(cls, json: str) -> Any:
        return cls(_parse(json))

    @classmethod
    def from_dict(cls, dict: Any) -> Any:
        return cls(dict)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._value == self._value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})"


class RowIdMeta(_Opaque):
    """The stable ids of a fragment's rows."""


class RowDatasetVersionMeta(_Opaque):
    """The versions in which a fragment's rows were made or last changed."""


@dataclass
class FragmentMetadata:
    """What a version says about a fragment, or what was written for one that is not committed.

    Attributes
    ----------
    id : int
        Id of the fragment; 0 before the commit.
    files : list of DataFile
        Each holds some of the fields for all rows.
    physical_rows : int
        Rows in the files, deleted ones included.
    deletion_file : DeletionFile, optional
        Names the deleted rows.
    row_id_meta, created_at_version_meta, last_updated_at_version_meta : optional
        Ids and history of the rows, on tables with stable row ids.
    overlays : list of LanceOperation.DataOverlayFile
        Files whose values take the place of some of the base files' values, oldest first.
    """

    id: int
    files: list[DataFile]
    physical_rows: int
    deletion_file: DeletionFile | None = None
    row_id_meta: RowIdMeta | None = None
    created_at_version_meta: RowDatasetVersionMeta | None = None
    last_updated_at_version_meta: RowDatasetVersionMeta | None = None
    overlays: list[Any] = field(default_factory=list)
    # The version whose WriteTarget it was written for, as in the engine's JSON.
    _written_for: dict[str, Any] | None = field(
        default=None, init=False, compare=False, repr=False
    )

    @property
    def num_deletions(self) -> int:
        return 0 if self.deletion_file is None else self.deletion_file.num_deleted_rows

    @property
    def num_rows(self) -> int:
        return self.physical_rows - self.num_deletions

    def data_files(self) -> list[DataFile]:
        warnings.warn(
            "FragmentMetadata.data_files is deprecated, use .files",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.files

    def to_json(self) -> dict[str, Any]:
        """As a dict that the json module can write."""

        def optional(value: Any) -> Any:
            return None if value is None else value.asdict()

        values = {
            "id": self.id,
            "files": [file._asdict() for file in self.files],
            "overlays": [_overlay_json(overlay) for overlay in self.overlays],
            "physical_rows": self.physical_rows,
            "deletion_file": optional(self.deletion_file),
            "row_id_meta": optional(self.row_id_meta),
            "created_at_version_meta": optional(self.created_at_version_meta),
            "last_updated_at_version_meta": optional(self.last_updated_at_version_meta),
        }
        if self._written_for is not None:
            values["written_for"] = self._written_for
        return values

    @staticmethod
    def from_json(json_data: str) -> FragmentMetadata:
        values = json.loads(json_data)

        def optional(name: str, make: Any) -> Any:
            value = values.get(name)
            return None if value is None else make(value)

        fragment = FragmentMetadata(
            id=values["id"],
            files=[DataFile(**file) for file in values["files"]],
            physical_rows=values["physical_rows"],
            deletion_file=optional("deletion_file", lambda value: DeletionFile(**value)),
            row_id_meta=optional("row_id_meta", RowIdMeta),
            created_at_version_meta=optional("created_at_version_meta", RowDatasetVersionMeta),
            last_updated_at_version_meta=optional(
                "last_updated_at_version_meta", RowDatasetVersionMeta
            ),
            overlays=[_overlay(overlay) for overlay in values.get("overlays") or []],
        )
        fragment._written_for = values.get("written_for")
        return fragment


def _overlay_json(overlay: Any) -> dict[str, Any]:
    offsets = list(overlay.offsets)
    if offsets and not isinstance(offsets[0], int):
        offsets = [list(rows) for rows in offsets]
    return {
        "data_file": overlay.data_file._asdict(),
        "offsets": offsets,
        "committed_version": overlay.committed_version,
    }


def _overlay(values: dict[str, Any]) -> Any:
    from ._operations import LanceOperation

    return LanceOperation.DataOverlayFile(
        DataFile(**values["data_file"]), values["offsets"], values.get("committed_version")
    )


def from_native(fragment: _native.FragmentMetadata) -> FragmentMetadata:
    return FragmentMetadata.from_json(fragment.to_json())


def to_native(fragment: FragmentMetadata) -> _native.FragmentMetadata:
    return _native.FragmentMetadata.from_json(json.dumps(fragment.to_json()))


class LanceFragment(pa.dataset.Fragment):
    """One fragment of a version of a table."""

    def __init__(
        self,
        dataset: LanceDataset,
        fragment_id: int | None,
        *,
        fragment: _native.FragmentMetadata | None = None,
    ) -> None:
        if fragment is None:
            if fragment_id is None:
                raise InvalidInput("Either fragment or fragment_id must be specified")
            fragment = dataset._ds.get_fragment(fragment_id)
            if fragment is None:
                raise InvalidInput(f"Fragment id does not exist: {fragment_id}")
        self._ds = dataset
        # The version is the fragment's own: a verb that moves `dataset` on does not change it.
        self._native_dataset = dataset._ds
        self._fragment = fragment

    def __repr__(self) -> str:
        return f"LanceFragment(id={self.fragment_id}, rows={self._fragment.num_rows})"

    def __eq__(self, other: object) -> bool:
        """Whether it is the same fragment of the same version of the same table."""
        if not isinstance(other, LanceFragment):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int, int]:
        return self._native_dataset.uri, self._native_dataset.version, self.fragment_id

    def __reduce__(self) -> tuple[Any, ...]:
        return LanceFragment, (self._ds, self.fragment_id)

    @property
    def fragment_id(self) -> int:
        return self._fragment.id

    @property
    def metadata(self) -> FragmentMetadata:
        return from_native(self._fragment)

    @property
    def num_deletions(self) -> int:
        return self._fragment.num_deletions

    @property
    def physical_rows(self) -> int:
        return self._fragment.physical_rows

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(self._native_dataset.schema)

    @property
    def physical_schema(self) -> pa.Schema:
        return self.schema

    @property
    def partition_expression(self) -> Any:
        unbuilt("LanceFragment.partition_expression")

    @staticmethod
    def create_from_file(filename: str, dataset: LanceDataset, fragment_id: int) -> FragmentMetadata:
        """A fragment of one file in the table's ``data`` folder, which no version refers to."""
        return from_native(_native.adopt_data_file(dataset._ds, filename, fragment_id))

    @staticmethod
    def create(
        dataset_uri: str | os.PathLike[str],
        data: ReaderLike,
        fragment_id: int | None = None,
        schema: pa.Schema | None = None,
        max_rows_per_group: int | None = 1024,
        progress: FragmentWriteProgress | None = None,
        mode: str = "append",
        *,
        data_storage_version: str | None = None,
        use_legacy_format: bool | None = None,
        storage_options: dict[str, str] | None = None,
        namespace_client: Any | None = None,
        table_id: list[str] | None = None,
        session: Session | None = None,
    ) -> FragmentMetadata:
        """Writes `data` as one fragment, of one file, and commits nothing.

        The parameters are those of `write_fragments`.
        """
        refuse(
            "LanceFragment.create",
            storage_options=storage_options,
            namespace_client=namespace_client,
            table_id=table_id,
        )
        options = write_options(
            mode=mode,
            max_rows_per_file=1024 * 1024,
            max_rows_per_group=max_rows_per_group,
            max_bytes_per_file=DEFAULT_MAX_BYTES_PER_FILE,
            data_cache_bytes=None,
            max_page_bytes=None,
            data_storage_version=data_storage_version,
            use_legacy_format=use_legacy_format,
            session=session,
            durability=None,
        )
        reader = _coerce_reader(data, schema)
        uri = uri_text(dataset_uri)
        made = _native.create_fragment(reader, uri, fragment_id or 0, options, progress)
        return from_native(made)

    def data_files(self) -> list[DataFile]:
        return self.metadata.files

    def deletion_file(self) -> str | None:
        """Path of the deletion file under the table's root, if there is one."""
        return self._fragment.deletion_path

    def count_rows(self, filter: Filter | None = None) -> int:
        if filter is None:
            return self._fragment.num_rows
        return self.scanner(filter=filter).count_rows()

    def head(self, num_rows: int) -> pa.Table:
        return self.scanner(limit=num_rows).to_table()

    def take(self, indices: Any, columns: list[str] | dict[str, str] | None = None) -> pa.Table:
        """Rows by their position among the fragment's live rows; positions must ascend."""
        options = _native.TakeOptions()
        options.columns = projection(columns, "LanceFragment.take")
        return self._take(indices, options)

    def _take(self, indices: Any, options: _native.TakeOptions) -> pa.Table:
        rows = row_numbers(indices)
        numbers = rows.cast("B").cast("Q")
        if any(one > next_one for one, next_one in zip(numbers, numbers[1:], strict=False)):
            raise IO("LanceError(IO): Requested row indices are not in ascending order")
        return pa.table(
            _native.take_from_fragment(self._native_dataset, self.fragment_id, rows, options)
        )

    def open_session(
        self,
        columns: list[str] | dict[str, str] | None = None,
        with_row_address: bool | None = None,
    ) -> FragmentSession:
        """For many `take` calls of the same columns."""
        return FragmentSession(self, columns, bool(with_row_address))

    def validate(self) -> None:
        """Opens the fragment's files; raises where they are not what the version says."""
        _native.validate_fragment(self._native_dataset, self.fragment_id)

    def scanner(
        self,
        *,
        columns: list[str] | dict[str, str] | None = None,
        batch_size: int | None = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        with_row_id: bool = False,
        with_row_address: bool = False,
        batch_readahead: int = 16,
        blob_handling: Literal["all_binary", "blobs_descriptions", "all_descriptions"]
        | None = None,
        order_by: list[Any] | None = None,
        use_scalar_index: bool | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        include_deleted_rows: bool | None = None,
        batch_size_bytes: int | None = None,
        strict_batch_size: bool | None = None,
    ) -> LanceScanner:
        """As `LanceDataset.scanner`, over this fragment's rows."""
        from ._scanner import ScannerBuilder

        return (
            ScannerBuilder(self._ds)
            ._given(
                _dataset=self._native_dataset,
                columns=columns,
                batch_size=batch_size,
                filter=filter,
                limit=limit,
                offset=offset,
                with_row_id=with_row_id,
                with_row_address=with_row_address,
                batch_readahead=batch_readahead,
                blob_handling=blob_handling,
                order_by=order_by,
                use_scalar_index=use_scalar_index,
                io_buffer_size=io_buffer_size,
                late_materialization=late_materialization,
                include_deleted_rows=include_deleted_rows,
                batch_size_bytes=batch_size_bytes,
                strict_batch_size=strict_batch_size,
                fragments=[self],
            )
            .to_scanner()
        )

    def to_batches(
        self,
        *,
        columns: list[str] | dict[str, str] | None = None,
        batch_size: int | None = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        with_row_id: bool = False,
        with_row_address: bool = False,
        batch_readahead: int = 16,
        blob_handling: Literal["all_binary", "blobs_descriptions", "all_descriptions"]
        | None = None,
        order_by: list[Any] | None = None,
        use_scalar_index: bool | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        include_deleted_rows: bool | None = None,
        batch_size_bytes: int | None = None,
        strict_batch_size: bool | None = None,
    ) -> Iterator[pa.RecordBatch]:
        yield from self.scanner(
            columns=columns,
            batch_size=batch_size,
            filter=filter,
            limit=limit,
            offset=offset,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            batch_readahead=batch_readahead,
            blob_handling=blob_handling,
            order_by=order_by,
            use_scalar_index=use_scalar_index,
            io_buffer_size=io_buffer_size,
            late_materialization=late_materialization,
            include_deleted_rows=include_deleted_rows,
            batch_size_bytes=batch_size_bytes,
            strict_batch_size=strict_batch_size,
        ).to_batches()

    def to_table(
        self,
        columns: list[str] | dict[str, str] | None = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        with_row_id: bool = False,
        with_row_address: bool = False,
        blob_handling: Literal["all_binary", "blobs_descriptions", "all_descriptions"]
        | None = None,
        order_by: list[Any] | None = None,
        use_scalar_index: bool | None = None,
        io_buffer_size: int | None = None,
        late_materialization: bool | list[str] | None = None,
        include_deleted_rows: bool | None = None,
        batch_size_bytes: int | None = None,
        strict_batch_size: bool | None = None,
    ) -> pa.Table:
        return self.scanner(
            columns=columns,
            filter=filter,
            limit=limit,
            offset=offset,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            blob_handling=blob_handling,
            order_by=order_by,
            use_scalar_index=use_scalar_index,
            io_buffer_size=io_buffer_size,
            late_materialization=late_materialization,
            include_deleted_rows=include_deleted_rows,
            batch_size_bytes=batch_size_bytes,
            strict_batch_size=strict_batch_size,
        ).to_table()

    def to_pandas(
        self,
        columns: list[str] | dict[str, str] | None = None,
        filter: Filter | None = None,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        with_row_id: bool = False,
        with_row_address: bool = False,
        blob_mode: str = "lazy",
        order_by: list[Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        return self.scanner(
            columns=columns,
            filter=filter,
            limit=limit,
            offset=offset,
            batch_size=batch_size,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            order_by=order_by,
        ).to_pandas(blob_mode=blob_mode, **kwargs)


    def merge(
        self,
        data_obj: ReaderLike,
        left_on: str,
        right_on: str | None = None,
        schema: pa.Schema | None = None,
    ) -> tuple[FragmentMetadata, LanceSchema]:
        """As `LanceDataset.merge`, for this fragment; commits nothing.

        Returns
        -------
        FragmentMetadata, LanceSchema
            For `LanceOperation.Merge`, with the other fragments of the version.
        """
        widened = _native.merge_fragment_columns(
            self._native_dataset,
            self.fragment_id,
            _coerce_reader(data_obj, schema),
            left_on,
            right_on or left_on,
        )
        return from_native(widened.fragment), LanceSchema(widened.schema)

    def merge_columns(
        self,
        value_func: dict[str, str] | BatchUDF | ReaderLike | Callable[[pa.RecordBatch], Any],
        columns: list[str] | None = None,
        batch_size: int | None = None,
        reader_schema: pa.Schema | None = None,
    ) -> tuple[FragmentMetadata, LanceSchema]:
        """As `LanceDataset.add_columns`, for this fragment; commits nothing.

        Returns
        -------
        FragmentMetadata, LanceSchema
            For `LanceOperation.Merge`, with the other fragments of the version.
        """
        if isinstance(value_func, BatchUDF) and value_func.cache is not None:
            raise InvalidInput(
                "A checkpoint file cannot be used with LanceFragment.merge_columns: keep the"
                " fragments that it returns instead"
            )
        native = new_columns(value_func, self, columns, reader_schema, batch_size)
        widened = _native.add_fragment_columns(self._native_dataset, self.fragment_id, native)
        return from_native(widened.fragment), LanceSchema(widened.schema)

    def write_column(
        self,
        data: ReaderLike,
        schema: LanceSchema | pa.Schema,
        *,
        live_rows_only: bool = False,
        reads: list[str] | None = None,
    ) -> StagedColumns:
        """As `LanceDataset.write_fragment_column`, for this fragment; commits nothing."""
        return stage_columns(
            self._native_dataset, [(self.fragment_id, data, schema)], live_rows_only, reads
        )[0]

    def update_columns(
        self,
        data_obj: ReaderLike,
        left_on: str = "_rowid",
        right_on: str | None = None,
        schema: pa.Schema | None = None,
        *,
        with_offsets: bool = False,
    ) -> tuple[FragmentMetadata, list[int]] | tuple[FragmentMetadata, list[int], bytes]:
        """Gives columns new values in the rows whose key is in `data_obj`; commits nothing.

        Parameters
        ----------
        data_obj : reader-like
            The key and the columns to update; of several rows with one key the last counts.
        left_on : str
            Key in the fragment: a column, ``_rowid`` or ``_rowaddr``.
        right_on : str, optional
            Key in `data_obj`, if it is called otherwise.
        with_offsets : bool, default False
            Returns the physical rows that were matched as well, as a portable Roaring bitmap.

        Returns
        -------
        FragmentMetadata, list of int[, bytes]
            The fragment, and ids of the fields that changed, for `LanceOperation.Update`.
        """
        result = _native.update_fragment_columns(
            self._native_dataset,
            self.fragment_id,
            _coerce_reader(data_obj, schema),
            left_on,
            right_on or left_on,
        )
        fragment = from_native(result.fragment)
        if with_offsets:
            return fragment, result.fields_modified, result.matched_offsets
        return fragment, result.fields_modified

    def delete(self, predicate: Filter) -> FragmentMetadata | None:
        """The fragment with a deletion file for the rows that `predicate` is true of as well.

        None where no row is left. Commits nothing.
        """
        condition = as_predicate(predicate, pa.schema(self._native_dataset.schema))
        left = _native.delete_from_fragment(self._native_dataset, self.fragment_id, condition)
        return None if left is None else from_native(left)

    def delete_rows(self, offsets: Iterable[int]) -> FragmentMetadata | None:
        """As `delete`, by the physical offsets of rows in the fragment."""
        left = _native.delete_fragment_rows(
            self._native_dataset, self.fragment_id, row_numbers(offsets)
        )
        return None if left is None else from_native(left)


class FragmentSession:
    """Reads rows of the same columns of one fragment, again and again."""

    def __init__(
        self,
        fragment: LanceFragment,
        columns: list[str] | dict[str, str] | None,
        with_row_address: bool,
    ) -> None:
        self._fragment = fragment
        self._options = _native.TakeOptions()
        self._options.columns = projection(columns, "open_session")
        self._options.with_row_address = with_row_address

    def take(self, indices: Any) -> pa.Table:
        """Rows by their position among the fragment's live rows."""
        return self._fragment._take(indices, self._options)


def write_fragments(
    data: ReaderLike,
    dataset_uri: str | os.PathLike[str] | LanceDataset | WriteTarget,
    schema: pa.Schema | None = None,
    *,
    return_transaction: bool = False,
    mode: str = "append",
    max_rows_per_file: int = 1024 * 1024,
    max_rows_per_group: int | None = 1024,
    max_bytes_per_file: int = DEFAULT_MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    progress: FragmentWriteProgress | None = None,
    data_storage_version: str | None = None,
    use_legacy_format: bool | None = None,
    storage_options: dict[str, str] | None = None,
    enable_stable_row_ids: bool = False,
    target_bases: list[str] | None = None,
    target_all_bases: bool | None = None,
    initial_bases: list[Any] | None = None,
    base_store_params: dict[str, dict[str, str]] | None = None,
    external_blob_mode: Literal["reference", "ingest"] = "reference",
    allow_external_blob_outside_bases: bool = False,
    namespace_client: Any | None = None,
    table_id: list[str] | None = None,
    session: Session | None = None,
    durability: Literal["commit", "none"] | None = None,
    n_jobs: int | None = None,
) -> list[FragmentMetadata] | Transaction:
    """Writes data files and commits nothing.

    The other parameters are those of `write_dataset`. `enable_stable_row_ids` has no effect: ids are
    assigned by the commit.

    Parameters
    ----------
    data : table, batch, reader, data frame, dict, list of dicts, dataset, scanner or iterable
        The rows.
    dataset_uri : str, path, LanceDataset or WriteTarget
        Whose files they are. On an open dataset or a `WriteTarget` its schema and version count, and
        nothing is read or listed; on a URI the newest version does, and what the session has of it
        is not read again.
    session : Session, optional
        Cache for a URI. With an open dataset it must be that one's own: ValueError.

    Returns
    -------
    list of FragmentMetadata, or Transaction
        One for each file, with id 0. With `return_transaction`: the Append or Overwrite that makes
        a version of them.
    """
    from .dataset import LanceDataset

    refuse(
        "write_fragments",
        storage_options=storage_options,
        base_store_params=base_store_params,
        external_blob_mode=external_blob_mode if external_blob_mode != "reference" else None,
        allow_external_blob_outside_bases=allow_external_blob_outside_bases,
        namespace_client=namespace_client,
        table_id=table_id,
    )
    options = write_options(
        mode=mode,
        max_rows_per_file=max_rows_per_file,
        max_rows_per_group=max_rows_per_group,
        max_bytes_per_file=max_bytes_per_file,
        data_cache_bytes=data_cache_bytes,
        max_page_bytes=max_page_bytes,
        data_storage_version=data_storage_version,
        use_legacy_format=use_legacy_format,
        session=session,
        durability=durability,
        initial_bases=initial_bases,
        target_bases=target_bases,
        target_all_bases=target_all_bases,
        n_jobs=n_jobs,
    )
    if isinstance(dataset_uri, LanceDataset):
        target: Any = dataset_uri._ds
    elif isinstance(dataset_uri, WriteTarget):
        target = dataset_uri._native
    else:
        target = uri_text(dataset_uri)
    reader = _coerce_rows(data, schema)
    with as_os_errors("Append with different schema"):
        if return_transaction:
            from ._exchange import transaction_from_native

            transaction = _native.write_transaction(reader, target, options, progress)
            return transaction_from_native(transaction)
        fragments = _native.write_fragments(reader, target, options, progress)
    return [from_native(fragment) for fragment in fragments]
