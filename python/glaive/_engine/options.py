"""Option structs of the engine, from pylance's keyword arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .. import _native
from ..errors import InvalidInput
from .arguments import check_size
from .option_kinds import set_option
from .session import native_session

if TYPE_CHECKING:
    from .session import Session


Durability = Literal["commit", "none"] | None
ProgressFunction = Callable[[_native.Progress], Any]

# What leaving an option out says. The engine's own defaults are the same: an option that is one of
# these objects is not handed over.
DEFAULT_MAX_ROWS_PER_FILE = 1024 * 1024
DEFAULT_MAX_ROWS_PER_GROUP = 1024
DEFAULT_MAX_BYTES_PER_FILE = 90 * 1024 * 1024 * 1024
_DEFAULT_LIMITS = {
    "max_rows_per_file": DEFAULT_MAX_ROWS_PER_FILE,
    "max_rows_per_group": DEFAULT_MAX_ROWS_PER_GROUP,
    "max_bytes_per_file": DEFAULT_MAX_BYTES_PER_FILE,
    "data_cache_bytes": None,
    "max_page_bytes": None,
}

_MODES = {
    "create": _native.WriteMode.create,
    "append": _native.WriteMode.append,
    "overwrite": _native.WriteMode.overwrite,
}
_DURABILITIES = {
    None: _native.Durability.default,
    "commit": _native.Durability.commit,
    "none": _native.Durability.none,
}
_STORAGE_VERSIONS = {"stable", "next", "legacy", "0.1", "0.3", "2.0", "2.1", "2.2", "2.3"}


def write_options(
    *,
    mode: str,
    max_rows_per_file: int,
    max_rows_per_group: int | None,
    max_bytes_per_file: int,
    data_cache_bytes: int | None,
    max_page_bytes: int | None,
    data_storage_version: str | None,
    use_legacy_format: bool | None,
    session: Session | None,
    initial_bases: list[_native.DatasetBasePath] | None = None,
    target_bases: list[str] | None = None,
    target_all_bases: bool | None = None,
    n_jobs: int | None = None,
) -> _native.WriteOptions:
    """The options that write_dataset and write_fragments share."""
    if use_legacy_format is not None:
        warnings.warn(
            "use_legacy_format is deprecated, use data_storage_version instead",
            DeprecationWarning,
            stacklevel=3,
        )
        data_storage_version = "legacy" if use_legacy_format else "stable"
    options = _native.WriteOptions()
    options.mode = _mode(mode)
    limits = _file_limits(
        max_rows_per_file=max_rows_per_file,
        max_rows_per_group=max_rows_per_group,
        max_bytes_per_file=max_bytes_per_file,
        data_cache_bytes=data_cache_bytes,
        max_page_bytes=max_page_bytes,
    )
    if limits is not None:
        options.limits = limits
    if data_storage_version is not None:
        if data_storage_version not in _STORAGE_VERSIONS:
            raise InvalidInput(f"Unknown Lance storage version: {data_storage_version}")
        options.data_storage_version = data_storage_version
    if session is not None:
        options.session = native_session(session)
    if initial_bases:
        set_option(options, "initial_bases", initial_bases)
    if target_bases:
        set_option(options, "target_bases", target_bases)
    if target_all_bases is not None:
        set_option(options, "target_all_bases", target_all_bases)
    if n_jobs is not None:
        options.n_jobs = n_jobs
        check_size("n_jobs", n_jobs, 1, below=None)  # any number is as good as all files
    return options


def auto_cleanup_config(options: Mapping[str, int]) -> dict[str, str]:
    """The entries of a table's config for pylance's `auto_cleanup_options`."""
    if not isinstance(options, Mapping):
        raise TypeError(f"auto_cleanup_options must be a dict, got {options!r}")
    age = options.get("older_than_seconds", 14 * 24 * 3600)
    check_size("auto_cleanup_options['older_than_seconds']", age, 0)
    return {
        "lance.auto_cleanup.interval": str(options.get("interval", 20)),
        "lance.auto_cleanup.older_than": _native.format_duration(age),
    }


def version_options(
    durability: Durability,
    transaction_properties: dict[str, str] | None,
    commit_message: str | None,
    progress: ProgressFunction | None,
) -> _native.VersionOptions:
    """What every call that makes a version takes."""
    options = _native.VersionOptions()
    if durability is not None:
        options.durability = as_durability(durability)
    if transaction_properties is not None:
        set_option(options, "transaction_properties", transaction_properties)
    if commit_message is not None:
        set_option(options, "commit_message", commit_message)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of a Progress or None, got {progress!r}")
    options.progress = progress
    return options


def as_durability(durability: str | None) -> _native.Durability:
    """Whether a version is on stable storage before it is reported."""
    if not isinstance(durability, (str, type(None))) or durability not in _DURABILITIES:
        raise InvalidInput(f"Invalid durability {durability}: commit and none are known")
    return _DURABILITIES[durability]


def _mode(mode: str) -> _native.WriteMode:
    known = _MODES.get(mode.lower()) if isinstance(mode, str) else None
    if known is None:
        raise InvalidInput(f"Invalid mode {mode}: create, append and overwrite are known")
    return known


def _file_limits(**limits: int | None) -> _native.FileLimits | None:
    """None for the engine's defaults."""
    options = None
    for name, value in limits.items():
        if value is None or value is _DEFAULT_LIMITS[name]:
            continue
        check_size(name, value, 1)
        if options is None:
            options = _native.WriteOptions().limits
        set_option(options, name, value)
    return options


