"""The schema of a table with its field ids."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from . import _native


class LanceField:
    """A field of a table. Its id never changes and is never used again."""

    def __init__(self, field: _native.FieldInfo) -> None:
        self._field = field

    def name(self) -> str:
        return self._field.name

    def id(self) -> int:
        return self._field.id

    def children(self) -> list[LanceField]:
        return [LanceField(child) for child in self._field.children]

    def metadata(self) -> dict[str, str]:
        metadata = self.to_arrow().metadata or {}
        return {key.decode(): value.decode() for key, value in metadata.items()}

    def to_arrow(self) -> pa.Field:
        return pa.schema(self._field.schema).field(0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LanceField):
            return NotImplemented
        return _shape(self) == _shape(other)

    def __repr__(self) -> str:
        return f"LanceField(name={self.name()!r}, id={self.id()}, type={self.to_arrow().type})"


class LanceSchema:
    """The fields of a table with their ids."""

    def __init__(self, native: _native.TableSchema) -> None:
        self._native = native

    @staticmethod
    def from_pyarrow(schema: pa.Schema) -> LanceSchema:
        """As of a new table: ids from 0 on, parents before their children."""
        return LanceSchema(_native.TableSchema.from_arrow(schema))

    @staticmethod
    def from_pylance(schema: Any) -> LanceSchema:
        """The same fields and ids, out of a ``lance.schema.LanceSchema``."""
        if type(schema).__name__ != "LanceSchema":
            raise TypeError(f"a LanceSchema or pyarrow.Schema is wanted, not {type(schema)}")
        # How it pickles: metadata as JSON, then a Field message for each field, parents first.
        _, (metadata, *fields) = schema.__reduce__()
        message = b"".join(_record(1, field) for field in fields)
        for key, value in json.loads(metadata).items():
            message += _record(5, _record(1, key.encode()) + _record(2, value.encode()))
        return LanceSchema._parsed(message)

    @staticmethod
    def _parsed(data: bytes) -> LanceSchema:
        return LanceSchema(_native.TableSchema.parse(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return LanceSchema._parsed, (self._native.serialize(),)

    def fields(self) -> list[LanceField]:
        return [LanceField(field) for field in self._native.fields]

    def field(self, name: str) -> LanceField | None:
        """The field at a path such as ``"a.b"``, if there is one."""
        return _find(self.fields(), name)

    def field_case_insensitive(self, name: str) -> LanceField | None:
        """As `field`; where no name matches exactly, one that differs in case only will do."""
        return _find(self.fields(), name) or _find(self.fields(), name, fold=True)

    def to_pyarrow(self) -> pa.Schema:
        return pa.schema(self._native.schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LanceSchema):
            return NotImplemented
        return self._native == other._native

    def __repr__(self) -> str:
        return f"LanceSchema({self.fields()})"


def _record(number: int, payload: bytes) -> bytes:
    """A field of a protobuf message that holds bytes."""
    length = len(payload)
    out = bytearray([number << 3 | 2])
    while length > 0x7F:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    out.append(length)
    return bytes(out) + payload


def _shape(field: LanceField) -> tuple[object, ...]:
    children = tuple(_shape(child) for child in field.children())
    return (field.name(), field.id(), str(field.to_arrow()), children)


def _find(fields: list[LanceField], path: str, fold: bool = False) -> LanceField | None:
    head, _, rest = path.partition(".")
    for field in fields:
        name = field.name()
        if name == path or (fold and name.lower() == path.lower()):
            return field
        if rest and (name == head or (fold and name.lower() == head.lower())):
            return _find(field.children(), rest, fold)
    return None
