"""What a commit changes, as values that travel between processes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import pyarrow as pa

from ..schema import LanceSchema
from .fragment_metadata import DataFile, DataOverlayFile, FragmentMetadata


@dataclass
class Transaction:
    """Who changes what, as seen from which version.

    Attributes
    ----------
    read_version : int
        The version that the operation was made from.
    operation : LanceOperation.BaseOperation
    uuid : str
        Stays the same over all attempts to commit it.
    transaction_properties : dict of str to str
        Kept with the version.
    """

    read_version: int
    operation: LanceOperation.BaseOperation
    uuid: str = field(default_factory=lambda: str(uuid4()))
    transaction_properties: dict[str, str] | None = field(default_factory=dict)


@dataclass
class IndexFile:
    """A file of a segment of an index."""

    path: str
    size_bytes: int


@dataclass
class Index:
    """A segment of an index, as the table lists it.

    Attributes
    ----------
    uuid, name : str
        Segments of one index have one name.
    fields : list of int
        Ids of the fields that it is over.
    dataset_version : int
        The version that it was built from.
    fragment_ids : set of int
        The fragments that it covers.
    index_version : int
        Version of the index's own format.
    index_details : (str, bytes), optional
        Type and content of the message that says what it is.
    """

    uuid: str
    name: str
    fields: list[int]
    dataset_version: int
    fragment_ids: set[int]
    index_version: int
    created_at: datetime | None = None
    base_id: int | None = None
    files: list[IndexFile] | None = None
    index_details: tuple[str, bytes] | None = None
    covering_fields: list[int] = field(default_factory=list)


def is_fragment(value: Any) -> bool:
    """Whether it is the metadata of a fragment, this package's or pylance's."""
    return isinstance(value, FragmentMetadata) or (
        type(value).__name__ == "FragmentMetadata" and hasattr(value, "to_json")
    )


class LanceOperation:
    """The operations that `LanceDataset.commit` takes."""

    @staticmethod
    def _validate_fragments(fragments: Any) -> None:
        if not isinstance(fragments, list):
            raise TypeError(f"fragments must be list[FragmentMetadata], got {type(fragments)}")
        for fragment in fragments:
            if not is_fragment(fragment):
                raise TypeError(f"fragments must be list[FragmentMetadata], got {type(fragment)}")

    class BaseOperation:
        """What all of them are."""

    @dataclass
    class Overwrite(BaseOperation):
        """A table in the place of the old one, or a new one.

        Fragments get new ids, whatever they bring. `initial_bases` are for a new table only.
        `config_upserts` are entries of the table's config that are set by it.
        """

        new_schema: LanceSchema | pa.Schema
        fragments: Iterable[FragmentMetadata]
        initial_bases: list[Any] | None = None
        config_upserts: dict[str, str] | None = None

        def __post_init__(self) -> None:
            LanceOperation._validate_fragments(self.fragments)

    @dataclass
    class Append(BaseOperation):
        """New fragments behind the old ones."""

        fragments: Iterable[FragmentMetadata]

        def __post_init__(self) -> None:
            LanceOperation._validate_fragments(self.fragments)

    @dataclass
    class Delete(BaseOperation):
        """Rows hidden by new deletion files, and fragments with no row left.

        `updated_fragments` are what `LanceFragment.delete` gave, `deleted_fragment_ids` are those
        for which it gave None.
        """

        updated_fragments: Iterable[FragmentMetadata]
        deleted_fragment_ids: Iterable[int]
        predicate: str

        def __post_init__(self) -> None:
            LanceOperation._validate_fragments(self.updated_fragments)

    @dataclass
    class Update(BaseOperation):
        """Rows moved into new fragments, or columns rewritten in place.

        Attributes
        ----------
        removed_fragment_ids : list of int
            Fragments with no row left.
        updated_fragments : list of FragmentMetadata
            Fragments with new deletion files, or with new files for some columns.
        new_fragments : list of FragmentMetadata
            What holds the rows that moved and new ones.
        fields_modified : list of int
            Fields whose values changed in `updated_fragments`: indices over them no longer cover
            those.
        fields_for_preserving_frag_bitmap : list of int
            Fields whose values changed in the rows that moved.
        update_mode : {"rewrite_rows", "rewrite_columns"}
            Rows are moved, unless given.
        updated_fragment_offsets : dict of int to bytes, optional
            Rows whose columns were rewritten, by fragment: portable Roaring bitmaps.
        inserted_rows : bytes, optional
            Which keys were inserted, so that a concurrent insert of them is found out. pylance has
            no such attribute.
        affected_rows : list of int, optional
            Addresses of the rows that move, ascending. Where they are known, concurrent changes of
            other rows do not conflict. pylance has no such attribute.
        """

        removed_fragment_ids: list[int] = field(default_factory=list)
        updated_fragments: list[FragmentMetadata] = field(default_factory=list)
        new_fragments: list[FragmentMetadata] = field(default_factory=list)
        fields_modified: list[int] = field(default_factory=list)
        fields_for_preserving_frag_bitmap: list[int] = field(default_factory=list)
        update_mode: str = ""
        updated_fragment_offsets: dict[int, bytes] | None = None
        inserted_rows: bytes | None = None
        affected_rows: list[int] | None = None

        def __post_init__(self) -> None:
            LanceOperation._validate_fragments(self.updated_fragments)
            LanceOperation._validate_fragments(self.new_fragments)

    @dataclass
    class Merge(BaseOperation):
        """All fragments as they are to be, the old ones first, under a new schema.

        `preserves_nullability` says that no column is new or changed that cannot be null, and lets
        concurrent appends pass.
        """

        fragments: Iterable[FragmentMetadata]
        schema: LanceSchema | pa.Schema
        preserves_nullability: bool = False

        def __post_init__(self) -> None:
            if isinstance(self.schema, pa.Schema):
                warnings.warn(
                    "Passing a pyarrow.Schema to Merge is deprecated, pass a LanceSchema",
                    DeprecationWarning,
                    stacklevel=3,
                )
            LanceOperation._validate_fragments(self.fragments)

    @dataclass
    class Restore(BaseOperation):
        """An older version's content as a new version."""

        version: int

    @dataclass
    class Clone(BaseOperation):
        """The first commit of a table whose files lie in another."""

        is_shallow: bool
        ref_name: str | None
        ref_version: int
        ref_path: str
        branch_name: str | None

    @dataclass
    class RewriteGroup:
        """Fragments, and those that hold the same rows now."""

        old_fragments: Iterable[FragmentMetadata]
        new_fragments: Iterable[FragmentMetadata]

    @dataclass
    class RewrittenIndex:
        """An index segment in the place of another that named rows by where they were."""

        old_id: str
        new_id: str
        new_details_type_url: str
        new_details_value: bytes
        new_index_version: int
        new_files: list[IndexFile] | None = None

    @dataclass
    class Rewrite(BaseOperation):
        """The same rows in other fragments."""

        groups: Iterable[LanceOperation.RewriteGroup]
        rewritten_indices: Iterable[LanceOperation.RewrittenIndex]

        def __post_init__(self) -> None:
            fragments = [f for group in self.groups for f in group.old_fragments]
            fragments += [f for group in self.groups for f in group.new_fragments]
            LanceOperation._validate_fragments(fragments)

    @dataclass
    class CreateIndex(BaseOperation):
        """Index segments put in and taken out."""

        new_indices: list[Index]
        removed_indices: list[Index]

    @dataclass
    class DataReplacementGroup:
        """Another file for some fields of a fragment."""

        fragment_id: int
        new_file: DataFile

    @dataclass
    class DataReplacement(BaseOperation):
        """Other files for some fields of some fragments, row for row."""

        replacements: list[LanceOperation.DataReplacementGroup]

    DataOverlayFile = DataOverlayFile

    @dataclass
    class DataOverlayGroup:
        """Overlays of a fragment, later ones over earlier ones."""

        fragment_id: int
        overlays: list[LanceOperation.DataOverlayFile]

    @dataclass
    class DataOverlay(BaseOperation):
        """Values laid over some rows of some fields of some fragments."""

        groups: list[LanceOperation.DataOverlayGroup]

    @dataclass
    class Project(BaseOperation):
        """Another schema over the same files: columns dropped or renamed.

        The fields' ids must be those of the table.
        """

        schema: LanceSchema
        preserves_nullability: bool = False

    @dataclass
    class UpdateMap:
        """Edits of a map. None deletes a key; `replace` removes all the others."""

        updates: dict[str, str | None]
        replace: bool = False

    @dataclass
    class UpdateConfig(BaseOperation):
        """Edits of the table's settings and of its metadata; those of fields by their ids."""

        config_updates: LanceOperation.UpdateMap | None = None
        table_metadata_updates: LanceOperation.UpdateMap | None = None
        schema_metadata_updates: LanceOperation.UpdateMap | None = None
        field_metadata_updates: dict[int, LanceOperation.UpdateMap] | None = None

    @dataclass
    class ReserveFragments(BaseOperation):
        """Fragment ids for a later Rewrite. As in pylance it is read back as a BaseOperation."""

        num_fragments: int

    @dataclass
    class UpdateBases(BaseOperation):
        """More places where files may lie. As in pylance it is read back as a BaseOperation."""

        new_bases: list[Any]

    @dataclass
    class UpdateMemWalState(BaseOperation):
        """Progress of a write-ahead log, as its messages. It is read back as a BaseOperation."""

        compacted_sstables: list[bytes]


# Shown and pickled by the name that users have for it, though fragments hold it too.
DataOverlayFile.__module__ = __name__
DataOverlayFile.__qualname__ = "LanceOperation.DataOverlayFile"
