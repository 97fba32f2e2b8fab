"""Numbers about a version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from .. import _native
from .._engine.arguments import check_integer

if TYPE_CHECKING:
    from ..dataset import LanceDataset


class DatasetStats(TypedDict):
    num_deleted_rows: int
    num_fragments: int
    num_small_files: int


@dataclass
class FieldStatistics:
    """What a field takes in the data files."""

    id: int
    bytes_on_disk: int


@dataclass
class DataStatistics:
    """What each field takes in the data files, in the schema's order."""

    fields: list[FieldStatistics]


class LanceStats:
    """Numbers about a version."""

    def __init__(self, dataset: LanceDataset) -> None:
        self._dataset = dataset

    def dataset_stats(self, max_rows_per_group: int = 1024) -> DatasetStats:
        """`num_small_files` counts fragments of fewer than `max_rows_per_group` rows."""
        check_integer("max_rows_per_group", max_rows_per_group)
        dataset = self._dataset._ds
        summary = dataset.summary
        return {
            "num_deleted_rows": summary.deleted_rows,
            "num_fragments": summary.num_fragments,
            "num_small_files": dataset.count_small_fragments(max(max_rows_per_group, 0)),
        }

    def index_stats(self, index_name: str) -> dict[str, Any]:
        """What the table says of an index: see `LanceDataset.index_statistics`."""
        return self._dataset.index_statistics(index_name)

    def data_stats(self) -> DataStatistics:
        """Encoded bytes of each field in the data files; reads all their footers."""
        sizes = _native.bytes_of_fields(self._dataset._ds)
        return DataStatistics([FieldStatistics(field, size) for field, size in sizes])
