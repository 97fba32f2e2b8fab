"""The errors that glaive raises. Each is also the built-in class that a caller would catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


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
    """

    kind: str = "Internal"
    retryable: bool = False
    path: str | None = None
    offset: int | None = None


class InvalidInput(EngineError, ValueError):
    """An argument or a schema that cannot work."""

    kind = "InvalidInput"


class NotFound(EngineError, ValueError):
    """No such dataset, version, branch or tag."""

    kind = "NotFound"


class InvalidCommit(EngineError, OSError):
    """A commit that cannot be: its operation does not fit the table, or the table is not there.

    What is ValueError elsewhere is an OSError here, as it is in pylance.
    """

    kind = "InvalidCommit"


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


class InvalidWrite(EngineError, OSError):
    """A change of rows that cannot be.

    What is a ValueError elsewhere is an OSError here, as it is in pylance.
    """

    kind = "InvalidWrite"


class WriteConflict(CommitConflictError):
    """A change of rows that other writers got in the way of, as often as it was tried."""


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


class Refused(EngineError, OSError):
    """What was asked cannot be done, where pylance raises OSError for it.

    `kind` tells why: as an argument "InvalidInput", or "NotFound".
    """

    kind = "InvalidInput"


@contextmanager
def refused(*beginnings: str) -> Iterator[None]:
    """Raises as Refused what the calls inside would raise as ValueError.

    With `beginnings` only errors whose text begins so.
    """
    try:
        yield
    except (InvalidInput, NotFound) as error:
        text = str(error)
        if beginnings and not text.startswith(beginnings):
            raise
        refusal = Refused(text)
        refusal.kind = error.kind
        raise refusal from error


@contextmanager
def errors_of_a_write() -> Iterator[None]:
    """Raises what goes wrong while rows are changed as pylance does."""
    try:
        yield
    except CommitConflictError as error:
        raise _like(error, WriteConflict(str(error), error.retryable)) from error
    except InvalidInput as error:
        raise _like(error, InvalidWrite(*error.args)) from error


def _like(error: EngineError, other: EngineError) -> EngineError:
    other.path, other.offset = error.path, error.offset
    return other


def unbuilt(what: str) -> NoReturn:
    """Raises for a part of pylance's interface that glaive does not have yet."""
    raise Unsupported(f"{what} is not supported by glaive yet")