# Options that say how pylance goes about its work, and nothing about the result.
_HINTS = {"binary_copy_read_batch_bytes", "io_buffer_size"}
# Options of a compaction that go beside the engine's struct, or choose the call.
_OF_THE_CALL = {"canary", "commit_message", "progress", "transaction_properties"}
_COMPACTION = {
    "target_rows_per_fragment",
    "target_bytes_per_fragment",
    "rewrite_small_pages",
    "memory_limit",
    "max_rows_per_group",
    "max_bytes_per_file",
    "max_page_bytes",
    "data_cache_bytes",
    "materialize_deletions",
    "materialize_deletions_threshold",
    "max_overlays_per_fragment",
    "defer_index_remap",
    "num_threads",
    "batch_size",
    "max_source_fragments",
    "max_source_rows",
    "max_source_bytes",
    "look_ahead",
    "data_storage_version",
    "partial",
}


def compaction_options(given: Mapping[str, Any]) -> _native.CompactionOptions:
    """CompactionOptions from pylance's dict. None leaves it to the table's config.

    ``binary_copy_read_batch_bytes`` and ``io_buffer_size`` are accepted as the hints that they are.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"compaction options must be a dict, got {given!r}")
    options = _native.CompactionOptions()
    for name, value in given.items():
        if name == "compaction_mode":
            options.mode = None if value is None else _compaction_mode(value)
        elif name == "excluded_fragment_ids":
            ids = [] if value is None else value
            set_option(options, name, list(ids) if isinstance(ids, Iterable) else ids)
        elif name == "durability":
            options.durability = as_durability(value)
        elif name in _COMPACTION:
            if value is not None:
                set_option(options, name, value)
        elif name not in _HINTS and name not in _OF_THE_CALL:
            raise InvalidInput(f"Invalid compaction option: {name}")
    return options


def _compaction_mode(mode: str) -> _native.CompactionMode:
    known = _native.CompactionMode
    modes = {
        "reencode": known.reencode,
        "try_binary_copy": known.try_binary_copy,
        "force_binary_copy": known.force_binary_copy,
    }
    if not isinstance(mode, str) or mode not in modes:
        raise InvalidInput(
            f"Invalid compaction_mode {mode}: reencode, try_binary_copy and force_binary_copy"
            " are known"
        )
    return modes[mode]
