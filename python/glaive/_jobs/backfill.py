"""Columns computed fragment by fragment, in calls that can be broken off and gone on with."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_flag, check_size, uri_text
from .._engine.options import Durability, ProgressFunction, version_options
from ..dataset import LanceDataset, Session
from ..errors import InvalidInput
from ..udf import BatchUDF, new_columns


class BackfillStats(NamedTuple):
    """What a backfill did."""

    #: Fragments that got values by versions of this call.
    fragments_committed: int
    #: Fragments that this call computed; one may count several times.
    fragments_computed: int
    #: Fragments that an earlier call had computed, by its checkpoint.
    fragments_resumed: int
    #: Fragments that were computed again, since others had changed their inputs or moved rows.
    fragments_recomputed: int
    #: Versions that this call made.
    versions: int


def backfill(
    dataset: LanceDataset | str | os.PathLike[str],
    columns: pa.Schema | pa.Field | dict[str, str],
    fn: Callable[[pa.RecordBatch], Any] | None = None,
    read_columns: list[str] | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    commit_every: int = 0,
    overwrite: bool = False,
    batch_size: int | None = None,
    num_threads: int | None = None,
    commit_message: str | None = None,
    transaction_properties: dict[str, str] | None = None,
    progress: bool | Callable[[int, int, int], None] = False,
    session: Session | None = None,
    durability: Durability = None,
) -> BackfillStats:
    """Gives columns values in every fragment, beside other writers.

    Fragments are computed in parallel and staged as files; what was staged is then committed, and
    `dataset` moved to that version. Fragments that others add meanwhile are computed as well, until
    there is none left, and deletes are kept. A fragment in which a column that the values are
    computed from was changed, or out of which rows were moved, is computed again, and no other.
    While the call runs the columns are its own: what others write into them is computed anew.

    Parameters
    ----------
    dataset : LanceDataset, str or path
    columns : pyarrow.Schema, Field or dict
        What `fn` returns; or, without it, SQL expressions by the names of their columns.
    fn : callable, optional
        Takes a RecordBatch of live rows and returns a RecordBatch (or a pandas DataFrame) of as
        many. Called on several threads, so that what releases the GIL runs in parallel.
    read_columns : list of str, optional
        What `fn` is given, and what the values depend on; all other columns without it.
    checkpoint : str or path, optional
        A local folder that keeps what was computed until it is committed. The same call goes on
        from there after a failure or the end of the process. Emptied at the end.
    commit_every : int, default 0
        Fragments in one version, as soon as so many are computed. 0: all in one, at the end.
    overwrite : bool, default False
        Columns that the table has are computed anew in every row; else that is an error.
    batch_size : int, default 1024
        Rows that `fn` is given at a time.
    num_threads : int, optional
        Fragments that are computed at a time; one for each core without it.
    commit_message : str, optional
    transaction_properties : dict, optional
        Of the versions that are made.
    progress : bool or callable, default False
        True draws a bar on standard error. A callable is told fragments done, fragments in all and
        rows computed by this call, on the thread that made the call.
    session : Session, optional
        Cache for opening the table by its URI, as in `glaive.dataset`; a handle has its own.
    durability : {"commit", "none"}, optional
        As in `write_dataset`.

    Raises
    ------
    ValueError
        For columns that are there without `overwrite`, a function that gives other columns or
        another number of rows than it should, `commit_every` for new columns that cannot be null,
        and the checkpoint of another backfill.
    ColumnWriteConflict
        If others changed the schema so that the columns do not fit any more.
    """
    table = (
        dataset if isinstance(dataset, LanceDataset) else LanceDataset(dataset, session=session)
    )
    if isinstance(columns, pa.Field):
        columns = pa.schema([columns])
    if isinstance(columns, pa.Schema) == (fn is None):
        raise InvalidInput("columns are a schema beside a function, or expressions without one")
    what = columns if fn is None else BatchUDF(fn, columns)  # type: ignore[arg-type]
    check_size("commit_every", commit_every, 0)
    check_flag("overwrite", overwrite)
    check_size("num_threads", num_threads, 1)
    told = _Bar() if progress is True else progress or None
    version = version_options(durability, transaction_properties, commit_message, _counts(told))
    try:
        result = _native.backfill(
            table._ds,
            new_columns(what, table, read_columns, None, batch_size),
            None if checkpoint is None else uri_text(checkpoint, "checkpoint"),
            commit_every,
            overwrite,
            num_threads,
            version,
        )
    finally:
        if isinstance(told, _Bar):
            told.end()
    table._ds = result.dataset
    return BackfillStats(*(getattr(result, name) for name in BackfillStats._fields))


def _counts(told: Callable[[int, int, int], None] | None) -> ProgressFunction | None:
    if told is None or not callable(told):
        return told
    return lambda progress: told(progress.tasks, progress.total_tasks, progress.rows)


class _Bar:
    """A line on standard error."""

    _WIDTH = 40

    def __call__(self, done: int, total: int, rows: int) -> None:
        filled = self._WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (self._WIDTH - filled)
        text = f"\r[{bar}] {done}/{total} fragments, {rows} rows"
        print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        print(file=sys.stderr)
