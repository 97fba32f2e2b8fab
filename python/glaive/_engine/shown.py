"""What is shown as one of pyarrow's classes, and is none of its objects.

Users and libraries ask `isinstance(x, pyarrow.dataset.Dataset)`. pyarrow's own C++ goes by the type
alone, and would read memory that nobody set in an object that derives from a class of its own: here
it finds another type, and raises a TypeError.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar


@cache
def _shown(cls: type, base: type) -> type:
    return type(cls.__name__, (cls, base), {"__module__": cls.__module__, "__doc__": cls.__doc__})


class ShownAs:
    """An instance of `_shown_as` for `isinstance`, and for `__class__`."""

    _shown_as: ClassVar[type]

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return _shown(type(self), self._shown_as)
