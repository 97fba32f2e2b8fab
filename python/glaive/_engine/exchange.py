"""Operations and transactions between what users hold and what the engine takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa

from .. import _native as native
from ..errors import InvalidInput
from ..schema import LanceSchema

from .fragment_metadata import DataFile, FragmentMetadata, from_native
from .operations import Index, IndexFile, LanceOperation, Transaction
from .option_kinds import set_option

# Objects of pylance with the same attributes do as well: what another process pickled comes back as
# its own class.


def transaction_to_native(transaction: Any) -> native.Transaction:
    made = native.Transaction()
    set_option(made, "read_version", transaction.read_version)
    made.operation = operation_to_native(transaction.operation)
    set_option(made, "uuid", transaction.uuid)
    properties = transaction.transaction_properties or {}
    set_option(made, "transaction_properties", properties, attribute="properties")
    return made


def transaction_from_native(transaction: native.Transaction) -> Transaction:
    return Transaction(
        transaction.read_version or 0,
        operation_from_native(transaction.operation),
        transaction.uuid,
        transaction.properties,
    )


def operation_to_native(operation: Any) -> Any:
    kind = type(operation).__name__
    if kind not in _TO_NATIVE:
        raise TypeError(f"not an operation that can be committed: {kind}")
    try:
        return _TO_NATIVE[kind](operation)
    except AttributeError as error:  # a part of another class
        raise TypeError(f"LanceOperation.{kind}: {error}") from error


def operation_from_native(operation: Any) -> LanceOperation.BaseOperation:
    """One that this version of the engine does not know is a bare BaseOperation, as pylance has."""
    if operation is None:
        return LanceOperation.BaseOperation()
    return _FROM_NATIVE[type(operation).__name__](operation)


# --- parts ---------------------------------------------------------------------------------------


def _set_list(made: Any, name: str, values: Any) -> None:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, got {values!r}")
    set_option(made, name, list(values))


def _fragments(fragments: Iterable[Any]) -> list[native.FragmentMetadata]:
    return [native.FragmentMetadata.from_json(json.dumps(f.to_json())) for f in fragments]


def _metadata(fragments: Iterable[native.FragmentMetadata]) -> list[FragmentMetadata]:
    return [from_native(fragment) for fragment in fragments]


def _schema(schema: Any) -> native.TableSchema:
    if isinstance(schema, LanceSchema):
        return schema._native
    if isinstance(schema, pa.Schema):
        return native.TableSchema.from_arrow(schema)
    return LanceSchema.from_pylance(schema)._native


def _file(file: Any) -> native.DataFileInfo:
    made = native.DataFileInfo()
    made.path = str(file.path)
    _set_list(made, "fields", file.fields)
    _set_list(made, "column_indices", file.column_indices)
    set_option(made, "file_major_version", file.file_major_version)
    set_option(made, "file_minor_version", file.file_minor_version)
    set_option(made, "file_size_bytes", file.file_size_bytes)
    set_option(made, "base_id", file.base_id)
    return made


def _rows(offsets: Iterable[int], path: str) -> list[int]:
    rows = sorted(int(offset) for offset in offsets)
    for left, right in zip(rows, rows[1:]):
        if left == right:
            raise InvalidInput(f"overlay {path} covers row {left} twice")
    return rows


def _overlay(overlay: Any) -> native.OverlayFile:
    path = str(overlay.data_file.path)
    offsets = list(overlay.offsets)
    made = native.OverlayFile()
    made.data_file = _file(overlay.data_file)
    made.per_field = bool(offsets) and not isinstance(offsets[0], int)
    lists = offsets if made.per_field else [offsets]
    made.offsets = [_rows(rows, path) for rows in lists]
    made.committed_version = overlay.committed_version
    return made


def _overlay_file(overlay: native.OverlayFile) -> LanceOperation.DataOverlayFile:
    offsets = overlay.offsets if overlay.per_field else overlay.offsets[0]
    return LanceOperation.DataOverlayFile(
        DataFile._of(overlay.data_file), offsets, overlay.committed_version
    )


def _map(update: Any) -> native.UpdateMap | None:
    if update is None:
        return None
    made = native.UpdateMap()
    made.updates = dict(update.updates)
    made.replace = bool(update.replace)
    return made


def _update_map(update: native.UpdateMap | None) -> LanceOperation.UpdateMap | None:
    return None if update is None else LanceOperation.UpdateMap(update.updates, update.replace)


def _base(base: Any) -> native.DatasetBasePath:
    return native.DatasetBasePath(base.path, base.name, base.is_dataset_root, base.id)


def _index_files(files: Iterable[Any] | None) -> list[native.IndexFile]:
    made = []
    for file in files or ():
        made.append(native.IndexFile())
        made[-1].path = file.path
        made[-1].size_bytes = file.size_bytes
    return made


def _details(type_url: str, value: bytes) -> native.IndexDetails:
    made = native.IndexDetails()
    made.type_url = type_url
    made.value = bytes(value)
    return made


def _index(index: Any) -> native.IndexMetadata:
    made = native.IndexMetadata()
    made.uuid = str(index.uuid)
    set_option(made, "name", index.name)
    _set_list(made, "fields", index.fields)
    set_option(made, "dataset_version", index.dataset_version)
    made.fragment_ids = None if index.fragment_ids is None else sorted(index.fragment_ids)
    set_option(made, "index_version", index.index_version)
    if index.created_at is not None:
        made.created_at_ms = round(index.created_at.timestamp() * 1000)
    set_option(made, "base_id", index.base_id)
    made.files = _index_files(index.files)
    if index.index_details is not None:
        made.details = _details(*index.index_details)
    _set_list(made, "covering_fields", index.covering_fields)
    return made


def _python_index(index: native.IndexMetadata) -> Index:
    created = index.created_at_ms
    details = index.details
    return Index(
        uuid=index.uuid,
        name=index.name,
        fields=index.fields,
        dataset_version=index.dataset_version,
        fragment_ids=set(index.fragment_ids or ()),
        index_version=index.index_version or 0,
        created_at=None
        if created is None
        else datetime.fromtimestamp(created / 1000, timezone.utc),
        base_id=index.base_id,
        files=[IndexFile(file.path, file.size_bytes) for file in index.files],
        index_details=None if details is None else (details.type_url, details.value),
        covering_fields=index.covering_fields,
    )


# --- operations to the engine --------------------------------------------------------------------


def _append(op: Any) -> native.Append:
    made = native.Append()
    made.fragments = _fragments(op.fragments)
    return made


def _delete(op: Any) -> native.Delete:
    made = native.Delete()
    made.updated_fragments = _fragments(op.updated_fragments)
    _set_list(made, "deleted_fragment_ids", op.deleted_fragment_ids)
    set_option(made, "predicate", op.predicate)
    return made


def _overwrite(op: Any) -> native.Overwrite:
    made = native.Overwrite(_schema(op.new_schema))
    made.fragments = _fragments(op.fragments)
    made.initial_bases = [_base(base) for base in op.initial_bases or ()]
    made.config_upserts = dict(getattr(op, "config_upserts", None) or {})
    return made


_MODES = {
    "": native.UpdateMode.rewrite_rows,
    None: native.UpdateMode.rewrite_rows,
    "rewrite_rows": native.UpdateMode.rewrite_rows,
    "rewrite_columns": native.UpdateMode.rewrite_columns,
}


def _update(op: Any) -> native.Update:
    if op.update_mode not in _MODES:
        raise InvalidInput(f"Invalid update_mode {op.update_mode!r}")
    made = native.Update()
    _set_list(made, "removed_fragment_ids", op.removed_fragment_ids)
    made.updated_fragments = _fragments(op.updated_fragments)
    made.new_fragments = _fragments(op.new_fragments)
    _set_list(made, "fields_modified", op.fields_modified)
    _set_list(made, "fields_for_preserving_frag_bitmap", op.fields_for_preserving_frag_bitmap)
    made.mode = _MODES[op.update_mode]
    made.updated_fragment_offsets = {
        number: bytes(bitmap) for number, bitmap in (op.updated_fragment_offsets or {}).items()
    }
    made.inserted_rows = getattr(op, "inserted_rows", None)
    made.affected_rows = getattr(op, "affected_rows", None)
    return made


def _merge(op: Any) -> native.Merge:
    made = native.Merge(_schema(op.schema))
    made.fragments = _fragments(op.fragments)
    set_option(made, "preserves_nullability", op.preserves_nullability)
    return made


def _restore(op: Any) -> native.Restore:
    made = native.Restore()
    set_option(made, "version", op.version)
    return made


def _clone(op: Any) -> native.Clone:
    made = native.Clone()
    set_option(made, "is_shallow", op.is_shallow)
    set_option(made, "ref_name", op.ref_name)
    set_option(made, "ref_version", op.ref_version)
    set_option(made, "ref_path", op.ref_path)
    set_option(made, "branch_name", op.branch_name)
    return made


def _rewrite(op: Any) -> native.Rewrite:
    made = native.Rewrite()
    groups = []
    for group in op.groups:
        groups.append(native.RewriteGroup())
        groups[-1].old_fragments = _fragments(group.old_fragments)
        groups[-1].new_fragments = _fragments(group.new_fragments)
    made.groups = groups
    indices = []
    for index in op.rewritten_indices:
        indices.append(native.RewrittenIndex())
        set_option(indices[-1], "old_id", index.old_id)
        set_option(indices[-1], "new_id", index.new_id)
        indices[-1].new_details = _details(index.new_details_type_url, index.new_details_value)
        set_option(indices[-1], "new_index_version", index.new_index_version)
        indices[-1].new_files = _index_files(getattr(index, "new_files", None))
    made.rewritten_indices = indices
    return made


def _create_index(op: Any) -> native.CreateIndex:
    made = native.CreateIndex()
    made.new_indices = [_index(index) for index in op.new_indices]
    made.removed_indices = [_index(index) for index in op.removed_indices]
    return made


def _data_replacement(op: Any) -> native.DataReplacement:
    made = native.DataReplacement()
    groups = []
    for group in op.replacements:
        groups.append(native.DataReplacementGroup())
        set_option(groups[-1], "fragment_id", group.fragment_id)
        groups[-1].new_file = _file(group.new_file)
    made.replacements = groups
    return made


def _data_overlay(op: Any) -> native.DataOverlay:
    made = native.DataOverlay()
    groups = []
    for group in op.groups:
        groups.append(native.DataOverlayGroup())
        set_option(groups[-1], "fragment_id", group.fragment_id)
        groups[-1].overlays = [_overlay(overlay) for overlay in group.overlays]
    made.groups = groups
    return made


def _project(op: Any) -> native.Project:
    made = native.Project(_schema(op.schema))
    set_option(made, "preserves_nullability", op.preserves_nullability)
    return made


def _update_config(op: Any) -> native.UpdateConfig:
    made = native.UpdateConfig()
    made.config = _map(op.config_updates)
    made.table_metadata = _map(op.table_metadata_updates)
    made.schema_metadata = _map(op.schema_metadata_updates)
    fields = op.field_metadata_updates or {}
    made.field_metadata = {number: _map(update) for number, update in fields.items()}
    return made


def _reserve_fragments(op: Any) -> native.ReserveFragments:
    made = native.ReserveFragments()
    set_option(made, "num_fragments", op.num_fragments)
    return made


def _update_bases(op: Any) -> native.UpdateBases:
    made = native.UpdateBases()
    made.new_bases = [_base(base) for base in op.new_bases]
    return made


_TO_NATIVE: dict[str, Callable[[Any], Any]] = {
    "Append": _append,
    "Delete": _delete,
    "Overwrite": _overwrite,
    "CreateIndex": _create_index,
    "Rewrite": _rewrite,
    "Merge": _merge,
    "Restore": _restore,
    "ReserveFragments": _reserve_fragments,
    "Update": _update,
    "Project": _project,
    "UpdateConfig": _update_config,
    "DataReplacement": _data_replacement,
    "DataOverlay": _data_overlay,
    "Clone": _clone,
    "UpdateBases": _update_bases,
}


# --- operations from the engine ------------------------------------------------------------------


def _python_rewrite(op: native.Rewrite) -> LanceOperation.Rewrite:
    groups = [
        LanceOperation.RewriteGroup(_metadata(group.old_fragments), _metadata(group.new_fragments))
        for group in op.groups
    ]
    indices = [
        LanceOperation.RewrittenIndex(
            index.old_id,
            index.new_id,
            index.new_details.type_url,
            index.new_details.value,
            index.new_index_version,
            [IndexFile(file.path, file.size_bytes) for file in index.new_files],
        )
        for index in op.rewritten_indices
    ]
    return LanceOperation.Rewrite(groups, indices)


def _python_update(op: native.Update) -> LanceOperation.Update:
    columns = op.mode == native.UpdateMode.rewrite_columns
    return LanceOperation.Update(
        removed_fragment_ids=op.removed_fragment_ids,
        updated_fragments=_metadata(op.updated_fragments),
        new_fragments=_metadata(op.new_fragments),
        fields_modified=op.fields_modified,
        fields_for_preserving_frag_bitmap=op.fields_for_preserving_frag_bitmap,
        update_mode="rewrite_columns" if columns else "rewrite_rows",
        updated_fragment_offsets=op.updated_fragment_offsets or None,
        inserted_rows=op.inserted_rows,
        affected_rows=op.affected_rows,
    )


_FROM_NATIVE: dict[str, Callable[[Any], LanceOperation.BaseOperation]] = {
    "Append": lambda op: LanceOperation.Append(_metadata(op.fragments)),
    "Delete": lambda op: LanceOperation.Delete(
        _metadata(op.updated_fragments), op.deleted_fragment_ids, op.predicate
    ),
    "Overwrite": lambda op: LanceOperation.Overwrite(
        LanceSchema(op.schema),
        _metadata(op.fragments),
        op.initial_bases or None,
        op.config_upserts or None,
    ),
    "CreateIndex": lambda op: LanceOperation.CreateIndex(
        [_python_index(index) for index in op.new_indices],
        [_python_index(index) for index in op.removed_indices],
    ),
    "Rewrite": _python_rewrite,
    "Merge": lambda op: LanceOperation.Merge(
        _metadata(op.fragments), LanceSchema(op.schema), op.preserves_nullability
    ),
    "Restore": lambda op: LanceOperation.Restore(op.version),
    "ReserveFragments": lambda op: LanceOperation.BaseOperation(),  # as pylance shows it
    "Update": _python_update,
    "Project": lambda op: LanceOperation.Project(LanceSchema(op.schema), op.preserves_nullability),
    "UpdateConfig": lambda op: LanceOperation.UpdateConfig(
        _update_map(op.config),
        _update_map(op.table_metadata),
        _update_map(op.schema_metadata),
        {number: _update_map(update) for number, update in op.field_metadata.items()} or None,
    ),
    "DataReplacement": lambda op: LanceOperation.DataReplacement(
        [
            LanceOperation.DataReplacementGroup(group.fragment_id, DataFile._of(group.new_file))
            for group in op.replacements
        ]
    ),
    "DataOverlay": lambda op: LanceOperation.DataOverlay(
        [
            LanceOperation.DataOverlayGroup(
                group.fragment_id, [_overlay_file(overlay) for overlay in group.overlays]
            )
            for group in op.groups
        ]
    ),
    "UpdateMemWalState": lambda op: LanceOperation.BaseOperation(),
    "Clone": lambda op: LanceOperation.Clone(
        op.is_shallow, op.ref_name, op.ref_version, op.ref_path, op.branch_name
    ),
    "UpdateBases": lambda op: LanceOperation.BaseOperation(),
}
