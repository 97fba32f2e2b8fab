"""What workers need to know of a table to write rows for it."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from .. import _native
from .arguments import check_size, check_texts, uri_text
from .session import Session, native_session


class WriteTarget:
    """A version of a table, for those who write rows for it.

    It has the schema with its field ids, the version of the files, the bases, and which version of
    which table that is, but no list of fragments: its size depends on the schema alone, and some
    ten thousand columns take less than 64 KiB. It pickles, and `glaive.fragment.write_fragments`
    on it opens no manifest, on whatever machine::

        target = glaive.dataset(uri).write_target()
        # on each worker
        fragments = glaive.fragment.write_fragments(rows, target)
        # where they come together
        glaive.LanceDataset.commit(uri, glaive.LanceOperation.Append(fragments), target.version)

    What is written remembers the target, also when it is pickled or turned into JSON. If the table
    was removed and made anew meanwhile, `LanceDataset.commit` raises CommitConflictError, even
    where it has a version of the same number.
    """

    def __init__(self, native: _native.WriteTarget) -> None:
        self._native = native

    @classmethod
    def cached(
        cls,
        uri: str | os.PathLike[str],
        version: int | None = None,
        storage_options: dict[str, str] | None = None,
        *,
        session: Session | None = None,
    ) -> WriteTarget:
        """The target of a version, for workers that are told the same one again and again.

        The process keeps one for each URI, and asked for it again reads nothing, until `version`
        or `storage_options` are others: then the new one takes its place. All that are kept take
        16 MiB at most, and one that nobody asked for in ten minutes goes. Threads may share it, and
        a forked child goes on with what its parent had.

        Parameters
        ----------
        uri : str or path
            The table.
        version : int, optional
            The newest when absent, which is looked up at each call.
        storage_options : dict of str to str, optional
            Tell one opening of a table from another; the stores of this build need none.
        session : Session, optional
            Cache for opening the version; without one nothing of it is kept but the target.

        Raises
        ------
        NotFound
            There is no such table or version.
        """
        check_size("version", version, 0)
        check_texts("storage_options", storage_options or {})
        return cls(
            _native.cached_write_target(
                uri_text(uri),
                version,
                storage_options or {},
                native_session(session),
            )
        )

    @staticmethod
    def close_cached(uri: str | os.PathLike[str] | None = None) -> None:
        """Lets go of the target that `cached` keeps for `uri`, or of all."""
        _native.close_cached_write_targets(None if uri is None else uri_text(uri))

    @staticmethod
    def from_bytes(data: bytes) -> WriteTarget:
        """What `to_bytes` gave. An OSError that calls it damaged for anything else: each byte is
        checked."""
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {data!r}")
        return WriteTarget(_native.WriteTarget.parse(data))

    def to_bytes(self) -> bytes:
        """For other ways to travel than pickle, and for programs in C++."""
        return self._native.serialize()

    def __reduce__(self) -> tuple[Any, ...]:
        return WriteTarget.from_bytes, (self.to_bytes(),)

    @property
    def uri(self) -> str:
        """The table, as other processes of the machine find it."""
        return self._native.uri

    @property
    def version(self) -> int:
        return self._native.version

    @property
    def transaction_uuid(self) -> str:
        """The transaction that made the version; another table's of that number has another."""
        return self._native.transaction_uuid

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(self._native.schema)

    @property
    def data_storage_version(self) -> str:
        """Version of the file format that new files are written in."""
        return self._native.data_storage_version

    @property
    def has_stable_row_ids(self) -> bool:
        return self._native.has_stable_row_ids

    def config(self) -> dict[str, str]:
        return self._native.config

    def base_paths(self) -> list[_native.DatasetBasePath]:
        """Other places for the table's files."""
        return self._native.bases

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WriteTarget):
            return NotImplemented
        return self._native.equals(other._native)

    def __hash__(self) -> int:
        return hash((self.uri, self.version, self.transaction_uuid))

    def __repr__(self) -> str:
        return f"WriteTarget({self.uri!r}, version={self.version})"
