"""The parts of pylance's interface that glaive does not have yet: same names and parameters, and a
NotImplementedError that names the part. What is built moves out of here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

from .errors import unbuilt


class UnbuiltDataset:
    """Methods of LanceDataset."""

    def validate(self) -> NoReturn:
        unbuilt("LanceDataset.validate")

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

    @property
    def tags(self) -> Any:
        unbuilt("LanceDataset.tags")

    @property
    def branches(self) -> Any:
        unbuilt("LanceDataset.branches")

    def create_branch(
        self,
        branch: Any,
        reference: Any = None,
        storage_options: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.create_branch")

    def fragment_ids(self) -> NoReturn:
        unbuilt("LanceDataset.fragment_ids")

    def io_stats_snapshot(self) -> NoReturn:
        unbuilt("LanceDataset.io_stats_snapshot")

    def io_stats_incremental(self) -> NoReturn:
        unbuilt("LanceDataset.io_stats_incremental")

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

    @property
    def storage_options_accessor(self) -> Any:
        unbuilt("LanceDataset.storage_options_accessor")

    def new_file_session(self) -> NoReturn:
        unbuilt("LanceDataset.new_file_session")

    def cleanup_old_versions(
        self,
        older_than: Any = None,
        retain_versions: Any = None,
        *,
        delete_unverified: Any = False,
        error_if_tagged_old_versions: Any = True,
        delete_rate_limit: Any = None,
        versions: Any = None,
        delete_concurrency: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.cleanup_old_versions")

    def explain_cleanup_old_versions(
        self,
        older_than: Any = None,
        retain_versions: Any = None,
        *,
        delete_unverified: Any = False,
        error_if_tagged_old_versions: Any = True,
        delete_rate_limit: Any = None,
        versions: Any = None,
        include_files: Any = False,
        max_files: Any = 1000,
    ) -> NoReturn:
        unbuilt("LanceDataset.explain_cleanup_old_versions")

    def shallow_clone(
        self,
        target_path: Any,
        reference: Any,
        storage_options: Any = None,
        **kwargs: Any,
    ) -> NoReturn:
        unbuilt("LanceDataset.shallow_clone")

    def deep_clone(
        self,
        target_path: Any,
        reference: Any,
        storage_options: Any = None,
        **kwargs: Any,
    ) -> NoReturn:
        unbuilt("LanceDataset.deep_clone")

    def migrate_manifest_paths_v2(self) -> NoReturn:
        unbuilt("LanceDataset.migrate_manifest_paths_v2")


    def sql(self, sql: Any) -> NoReturn:
        unbuilt("LanceDataset.sql")

    def delta(
        self,
        compared_against: Any = None,
        *,
        begin_version: Any = None,
        end_version: Any = None,
    ) -> NoReturn:
        unbuilt("LanceDataset.delta")

    @staticmethod
    def drop(base_uri: Any, storage_options: Any = None, ignore_not_found: Any = None) -> NoReturn:
        unbuilt("LanceDataset.drop")

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

    def tracked_files(self, *, min_version: Any = None, progress: Any = None) -> NoReturn:
        unbuilt("LanceDataset.tracked_files")

    def all_files(self) -> NoReturn:
        unbuilt("LanceDataset.all_files")
