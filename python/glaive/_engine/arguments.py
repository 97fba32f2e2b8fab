"""Turns what callers pass into what the engine takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from .. import _native
from ..errors import InvalidInput, OutOfRange, unbuilt

if TYPE_CHECKING:
    import pyarrow.compute as pc

    Filter: TypeAlias = str | pc.Expression


def given(parameters: Mapping[str, Any], *, but: Collection[str] = ()) -> dict[str, Any]:
    """What a method was called with, from its `locals()`, to be passed on by name.

    Without `self`, and without the names in `but`; `kwargs` are taken apart.
    """
    left_out = {"self", "kwargs", *but}
    passed = {name: value for name, value in parameters.items() if name not in left_out}
    return passed if "kwargs" in but else {**passed, **parameters.get("kwargs", {})}


def refuse(where: str, **options: Any) -> None:
    """Raises for an option that was given and that this version does not have.

    None, False and empty collections say what leaving the option out says.
    """
    for name, value in options.items():
        if value is not None and value is not False and not (_is_sized(value) and len(value) == 0):
            unbuilt(f"{where}({name}=...)")


def _is_sized(value: Any) -> bool:
    return isinstance(value, (str, bytes, Sequence, Mapping))


def uri_text(uri: Any, name: str = "uri") -> str:
    """A path or URI as text."""
    if isinstance(uri, (str, os.PathLike)):
        text = os.fspath(uri)
        if isinstance(text, str):
            return text
    raise TypeError(f"a str or a path is wanted as {name}, not {type(uri).__name__}")


def native_dataset(value: Any) -> _native.Dataset | None:
    """The engine's handle of an open dataset; None for anything else."""
    handle = getattr(value, "_ds", None)
    return handle if isinstance(handle, _native.Dataset) else None


def projection(columns: Any, where: str) -> list[str] | None:
    """Names of columns, from a list, or from a dict that gives each column its own name."""
    if columns is None:
        return None
    if isinstance(columns, dict):
        if any(name != expression for name, expression in columns.items()):
            unbuilt(f"{where}(columns={{name: expression}})")
        return list(columns)
    if not isinstance(columns, (list, tuple)):
        raise TypeError(
            f"columns must be a list or dict[name, expression], not {type(columns).__name__}"
        )
    return [str(name) for name in columns]


def distance_metric(name: str | None) -> _native.DistanceMetric:
    """A metric by the name that pylance has for it."""
    if name is None:
        return _native.DistanceMetric.default
    check_text("metric", name)
    known = {"euclidean": "l2"}.get(name.lower(), name.lower())
    if known not in ("l2", "cosine", "dot", "hamming"):
        raise InvalidInput(f"Metric type '{name}' is not supported")
    return getattr(_native.DistanceMetric, known)


def query_vector(schema: pa.Schema, column: str, query: Any) -> pa.RecordBatch:
    """One vector, or several of one length, as the one column of a batch."""
    import numpy as np

    index = schema.get_field_index(column)
    if index < 0:
        raise InvalidInput(f"Embedding column {column} is not in the dataset")
    kind = schema.field(index).type
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if not pa.types.is_fixed_size_list(kind):
        raise TypeError(f"Query column {column} must be a vector. Got {kind}.")
    if isinstance(query, pa.ExtensionScalar):
        query = query.value
    if isinstance(query, (pa.Array, pa.ChunkedArray, pa.Scalar)):
        query = query.to_pylist() if not isinstance(query, pa.Scalar) else query.as_py()
    is_bytes = pa.types.is_uint8(kind.value_type)
    values = np.asarray(query, np.uint8 if is_bytes else np.float32)
    if values.ndim not in (1, 2):
        raise InvalidInput("a query is a vector, or a list of vectors")
    if values.shape[-1] != kind.list_size:
        raise InvalidInput(
            f"Query vector size {values.shape[-1]} does not match index column size "
            f"{kind.list_size}"
        )
    return pa.record_batch([pa.array(values.ravel())], ["q"])


def predicate(condition: Any, schema: pa.Schema) -> _native.Predicate:
    """SQL text or a pyarrow Expression over the columns of `schema`."""
    if isinstance(condition, str):
        return _native.Predicate.sql(condition)
    import pyarrow.compute as pc

    if isinstance(condition, pc.Expression):
        return _native.Predicate.substrait(_substrait(condition, schema))
    raise TypeError(
        f"a filter must be a str or a pyarrow Expression, not {type(condition).__name__}"
    )


def _substrait(expression: pc.Expression, schema: pa.Schema) -> Any:
    """The expression as a message that refers to columns by their position in `schema`.

    Substrait lacks some of Arrow's types. Such columns are named out of reach, with a type that it
    has, so that the others keep their positions.
    """
    fields = [
        pa.field(f"__glaive_unreachable_{position}", pa.int8())
        if _beyond_substrait(field.type)
        else field
        for position, field in enumerate(schema)
    ]
    return expression.to_substrait(pa.schema(fields))


