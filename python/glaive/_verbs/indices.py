"""Indices of a table: listing and dropping them. This engine does not build any."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, NoReturn, TypedDict

from .. import _native
from .._engine.arguments import check_text
from .._engine.options import Durability, ProgressFunction, version_options
from ..errors import Unsupported, unbuilt
from .handle import Handle


@dataclass(frozen=True)
class IndexSegmentDescription:
    """A part of an index, in a folder of its own.

    Attributes
    ----------
    uuid : str
        The folder's name.
    dataset_version_at_last_update : int
        The version that it was built from.
    fragment_ids : set of int
        The fragments that it answers for; some may be gone.
    index_version : int
        Of the format of this kind of index.
    created_at : datetime, optional
    size_bytes : int, optional
    base_id : int, optional
        The base that the folder lies in.
    covering_fields : list of int
        Ids of columns that it carries besides its keys.
    """

    uuid: str
    dataset_version_at_last_update: int
    fragment_ids: set[int]
    index_version: int
    created_at: datetime | None = None
    size_bytes: int | None = None
    base_id: int | None = None
    covering_fields: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class IndexDescription:
    """An index with its segments.

    Attributes
    ----------
    name : str
    index_type : str
        "BTree", "Bitmap", "LabelList", "Inverted", "Vector" and so on.
    type_url : str
        What the table says of the type.
    fields : list of int
        Ids of the fields that it is on.
    field_names : list of str
        The same as dotted paths.
    num_rows_indexed : int
        Live rows of the fragments that it answers for.
    segments : list of IndexSegmentDescription
    total_size_bytes : int, optional
    """

    name: str
    index_type: str
    type_url: str
    fields: list[int]
    field_names: list[str]
    num_rows_indexed: int
    segments: list[IndexSegmentDescription]
    total_size_bytes: int | None = None


class IndexInformation(TypedDict):
    """A segment of an index, as `list_indices` gives it."""

    name: str
    type: str
    uuid: str
    fields: list[str]
    version: int
    fragment_ids: set[int]
    base_id: int | None


def _segment(native: _native.IndexSegment) -> IndexSegmentDescription:
    created = native.created_at_ms
    return IndexSegmentDescription(
        uuid=native.uuid,
        dataset_version_at_last_update=native.dataset_version,
        fragment_ids=set(native.fragment_ids or ()),
        index_version=native.format_version,
        created_at=None
        if created is None
        else datetime.fromtimestamp(created / 1000, timezone.utc),
        size_bytes=native.size_bytes,
        base_id=native.base_id,
        covering_fields=native.covering_fields,
    )


def _index(native: _native.Index) -> IndexDescription:
    segments = [_segment(segment) for segment in native.segments]
    sizes = [segment.size_bytes for segment in segments]
    return IndexDescription(
        name=native.name,
        index_type=native.type,
        type_url=native.type_url,
        fields=native.field_ids,
        field_names=native.field_names,
        num_rows_indexed=native.num_rows_indexed,
        segments=segments,
        total_size_bytes=None if None in sizes else sum(size for size in sizes if size),
    )


def _refuse_to_build(what: str) -> NoReturn:
    raise Unsupported(
        f"{what}: glaive does not build or read an index. Filters, and nearest= with "
        "use_index=False, give the same rows by scanning; an index that pylance builds on this "
        "dataset is kept right by every verb here"
    )


class IndexVerbs(Handle):
    """Methods of LanceDataset."""

    def describe_indices(self) -> list[IndexDescription]:
        """The table's indices, by name; those of the table itself included."""
        return [_index(index) for index in _native.list_indices(self._ds)]

    def list_indices(self) -> list[IndexInformation]:
        """The segments of the table's indices."""
        return [
            {
                "name": index.name,
                "type": index.index_type,
                "uuid": segment.uuid,
                "fields": index.field_names,
                "version": segment.dataset_version_at_last_update,
                "fragment_ids": segment.fragment_ids,
                "base_id": segment.base_id,
            }
            for index in self.describe_indices()
            for segment in index.segments
        ]

    @property
    def has_index(self) -> bool:
        """Whether the table has any index."""
        return len(_native.list_indices(self._ds)) > 0

    def index_statistics(self, index_name: str) -> dict[str, Any]:
        """What the table says of an index; what only its files say, such as the number of pages, is
        not there.

        Raises
        ------
        KeyError
            There is no index of that name.
        """
        for index in self.describe_indices():
            if index.name == index_name:
                return _statistics(self._ds, index)
        raise KeyError(f'Index "{index_name}" not found')

    def drop_index(
        self,
        name: str,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Takes an index out of the table. Its files go when old versions are cleaned up.

        Parameters
        ----------
        name : str
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.

        Raises
        ------
        ValueError
            There is no index of that name.
        """
        check_text("name", name)
        self._ds = _native.drop_index(
            self._ds,
            name,
            version_options(durability, transaction_properties, commit_message, progress),
        )

    def create_scalar_index(
        self,
        column: Any,
        index_type: Any,
        name: Any = None,
        *,
        replace: Any = True,
        train: Any = True,
        fragment_ids: Any = None,
        index_uuid: Any = None,
        progress_callback: Any = None,
        format_version: Any = None,
        document_granularity: Any = "row",
        **kwargs: Any,
    ) -> NoReturn:
        _refuse_to_build("create_scalar_index")

    def create_index(
        self,
        column: Any,
        index_type: Any,
        name: Any = None,
        metric: Any = "L2",
        replace: Any = False,
        num_partitions: Any = None,
        ivf_centroids: Any = None,
        pq_codebook: Any = None,
        num_sub_vectors: Any = None,
        accelerator: Any = None,
        index_cache_size: Any = None,
        shuffle_partition_batches: Any = None,
        shuffle_partition_concurrency: Any = None,
        ivf_centroids_file: Any = None,
        precomputed_partition_dataset: Any = None,
        storage_options: Any = None,
        filter_nan: Any = True,
        train: Any = True,
        fragment_ids: Any = None,
        index_uuid: Any = None,
        *,
        target_partition_size: Any = None,
        streaming_sample_rate: Any = None,
        streaming_coreset_rate: Any = None,
        streaming_refine_passes: Any = None,
        skip_transpose: Any = False,
        progress_callback: Any = None,
        **kwargs: Any,
    ) -> NoReturn:
        _refuse_to_build("create_index")

    def create_index_uncommitted(
        self,
        column: Any,
        index_type: Any,
        name: Any = None,
        metric: Any = "L2",
        replace: Any = False,
        num_partitions: Any = None,
        ivf_centroids: Any = None,
        pq_codebook: Any = None,
        num_sub_vectors: Any = None,
        accelerator: Any = None,
        index_cache_size: Any = None,
        shuffle_partition_batches: Any = None,
        shuffle_partition_concurrency: Any = None,
        ivf_centroids_file: Any = None,
        precomputed_partition_dataset: Any = None,
        storage_options: Any = None,
        filter_nan: Any = True,
        train: Any = True,
        fragment_ids: Any = None,
        index_uuid: Any = None,
        *,
        target_partition_size: Any = None,
        streaming_sample_rate: Any = None,
        streaming_coreset_rate: Any = None,
        streaming_refine_passes: Any = None,
        skip_transpose: Any = False,
        rabitq_model: Any = None,
        **kwargs: Any,
    ) -> NoReturn:
        _refuse_to_build("create_index_uncommitted")

    def prewarm_index(
        self,
        name: Any,
        *,
        with_position: Any = False,
        index_segments: Any = None,
    ) -> NoReturn:
        _refuse_to_build("prewarm_index")

    def merge_index_metadata(
        self,
        index_uuid: Any,
        index_type: Any,
        batch_readhead: Any = None,
        progress_callback: Any = None,
    ) -> NoReturn:
        _refuse_to_build("merge_index_metadata")

    def merge_existing_index_segments(self, segments: Any) -> NoReturn:
        _refuse_to_build("merge_existing_index_segments")

    def commit_existing_index_segments(
        self,
        index_name: Any,
        column: Any,
        segments: Any,
    ) -> NoReturn:
        _refuse_to_build("commit_existing_index_segments")

    def get_ivf_model(self, index_name: Any) -> NoReturn:
        _refuse_to_build("get_ivf_model")

    def centroids(self, *, index_name: Any = None, column: Any = None) -> NoReturn:
        _refuse_to_build("centroids")

    def remap_row_addrs(self, addrs: Any) -> NoReturn:
        unbuilt("LanceDataset.remap_row_addrs")


def _statistics(dataset: _native.Dataset, index: IndexDescription) -> dict[str, Any]:
    covered = set[int]().union(*(segment.fragment_ids for segment in index.segments))
    summary = dataset.summary
    num_rows = summary.physical_rows - summary.deleted_rows
    live = covered.intersection(dataset.fragment_ids())
    times = [segment.created_at for segment in index.segments if segment.created_at]
    return {
        "index_type": index.index_type,
        "name": index.name,
        "num_indices": len(index.segments),
        "num_segments": len(index.segments),
        "num_indexed_fragments": len(live),
        "num_indexed_rows": index.num_rows_indexed,
        "num_unindexed_fragments": summary.num_fragments - len(live),
        "num_unindexed_rows": num_rows - index.num_rows_indexed,
        "updated_at_timestamp_ms": int(max(times).timestamp() * 1000) if times else None,
    }
