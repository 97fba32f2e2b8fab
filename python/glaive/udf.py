"""Functions of batches that give new columns."""

from __future__ import annotations

import os
import pickle
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from . import _native
from ._engine.arguments import check_names, check_size
from ._engine.batches import coerce_reader
from .errors import InvalidInput

if TYPE_CHECKING:
    from .dataset import LanceDataset
    from .fragment import LanceFragment


class BatchUDF:
    """A function that takes a RecordBatch of a table's columns and gives the new ones.

    Parameters
    ----------
    func : callable
        Returns a RecordBatch or a pandas DataFrame with as many rows as it was given.
    output_schema : pyarrow.Schema, optional
        What it returns; found out by a call with one row where it is not told.
    checkpoint_file : str or path, optional
        An SQLite file that keeps results until the columns are committed: the same call goes on
        from there after a failure.
    """

    def __init__(
        self,
        func: Callable[[pa.RecordBatch], Any],
        output_schema: pa.Schema | None = None,
        checkpoint_file: str | os.PathLike[str] | None = None,
    ) -> None:
        self.func = func
        self.output_schema = output_schema
        self.cache = None if checkpoint_file is None else BatchUDFCheckpoint(checkpoint_file)

    def __call__(self, batch: pa.RecordBatch) -> Any:
        return self.func(batch)

    def _call(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.output_schema is None:
            raise InvalidInput("output_schema must be given for a function of batches")
        result = _as_batch(self.func(batch))
        if result.schema != self.output_schema:
            raise AssertionError(
                "Output schema of function does not match the expected schema. Expected:\n"
                f"{self.output_schema}\nGot:\n{result.schema}"
            )
        return result


def batch_udf(
    output_schema: pa.Schema | None = None,
    checkpoint_file: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[[pa.RecordBatch], Any]], BatchUDF]:
    """Decorates a function to be a `BatchUDF`, whose parameters these are."""

    def decorate(func: Callable[[pa.RecordBatch], Any]) -> BatchUDF:
        return BatchUDF(func, output_schema, checkpoint_file)

    return decorate


class BatchUDFCheckpoint:
    """Results of a BatchUDF in an SQLite file, in the tables that pylance uses."""

    class BatchInfo(NamedTuple):
        fragment_id: int
        batch_index: int

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS batches"
                " (fragment_id INT, batch_index INT, result BLOB)"
            )
            # Files that were written and are not committed.
            connection.execute(
                "CREATE TABLE IF NOT EXISTS fragments (fragment_id INT, data BLOB)"
            )
            connection.commit()

    def cleanup(self) -> None:
        """Removes the file."""
        os.remove(self.path)

    def get_batch(self, info: BatchInfo) -> pa.RecordBatch | None:
        found = self._first(
            "SELECT result FROM batches WHERE fragment_id = ? AND batch_index = ?",
            (info.fragment_id, info.batch_index),
        )
        return None if found is None else pickle.loads(found)

    def insert_batch(self, info: BatchInfo, batch: pa.RecordBatch) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(
                "INSERT INTO batches (fragment_id, batch_index, result) VALUES (?, ?, ?)",
                (info.fragment_id, info.batch_index, pickle.dumps(batch)),
            )
            connection.commit()

    def get_fragment(self, fragment_id: int) -> str | None:
        """The fragment's metadata as JSON."""
        return self._first("SELECT data FROM fragments WHERE fragment_id = ?", (fragment_id,))

    def insert_fragment(self, fragment_id: int, fragment: str) -> None:
        """Keeps a fragment's metadata in the place of its batches."""
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(
                "INSERT INTO fragments (fragment_id, data) VALUES (?, ?)", (fragment_id, fragment)
            )
            connection.execute("DELETE FROM batches WHERE fragment_id = ?", (fragment_id,))
            connection.commit()

    def _first(self, query: str, parameters: tuple[int, ...]) -> Any:
        # A connection for each call: they must not be shared by threads.
        with closing(sqlite3.connect(self.path)) as connection:
            row = connection.execute(query, parameters).fetchone()
        return None if row is None else row[0]


class _Checkpoint:
    """A BatchUDFCheckpoint with the methods that the engine calls."""

    def __init__(self, cache: BatchUDFCheckpoint) -> None:
        self._cache = cache

    def find_batch(self, fragment_id: int, index: int) -> pa.RecordBatch | None:
        return self._cache.get_batch(BatchUDFCheckpoint.BatchInfo(fragment_id, index))

    def keep_batch(self, fragment_id: int, index: int, batch: Any) -> None:
        info = BatchUDFCheckpoint.BatchInfo(fragment_id, index)
        self._cache.insert_batch(info, pa.record_batch(batch))

    def find_fragment(self, fragment_id: int) -> str | None:
        return self._cache.get_fragment(fragment_id)

    def keep_fragment(self, fragment_id: int, fragment: str) -> None:
        self._cache.insert_fragment(fragment_id, fragment)


def _as_batch(result: Any) -> pa.RecordBatch:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(result, pandas.DataFrame):
        return pa.RecordBatch.from_pandas(result)
    return result


def new_columns(
    transforms: Any,
    source: LanceDataset | LanceFragment,
    read_columns: list[str] | None,
    reader_schema: pa.Schema | None,
    batch_size: int | None,
) -> Any:
    """What `add_columns` and `merge_columns` take, as the engine takes it."""
    check_size("batch_size", batch_size, 0)
    if read_columns is not None:
        check_names("read_columns", read_columns)
    if isinstance(transforms, pa.Field):
        transforms = [transforms]
    if isinstance(transforms, list) and transforms and isinstance(transforms[0], pa.Field):
        transforms = pa.schema(transforms)
    if isinstance(transforms, pa.Schema):
        return _native.NullColumns(transforms)
    if isinstance(transforms, dict):
        return _expressions(transforms)
    if isinstance(transforms, BatchUDF):
        if transforms.output_schema is None:
            transforms.output_schema = _sample(transforms, source, read_columns).schema
    elif callable(transforms):
        try:
            schema = _sample(transforms, source, read_columns).schema
        except Exception as error:
            raise TypeError(
                "transforms must be a BatchUDF, dict, map function, or ReaderLike value. Received"
                f" {type(transforms)}, which is callable, but gave an error when called with a"
                f" batch of data: {error}"
            ) from error
        transforms = BatchUDF(transforms, schema)
    else:
        try:
            return coerce_reader(transforms, reader_schema)
        except TypeError as error:
            raise TypeError(
                "transforms must be a BatchUDF, dict, map function, or ReaderLike value. Received"
                f" {type(transforms)}. Could not coerce to a reader: {error}"
            ) from error
    udf = transforms
    return _native.ColumnFunction(
        lambda batch: udf._call(pa.record_batch(batch)),
        udf.output_schema,
        None if read_columns is None else list(read_columns),
        batch_size,
        None if udf.cache is None else _Checkpoint(udf.cache),
    )


def _expressions(transforms: dict[str, str]) -> list[_native.ComputedColumn]:
    for name, expression in transforms.items():
        if not isinstance(name, str):
            raise TypeError(f"Column names must be a string. Got {type(name)}")
        if not isinstance(expression, str):
            raise TypeError(f"Column expressions must be a string. Got {type(expression)}")
    return [_native.ComputedColumn(name, sql) for name, sql in transforms.items()]


def _sample(
    function: Callable[[pa.RecordBatch], Any],
    source: LanceDataset | LanceFragment,
    read_columns: list[str] | None,
) -> pa.RecordBatch:
    """What the function gives for the first row."""
    batches = source.to_batches(limit=1, columns=read_columns)
    return _as_batch(function(next(iter(batches))))
