"""The handle that all verbs of a dataset work on."""

from __future__ import annotations

from typing import Any, TypeVar

import pyarrow as pa

from .. import _native

# The class of the handle itself, for verbs that return another one.
_Handle = TypeVar("_Handle", bound="Handle")


class Handle:
    """A table at one version. `LanceDataset` derives from it, by the classes of its verbs.

    A verb that changes the table sets `_ds` to the version it made; a verb that gives a new handle
    makes it by `_with` or `_made`.
    """

    _ds: _native.Dataset
    _storage_options: dict[str, str] | None
    _default_scan_options: dict[str, Any] | None
    _read_params: dict[str, Any] | None

    def _with(self: _Handle, native: _native.Dataset) -> _Handle:
        """A handle of another version, with this one's options."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._ds = native
        return other

    @classmethod
    def _made(cls: type[_Handle], native: _native.Dataset) -> _Handle:
        """A handle without options."""
        dataset = cls.__new__(cls)
        dataset._storage_options = None
        dataset._default_scan_options = None
        dataset._read_params = None
        dataset._ds = native
        return dataset

    @property
    def uri(self) -> str:
        return self._ds.uri

    @property
    def version(self) -> int:
        return self._ds.version

    @property
    def latest_version(self) -> int:
        """The newest version of the table now, by a look at the store."""
        return self._ds.latest_version()

    @property
    def data_storage_version(self) -> str:
        """Version of the file format that new files are written in."""
        return self._ds.data_storage_version

    @property
    def max_field_id(self) -> int:
        return self._ds.max_field_id

    @property
    def has_stable_row_ids(self) -> bool:
        return self._ds.has_stable_row_ids

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the table."""
        return self._ds.table_metadata

    @property
    def schema_metadata(self) -> dict[str, str]:
        metadata = pa.schema(self._ds.schema).metadata or {}
        return {key.decode(): value.decode() for key, value in metadata.items()}

    def config(self) -> dict[str, str]:
        return self._ds.config

    @property
    def initial_storage_options(self) -> dict[str, str] | None:
        return self._storage_options

    def latest_storage_options(self) -> dict[str, str] | None:
        return self._storage_options
