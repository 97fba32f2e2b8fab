"""Single data files, outside any table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import pyarrow as pa

from . import _native
from ._engine.arguments import (
    check_names,
    check_schema,
    check_size,
    refuse,
    row_numbers,
    uri_text,
)
from ._engine.batches import record_batches
from ._engine.option_kinds import set_option
from .errors import InvalidInput, unbuilt


@dataclass(frozen=True)
class LanceBufferDescriptor:
    """Where a buffer lies in its file."""

    position: int
    size: int


@dataclass(frozen=True)
class LancePageMetadata:
    """A page of a column; `encoding` is for people to read."""

    buffers: list[LanceBufferDescriptor]
    encoding: str
    num_rows: int = 0


@dataclass(frozen=True)
class LanceColumnMetadata:
    column_buffers: list[LanceBufferDescriptor]
    pages: list[LancePageMetadata]


@dataclass(frozen=True)
class LanceFileMetadata:
    """What a file's footer says."""

    schema: pa.Schema
    num_rows: int
    num_data_bytes: int
    num_column_metadata_bytes: int
    num_global_buffer_bytes: int
    global_buffers: list[LanceBufferDescriptor]
    columns: list[LanceColumnMetadata]
    major_version: int = 0
    minor_version: int = 0


@dataclass(frozen=True)
class LanceColumnStatistics:
    num_pages: int
    size_bytes: int


@dataclass(frozen=True)
class LanceFileStatistics:
    columns: list[LanceColumnStatistics]


def _buffers(buffers: list[_native.BufferInfo]) -> list[LanceBufferDescriptor]:
    return [LanceBufferDescriptor(buffer.position, buffer.size) for buffer in buffers]


def _column(column: _native.ColumnInfo) -> LanceColumnMetadata:
    pages = [
        LancePageMetadata(_buffers(page.buffers), page.encoding, page.num_rows)
        for page in column.pages
    ]
    return LanceColumnMetadata(_buffers(column.column_buffers), pages)


class ReaderResults:
    """Rows of a file, to be received once."""

    def __init__(self, reader: Any) -> None:
        self._rows = reader

    def to_batches(self) -> pa.RecordBatchReader:
        schema = pa.schema(self._rows.schema)
        return pa.RecordBatchReader.from_batches(schema, record_batches(self._rows))

    def to_table(self) -> pa.Table:
        return pa.table(self._rows.read_all())


