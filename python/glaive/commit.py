"""Commits: the lock type of pylance, and the error of a commit that lost a race."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from .errors import ColumnWriteConflict as ColumnWriteConflict
from .errors import CommitConflictError as CommitConflictError

CommitLock = Callable[[int], AbstractContextManager[None]]

__all__ = ["ColumnWriteConflict", "CommitConflictError", "CommitLock"]
