"""What a manifest says of a fragment, as values that pass as JSON and pickle."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .. import _native

if TYPE_CHECKING:
    from ..dataset import LanceDataset


class _Path(str):
    """The path of a data file. Calling it is pylance's older spelling."""

    def __call__(self) -> str:
        warnings.warn(
            "DataFile.path() is deprecated, use DataFile.path", DeprecationWarning, stacklevel=2
        )
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


@dataclass(init=False)
class DataFile:
    """A data file of a fragment.

    Attributes
    ----------
    path : str
        Relative to the table's ``data`` folder.
    fields : list of int
        Id of each field that the file holds.
    column_indices : list of int
        Column of the file for each entry of `fields`.
    file_major_version, file_minor_version : int
        Version of the file format.
    file_size_bytes : int, optional
        Size of the file, where known.
    base_id : int, optional
        The base path that `path` is under, where it is not the table's own.
    """

    _path: str
    fields: list[int]
    column_indices: list[int] = field(default_factory=list)
    file_major_version: int = 0
    file_minor_version: int = 0
    file_size_bytes: int | None = None
    base_id: int | None = None

    def __init__(
        self,
        path: str,
        fields: list[int],
        column_indices: list[int] | None = None,
        file_major_version: int = 0,
        file_minor_version: int = 0,
        file_size_bytes: int | None = None,
        base_id: int | None = None,
    ) -> None:
        self._path = path
        self.fields = fields
        self.column_indices = column_indices or []
        self.file_major_version = file_major_version
        self.file_minor_version = file_minor_version
        self.file_size_bytes = file_size_bytes
        self.base_id = base_id

    @property
    def path(self) -> str:
        return _Path(self._path)

    def field_ids(self) -> list[int]:
        warnings.warn(
            "DataFile.field_ids is deprecated, use DataFile.fields",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.fields

    @classmethod
    def create(cls, dataset: LanceDataset, path: str, *, base_id: int | None = None) -> DataFile:
        """As operations that replace columns want it: a file in the table's ``data`` folder.

        Its columns are matched to the table's by name.
        """
        return cls._of(_native.describe_data_file(dataset._ds, path, base_id))

    @classmethod
    def _of(cls, info: _native.DataFileInfo) -> DataFile:
        return cls(
            info.path,
            info.fields,
            info.column_indices,
            info.file_major_version,
            info.file_minor_version,
            info.file_size_bytes,
            info.base_id,
        )

    def _asdict(self) -> dict[str, Any]:
        return {
            "path": self._path,
            "fields": self.fields,
            "column_indices": self.column_indices,
            "file_major_version": self.file_major_version,
            "file_minor_version": self.file_minor_version,
            "file_size_bytes": self.file_size_bytes,
            "base_id": self.base_id,
        }


@dataclass
class DataOverlayFile:
    """Values for some rows of some fields of a fragment.

    Attributes
    ----------
    data_file : DataFile
        Holds a column for each field, with a value for each row that is covered.
    offsets : iterable of int, or list of iterables of int
        Physical rows that are covered: the same for all fields, or those of each field. The
        lowest of them has the file's first value, whatever their order here.
    committed_version : int, optional
        Version from which on it counts; given by the commit.
    """

    data_file: DataFile
    offsets: Iterable[int] | list[Iterable[int]]
    committed_version: int | None = None


@dataclass
class DeletionFile:
    """The file that names a fragment's deleted rows."""

    read_version: int
    id: int
    file_type: Literal["array", "bitmap"]
    num_deleted_rows: int
    base_id: int | None = None

    def asdict(self) -> dict[str, Any]:
        return {
            "read_version": self.read_version,
            "id": self.id,
            "file_type": self.file_type,
            "num_deleted_rows": self.num_deleted_rows,
            "base_id": self.base_id,
        }

    def path(self, fragment_id: int, base_uri: str | None = None) -> str:
        """Where the file is; relative to the table's root without a `base_uri`."""
        suffix = "arrow" if self.file_type == "array" else "bin"
        relative = f"_deletions/{fragment_id}-{self.read_version}-{self.id}.{suffix}"
        return relative if base_uri is None else f"{base_uri}/{relative}"

    def json(self) -> str:
        return json.dumps(self.asdict())

    @classmethod
    def from_json(cls, json: str) -> DeletionFile:
        return cls(**_parse(json))


def _parse(text: str) -> Any:
    return json.loads(text)


class _Opaque:
    """Metadata that is carried along as the JSON it came as."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def asdict(self) -> Any:
        return self._value

    def json(self) -> str:
        return json.dumps(self._value)

    @classmethod
    def from_json(cls, json: str) -> Any:
        return cls(_parse(json))

    @classmethod
    def from_dict(cls, dict: Any) -> Any:
        return cls(dict)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._value == self._value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})"


class RowIdMeta(_Opaque):
    """The stable ids of a fragment's rows."""


class RowDatasetVersionMeta(_Opaque):
    """The versions in which a fragment's rows were made or last changed."""


@dataclass
class FragmentMetadata:
    """What a version says about a fragment, or what was written for one that is not committed.

    Attributes
    ----------
    id : int
        Id of the fragment; 0 before the commit.
    files : list of DataFile
        Each holds some of the fields for all rows.
    physical_rows : int
        Rows in the files, deleted ones included.
    deletion_file : DeletionFile, optional
        Names the deleted rows.
    row_id_meta, created_at_version_meta, last_updated_at_version_meta : optional
        Ids and history of the rows, on tables with stable row ids.
    overlays : list of LanceOperation.DataOverlayFile
        Files whose values take the place of some of the base files' values, oldest first.
    """

    id: int
    files: list[DataFile]
    physical_rows: int
    deletion_file: DeletionFile | None = None
    row_id_meta: RowIdMeta | None = None
    created_at_version_meta: RowDatasetVersionMeta | None = None
    last_updated_at_version_meta: RowDatasetVersionMeta | None = None
    overlays: list[DataOverlayFile] = field(default_factory=list)
    # The version whose WriteTarget it was written for, as in the engine's JSON.
    _written_for: dict[str, Any] | None = field(
        default=None, init=False, compare=False, repr=False
    )

    @property
    def num_deletions(self) -> int:
        return 0 if self.deletion_file is None else self.deletion_file.num_deleted_rows

    @property
    def num_rows(self) -> int:
        return self.physical_rows - self.num_deletions

    def data_files(self) -> list[DataFile]:
        warnings.warn(
            "FragmentMetadata.data_files is deprecated, use .files",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.files

    def to_json(self) -> dict[str, Any]:
        """As a dict that the json module can write."""

        def optional(value: Any) -> Any:
            return None if value is None else value.asdict()

        values = {
            "id": self.id,
            "files": [file._asdict() for file in self.files],
            "overlays": [_overlay_json(overlay) for overlay in self.overlays],
            "physical_rows": self.physical_rows,
            "deletion_file": optional(self.deletion_file),
            "row_id_meta": optional(self.row_id_meta),
            "created_at_version_meta": optional(self.created_at_version_meta),
            "last_updated_at_version_meta": optional(self.last_updated_at_version_meta),
        }
        if self._written_for is not None:
            values["written_for"] = self._written_for
        return values

    @staticmethod
    def from_json(json_data: str) -> FragmentMetadata:
        values = json.loads(json_data)

        def optional(name: str, make: Any) -> Any:
            value = values.get(name)
            return None if value is None else make(value)

        fragment = FragmentMetadata(
            id=values["id"],
            files=[DataFile(**file) for file in values["files"]],
            physical_rows=values["physical_rows"],
            deletion_file=optional("deletion_file", lambda value: DeletionFile(**value)),
            row_id_meta=optional("row_id_meta", RowIdMeta),
            created_at_version_meta=optional("created_at_version_meta", RowDatasetVersionMeta),
            last_updated_at_version_meta=optional(
                "last_updated_at_version_meta", RowDatasetVersionMeta
            ),
            overlays=[_overlay(overlay) for overlay in values.get("overlays") or []],
        )
        fragment._written_for = values.get("written_for")
        return fragment


def _overlay_json(overlay: Any) -> dict[str, Any]:
    offsets = list(overlay.offsets)
    if offsets and not isinstance(offsets[0], int):
        offsets = [list(rows) for rows in offsets]
    return {
        "data_file": overlay.data_file._asdict(),
        "offsets": offsets,
        "committed_version": overlay.committed_version,
    }


def _overlay(values: dict[str, Any]) -> DataOverlayFile:
    return DataOverlayFile(
        DataFile(**values["data_file"]), values["offsets"], values.get("committed_version")
    )


def from_native(fragment: _native.FragmentMetadata) -> FragmentMetadata:
    values = fragment.plain_values()
    if values is None:
        return FragmentMetadata.from_json(fragment.to_json())
    fragment_id, rows, files, written_for = values
    made = FragmentMetadata(fragment_id, [DataFile(*file) for file in files], rows)
    if written_for is not None:
        made._written_for = written_for
    return made
