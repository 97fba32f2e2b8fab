"""Versions of a table and how to come by them."""

from __future__ import annotations

import warnings
from datetime import datetime, timedelta
from typing import Any, TypedDict

from . import _native
from .errors import unbuilt


class Version(TypedDict):
    """An entry of a table's history; the time is the machine's local one."""

    version: int
    timestamp: datetime
    metadata: dict[str, str]


class VersionRef(TypedDict):
    version: int


class VersionVerbs:
    """Methods of LanceDataset."""

    _ds: _native.Dataset

    version: int
    schema_metadata: dict[str, str]

    def _with(self, native: _native.Dataset) -> Any:
        raise NotImplementedError

    def versions(self) -> list[Version]:
        """The table's history, oldest first."""
        return [_version(v.version, v.timestamp_ns, v.metadata) for v in self._ds.versions()]

    def version_refs(self) -> list[VersionRef]:
        return [{"version": entry.version} for entry in self._ds.versions()]

    def get_version(self) -> Version:
        """This version's entry of the history."""
        return next(entry for entry in self.versions() if entry["version"] == self.version)

    def checkout_version(self, version: int | str | tuple[str | None, int | None]) -> Any:
        """Another version, as a new object."""
        if isinstance(version, tuple):
            branch, number = version
            if branch not in (None, "main"):
                unbuilt(f"checking out the branch {branch!r}")
            if number is None:
                return self._with(self._ds.checkout_latest())
            version = number
        if isinstance(version, str):
            unbuilt(f"checking out the tag {version!r}")
        return self._with(self._ds.checkout(version))

    def checkout_latest(self) -> None:
        """Moves this object to the newest version."""
        self._ds = self._ds.checkout_latest()

    def restore(self) -> None:
        """Makes this version the newest one again, and moves this object to it."""
        self._ds = _native.restore(self._ds)

    # --- settings and metadata -------------------------------------------------------------------

    def update_config(
        self, values: dict[str, str | None], *, replace: bool = False
    ) -> dict[str, str]:
        """Sets keys of the table's config; those with None are removed.

        With `replace` all other keys go. Returns the config that there is then, as the three
        methods below do for theirs.
        """
        self._ds = _native.update_config(self._ds, values, replace)
        return self._ds.config

    def delete_config_keys(self, keys: list[str]) -> None:
        """Removes keys of the table's config; those that are not there are passed over."""
        self.update_config(dict.fromkeys(keys))

    def update_metadata(
        self, values: dict[str, str | None], *, replace: bool = False
    ) -> dict[str, str]:
        """Sets keys of what users note of the table, as `update_config` does."""
        self._ds = _native.update_table_metadata(self._ds, values, replace)
        return self._ds.table_metadata

    def update_schema_metadata(
        self, values: dict[str, str | None], *, replace: bool = False
    ) -> dict[str, str]:
        """Sets keys of the schema's metadata, as `update_config` does."""
        self._ds = _native.update_schema_metadata(self._ds, values, replace)
        return self.schema_metadata

    def update_field_metadata(
        self, field_updates: dict[str, dict[str, str | None]], *, replace: bool = False
    ) -> None:
        """Sets keys of fields' metadata, of each field by its name or dotted path."""
        self._ds = _native.update_field_metadata(self._ds, field_updates, replace)

    def replace_schema_metadata(self, new_metadata: dict[str, str]) -> None:
        """Deprecated: `update_schema_metadata` with ``replace=True``."""
        _deprecated("replace_schema_metadata", "update_schema_metadata(..., replace=True)")
        self.update_schema_metadata(dict(new_metadata), replace=True)

    def replace_field_metadata(self, field_name: str, new_metadata: dict[str, str]) -> None:
        """Deprecated: `update_field_metadata` with ``replace=True``."""
        _deprecated("replace_field_metadata", "update_field_metadata(..., replace=True)")
        self.update_field_metadata({field_name: dict(new_metadata)}, replace=True)

    # --- other places of files -------------------------------------------------------------------

    def base_paths(self) -> dict[int, _native.DatasetBasePath]:
        """The places besides the table's own folder where its files may lie, by their ids."""
        return {base.id: base for base in _native.base_paths(self._ds)}

    def add_bases(
        self,
        new_bases: list[_native.DatasetBasePath],
        transaction_properties: dict[str, str] | None = None,
    ) -> Any:
        """Adds places for files, for `write_dataset(target_bases=)`. Returns this object."""
        self._ds = _native.add_bases(self._ds, new_bases, transaction_properties or {})
        return self


def _deprecated(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is deprecated, use {new} instead", DeprecationWarning, stacklevel=3
    )


def _version(version: int, timestamp_ns: int, metadata: dict[str, str]) -> Version:
    # In floats, which lose some of a nanosecond count: what pylance shows is equal to this only so.
    whole, rest = divmod(float(timestamp_ns), 1e9)
    moment = datetime.fromtimestamp(whole) + timedelta(microseconds=rest // 1e3)
    return {"version": version, "timestamp": moment, "metadata": metadata}
