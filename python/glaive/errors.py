"""The errors that glaive raises. Each is also the built-in class that a caller would catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class EngineError(Exception):
    """What every error of the engine carries.

    Attributes
    ----------
    kind : str
        What went wrong, as far as a caller would act on it: the name of the class.
    retryable : bool
        Whether the same call may succeed when it is made again from the latest version.
    path : str, optional
        The file concerned, relative to the dataset's root where it lies in it.
    offset : int, optional
        Byte of `path` at which the fault was noticed.

    Those that are an OSError have `errno` where the system gave a number: ENOSPC for a full disk.
    """

    kind: str = "Internal"
    retryable: bool = False
    path: str | None = None
    offset: int | None = None


class InvalidInput(EngineError, ValueError):
    """An argument or a schema that cannot work."""

    kind = "InvalidInput"


class OutOfRange(InvalidInput, OverflowError):
    """A number that is too small or too large; an OverflowError as well, which pylance raises."""


class NotFound(EngineError, ValueError):
    """No such dataset, version, branch or tag."""

    kind = "NotFound"


class RefusedInput(EngineError, OSError):
    """As InvalidInput and NotFound, of the calls for which pylance raises OSError."""

    kind = "InvalidInput"


class FileNotFound(EngineError, FileNotFoundError):
    """A file that a version names is not there."""

    kind = "FileNotFound"


class AlreadyExists(EngineError, FileExistsError):
    """What was to be created is there."""

    kind = "AlreadyExists"


class IO(EngineError, OSError):
    """The store failed."""

    kind = "IO"


class Corrupt(EngineError, OSError):
    """Bytes that break a rule of the format."""

    kind = "Corrupt"


class CommitUnknown(EngineError, OSError):
    """The commit was sent, and its outcome could not be learnt."""

    kind = "CommitUnknown"


class CommitConflictError(EngineError, OSError):
    """Another writer's commit stands in the way.

    `retryable` tells whether the work may be done again from the newer version.
    """

    kind = "CommitConflict"

    def __init__(self, message: str = "", retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class LostRaceError(CommitConflictError):
    """A conflict met by a verb, which plans and commits in one call."""


class ColumnWriteConflict(CommitConflictError):
    """Staged columns would take the place of something else than what was there.

    The version that says so may be read, and the columns staged again from it.

    Attributes
    ----------
    fragment_id : int, optional
        Absent where it is the table's schema that changed.
    field : str, optional
        Path of the column; absent where the rows of the fragment are concerned.
    staged, current : dict, optional
        What was behind the field when it was staged, and what is now: ``base``, the column of a
        data file or None, and ``overlays``, oldest first.
    """

    fragment_id: int | None = None
    field: str | None = None
    staged: dict[str, Any] | None = None
    current: dict[str, Any] | None = None


class Unsupported(EngineError, NotImplementedError):
    """Valid, but not built in this version of glaive."""

    kind = "Unsupported"


class Cancelled(EngineError, KeyboardInterrupt):
    """Stopped at the caller's wish."""

    kind = "Cancelled"


class OutOfMemory(EngineError, MemoryError):
    """The memory pool refused."""

    kind = "OutOfMemory"


class Internal(EngineError, RuntimeError):
    """A defect of glaive."""

    kind = "Internal"


class as_os_errors:
    """Raises as OSError what was given wrong, as the same call of pylance does.

    With `beginnings` only errors whose text begins so.
    """

    def __init__(self, *beginnings: str) -> None:
        self._beginnings = beginnings

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, (InvalidInput, NotFound)):
            return
        if self._beginnings and not str(error).startswith(self._beginnings):
            return
        raised = RefusedInput(*error.args)
        raised.kind = error.kind
        raised.path, raised.offset = error.path, error.offset
        raise raised from error


@contextmanager
def as_commit_conflicts() -> Iterator[None]:
    """Raises a conflict by the class of pylance's `commit`."""
    try:
        yield
    except LostRaceError as error:
        raised = CommitConflictError(str(error), error.retryable)
        raised.path, raised.offset = error.path, error.offset
        raise raised from error


def unbuilt(what: str) -> NoReturn:
    """Raises for a part of pylance's interface that glaive does not have yet."""
    raise Unsupported(f"{what} is not supported by glaive yet")
