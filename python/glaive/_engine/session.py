"""Caches that handles share."""

from __future__ import annotations

from typing import Any

from .. import _native
from .arguments import check_size, refuse


class Session:
    """A cache of manifests and of the metadata of data files, for whatever shares it.

    It is bounded by the bytes that it holds: the least recently used goes first. Threads may share
    it, and a forked child goes on with what its parent had. The newest version of a table is never
    cached, but looked up each time. Calls that name no session use one that the process has.

    Parameters
    ----------
    index_cache_size_bytes : int, optional
        Has no effect: indices are not read.
    metadata_cache_size_bytes : int, optional
        Bytes to be held at most; 1 GiB when absent. OverflowError for what does not fit 64 bits.
    """

    def __init__(
        self,
        index_cache_size_bytes: int | None = None,
        metadata_cache_size_bytes: int | None = None,
        *,
        index_cache_backend: Any | None = None,
        metadata_cache_backend: Any | None = None,
    ) -> None:
        refuse(
            "Session",
            index_cache_backend=index_cache_backend,
            metadata_cache_backend=metadata_cache_backend,
        )
        check_size("metadata_cache_size_bytes", metadata_cache_size_bytes, 0)
        if metadata_cache_size_bytes is None:
            self._session = _native.Session()
        else:
            self._session = _native.Session(metadata_cache_size_bytes)

    @classmethod
    def _of(cls, native: _native.Session) -> Session:
        session = cls.__new__(cls)
        session._session = native
        return session

    def size_bytes(self) -> int:
        """Bytes held now."""
        return self._session.size_bytes()

    def index_cache_size_bytes(self) -> int:
        """Always 0: indices are not read."""
        return 0

    def is_same_as(self, other: Session) -> bool:
        """Whether both are one cache."""
        return native_session(other) is not None and self._session.is_same_as(other._session)


def native_session(session: Session | None) -> _native.Session | None:
    """The engine's session, for calls that take one or None."""
    if session is not None and not isinstance(session, Session):
        raise TypeError(f"session must be a Session or None, got {session!r}")
    return None if session is None else session._session
