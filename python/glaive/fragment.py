"""Fragments of a table: their metadata, reading one, and writing some without a commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.dataset

from . import _native
from ._engine.arguments import (
    check_dataset,
    check_progress,
    check_size,
    check_text,
    split_progress,
    given,
    native_dataset,
    projection,
    refuse,
    row_numbers,
    uri_text,
)
from ._engine.arguments import predicate as as_predicate
from ._engine.batches import coerce_reader, coerce_rows
from ._engine.exchange import transaction_from_native
from ._engine.fragment_metadata import DataFile as DataFile
from ._engine.fragment_metadata import DeletionFile as DeletionFile
from ._engine.fragment_metadata import FragmentMetadata as FragmentMetadata
from ._engine.fragment_metadata import RowDatasetVersionMeta as RowDatasetVersionMeta
from ._engine.fragment_metadata import RowIdMeta as RowIdMeta
from ._engine.fragment_metadata import from_native
from ._engine.options import DEFAULT_MAX_BYTES_PER_FILE as DEFAULT_MAX_BYTES_PER_FILE
from ._engine.options import (
    DEFAULT_MAX_ROWS_PER_FILE,
    DEFAULT_MAX_ROWS_PER_GROUP,
    ProgressFunction,
    version_options,
    write_options,
)
from ._engine.shown import ShownAs
from ._engine.write_target import WriteTarget
from ._verbs.column_writes import StagedColumns, stage_columns
from ._verbs.fragments import FragmentSession as FragmentSession
from ._verbs.scanner import LanceScanner, ScannerBuilder
from .errors import IO, InvalidInput, as_os_errors, unbuilt
from .schema import LanceSchema
from .udf import BatchUDF, new_columns

if TYPE_CHECKING:
    from ._engine.arguments import Filter
    from ._engine.operations import Transaction
    from ._engine.session import Session
    from .dataset import LanceDataset
    from .progress import FragmentWriteProgress
    from .types import ReaderLike


class LanceFragment(ShownAs):
    """One fragment of a version of a table."""

    _shown_as = pa.dataset.Fragment

    def __init__(
        self,
        dataset: LanceDataset,
        fragment_id: int | None,
        *,
        fragment: _native.FragmentMetadata | None = None,
    ) -> None:
        if fragment is None:  # what the package makes itself needs no look
            check_dataset("dataset", dataset)
            if fragment_id is None:
                raise InvalidInput("Either fragment or fragment_id must be specified")
            check_size("fragment_id", fragment_id, 0)
            fragment = dataset._ds.get_fragment(fragment_id)
            if fragment is None:
                raise InvalidInput(f"Fragment id does not exist: {fragment_id}")
        self._ds = dataset
        # The version is the fragment's own: a verb that moves `dataset` on does not change it.
        self._native_dataset = dataset._ds
        self._fragment = fragment
        self._counts: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"LanceFragment(id={self.fragment_id}, rows={self._fragment.num_rows})"

    def __eq__(self, other: object) -> bool:
        """Whether it is the same fragment of the same version of the same table."""
        if not isinstance(other, LanceFragment):
            return NotImplemented
        ours, theirs = self._native_dataset, other._native_dataset
        return self._key() == other._key() and ours.is_same_version_as(theirs)

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

    def _rows(self) -> tuple[int, int]:
        # Physical and deleted ones. Manifests of old writers do not count them; files do.
        if self._counts is None:
            self._counts = _native.rows_of_fragment(self._native_dataset, self._fragment)
        return self._counts

    @property
    def num_deletions(self) -> int:
        """Rows that are deleted."""
        return self._rows()[1]

    @property
    def physical_rows(self) -> int:
        """Rows in the files, deleted ones included; a file is opened where the manifest is old."""
        return self._rows()[0]

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
    def create_from_file(
        filename: str, dataset: LanceDataset, fragment_id: int
    ) -> FragmentMetadata:
        """A fragment of one file in the table's ``data`` folder, which no version refers to."""
        check_text("filename", filename)
        check_dataset("dataset", dataset)
        check_size("fragment_id", fragment_id, 0)
        return from_native(_native.adopt_data_file(dataset._ds, filename, fragment_id))

    @staticmethod
    def create(
        dataset_uri: str | os.PathLike[str],
        data: ReaderLike,
        fragment_id: int | None = None,
        schema: pa.Schema | None = None,
        max_rows_per_group: int | None = DEFAULT_MAX_ROWS_PER_GROUP,
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
            max_rows_per_file=DEFAULT_MAX_ROWS_PER_FILE,
            max_rows_per_group=max_rows_per_group,
            max_bytes_per_file=DEFAULT_MAX_BYTES_PER_FILE,
            data_cache_bytes=None,
            max_page_bytes=None,
            data_storage_version=data_storage_version,
            use_legacy_format=use_legacy_format,
            session=session,
        )
        check_size("fragment_id", fragment_id, 0)
        check_progress(progress)
        reader = coerce_reader(data, schema)
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
            physical, deleted = self._rows()
            return physical - deleted
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
        options = given(locals())
        builder = ScannerBuilder(self._ds)
        builder._given(_dataset=self._native_dataset, fragments=[self], **options)
        return builder.to_scanner()

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
        yield from self.scanner(**given(locals())).to_batches()

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
        return self.scanner(**given(locals())).to_table()

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
        options = given(locals(), but=("blob_mode", "kwargs"))
        return self.scanner(**options).to_pandas(blob_mode=blob_mode, **kwargs)

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
        check_text("left_on", left_on)
        check_text("right_on", right_on or left_on)
        widened = _native.merge_fragment_columns(
            self._native_dataset,
            self.fragment_id,
            coerce_reader(data_obj, schema),
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
        check_text("left_on", left_on)
        check_text("right_on", right_on or left_on)
        result = _native.update_fragment_columns(
            self._native_dataset,
            self.fragment_id,
            coerce_reader(data_obj, schema),
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


def write_fragments(
    data: ReaderLike,
    dataset_uri: str | os.PathLike[str] | LanceDataset | WriteTarget,
    schema: pa.Schema | None = None,
    *,
    return_transaction: bool = False,
    mode: str = "append",
    max_rows_per_file: int = DEFAULT_MAX_ROWS_PER_FILE,
    max_rows_per_group: int | None = DEFAULT_MAX_ROWS_PER_GROUP,
    max_bytes_per_file: int = DEFAULT_MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    progress: FragmentWriteProgress | ProgressFunction | None = None,
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

    The other parameters are those of `write_dataset`. `enable_stable_row_ids` has no effect: ids
    are assigned by the commit.

    Parameters
    ----------
    data : table, batch, reader, data frame, dict, list of dicts, dataset, scanner or iterable
        The rows.
    dataset_uri : str, path, LanceDataset or WriteTarget
        Whose files they are. On an open dataset or a `WriteTarget` its schema and version count,
        and nothing is read or listed; on a URI the newest version does, and what the session has of
        it is not read again.
    session : Session, optional
        Cache for a URI. With an open dataset it must be that one's own: ValueError.

    Returns
    -------
    list of FragmentMetadata, or Transaction
        One for each file, with id 0. With `return_transaction`: the Append or Overwrite that makes
        a version of them.
    """
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
        initial_bases=initial_bases,
        target_bases=target_bases,
        target_all_bases=target_all_bases,
        n_jobs=n_jobs,
    )
    events, told = split_progress(progress)
    version = version_options(durability, None, None, told)
    target: Any = native_dataset(dataset_uri)
    if target is None:
        is_target = isinstance(dataset_uri, WriteTarget)
        target = dataset_uri._native if is_target else uri_text(dataset_uri)
    reader = coerce_rows(data, schema)
    with as_os_errors("Append with different schema"):
        if return_transaction:
            transaction = _native.write_transaction(reader, target, options, events, version)
            return transaction_from_native(transaction)
        fragments = _native.write_fragments(reader, target, options, events, version)
    return [from_native(fragment) for fragment in fragments]
