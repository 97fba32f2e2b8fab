"""What the options of the engine's structs take, and setting them from callers' arguments."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import OutOfRange

# By the engine's names. A test compares this with the stub of the compiled module.
_NAMES = {
    "a bool": """
        canary clean_up compact delete_unverified dry_run enable_stable_row_ids
        enable_v2_manifest_paths error_if_tagged_old_versions include_deleted_rows is_shallow
        look_ahead ordered partial preserves_nullability strict sweep use_index with_row_address
        with_row_id
    """,
    "a bool or None": """
        defer_index_remap materialize_deletions rewrite_small_pages target_all_bases
    """,
    "an int": """
        conflict_retries dataset_version file_major_version file_minor_version fragment_id k
        max_retries max_rows_per_file new_index_version num_fragments offset read_ahead_bytes
        ref_version Restore.version
    """,
    "an int or None": """
        base_id batch_size data_cache_bytes delete_rate_limit file_size_bytes index_version limit
        max_bytes_per_file max_overlays_per_fragment max_page_bytes max_rows_per_group
        max_source_bytes max_source_fragments max_source_rows memory_limit num_threads read_version
        retain_versions target_bytes_per_fragment target_rows_per_fragment
    """,
    "a float or None": "materialize_deletions_threshold",
    "a str": "name new_id old_id predicate ref_path uuid",
    "a str or None": """
        branch_name commit_message data_storage_version idempotency_token ref_name update_condition
        version
    """,
    "a list of int": """
        column_indices covering_fields deleted_fragment_ids excluded_fragment_ids fields
        fields_for_preserving_frag_bitmap fields_modified removed_fragment_ids
    """,
    "a list of int or None": "versions",
    "a list of str": "target_bases",
    "a list of DatasetBasePath": "initial_bases",
    "a dict of str to str": "properties transaction_properties",
}
KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def set_option(options: Any, name: str, value: Any, *, attribute: str | None = None) -> None:
    """Sets an attribute of the engine's options, which is called as the argument if not told.

    Raises
    ------
    TypeError, OutOfRange
        Named after the argument, with the value and what it should be.
    """
    attribute = attribute or name
    try:
        setattr(options, attribute, value)
    except (TypeError, OverflowError):
        kind = KINDS.get(f"{type(options).__name__}.{attribute}") or KINDS[attribute]
        if kind.startswith("an int") and hasattr(value, "__index__"):
            bound = "non-negative" if operator.index(value) < 0 else "smaller"
            raise OutOfRange(f"{name} must be {bound}, not {value}") from None
        raise TypeError(f"{name} must be {kind}, got {value!r}") from None
