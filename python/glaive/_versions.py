"""Versions of a table and how to come by them."""

from __future__ import annotations

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


def _version(version: int, timestamp_ns: int, metadata: dict[str, str]) -> Version:
    # In floats, which lose some of a nanosecond count: what pylance shows is equal to this only so.
    whole, rest = divmod(float(timestamp_ns), 1e9)
    moment = datetime.fromtimestamp(whole) + timedelta(microseconds=rest // 1e3)
    return {"version": version, "timestamp": moment, "metadata": metadata}
