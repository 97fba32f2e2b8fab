"""Maintenance of a table in one run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from .. import _native
from .._engine.arguments import check_time
from .._engine.option_kinds import set_option
from .._engine.options import (
    Durability,
    ProgressFunction,
    compaction_options,
    version_options,
)
from .._native import MaintenanceReport
from ..dataset import LanceDataset, Session
from ..errors import InvalidInput
from ..optimize import CompactionOptions


def maintain(
    dataset: LanceDataset | str | os.PathLike[str],
    *,
    compact: bool = True,
    cleanup: bool = True,
    sweep: bool = True,
    compaction: CompactionOptions | Mapping[str, Any] | None = None,
    canary: bool = False,
    time_limit: timedelta | None = None,
    commit_interval: timedelta = timedelta(minutes=1),
    older_than: timedelta | None = None,
    retain_versions: int | None = None,
    delete_rate_limit: int | None = None,
    orphan_age: timedelta = timedelta(days=7),
    dry_run: bool = False,
    session: Session | None = None,
    durability: Durability = None,
    transaction_properties: dict[str, str] | None = None,
    commit_message: str | None = None,
    progress: ProgressFunction | None = None,
) -> MaintenanceReport:
    """Joins small fragments, then removes old versions, then files that no version refers to.

    Safe beside readers and writers. A handle moves on to the version that is newest afterwards.

    Parameters
    ----------
    dataset : LanceDataset, str or path
        The table; of a handle, its branch.
    compact, cleanup, sweep : bool
        The steps to run.
    compaction : dict, optional
        Options of `DatasetOptimizer.compact_files`; limits on sources hold for the whole run.
    canary : bool, default False
        Compare all rows with those of before ahead of each commit.
    time_limit : timedelta, optional
        No task and no removal begins later.
    commit_interval : timedelta, default one minute
        Finished tasks are committed when so much has passed.
    older_than : timedelta, optional
    retain_versions : int, optional
        Which versions go, as in `cleanup_old_versions`; tagged ones are passed over. With neither,
        as the table's config ``lance.auto_cleanup.*`` says, or when they are 14 days old.
        `retain_versions` alone is a floor: so many stay, and of the others those that are younger
        than the config's age, or else than 14 days.
    delete_rate_limit : int, optional
        Files a second.
    orphan_age : timedelta, default seven days
        Files that no version refers to go when they are so old. Younger ones may be a writer's who
        has not committed yet.
    dry_run : bool, default False
        Change nothing, and report what would be done.
    session : Session, optional
        Cache for opening the table by its URI, as in `glaive.dataset`; a handle has its own.
    durability, transaction_properties, commit_message, progress : optional
        As in `write_dataset`, of all versions that the run makes.

    Returns
    -------
    MaintenanceReport
        ``compaction``, ``cleanup`` and ``sweep`` have an ``outcome`` ("done", "limited",
        "conflict" or "not_run"), counts, bytes and seconds.

    Raises
    ------
    ValueError
        For options that cannot be, or that would have no effect beside another: `older_than`
        without `cleanup`, `canary` with `dry_run`.
    KeyboardInterrupt, and the errors of a step that failed
        The steps after it are not run; what had been done stays.
    """
    if not isinstance(dataset, LanceDataset):
        dataset = LanceDataset(dataset, session=session)
    options = _native.MaintenanceOptions()
    set_option(options, "compact", compact)
    set_option(options, "cleanup", cleanup, attribute="clean_up")
    set_option(options, "sweep", sweep)
    if compaction and not compact:
        raise InvalidInput("compaction has no effect without compact")
    options.compaction = compaction_options(compaction or {})
    set_option(options, "canary", canary)
    if time_limit is not None:
        options.time_limit_ns = _nanoseconds("time_limit", time_limit)
    options.commit_interval_ns = _nanoseconds("commit_interval", commit_interval)
    if older_than is not None:
        options.older_than_ns = _nanoseconds("older_than", older_than)
    set_option(options, "retain_versions", retain_versions)
    set_option(options, "delete_rate_limit", delete_rate_limit)
    options.orphan_age_ns = _nanoseconds("orphan_age", orphan_age)
    set_option(options, "dry_run", dry_run)
    version = version_options(durability, transaction_properties, commit_message, progress)
    report = _native.maintain(dataset._ds, options, version)
    dataset._ds = report.dataset
    return report


def _nanoseconds(name: str, time: timedelta) -> int:
    check_time(name, time)
    if time < timedelta(0):
        raise InvalidInput(f"{name} is a length of time and not negative, got {time}")
    return time // timedelta(microseconds=1) * 1000