class LanceFileReader:
    """Reads one data file.

    Parameters
    ----------
    path : str
        Path or URI of the file.
    columns : list of str, optional
        Columns to read; all without it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        storage_options: dict[str, str] | None = None,
        columns: list[str] | None = None,
        *,
        namespace_client: Any | None = None,
        table_id: list[str] | None = None,
        _inner_reader: _native.DataFileReader | None = None,
    ) -> None:
        refuse(
            "LanceFileReader",
            storage_options=storage_options,
            namespace_client=namespace_client,
            table_id=table_id,
        )
        if columns is not None:
            check_names("columns", columns)
        self._reader = _inner_reader or _native.DataFileReader.open(uri_text(path), columns)

    def read_all(self, *, batch_size: int = 1024, batch_readahead: int = 16) -> ReaderResults:
        """All rows, in batches of `batch_size`. `batch_readahead` has no effect."""
        return self.read_range(0, self.num_rows(), batch_size=batch_size)

    def read_range(
        self, start: int, num_rows: int, *, batch_size: int = 1024, batch_readahead: int = 16
    ) -> ReaderResults:
        """`num_rows` rows from `start` on."""
        check_size("start", start, 0)
        check_size("num_rows", num_rows, 0)
        check_size("batch_size", batch_size, 1)
        return ReaderResults(self._reader.read(start, num_rows, batch_size))

    def take_rows(
        self, indices: Any, *, batch_size: int = 1024, batch_readahead: int = 16
    ) -> ReaderResults:
        """Rows by their number. Errors: ValueError unless `indices` ascend."""
        rows = list(indices)
        for left, right in zip(rows, rows[1:], strict=False):
            if left > right:
                raise InvalidInput(f"indices must ascend, but {left} comes before {right}")
        return ReaderResults(self._reader.take(row_numbers(indices), batch_size))

    def metadata(self) -> LanceFileMetadata:
        """What the footer says: rows, pages and where each buffer lies."""
        info = self._reader.info
        return LanceFileMetadata(
            schema=pa.schema(info.schema),
            num_rows=info.num_rows,
            num_data_bytes=info.num_data_bytes,
            num_column_metadata_bytes=info.num_column_metadata_bytes,
            num_global_buffer_bytes=info.num_global_buffer_bytes,
            global_buffers=_buffers(info.global_buffers),
            columns=[_column(column) for column in info.columns],
            major_version=info.major_version,
            minor_version=info.minor_version,
        )

    def file_statistics(self) -> LanceFileStatistics:
        """Pages and bytes of each column."""
        return LanceFileStatistics(
            [
                LanceColumnStatistics(
                    len(column.pages),
                    sum(buffer.size for page in column.pages for buffer in page.buffers),
                )
                for column in self._reader.info.columns
            ]
        )

    def read_global_buffer(self, index: int) -> bytes:
        return self._reader.read_global_buffer(index)

    def num_rows(self) -> int:
        return self._reader.info.num_rows


class LanceFileWriter:
    """Writes one data file. Without `close`, or after an error inside ``with``, nothing is left.

    Parameters
    ----------
    path : str
        Path or URI of the file.
    schema : pyarrow.Schema, optional
        Of the rows; the first batch's without it.
    data_cache_bytes, max_page_bytes : int, optional
        As in `write_dataset`.
    version : str, default "2.2"
        Version of the file format.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema | None = None,
        *,
        data_cache_bytes: int | None = None,
        version: str | None = None,
        storage_options: dict[str, str] | None = None,
        namespace_client: Any | None = None,
        table_id: list[str] | None = None,
        max_page_bytes: int | None = None,
        _inner_writer: _native.DataFileWriter | None = None,
        **kwargs: Any,
    ) -> None:
        refuse(
            "LanceFileWriter",
            storage_options=storage_options,
            namespace_client=namespace_client,
            table_id=table_id,
            **kwargs,
        )
        self._path = uri_text(path)
        self._options = _native.DataFileWriterOptions()
        set_option(self._options, "version", version)
        set_option(self._options, "data_cache_bytes", data_cache_bytes)
        set_option(self._options, "max_page_bytes", max_page_bytes)
        self._writer = _inner_writer
        self._closed = False
        if schema is not None and _inner_writer is None:
            check_schema("schema", schema)
            self._writer = _native.DataFileWriter.create(self._path, schema, self._options)

    def write_batch(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Adds rows."""
        if self._writer is None:
            self._check_open()
            self._writer = _native.DataFileWriter.create(self._path, batch.schema, self._options)
        batches = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        for rows in batches:
            self._opened().write(rows)

    def close(self) -> int | None:
        """Finishes the file; the number of its rows. None when it was closed before."""
        if self._closed:
            return None
        summary = self._opened().finish()
        self._abandon()
        return summary.num_rows

    def add_schema_metadata(self, key: str, value: str) -> None:
        self._opened().add_schema_metadata(key, value)

    def add_global_buffer(self, data: bytes) -> int:
        """Adds a buffer; its index, from 1 on."""
        return self._opened().add_global_buffer(data)

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidInput(f"the file {self._path} was closed")

    def _opened(self) -> _native.DataFileWriter:
        self._check_open()
        if self._writer is None:
            raise InvalidInput("Schema is unknown and no batch was written")
        return self._writer

    def _abandon(self) -> None:
        self._writer = None
        self._closed = True

    def __enter__(self) -> LanceFileWriter:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if exc_type is None:
            self.close()
        else:
            self._abandon()


class LanceFileSession:
    """Files below one path.

    Parameters
    ----------
    base_path : str
        Folder that the paths of the methods are under.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str],
        storage_options: dict[str, str] | None = None,
        namespace_client: Any | None = None,
        table_id: list[str] | None = None,
    ) -> None:
        refuse(
            "LanceFileSession",
            storage_options=storage_options,
            namespace_client=namespace_client,
            table_id=table_id,
        )
        self._base = uri_text(base_path).rstrip("/")

    def open_reader(self, path: str, columns: list[str] | None = None) -> LanceFileReader:
        return LanceFileReader(f"{self._base}/{path}", columns=columns)

    def open_writer(
        self,
        path: str,
        *,
        schema: pa.Schema | None = None,
        data_cache_bytes: int | None = None,
        version: str | None = None,
        keep_original_array: bool | None = None,
        max_page_bytes: int | None = None,
    ) -> LanceFileWriter:
        """A writer for a file; `keep_original_array` says how pylance buffers and has no effect."""
        return LanceFileWriter(
            f"{self._base}/{path}",
            schema,
            data_cache_bytes=data_cache_bytes,
            version=version,
            max_page_bytes=max_page_bytes,
        )

    def open_packed_blob_writer(self, path: str, blob_id: int) -> Any:
        unbuilt("LanceFileSession.open_packed_blob_writer")

    def open_dedicated_blob_writer(self, path: str, blob_id: int) -> Any:
        unbuilt("LanceFileSession.open_dedicated_blob_writer")

    def contains(self, path: str) -> bool:
        unbuilt("LanceFileSession.contains")

    def list(self, path: str | None = None) -> Any:
        unbuilt("LanceFileSession.list")

    def list_with_delimiter(self, path: str | None = None) -> Any:
        unbuilt("LanceFileSession.list_with_delimiter")

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        unbuilt("LanceFileSession.read_range")

    def delete_file(self, path: str) -> None:
        unbuilt("LanceFileSession.delete_file")

    def upload_file(self, local_path: Any, remote_path: str) -> None:
        unbuilt("LanceFileSession.upload_file")

    def download_file(self, remote_path: str, local_path: Any) -> None:
        unbuilt("LanceFileSession.download_file")


def stable_version() -> str:
    """The file version that ``"stable"`` stands for."""
    return "2.2"
