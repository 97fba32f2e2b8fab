"""Entries of a table's history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from .. import _native
from ..errors import NotFound


class Version(dict[str, Any]):
    """An entry of a table's history: ``version``, ``timestamp`` and ``metadata``.

    The time is the machine's local one. A dict that only knows its number at first: whatever needs
    more than that has it read the version's manifest, once.
    """

    __slots__ = ("_dataset",)

    def __init__(self, version: int, dataset: _native.Dataset) -> None:
        super().__init__(version=version)
        self._dataset: _native.Dataset | None = dataset

    def _whole(self) -> dict[str, Any]:
        if self._dataset is not None:
            info = self._dataset.read_version_info(dict.__getitem__(self, "version"))
            self._dataset = None
            dict.setdefault(self, "timestamp", _local_time(info.timestamp_ns))
            dict.setdefault(self, "metadata", info.metadata)
        return super()  # type: ignore[return-value]

    # What a dict asks for a key that it lacks.
    def __missing__(self, key: object) -> Any:
        if self._dataset is None or key not in ("timestamp", "metadata"):
            raise KeyError(key)
        return self._whole().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self._whole().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return self._whole().__iter__()

    def __reversed__(self) -> Iterator[str]:
        return self._whole().__reversed__()

    # These two are asked by programs that show a list of versions; some may be cleaned up since.
    def __len__(self) -> int:
        return super().__len__() if self._dataset is None else 3

    def keys(self) -> Any:
        return self._whole().keys()

    def values(self) -> Any:
        return self._whole().values()

    def items(self) -> Any:
        return self._whole().items()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Version):
            other._whole()
        return self._whole().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __delitem__(self, key: str) -> None:
        self._whole().__delitem__(key)

    def pop(self, *args: Any) -> Any:
        return self._whole().pop(*args)

    def popitem(self) -> tuple[str, Any]:
        return self._whole().popitem()

    def setdefault(self, key: str, default: Any = None) -> Any:
        return self._whole().setdefault(key, default)

    def clear(self) -> None:
        self._dataset = None
        super().clear()

    def copy(self) -> dict[str, Any]:
        return dict(self)

    def __repr__(self) -> str:
        try:
            return self._whole().__repr__()
        except NotFound:
            return f"<version {dict.__getitem__(self, 'version')}, cleaned up>"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _local_time(timestamp_ns: int) -> datetime:
    # In floats, which lose some of a nanosecond count: what pylance shows is equal to this only so.
    whole, rest = divmod(float(timestamp_ns), 1e9)
    return datetime.fromtimestamp(whole) + timedelta(microseconds=rest // 1e3)
