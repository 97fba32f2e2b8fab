"""Caches that handles share."""

from __future__ import annotations

from typing import Any

from . import _native
from ._arguments import refuse


class Session:
    """A cache of manifests and of the metadata of data files, for the handles that share it.

    `index_cache_size_bytes` has no effect: indices are not read.
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
        if metadata_cache_size_bytes is None:
            self._session = _native.Session()
        else:
            self._session = _native.Session(metadata_cache_size_bytes)

    def size_bytes(self) -> int:
        """Bytes held now."""
        return self._session.size_bytes()

    def index_cache_size_bytes(self) -> int:
        return 0

    def is_same_as(self, other: Session) -> bool:
        return self._session is other._session
