"""The part of the suite that the first working engine must pass: `pytest --first-slice`, `report.py --first-slice`.

Common types, file versions 2.1 and 2.2, and the functions listed here. A test is in the slice if its function is
listed and its parameters name nothing outside of it.
"""
import re

TYPES = {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool",
    "utf8", "large_utf8", "binary", "large_binary", "fsl_f32", "list_i32", "large_list_utf8", "list_list_i16",
    "list_struct", "struct", "struct_struct", "struct_list",
}  # fmt: skip
VERSIONS = {"2.1", "2.2"}

FUNCTIONS = {
    "test_read": {
        "test_to_table", "test_take", "test_take_projected", "test_scanner_window", "test_count_rows",
        "test_wide_table_projection", "test_nested_projection", "test_schema_metadata", "test_take_after_deletions",
        "test_row_ids_and_addresses", "test_empty_projection_counts", "test_many_batches_of_nested_lists",
    },
    "test_write": {
        "test_create", "test_grow_and_continue_with_oracle", "test_default_version_is_the_oracles", "test_max_rows_per_file",
        "test_max_bytes_per_file", "test_accepted_inputs", "test_append_creates_a_missing_dataset",
        "test_append_keeps_the_datasets_version", "test_transaction_properties_and_message", "test_manifest_names",
        "test_field_ids_match_the_oracle", "test_data_files_match_the_oracle", "test_sliced_nested_struct",
        "test_file_limit_inside_a_batch_of_nested_structs", "test_writes_leave_no_foreign_files",
    },
    "test_compaction": {
        "test_small_lists_become_one_page", "test_fat_lists_are_coalesced", "test_reproduction_at_full_size",
        "test_other_columns_become_one_page", "test_uneven_and_single_row_fragments", "test_byte_limit", "test_row_limit",
        "test_row_limit_never_shreds_narrow_columns", "test_batch_size_leaves_no_trace", "test_target_rows_bound_the_output",
        "test_peak_memory_is_bounded", "test_deletions_are_materialised", "test_deletion_threshold",
        "test_second_run_does_nothing", "test_plan_equals_the_oracles", "test_distributed_compaction", "test_unknown_option",
    },
    "test_errors": {
        "test_take_missing_column", "test_missing_fragment_is_none", "test_damaged_data_file", "test_other_fragments_stay_readable",
        "test_damaged_only_manifest", "test_manifest_magic", "test_cut_head_manifest", "test_older_version_opens_beside_a_damaged_head",
        "test_flipped_bytes", "test_not_a_dataset", "test_path_is_a_file", "test_read_only_directory_or_missing_parent",
    },
    "test_versions": {
        "test_versions_list", "test_time_travel", "test_checkout_makes_a_new_object", "test_checkout_latest_moves_the_object",
        "test_reader_keeps_its_snapshot", "test_delete_nothing",
    },
}  # fmt: skip


def contains(item, every_type) -> bool:
    """Whether a collected pytest item belongs to the slice; `every_type` are the suite's type names."""
    function = item.originalname or item.name
    if function not in FUNCTIONS.get(item.path.stem, ()):
        return False
    words = item.name[len(function) :].strip("[]").split("-")
    types = {word for word in words if word in every_type}
    versions = {word[1:] for word in words if re.fullmatch(r"v\d\.\d", word)}
    return types <= TYPES and versions <= VERSIONS
