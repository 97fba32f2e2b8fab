"""Tables as text, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._engine.arguments import check_dataset
from .errors import NotFound
from .fragment import FragmentMetadata, LanceFragment

if TYPE_CHECKING:
    from .dataset import LanceDataset
    from .schema import LanceField


def format_schema(dataset: LanceDataset) -> str:
    """The fields with their ids."""
    check_dataset("dataset", dataset)
    fields = [_field(field) for field in dataset.lance_schema.fields()]
    return _text({"fields": fields, "metadata": dataset.schema_metadata})


def format_manifest(dataset: LanceDataset) -> str:
    """What the version says: schema, fragments, config."""
    check_dataset("dataset", dataset)
    return _text(
        {
            "version": dataset.version,
            "uri": dataset.uri,
            "schema": [_field(field) for field in dataset.lance_schema.fields()],
            "schema_metadata": dataset.schema_metadata,
            "data_storage_version": dataset.data_storage_version,
            "has_stable_row_ids": dataset.has_stable_row_ids,
            "max_field_id": dataset.max_field_id,
            "config": dataset.config(),
            "table_metadata": dataset.metadata,
            "fragments": [fragment.metadata.to_json() for fragment in dataset.get_fragments()],
        }
    )


def format_fragment(fragment: FragmentMetadata | LanceFragment, dataset: LanceDataset) -> str:
    """A fragment's files, with the paths of the fields that each holds."""
    check_dataset("dataset", dataset)
    if not isinstance(fragment, (FragmentMetadata, LanceFragment)):
        raise TypeError(f"fragment must be a FragmentMetadata or LanceFragment, got {fragment!r}")
    metadata = fragment.metadata if isinstance(fragment, LanceFragment) else fragment
    paths: dict[int, str] = {}
    for field in dataset.lance_schema.fields():
        _collect(field, "", paths)
    shown = metadata.to_json()
    for file in shown["files"]:
        file["field_paths"] = [paths.get(number) for number in file["fields"]]
    return _text(shown)


def list_transactions(
    dataset: LanceDataset, max_transactions: int = 10
) -> list[tuple[int, str | None]]:
    """The newest versions, each with the change that made it, where it is known."""
    check_dataset("dataset", dataset)
    versions = range(dataset.version, 0, -1)[:max_transactions]
    return [(version, _transaction(dataset, version)) for version in versions]


def _transaction(dataset: LanceDataset, version: int) -> str | None:
    try:
        transaction = dataset.read_transaction(version)
    except NotFound:  # cleaned up
        return None
    return None if transaction is None else repr(transaction)


def _field(field: LanceField) -> dict[str, Any]:
    arrow = field.to_arrow()
    shown: dict[str, Any] = {
        "name": field.name(),
        "id": field.id(),
        "type": str(arrow.type),
        "nullable": arrow.nullable,
        "metadata": field.metadata(),
    }
    children = [_field(child) for child in field.children()]
    return {**shown, "children": children} if children else shown


def _collect(field: LanceField, prefix: str, paths: dict[int, str]) -> None:
    paths[field.id()] = prefix + field.name()
    for child in field.children():
        _collect(child, paths[field.id()] + ".", paths)


def _text(value: Any) -> str:
    return json.dumps(value, indent=2)
