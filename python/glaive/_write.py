"""Writing a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from . import _native
from ._arguments import (
    check_progress,
    check_size,
    native_dataset,
    refuse,
    set_option,
    uri_text,
)
from ._options import (
    DEFAULT_MAX_BYTES_PER_FILE,
    DEFAULT_MAX_ROWS_PER_FILE,
    DEFAULT_MAX_ROWS_PER_GROUP,
    write_options,
)
from ._write_target import WriteTarget
from .errors import as_os_errors
from .types import _coerce_rows

if TYPE_CHECKING:
    from ._session import Session
    from .commit import CommitLock
    from .dataset import LanceDataset
    from .progress import FragmentWriteProgress
    from .types import ReaderLike


def write_dataset(
    data_obj: ReaderLike,
    uri: str | os.PathLike[str] | LanceDataset | None = None,
    schema: pa.Schema | None = None,
    mode: str = "create",
    *,
    max_rows_per_file: int = DEFAULT_MAX_ROWS_PER_FILE,
    max_rows_per_group: int = DEFAULT_MAX_ROWS_PER_GROUP,
    max_bytes_per_file: int = DEFAULT_MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    commit_lock: CommitLock | None = None,
    progress: FragmentWriteProgress | None = None,
    storage_options: dict[str, str] | None = None,
    data_storage_version: Literal["stable", "2.0", "2.1", "2.2", "2.3", "next", "legacy", "0.1"]
    | None = None,
    use_legacy_format: bool | None = None,
    enable_v2_manifest_paths: bool = True,
    enable_stable_row_ids: bool = False,
    auto_cleanup_options: Any | None = None,
    commit_message: str | None = None,
    transaction_properties: dict[str, str] | None = None,
    initial_bases: list[Any] | None = None,
    target_bases: list[str] | None = None,
    target_all_bases: bool | None = None,
    base_store_params: dict[str, dict[str, str]] | None = None,
    external_blob_mode: Literal["reference", "ingest"] = "reference",
    allow_external_blob_outside_bases: bool = False,
    blob_pack_file_size_threshold: int | None = None,
    namespace_client: Any | None = None,
    table_id: list[str] | None = None,
    session: Session | None = None,
    durability: Literal["commit", "none"] | None = None,
    n_jobs: int | None = None,
) -> LanceDataset:
    """Writes rows as one new version of a table. A failed call leaves no version and no file.

    Parameters
    ----------
    data_obj : table, batch, reader, data frame, dict, list of dicts, dataset, scanner or iterable
        The rows. An iterable of RecordBatch needs a `schema`.
    uri : str, path or LanceDataset
        Where. An open handle's schema and version are taken as they are.
    schema : pyarrow.Schema, optional
        What the data is cast to.
    mode : {"create", "append", "overwrite"}
        ``create`` fails where there is a table; the others create one where there is none.
    max_rows_per_file : int
        Rows after which a new file is begun.
    max_rows_per_group : int
        Ends pages that hold 8 MiB or more after so many rows. The default is no such limit.
    max_bytes_per_file : int, default 90 GiB
        Size at which a new file is begun.
    data_cache_bytes : int, default 256 MiB
        The largest open page ends when all open ones together would pass this.
    max_page_bytes : int, default 256 MiB
        A page ends when its next row would pass this. Bytes of rows, before encoding.
    data_storage_version : str, optional
        Version of the file format; the table's own, or "2.2" for a new one.
    enable_v2_manifest_paths, enable_stable_row_ids : bool
        For a new table.
    progress : glaive.progress.FragmentWriteProgress, optional
        Told of each fragment that is begun and completed.
    initial_bases : list of DatasetBasePath, optional
        Other places for files of a new table.
    target_bases : list of str, optional
        Names or paths of bases that take turns at the new files; the table's own URI is its own
        folder, which gets them all without this.
    target_all_bases : bool, optional
        All bases take turns; True: the table's own folder first.
    auto_cleanup_options : dict, optional
        Old versions of a new table are cleaned up after each commit whose number ``interval``
        (20) divides, when they are ``older_than_seconds`` (14 days).
    commit_message : str, optional
        Kept in the transaction.
    transaction_properties : dict of str to str, optional
        Kept in the transaction.

    durability : {"commit", "none"}, optional
        Whether the version is on stable storage, data and names, before this returns. "commit"
        unless GLAIVE_DURABILITY says otherwise.
    n_jobs : int, optional
        How many files may be written at a time, at least 1. None and 1: file after file.

        A table, a data frame, a batch, a dict, or a list of batches is cut into at most this many
        partitions of equal bytes, none below 32 MiB or one full file, each with its part of
        `data_cache_bytes`. Of a stream (a reader, a scanner, a generator), and where files end by
        `max_bytes_per_file` and hold several pages of a column, the files stay as they would be;
        they are finished while the next ones are filled. Either way rows keep their
        order, there are at most ``n_jobs - 1`` files more than without, all of them or none get
        into the version, and memory stays within what one writer may take. An error of a
        partition names it and has the error itself as its ``__cause__``.

        The name is scikit-learn's and joblib's, for how many jobs run at once. It adds no
        processes, and no threads that compute: those are ``GLAIVE_CPU_THREADS`` (one for each
        core) for all calls, and a write uses them for the pages of a file whatever `n_jobs` is.
        What grows with it is how many files wait for the store, up to the larger one of that and
        ``GLAIVE_IO_THREADS`` (8).

    Others
        Not supported: NotImplementedError when they are given.
    """
    from .dataset import LanceDataset

    refuse(
        "write_dataset",
        commit_lock=commit_lock,
        storage_options=storage_options,
        base_store_params=base_store_params,
        external_blob_mode=external_blob_mode if external_blob_mode != "reference" else None,
        allow_external_blob_outside_bases=allow_external_blob_outside_bases,
        blob_pack_file_size_threshold=blob_pack_file_size_threshold,
        namespace_client=namespace_client,
        table_id=table_id,
    )
    options = write_options(
        mode=mode or "create",
        max_rows_per_file=max_rows_per_file,
        max_rows_per_group=max_rows_per_group,
        max_bytes_per_file=max_bytes_per_file,
        data_cache_bytes=data_cache_bytes,
        max_page_bytes=max_page_bytes,
        data_storage_version=data_storage_version,
        use_legacy_format=use_legacy_format,
        session=session,
        durability=durability,
        initial_bases=initial_bases,
        target_bases=target_bases,
        target_all_bases=target_all_bases,
        n_jobs=n_jobs,
    )
    if enable_v2_manifest_paths is not None and enable_v2_manifest_paths is not True:
        set_option(options, "enable_v2_manifest_paths", enable_v2_manifest_paths)
    if enable_stable_row_ids is not None and enable_stable_row_ids is not False:
        set_option(options, "enable_stable_row_ids", enable_stable_row_ids)
    if auto_cleanup_options is not None:
        options.initial_config = _auto_cleanup_config(auto_cleanup_options)
    if commit_message is not None:
        set_option(options, "commit_message", commit_message)
    if transaction_properties:
        set_option(options, "transaction_properties", transaction_properties)
    check_progress(progress)
    if isinstance(uri, WriteTarget):
        raise TypeError(
            "a WriteTarget is what workers write files for, and makes no version: call "
            "fragment.write_fragments(data, target), then LanceDataset.commit(target.uri, "
            "LanceOperation.Append(fragments), target.version)"
        )
    target: Any = native_dataset(uri)
    if target is None:
        target = uri_text(uri)
    reader = _coerce_rows(data_obj, schema)
    with as_os_errors():
        result = _native.write_dataset(reader, target, options, progress)
    return LanceDataset._made(result.dataset)


def _auto_cleanup_config(options: Mapping[str, int]) -> dict[str, str]:
    if not isinstance(options, Mapping):
        raise TypeError(f"auto_cleanup_options must be a dict, got {options!r}")
    age = options.get("older_than_seconds", 14 * 24 * 3600)
    check_size("auto_cleanup_options['older_than_seconds']", age, 0)
    return {
        "lance.auto_cleanup.interval": str(options.get("interval", 20)),
        "lance.auto_cleanup.older_than": _native.format_duration(age),
    }
