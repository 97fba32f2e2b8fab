"""A small editor for manifests on disk: feature flags, and protobuf fields that no engine knows yet."""
import struct
from pathlib import Path

from lance_wire import decode, wire_fields

READER_FLAGS, WRITER_FLAGS = 9, 10  # fields of Manifest
FOOTER = 16


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def encode_field(number: int, wire_type: int, raw) -> bytes:
    """One field; `raw` as `wire_fields` gives it."""
    key = varint(number << 3 | wire_type)
    if wire_type == 0:
        return key + varint(raw)
    return key + (varint(len(raw)) if wire_type == 2 else b"") + raw


def set_varint(body: bytes, number: int, value: int) -> bytes:
    kept = b"".join(encode_field(*f) for f in wire_fields(body) if f[0] != number)
    return kept + encode_field(number, 0, value)


def inside(body: bytes, path: tuple, change) -> bytes:
    """`change` applied to every submessage that the field numbers of `path` lead to."""
    if not path:
        return change(body)
    fields = ((n, w, inside(raw, path[1:], change) if (n, w) == (path[0], 2) else raw) for n, w, raw in wire_fields(body))
    return b"".join(encode_field(*f) for f in fields)


def submessages(body: bytes, path: tuple) -> list[bytes]:
    if not path:
        return [body]
    return [found for n, w, raw in wire_fields(body) if (n, w) == (path[0], 2) for found in submessages(raw, path[1:])]


def manifest_file(dataset, version: int) -> Path:
    return Path(dataset, "_versions", f"{2**64 - 1 - version:020}.manifest")


def _split(data: bytes):
    (position,) = struct.unpack_from("<q", data, len(data) - FOOTER)
    (size,) = struct.unpack_from("<I", data, position)
    return data[:position], data[position + 4 : position + 4 + size], data[position + 4 + size :]


def manifest_body(dataset, version: int) -> bytes:
    return _split(manifest_file(dataset, version).read_bytes())[1]


def manifest(dataset, version: int) -> dict:
    return decode("Manifest", manifest_body(dataset, version))


def edit_manifest(dataset, version: int, change):
    """Rewrites the manifest message; it stands last before the footer, so that no other offset moves."""
    file = manifest_file(dataset, version)
    before, body, footer = _split(file.read_bytes())
    body = change(body)
    file.write_bytes(before + struct.pack("<I", len(body)) + body + footer)


def flags(dataset, version: int) -> tuple[int, int]:
    found = manifest(dataset, version)
    return found.get("reader_feature_flags", 0), found.get("writer_feature_flags", 0)


def set_flags(dataset, version: int, reader: int = 0, writer: int = 0):
    """Sets further bits."""
    old_reader, old_writer = flags(dataset, version)

    def change(body):
        return set_varint(set_varint(body, READER_FLAGS, old_reader | reader), WRITER_FLAGS, old_writer | writer)

    edit_manifest(dataset, version, change)


def rename_operation(dataset, version: int, number: int):
    """Gives the recorded operation another field number, in the manifest and in the transaction file.

    The inline transaction has a length of its own; both numbers have to be coded in two bytes, so that no offset moves.
    """
    file = manifest_file(dataset, version)
    before, body, footer = _split(file.read_bytes())
    found = decode("Manifest", body)

    def renamed(message: bytes) -> bytes:
        out = b"".join(encode_field(number if n >= 100 else n, w, raw) for n, w, raw in wire_fields(message))
        assert len(out) == len(message)
        return out

    if (position := found.get("transaction_section")) is not None:
        (size,) = struct.unpack_from("<I", before, position)
        start = position + 4
        before = before[:start] + renamed(before[start : start + size]) + before[start + size :]
        file.write_bytes(before + struct.pack("<I", len(body)) + body + footer)
    if name := found.get("transaction_file"):
        apart = Path(dataset, "_transactions", name)
        apart.write_bytes(renamed(apart.read_bytes()))
