"""Versions of a table and how to come by them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa

from .. import _native
from .._engine.arguments import (
    check_flag,
    check_integer,
    check_names,
    check_reference,
    check_size,
    check_text,
    check_texts,
    check_time,
    refuse,
    uri_text,
)
from .._engine.option_kinds import set_option
from .._engine.options import Durability, ProgressFunction, version_options
from ..errors import InvalidInput, RefusedInput, as_os_errors
from .delta import DatasetDelta, make_delta
from .handle import Handle
from .refs import Branches, Reference, Tags
from .version_entry import Version

if TYPE_CHECKING:
    from .._engine.session import Session


class VersionRef(TypedDict):
    version: int


class VersionVerbs(Handle):
    """Methods of LanceDataset."""
    def versions(self) -> list[Version]:
        """The table's history, oldest first.

        Entries are dicts that read a version's manifest when its ``timestamp`` or ``metadata`` is
        first asked for; that raises ValueError where the version has been cleaned up meanwhile.
        """
        dataset = self._ds
        return [Version(version, dataset) for version in dataset.version_numbers()]

    def version_refs(self) -> list[VersionRef]:
        """The numbers of the history, oldest first; cheaper than `versions`."""
        return [{"version": version} for version in self._ds.version_numbers()]

    def get_version(self) -> Version:
        """This version's entry of the history."""
        return Version(self._ds.version, self._ds)

    def checkout_version(self, version: Reference) -> Any:
        """Another version, as a new object.

        A number counts on the branch at hand, text is a tag's name. A tuple is a branch, None for
        the main one, and a version on it, None for its newest. OSError where there is no such.
        """
        check_reference("version", version)
        with as_os_errors():
            return self._with(_native.checkout(self._ds, version))

    def checkout_latest(self) -> None:
        """Moves this object to the newest version."""
        self._ds = self._ds.checkout_latest()

    @property
    def tags(self) -> Tags:
        return Tags(self)

    @property
    def branches(self) -> Branches:
        return Branches(self)

    def create_branch(
        self,
        branch: str,
        reference: Reference | None = None,
        storage_options: dict[str, str] | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> Any:
        """A new branch of a version, the one at hand without a `reference`; as a new object.

        The last parameters are as in `write_dataset`, in all methods here.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        refuse("create_branch", storage_options=storage_options)
        if reference is not None:
            check_reference("reference", reference)
        check_text("branch", branch)
        with as_os_errors():
            return self._with(_native.create_branch(self._ds, branch, reference, version))

    def shallow_clone(
        self,
        target_path: str | os.PathLike[str],
        reference: Reference,
        storage_options: dict[str, str] | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
        **kwargs: Any,
    ) -> Any:
        """A new table of a version, which refers to this one's files.

        They must stay for it. `kwargs` are those of `glaive.dataset`.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        refuse("shallow_clone", storage_options=storage_options)
        check_reference("reference", reference)
        with as_os_errors():
            clone = _native.shallow_clone(self._ds, uri_text(target_path), reference, version)
        return type(self)(clone.uri, **kwargs)  # type: ignore[call-arg]

    def deep_clone(
        self,
        target_path: str | os.PathLike[str],
        reference: Reference,
        storage_options: dict[str, str] | None = None,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
        **kwargs: Any,
    ) -> Any:
        """A new table of a version, with copies of its files.

        `kwargs` are those of `glaive.dataset`.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        refuse("deep_clone", storage_options=storage_options)
        check_reference("reference", reference)
        with as_os_errors():
            clone = _native.deep_clone(self._ds, uri_text(target_path), reference, version)
        return type(self)(clone.uri, **kwargs)  # type: ignore[call-arg]

    def restore(
        self,
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Makes this version the newest one again, and moves this object to it."""
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.restore(self._ds, version)

    def delta(
        self,
        compared_against: int | None = None,
        *,
        begin_version: int | None = None,
        end_version: int | None = None,
    ) -> DatasetDelta:
        """What changed after `begin_version` up to and including `end_version`.

        `compared_against` is short for the span between that version and the one at hand.
        """
        return make_delta(self, compared_against, begin_version, end_version)

    # --- upkeep ----------------------------------------------------------------------------------

    def cleanup_old_versions(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
        delete_rate_limit: int | None = None,
        versions: list[int] | None = None,
        delete_concurrency: int | None = None,
    ) -> _native.CleanupStats:
        """Deletes old versions, and files that only they refer to.

        A version goes when all conditions given hold for it. The one at hand, what came after it,
        and tagged, branched-off and detached versions never go.

        Parameters
        ----------
        older_than : timedelta, optional
            Only versions made so long ago; two weeks when no condition is given.
        retain_versions : int, optional
            Not so many of the newest.
        delete_unverified : bool
            Files that no version refers to go at once, not only when they are seven days old.
            Nobody else may be writing to the table.
        error_if_tagged_old_versions : bool
            False: tagged versions that would go are passed over. Else OSError.
        delete_rate_limit : int, optional
            Files a second.
        versions : list of int, optional
            Only these.
        delete_concurrency : int, optional
            Accepted; files are deleted one by one.
        """
        check_integer("delete_concurrency", delete_concurrency)
        if delete_concurrency is not None and delete_concurrency < 1:
            raise RefusedInput(f"delete_concurrency must be at least 1, not {delete_concurrency}")
        options = _cleanup_options(
            older_than,
            retain_versions,
            delete_unverified,
            error_if_tagged_old_versions,
            delete_rate_limit,
            versions,
        )
        with as_os_errors():
            return _native.clean_up(self._ds, options)

    def explain_cleanup_old_versions(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
        delete_rate_limit: int | None = None,
        versions: list[int] | None = None,
        include_files: bool = False,
        max_files: int = 1000,
    ) -> _native.CleanupExplanation:
        """What `cleanup_old_versions` would delete, with its files if `include_files`."""
        check_integer("max_files", max_files)
        if max_files <= 0:
            raise InvalidInput("max_files must be positive")
        options = _cleanup_options(
            older_than,
            retain_versions,
            delete_unverified,
            error_if_tagged_old_versions,
            delete_rate_limit,
            versions,
        )
        with as_os_errors():
            return _native.explain_clean_up(self._ds, options, max_files if include_files else 0)

    def validate(self) -> None:
        """Raises OSError where parts of this version are missing or do not fit each other."""
        _native.validate(self._ds)

    def tracked_files(
        self, *, min_version: int | None = None, progress: Any | None = None
    ) -> pa.RecordBatchReader:
        """The files that versions refer to: ``version``, ``base_uri``, ``path`` and ``type``.

        `progress` is called after each version with how many of how many were looked at.
        """
        check_size("min_version", min_version, 0)
        files = _native.tracked_files(self._ds, min_version, progress)
        return _reader(
            version=pa.array([file.version for file in files], pa.int64()),
            base_uri=_dictionary([file.base_uri for file in files], pa.int32()),
            path=pa.array([file.path for file in files], pa.string()),
            type=_dictionary([file.role for file in files], pa.int8()),
        )

    def all_files(self) -> pa.RecordBatchReader:
        """The files below this table: ``base_uri``, ``path``, ``size_bytes``, ``last_modified``."""
        files = _native.stored_files(self._ds)
        return _reader(
            base_uri=_dictionary([self.uri] * len(files), pa.int32()),
            path=pa.array([file.path for file in files], pa.string()),
            size_bytes=pa.array([file.size_bytes for file in files], pa.int64()),
            last_modified=pa.array(
                [file.modified_ns // 1000 for file in files], pa.timestamp("us", "UTC")
            ),
        )

    def migrate_manifest_paths_v2(self) -> None:
        """Gives manifests of the older naming scheme their newer names.

        Nobody else may be working on the table.
        """
        _native.migrate_manifest_paths_v2(self._ds)

    @staticmethod
    def drop(
        base_uri: str | os.PathLike[str],
        storage_options: dict[str, str] | None = None,
        ignore_not_found: bool | None = None,
        *,
        session: Session | None = None,
    ) -> None:
        """Deletes a table with all that lies in its folder.

        ValueError where files, but no table that can be read lies there. That is looked up where
        they lie, whatever `session` has of it; what it has is let go of when others need the room.
        """
        refuse("drop", storage_options=storage_options)
        _native.drop_dataset(uri_text(base_uri), bool(ignore_not_found))

    # --- settings and metadata -------------------------------------------------------------------

    def update_config(
        self,
        values: dict[str, str | None],
        *,
        replace: bool = False,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> dict[str, str]:
        """Sets keys of the table's config; those with None are removed.

        With `replace` all other keys go. Returns the config that there is then, as the three
        methods below do for theirs.
        """
        check_texts("values", values, with_none=True)
        check_flag("replace", replace)
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.update_config(self._ds, values, replace, version)
        return self._ds.config

    def delete_config_keys(
        self,
        keys: list[str],
        *,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Removes keys of the table's config; those that are not there are passed over."""
        check_names("keys", keys)
        self.update_config(
            dict.fromkeys(keys),
            durability=durability,
            transaction_properties=transaction_properties,
            commit_message=commit_message,
            progress=progress,
        )

    def update_metadata(
        self,
        values: dict[str, str | None],
        *,
        replace: bool = False,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> dict[str, str]:
        """Sets keys of what users note of the table, as `update_config` does."""
        check_texts("values", values, with_none=True)
        check_flag("replace", replace)
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.update_table_metadata(self._ds, values, replace, version)
        return self._ds.table_metadata

    def update_schema_metadata(
        self,
        values: dict[str, str | None],
        *,
        replace: bool = False,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> dict[str, str]:
        """Sets keys of the schema's metadata, as `update_config` does."""
        check_texts("values", values, with_none=True)
        check_flag("replace", replace)
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.update_schema_metadata(self._ds, values, replace, version)
        return self.schema_metadata

    def update_field_metadata(
        self,
        field_updates: dict[str, dict[str, str | None]],
        *,
        replace: bool = False,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> None:
        """Sets keys of fields' metadata, of each field by its name or dotted path."""
        if not isinstance(field_updates, Mapping):
            raise TypeError(f"field_updates must be a dict of dict by field, got {field_updates!r}")
        check_flag("replace", replace)
        for field, values in field_updates.items():
            check_text("a field in field_updates", field)
            check_texts(f"field_updates[{field!r}]", values, with_none=True)
        version = version_options(durability, transaction_properties, commit_message, progress)
        self._ds = _native.update_field_metadata(self._ds, field_updates, replace, version)

    def replace_schema_metadata(self, new_metadata: dict[str, str]) -> None:
        """Deprecated: `update_schema_metadata` with ``replace=True``."""
        _deprecated("replace_schema_metadata", "update_schema_metadata(..., replace=True)")
        check_texts("new_metadata", new_metadata)
        self.update_schema_metadata(dict(new_metadata), replace=True)

    def replace_field_metadata(self, field_name: str, new_metadata: dict[str, str]) -> None:
        """Deprecated: `update_field_metadata` with ``replace=True``."""
        _deprecated("replace_field_metadata", "update_field_metadata(..., replace=True)")
        check_text("field_name", field_name)
        check_texts("new_metadata", new_metadata)
        self.update_field_metadata({field_name: dict(new_metadata)}, replace=True)

    # --- other places of files -------------------------------------------------------------------

    def base_paths(self) -> dict[int, _native.DatasetBasePath]:
        """The places besides the table's own folder where its files may lie, by their ids."""
        return {base.id: base for base in _native.base_paths(self._ds)}

    def add_bases(
        self,
        new_bases: list[_native.DatasetBasePath],
        transaction_properties: dict[str, str] | None = None,
        *,
        durability: Durability = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> Any:
        """Adds places for files, for `write_dataset(target_bases=)`. Returns this object."""
        version = version_options(durability, transaction_properties, commit_message, progress)
        for base in new_bases:
            if not isinstance(base, _native.DatasetBasePath):
                raise TypeError(f"new_bases must be a list of DatasetBasePath, got {base!r} in it")
        self._ds = _native.add_bases(self._ds, new_bases, version)
        return self


def _cleanup_options(
    older_than: timedelta | None,
    retain_versions: int | None,
    delete_unverified: bool,
    error_if_tagged_old_versions: bool,
    delete_rate_limit: int | None,
    versions: list[int] | None,
) -> _native.CleanupOptions:
    if older_than is None and retain_versions is None and versions is None:
        older_than = timedelta(days=14)
    check_time("older_than", older_than, optional=True)
    options = _native.CleanupOptions()
    if older_than:
        older_than = max(older_than, timedelta())  # a time to come is as good as now
        options.older_than_ns = older_than // timedelta(microseconds=1) * 1000
    set_option(options, "retain_versions", retain_versions)
    set_option(options, "versions", versions)
    set_option(options, "delete_unverified", delete_unverified)
    set_option(options, "error_if_tagged_old_versions", error_if_tagged_old_versions)
    set_option(options, "delete_rate_limit", delete_rate_limit)
    return options


def _dictionary(values: list[str], indices: pa.DataType) -> pa.Array:
    encoded = pa.array(values, pa.string()).dictionary_encode()
    return encoded.cast(pa.dictionary(indices, pa.string()))


def _reader(**columns: pa.Array) -> pa.RecordBatchReader:
    schema = pa.schema([pa.field(n, column.type, nullable=False) for n, column in columns.items()])
    batch = pa.record_batch(list(columns.values()), schema=schema)
    return pa.RecordBatchReader.from_batches(schema, [batch])


def _deprecated(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is deprecated, use {new} instead", DeprecationWarning, stacklevel=3
    )
