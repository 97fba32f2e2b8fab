"""Compaction: many small fragments become few, and small pages become large ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict

from . import _native
from ._options import compaction_options
from .fragment import FragmentMetadata, from_native

if TYPE_CHECKING:
    from .dataset import LanceDataset


class CompactionOptions(TypedDict, total=False):
    """What to compact, and how the new files are cut. None means the default.

    ``max_page_bytes`` and ``data_cache_bytes`` are glaive's own; they mean what they mean in
    `write_dataset`.
    """

    target_rows_per_fragment: Optional[int]
    max_rows_per_group: Optional[int]
    max_bytes_per_file: Optional[int]
    materialize_deletions: Optional[bool]
    materialize_deletions_threshold: Optional[float]
    defer_index_remap: Optional[bool]
    num_threads: Optional[int]
    batch_size: Optional[int]
    io_buffer_size: Optional[int]
    compaction_mode: Optional[Literal["reencode", "try_binary_copy", "force_binary_copy"]]
    binary_copy_read_batch_bytes: Optional[int]
    max_source_fragments: Optional[int]
    max_source_rows: Optional[int]
    max_source_bytes: Optional[int]
    excluded_fragment_ids: Optional[list[int]]
    data_storage_version: Optional[str]
    max_page_bytes: Optional[int]
    data_cache_bytes: Optional[int]


@dataclass(frozen=True)
class CompactionMetrics:
    """What a compaction took away and put in its place."""

    fragments_removed: int
    fragments_added: int
    files_removed: int
    files_added: int


def _metrics(native: _native.CompactionMetrics) -> CompactionMetrics:
    return CompactionMetrics(
        native.fragments_removed,
        native.fragments_added,
        native.files_removed,
        native.files_added,
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
    """Adjacent fragments to be rewritten together. Travels by pickle or JSON to a worker."""

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
        native = _native.execute_compaction(dataset._ds, self._native, self._native.options)
        return RewriteResult(native)

    def json(self) -> str:
        return self._native.to_json()

    @staticmethod
    def from_json(json: str) -> CompactionTask:
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


class Compaction:
    """Compaction in one step, or as a plan whose tasks may run elsewhere.

    `execute` and `commit` move `dataset` on to the version they make.
    """

    @staticmethod
    def execute(dataset: LanceDataset, options: CompactionOptions) -> CompactionMetrics:
        result = _native.compact_files(dataset._ds, compaction_options(options))
        dataset._ds = result.dataset
        return _metrics(result.metrics)

    @staticmethod
    def plan(dataset: LanceDataset, options: CompactionOptions) -> CompactionPlan:
        return CompactionPlan(_native.plan_compaction(dataset._ds, compaction_options(options)))

    @staticmethod
    def commit(
        dataset: LanceDataset,
        rewrites: list[RewriteResult],
        options: Optional[CompactionOptions] = None,
    ) -> CompactionMetrics:
        result = _native.commit_compaction(
            dataset._ds,
            [rewrite._native for rewrite in rewrites],
            compaction_options(options or {}),
        )
        dataset._ds = result.dataset
        return _metrics(result.metrics)
