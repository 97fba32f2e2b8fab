"""Tags and branches of a table."""

from __future__ import annotations

import builtins
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeAlias, TypedDict

from .. import _native
from .._engine.arguments import check_reference, check_text, check_texts
from ..errors import InvalidInput, as_os_errors

# A version on the branch at hand, a tag, or a branch and a version on it, None for its newest.
Reference: TypeAlias = int | str | tuple[str | None, int | None]
Order: TypeAlias = Literal["asc", "desc"]


class Tag(TypedDict):
    branch: str | None
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    manifest_size: int
    metadata: dict[str, str]


class Branch(TypedDict):
    parent_branch: str | None
    branch_identifier: list[tuple[int, str]]
    parent_version: int
    create_at: int
    manifest_size: int
    metadata: dict[str, str]


class Tags:
    """Names for versions, which clean-up then keeps.

    Raises ValueError for tags and versions that are not there, and OSError for names that none can
    have.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @property
    def _ds(self) -> _native.Dataset:
        return self._dataset._ds

    def list(self) -> dict[str, Tag]:
        return {name: _tag(info) for name, info in _native.list_tags(self._ds).items()}

    def list_ordered(self, order: Order | None = None) -> builtins.list[tuple[str, Tag]]:
        """By version, the newest first unless `order` is ``"asc"``; then by name."""
        return _ordered(self.list(), "version", order)

    def get_version(self, tag: str) -> int:
        check_text("tag", tag)
        with as_os_errors("Ref is invalid"):
            return _native.get_tag(self._ds, tag).version

    def create(self, tag: str, reference: Reference | None = None) -> None:
        """Names a version; the one at hand without a `reference`."""
        check_text("tag", tag)
        if reference is not None:
            check_reference("reference", reference)
        with as_os_errors("Ref is invalid"):
            _native.create_tag(self._ds, tag, reference)

    def delete(self, tag: str) -> None:
        check_text("tag", tag)
        with as_os_errors("Ref is invalid"):
            _native.delete_tag(self._ds, tag)

    def update(self, tag: str, reference: Reference | None = None) -> None:
        """Points a tag to another version."""
        check_text("tag", tag)
        if reference is not None:
            check_reference("reference", reference)
        with as_os_errors("Ref is invalid"):
            _native.update_tag(self._ds, tag, reference)

    def replace_metadata(self, tag: str, metadata: dict[str, str]) -> None:
        check_text("tag", tag)
        check_texts("metadata", metadata)
        with as_os_errors("Ref is invalid"):
            _native.replace_tag_metadata(self._ds, tag, metadata)


class Branches:
    """Lines of versions of their own."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @property
    def _ds(self) -> _native.Dataset:
        return self._dataset._ds

    def list(self) -> dict[str, Branch]:
        return {name: _branch(info) for name, info in _native.list_branches(self._ds).items()}

    def list_ordered(self, order: Order | None = None) -> builtins.list[tuple[str, Branch]]:
        """By parent version, the newest first unless `order` is ``"asc"``; then by name."""
        return _ordered(self.list(), "parent_version", order)

    def delete(self, branch: str) -> None:
        """Deletes a branch with its versions; refused while a tag or a branch refers to it."""
        check_text("branch", branch)
        with as_os_errors("Ref is invalid", "Ref conflict"):
            _native.delete_branch(self._ds, branch)

    def replace_metadata(self, branch: str, metadata: dict[str, str]) -> None:
        check_text("branch", branch)
        check_texts("metadata", metadata)
        with as_os_errors("Ref is invalid"):
            _native.replace_branch_metadata(self._ds, branch, metadata)


def _ordered(refs: dict[str, Any], key: str, order: Order | None) -> list[tuple[str, Any]]:
    if order not in (None, "asc", "desc"):
        raise InvalidInput(f"Invalid sort order '{order}'. Valid values are: asc, desc")
    sign = 1 if order == "asc" else -1
    return sorted(refs.items(), key=lambda item: (sign * item[1][key], item[0]))


def _tag(info: _native.TagInfo) -> Tag:
    return {
        "branch": info.branch,
        "version": info.version,
        "created_at": _time(info.created_at_ns),
        "updated_at": _time(info.updated_at_ns),
        "manifest_size": info.manifest_size,
        "metadata": info.metadata,
    }


def _branch(info: _native.BranchInfo) -> Branch:
    return {
        "parent_branch": info.parent_branch,
        "branch_identifier": [(version, uuid) for version, uuid in info.identifier],
        "parent_version": info.parent_version,
        "create_at": info.created_at_s,
        "manifest_size": info.manifest_size,
        "metadata": info.metadata,
    }


def _time(time_ns: int | None) -> datetime | None:
    if time_ns is None:
        return None
    return datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=time_ns // 1000)
