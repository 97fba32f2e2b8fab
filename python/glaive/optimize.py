"""Compaction: many small fragments become few, and small pages become large ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _native
from ._engine.arguments import check_dataset, check_text
from ._engine.fragment_metadata import FragmentMetadata, from_native
from ._engine.options import Durability, ProgressFunction, compaction_options, version_options
from .errors import Unsupported

if TYPE_CHECKING:
    from .dataset import LanceDataset

_SYSTEM_INDICES = {"__lance_frag_reuse", "__lance_mem_wal"}  # of the table, and of no column


class CompactionOptions(TypedDict, total=False):
    """What to compact, and how the new files are cut. None means the default.

    ``target_bytes_per_fragment``, ``rewrite_small_pages``, ``memory_limit``,
    ``max_overlays_per_fragment``, ``look_ahead``, ``canary`` and ``partial`` are glaive's own. So
    are ``max_page_bytes``, ``data_cache_bytes``, ``durability``, ``transaction_properties``,
    ``commit_message`` and ``progress``, with the meaning that they have in `write_dataset`.
    """

    target_rows_per_fragment: int | None
    max_rows_per_group: int | None
    max_bytes_per_file: int | None
    materialize_deletions: bool | None
    materialize_deletions_threshold: float | None
    defer_index_remap: bool | None
    num_threads: int | None
    batch_size: int | None
    io_buffer_size: int | None
    compaction_mode: Literal["reencode", "try_binary_copy", "force_binary_copy"] | None
    binary_copy_read_batch_bytes: int | None
    max_source_fragments: int | None
    max_source_rows: int | None
    max_source_bytes: int | None
    excluded_fragment_ids: list[int] | None
    data_storage_version: str | None
    target_bytes_per_fragment: int | None
    rewrite_small_pages: bool | None
    memory_limit: int | None
    max_overlays_per_fragment: int | None
    look_ahead: bool | None
    max_page_bytes: int | None
    data_cache_bytes: int | None
    durability: Durability
    canary: bool | None
    partial: bool | None
    transaction_properties: dict[str, str] | None
    commit_message: str | None
    progress: ProgressFunction | None


@dataclass(frozen=True)
class LeftTask:
    """A task that did not become part of the version. Its files are removed."""

    fragment_ids: list[int]  # that it was to replace
    reason: str
    retryable: bool  # whether the fragments may be compacted as they are now


@dataclass(frozen=True)
class CompactionMetrics:
    """What a compaction took away and put in its place."""

    fragments_removed: int
    fragments_added: int
    files_removed: int
    files_added: int
    left: tuple[LeftTask, ...] = field(default=(), repr=False)


def _metrics(
    native: _native.CompactionMetrics, left: Sequence[_native.LeftTask] = ()
) -> CompactionMetrics:
    return CompactionMetrics(
        native.fragments_removed,
        native.fragments_added,
        native.files_removed,
        native.files_added,
        tuple(LeftTask(task.fragment_ids, task.reason, task.retryable) for task in left),
    )


class RewriteResult:
    """What one task wrote. Travels by pickle or JSON to whoever commits."""

    def __init__(self, native: _native.RewriteResult) -> None:
        self._native = native

    @property
    def read_version(self) -> int:
        return self._native.read_version

    @property
    def metrics(self) -> CompactionMetrics:
        return _metrics(self._native.metrics)

    @property
    def original_fragments(self) -> list[FragmentMetadata]:
        return [from_native(fragment) for fragment in self._native.original_fragments]

    @property
    def new_fragments(self) -> list[FragmentMetadata]:
        return [from_native(fragment) for fragment in self._native.new_fragments]

    def json(self) -> str:
        return self._native.to_json()

    @staticmethod
    def from_json(json: str) -> RewriteResult:
        check_text("json", json)
        return RewriteResult(_native.RewriteResult.from_json(json))

    def __reduce__(self) -> tuple[Any, ...]:
        return RewriteResult.from_json, (self.json(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RewriteResult) and _equal_json(self.json(), other.json())

    def __repr__(self) -> str:
        return (
            f"RewriteResult(read_version={self.read_version}, "
            f"new_fragments={self.new_fragments}, original_fragments={self.original_fragments})"
        )


class CompactionTask:
    """Fragments to be rewritten together, in order. Travels by pickle or JSON to a worker."""

    def __init__(self, native: _native.CompactionTask) -> None:
        self._native = native

    @property
    def read_version(self) -> int:
        return self._native.read_version

    @property
    def fragments(self) -> list[FragmentMetadata]:
        return [from_native(fragment) for fragment in self._native.fragments]

    def execute(self, dataset: LanceDataset) -> RewriteResult:
        """Writes the new files; commits nothing. On failure they are removed."""
        native = _native.execute_compaction(_table(dataset), self._native, self._native.options)
        return RewriteResult(native)

    def json(self) -> str:
        return self._native.to_json()

    @staticmethod
    def from_json(json: str) -> CompactionTask:
        check_text("json", json)
        return CompactionTask(_native.CompactionTask.from_json(json))

    def __reduce__(self) -> tuple[Any, ...]:
        return CompactionTask.from_json, (self.json(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompactionTask) and _equal_json(self.json(), other.json())

    def __repr__(self) -> str:
        return f"CompactionTask(read_version={self.read_version}, fragments={self.fragments})"


class CompactionPlan:
    """The tasks that bring a table into shape."""

    def __init__(self, native: _native.CompactionPlan) -> None:
        self._native = native

    @property
    def read_version(self) -> int:
        return self._native.read_version

    @property
    def tasks(self) -> list[CompactionTask]:
        return [CompactionTask(task) for task in self._native.tasks]

    def num_tasks(self) -> int:
        return len(self._native.tasks)

    def json(self) -> str:
        return self._native.to_json()

    @staticmethod
    def from_json(json: str) -> CompactionPlan:
        check_text("json", json)
        return CompactionPlan(_native.CompactionPlan.from_json(json))

    def __reduce__(self) -> tuple[Any, ...]:
        return CompactionPlan.from_json, (self.json(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompactionPlan) and _equal_json(self.json(), other.json())

    def __repr__(self) -> str:
        return (
            f"CompactionPlan(read_version={self.read_version}, "
            f"tasks=<{self.num_tasks()} compaction tasks>)"
        )


def _equal_json(left: str, right: str) -> bool:
    return bool(json.loads(left) == json.loads(right))


def _version(options: Mapping[str, Any]) -> _native.VersionOptions:
    names = ("durability", "transaction_properties", "commit_message", "progress")
    return version_options(*(options.get(name) for name in names))  # type: ignore[arg-type]


def _table(dataset: LanceDataset) -> _native.Dataset:
    check_dataset("dataset", dataset)
    return dataset._ds


def _written(rewrites: Iterable[RewriteResult]) -> list[_native.RewriteResult]:
    if isinstance(rewrites, str) or not isinstance(rewrites, Iterable):
        raise TypeError(f"rewrites must be a list of RewriteResult, got {rewrites!r}")
    natives = []
    for rewrite in rewrites:
        if not isinstance(rewrite, RewriteResult):
            ways = {
                str: "RewriteResult.from_json makes one of a text that RewriteResult.json gave",
                CompactionTask: "CompactionTask.execute gives one",
            }
            way = ways.get(type(rewrite))
            raise TypeError(
                f"rewrites must be a list of RewriteResult, got a {type(rewrite).__name__} in it"
                + (f": {way}" if way else "")
            )
        natives.append(rewrite._native)
    return natives


class Compaction:
    """Compaction in one step, or as a plan whose tasks may run elsewhere.

    `execute` and `commit` move `dataset` on to the version they make.
    """

    @staticmethod
    def execute(dataset: LanceDataset, options: CompactionOptions) -> CompactionMetrics:
        given = compaction_options(options)
        compact = _native.compact_with_canary if options.get("canary") else _native.compact_files
        result = compact(_table(dataset), given, _version(options))
        dataset._ds = result.dataset
        return _metrics(result.metrics, result.left)

    @staticmethod
    def check(dataset: LanceDataset, rewrites: list[RewriteResult]) -> int:
        """Compares what tasks wrote with what they read, row by row; the number of rows compared.

        They are committed to a version outside of the table's history, which is read back and
        removed again.

        Raises
        ------
        OSError
            A row differs: the error names it, with the new file and both values.
        """
        return _native.check_rewrites(_table(dataset), _written(rewrites)).rows

    @staticmethod
    def plan(dataset: LanceDataset, options: CompactionOptions) -> CompactionPlan:
        """What to rewrite. Without a byte option the tasks are pylance's, of adjacent fragments.

        With ``look_ahead=True`` they are those of `compact_files`: what would come to lie side by
        side behind all other fragments, and be joined by the next plan, is joined at once.
        """
        return CompactionPlan(
            _native.plan_compaction(
                _table(dataset), compaction_options({"look_ahead": False, **options})
            )
        )

    @staticmethod
    def commit(
        dataset: LanceDataset,
        rewrites: list[RewriteResult],
        options: CompactionOptions | None = None,
        *,
        partial: bool = False,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> CompactionMetrics:
        """Puts what tasks wrote in the place of the fragments that they read, as one version.

        Rows that were deleted or updated meanwhile stay so. A task one of whose fragments got other
        values in place, or was compacted by another, is left: `CompactionMetrics.left` tells it,
        and its files are removed.

        Parameters
        ----------
        partial : bool, default False
            Return what was left also where that is all of them.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`; instead of those in `options`.

        Raises
        ------
        CommitConflictError
            No task can be committed. Not retryable where all are committed already, or where the
            table was overwritten or restored meanwhile.
        """
        own = {
            "durability": durability,
            "transaction_properties": transaction_properties,
            "commit_message": commit_message,
            "progress": progress,
            "partial": partial or None,
        }
        given = {**(options or {}), **{name: value for name, value in own.items() if value is not None}}
        result = _native.commit_compaction(
            _table(dataset), _written(rewrites), compaction_options(given), _version(given)
        )
        dataset._ds = result.dataset
        return _metrics(result.metrics, result.left)


class DatasetOptimizer:
    """Verbs that change how a table is stored, not what it holds."""

    def __init__(self, dataset: LanceDataset) -> None:
        self._dataset = dataset

    def compact_files(
        self,
        *,
        target_rows_per_fragment: int | None = None,
        max_rows_per_group: int | None = None,
        max_bytes_per_file: int | None = None,
        materialize_deletions: bool | None = None,
        materialize_deletions_threshold: float | None = None,
        defer_index_remap: bool | None = None,
        num_threads: int | None = None,
        batch_size: int | None = None,
        compaction_mode: Literal["reencode", "try_binary_copy", "force_binary_copy"] | None = None,
        binary_copy_read_batch_bytes: int | None = None,
        max_source_fragments: int | None = None,
        max_source_rows: int | None = None,
        max_source_bytes: int | None = None,
        excluded_fragment_ids: list[int] | None = None,
        data_storage_version: str | None = None,
        target_bytes_per_fragment: int | None = None,
        rewrite_small_pages: bool | None = None,
        memory_limit: int | None = None,
        max_overlays_per_fragment: int | None = None,
        max_page_bytes: int | None = None,
        data_cache_bytes: int | None = None,
        durability: Durability = None,
        canary: bool = False,
        partial: bool | None = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> CompactionMetrics:
        """Rewrites small fragments, and those with many deleted rows, into large ones.

        A second call with the same options finds nothing to do, unless a limit on sources had left
        something.

        Parameters
        ----------
        target_rows_per_fragment : int, default 1024 * 1024
            Fragments below this are candidates, and new ones are cut near it.
        max_rows_per_group : int, optional
            Ends pages that hold 8 MiB or more after so many rows.
        max_bytes_per_file : int, default 90 GiB
            Size at which a new file is begun.
        materialize_deletions : bool, default True
            Rewrite fragments with deleted rows ...
        materialize_deletions_threshold : float, default 0.1
            ... above this fraction.
        defer_index_remap : bool, default False
            NotImplementedError for a table with indices or stable row ids; without them there is
            nothing to defer. False overrules the table's config, as for every option.
        num_threads : int, optional
            Tasks that run at once.
        batch_size : int, optional
            Rows decoded at a time. Leaves no trace in the files.
        compaction_mode : str, default "reencode"
        max_source_fragments, max_source_rows, max_source_bytes : int, optional
            Bounds on what one call rewrites.
        excluded_fragment_ids : list of int, optional
            Fragments to leave alone.
        data_storage_version : str, optional
            Of the new files; the table's own without it.
        target_bytes_per_fragment : int, optional
            Beside the rows: a fragment of so many bytes is large enough, and new ones are cut near
            this. For tables of large rows, which never reach a number of them.
        rewrite_small_pages : bool, default False
            Rewrite fragments too whose columns are cut into more than twice the pages that a write
            would make, where these are below 32 MiB. Reads the footers of all files.
        memory_limit : int, optional
            Bytes that all tasks together may hold, on all threads: open and encoded pages, batches
            decoded and read ahead. Where ``data_cache_bytes`` and ``num_threads`` would take more,
            pages end earlier, and fewer tasks run at once. Tasks then follow sizes, as with
            ``target_bytes_per_fragment``: a fragment is rewritten with smaller ones only where that
            at least doubles it, so that what a run costs follows what was added, and more small
            fragments may be left. At least 64 MiB: ValueError below, where pages would be small ones again.
        max_overlays_per_fragment : int, default 10
            Rewrite fragments too that have more overlays than this.
        max_page_bytes : int, default 256 MiB
            A page ends when its next row would pass this. Bytes of rows, before encoding.
        data_cache_bytes : int, default 256 MiB
            The largest open page ends when all open ones together would pass this.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.
        canary : bool, default False
            Compare all rows with those of before, as `Compaction.check` does, ahead of the commit.
        partial : bool, default False
            Commit the tasks that can be where others fail; `CompactionMetrics.left` tells those.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return Compaction.execute(self._dataset, given)  # type: ignore[arg-type]

    def optimize_indices(self, **kwargs: Any) -> None:
        """Nothing to do for a table without indices; those that there are need pylance for this.

        Raises
        ------
        NotImplementedError
            The table has an index, which would have to be built anew in part.
        """
        names = sorted({index.name for index in self._dataset.describe_indices()} - _SYSTEM_INDICES)
        if names:
            raise Unsupported(
                f"optimize_indices of index {', '.join(map(repr, names))}: glaive does not build "
                "indices; pylance's optimize_indices on this dataset does"
            )

    def enable_auto_cleanup(self, auto_cleanup_config: Any, **kwargs: Any) -> None:
        """Has old versions cleaned up after every ``interval`` commits.

        Those go that are ``older_than_seconds``.
        """
        self._dataset.update_config(
            {
                "lance.auto_cleanup.interval": str(auto_cleanup_config["interval"]),
                "lance.auto_cleanup.older_than": f"{auto_cleanup_config['older_than_seconds']}s",
            }
        )

    def disable_auto_cleanup(self, **kwargs: Any) -> None:
        """Has old versions stay until they are cleaned up by hand."""
        self._dataset.delete_config_keys(
            ["lance.auto_cleanup.interval", "lance.auto_cleanup.older_than"]
        )
