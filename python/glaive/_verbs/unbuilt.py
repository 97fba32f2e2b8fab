"""The parts of pylance's interface that glaive does not have yet: same names and parameters, and a
NotImplementedError that names the part. What is built moves out of here."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import unbuilt


class UnbuiltDataset:
    """Methods of LanceDataset."""

    @classmethod
    def from_pydantic_model(
        cls,
        model_class: Any,
        data: Any,
        uri: Any = None,
        mode: Any = "create",
        **kwargs: Any,
    ) -> NoReturn:
        unbuilt("LanceDataset.from_pydantic_model")

    def take_blobs(
        self,
        blob_column: Any,
        ids: Any = None,
        addresses: Any = None,
        indices: Any = None,
        *,
        buffer_size: Any = 524288,
    ) -> NoReturn:
        unbuilt("LanceDataset.take_blobs")

    def read_blobs(
        self,
        blob_column: Any,
        ids: Any = None,
        addresses: Any = None,
        indices: Any = None,
        *,
        io_buffer_size: Any = None,
        preserve_order: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.read_blobs")

    def read_blob_ranges(
        self,
        blob_column: Any,
        requests: Any,
        *,
        selector: Any,
        io_buffer_size: Any = None,
        preserve_order: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.read_blob_ranges")

    def sql(self, sql: Any) -> NoReturn:
        unbuilt("LanceDataset.sql")

    def initialize_mem_wal(
        self,
        *,
        maintained_indexes: Any = None,
        bucket_column: Any = None,
        num_buckets: Any = None,
        identity_column: Any = None,
        unsharded: Any = False,
        durable_write: Any = None,
        max_wal_buffer_size: Any = None,
        max_wal_flush_interval_ms: Any = None,
        max_memtable_size: Any = None,
        max_memtable_rows: Any = None,
        max_memtable_batches: Any = None,
        max_unflushed_memtable_bytes: Any = None,
        manifest_scan_batch_size: Any = None,
        backpressure_log_interval_ms: Any = None,
        stats_log_interval_ms: Any = None,
        hnsw_params: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.initialize_mem_wal")

    def mem_wal_index_details(self) -> NoReturn:
        unbuilt("LanceDataset.mem_wal_index_details")

    def mem_wal_writer(
        self,
        shard_id: Any,
        *,
        durable_write: Any = None,
        max_wal_buffer_size: Any = None,
        max_wal_flush_interval_ms: Any = None,
        max_memtable_size: Any = None,
        max_memtable_rows: Any = None,
        max_memtable_batches: Any = None,
        max_unflushed_memtable_bytes: Any = None,
        manifest_scan_batch_size: Any = None,
        backpressure_log_interval_ms: Any = None,
        stats_log_interval_ms: Any = None,
        hnsw_params: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.mem_wal_writer")
