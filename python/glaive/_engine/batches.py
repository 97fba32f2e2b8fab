"""Rows between callers and the engine, as Arrow batches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset

from ..errors import InvalidInput, unbuilt
from .arguments import native_dataset

if TYPE_CHECKING:
    from ..types import ReaderLike


def record_batches(stream: Any) -> Iterator[pa.RecordBatch]:
    """The batches of an engine's stream, as they are asked for."""
    while (batch := stream.next()) is not None:
        yield pa.record_batch(batch)


def coerce_reader(data_obj: ReaderLike, schema: pa.Schema | None = None) -> Any:
    """`data_obj` as something that hands out Arrow batches.

    That is a pyarrow RecordBatchReader where Python code may run as the batches are asked for, and
    else any object with ``__arrow_c_stream__``. A `schema` that differs from the data's is what the
    data is cast to.
    """
    source = _stream(data_obj, schema)
    if schema is None or not hasattr(source, "schema") or source.schema.equals(schema, True):
        return source
    if isinstance(source, pa.Table):
        return source.cast(schema)
    return pa.RecordBatchReader.from_batches(schema, _cast(source, schema))


def coerce_rows(data_obj: ReaderLike, schema: pa.Schema | None = None) -> Any:
    """The same for the calls that take `n_jobs`, which get a whole version as it is."""
    if schema is None and not isinstance(data_obj, pa.Table):
        dataset = native_dataset(data_obj)
        if dataset is not None and not data_obj._default_scan_options:
            return dataset
    return coerce_reader(data_obj, schema)


def _stream(data: Any, schema: pa.Schema | None) -> Any:
    if isinstance(data, (pa.Table, pa.RecordBatchReader)):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.dataset.Scanner):
        return data.to_reader()
    if isinstance(data, pa.dataset.Dataset):
        return data.scanner().to_reader()
    if _is_data_frame_of("pandas", data):
        return pa.Table.from_pandas(data, schema=schema)
    if isinstance(data, dict):
        return pa.Table.from_pydict(data, schema=schema)
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return pa.Table.from_pylist(data, schema=schema)
    if isinstance(data, list) and data and hasattr(type(data[0]), "model_fields"):
        unbuilt("writing pydantic models")
    if _is_of_hugging_face(data):
        return data.data.table
    if hasattr(data, "__arrow_c_stream__"):
        return data
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        if schema is None:
            raise InvalidInput("Must provide schema to write dataset from RecordBatch iterable")
        if isinstance(data, (list, tuple)) and all(_has_schema(batch, schema) for batch in data):
            return pa.Table.from_batches(data, schema)
        return pa.RecordBatchReader.from_batches(schema, _cast(data, schema))
    raise TypeError(f"Unknown data type {type(data)}: it has no rows that could be written")


def _has_schema(batch: Any, schema: pa.Schema) -> bool:
    return isinstance(batch, pa.RecordBatch) and batch.schema.equals(schema, check_metadata=True)


def _cast(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(f"Expected RecordBatch, got {type(batch)}")
        if batch.schema.equals(schema, check_metadata=True):
            yield batch
            continue
        try:
            cast = pa.Table.from_batches([batch]).cast(schema)
        except pa.ArrowInvalid as error:
            raise InvalidInput(
                f"a batch does not fit the schema: {error}\nexpected:\n{schema}\n"
                f"got:\n{batch.schema}"
            ) from error
        yield from cast.to_batches()


def _is_data_frame_of(library: str, data: Any) -> bool:
    # Without the import: whoever holds a data frame has imported its library.
    module = sys.modules.get(library)
    return module is not None and isinstance(data, getattr(module, "DataFrame", ()))


def _is_of_hugging_face(data: Any) -> bool:
    if not type(data).__module__.startswith("datasets."):
        return False
    if type(data).__name__ != "Dataset":
        unbuilt(f"writing a Hugging Face {type(data).__name__}")
    return True