def _beyond_substrait(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_fixed_size_list(kind):
        return True
    if pa.types.is_struct(kind):
        return any(f.metadata is not None or _beyond_substrait(f.type) for f in kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _beyond_substrait(kind.value_type)
    return False


def row_numbers(values: Any) -> memoryview:
    """Row positions, ids or addresses as unsigned 64-bit numbers in one buffer."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    elif not isinstance(values, pa.Array):
        if not hasattr(values, "__array__"):
            values = list(values)
            if any(isinstance(value, float) for value in values):  # Arrow would cut them off
                raise TypeError("a row number is an integer, not a float")
        # In two steps where needed: an empty list has no type, and numpy's integers have their own.
        values = pa.array(values, pa.uint64()) if isinstance(values, list) else pa.array(values)
    numbers = values.cast(pa.uint64())
    if numbers.null_count:
        raise InvalidInput("a row number is null")
    buffer = numbers.buffers()[1]
    if buffer is None or len(numbers) == 0:
        return memoryview(b"")
    return memoryview(buffer)[8 * numbers.offset : 8 * (numbers.offset + len(numbers))]


def check_text(name: str, value: Any) -> None:
    """Raises TypeError for what is no str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Raises TypeError for what is no bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, got {value!r}")


def check_schema(name: str, value: Any) -> None:
    """Raises TypeError for what is no schema of Arrow's."""
    if not hasattr(value, "__arrow_c_schema__"):
        raise TypeError(f"{name} must be a pyarrow.Schema, got {value!r}")


def check_dataset(name: str, value: Any) -> None:
    """Raises TypeError for what is no table."""
    if native_dataset(value) is None:
        raise TypeError(f"{name} must be a LanceDataset, got {value!r}")


def check_progress(progress: Any) -> None:
    """Raises TypeError for what is not told of the fragments of a write."""
    if progress is not None and not hasattr(progress, "_do_begin"):
        raise TypeError(f"progress must be a FragmentWriteProgress or None, got {progress!r}")


def split_progress(progress: Any) -> tuple[Any, Any]:
    """A FragmentWriteProgress, or else a function of a Progress; None for the one that is not."""
    if callable(progress) and not hasattr(progress, "_do_begin"):
        return None, progress
    check_progress(progress)
    return progress, None


def check_names(name: str, values: Any) -> None:
    """Raises TypeError for what is no list of str; a str alone is not taken letter by letter."""
    is_list = isinstance(values, Collection) and not isinstance(values, (str, bytes, Mapping))
    if not is_list or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{name} must be a list of str, got {values!r}")


def check_integer(name: str, value: Any) -> None:
    """Raises TypeError for what is no integer, numpy's among them, and not None."""
    if value is not None and not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int or None, got {value!r}")


def check_size(name: str, value: Any, least: int, *, below: int | None = 2**64) -> None:
    """Raises where a count is no integer, below what makes sense, or more than fits."""
    check_integer(name, value)
    if value is not None and operator.index(value) < least:
        bound = "non-negative" if least == 0 else f"at least {least}"
        raise OutOfRange(f"{name} must be {bound}, not {value}")
    if value is not None and below is not None and operator.index(value) >= below:
        raise OutOfRange(f"{name} must be less than {below}, not {value}")


def check_time(name: str, value: Any, *, optional: bool = False) -> None:
    """Raises TypeError for what is no length of time."""
    if not isinstance(value, timedelta) and not (optional and value is None):
        wanted = "a datetime.timedelta or None" if optional else "a datetime.timedelta"
        raise TypeError(f"{name} must be {wanted}, got {value!r}")


def check_texts(name: str, values: Any, *, with_none: bool = False) -> None:
    """Raises TypeError for what is no dict of str to str, or to None where that is allowed."""
    known = (str, type(None)) if with_none else str
    is_texts = isinstance(values, Mapping) and all(
        isinstance(key, str) and isinstance(value, known) for key, value in values.items()
    )
    if not is_texts:
        wanted = "str or None" if with_none else "str"
        raise TypeError(f"{name} must be a dict of str to {wanted}, got {values!r}")


def check_reference(name: str, reference: Any) -> None:
    """Raises for what names no version: see `LanceDataset.checkout_version`."""
    branch, version = None, reference
    if isinstance(reference, tuple) and len(reference) == 2:
        branch, version = reference
    elif isinstance(reference, str):
        return
    is_number = hasattr(version, "__index__") or (version is None and version is not reference)
    if not is_number or not isinstance(branch, (str, type(None))):
        raise TypeError(
            f"{name} must be an int, the name of a tag, or a tuple of a branch and a version on "
            f"it, got {reference!r}"
        )
    check_size(name, version, 0)
