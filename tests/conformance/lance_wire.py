"""Wire-level readers for the Lance table format, in pure Python.

Contents: a protobuf decoder driven by hand-written field tables, the portable
32-bit Roaring bitmap, and row id / row version sequences.  Nothing here touches
the file system or imports ``lance``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Iterator

U64_MASK = (1 << 64) - 1


class FormatError(Exception):
    """The bytes do not follow the documented layout."""


# Field tables.  One message per line: ``Message: number name kind, ...``.
# Scalar kinds: u (unsigned varint), i (two's complement varint, 64-bit),
# bool, str, bytes, f64.  Any other kind is a message name.  A trailing ``*``
# marks a repeated field and ``<K,V>`` a map.
_TABLES = """
UUID: 1 uuid bytes
Timestamp: 1 seconds i, 2 nanos i
Any: 1 type_url str, 2 value bytes
Dictionary: 1 offset i, 2 length i
Field: 1 type u, 2 name str, 3 id i, 4 parent_id i, 5 logical_type str, 6 nullable bool, 7 encoding u, 8 dictionary Dictionary, 9 extension_name str, 10 metadata <str,bytes>, 12 unenforced_primary_key bool, 13 unenforced_primary_key_position u, 14 unenforced_clustering_key bool, 15 unenforced_clustering_key_position u
WriterVersion: 1 library str, 2 version str, 3 prerelease str, 4 build_metadata str
DataStorageFormat: 1 file_format str, 2 version str
BasePath: 1 id u, 2 name str, 3 is_dataset_root bool, 4 path str
Clustering: 1 id u, 2 columns i*, 3 provider str, 4 version u
Manifest: 1 fields Field*, 2 fragments DataFragment*, 3 version u, 4 version_aux_data u, 5 schema_metadata <str,bytes>, 6 index_section u, 7 timestamp Timestamp, 8 tag str, 9 reader_feature_flags u, 10 writer_feature_flags u, 11 max_fragment_id u, 12 transaction_file str, 13 writer_version WriterVersion, 14 next_row_id u, 15 data_format DataStorageFormat, 16 config <str,str>, 18 base_paths BasePath*, 19 table_metadata <str,str>, 20 branch str, 21 transaction_section_deprecated u, 22 fragment_tree FragmentTreeMetadata, 23 transaction_section u, 24 max_allocated_field_id i, 25 clustering Clustering*, 26 max_clustering_id u
RowLineageColumn:
DataFragment: 1 id u, 2 files DataFile*, 3 deletion_file DeletionFile, 4 physical_rows u, 5 inline_row_ids bytes, 7 inline_last_updated_at_versions bytes, 9 inline_created_at_versions bytes, 11 overlays DataOverlayFile*, 12 column_row_ids RowLineageColumn, 13 column_last_updated_at_versions RowLineageColumn, 14 column_created_at_versions RowLineageColumn, 15 clustering_id u, 16 metadata <str,str>
DataFile: 1 path str, 2 fields i*, 3 column_indices i*, 4 file_major_version u, 5 file_minor_version u, 6 file_size_bytes u, 7 base_id u
FieldCoverage: 1 offset_bitmaps bytes*
DataOverlayFile: 1 data_file DataFile, 2 shared_offset_bitmap bytes, 3 committed_version u, 4 field_coverage FieldCoverage
DeletionFile: 1 file_type u, 2 read_version u, 3 id u, 4 num_deleted_rows u, 7 base_id u
FragmentTreeMetadata: 1 tree FragmentTree
FragmentTree: 1 inline_root bytes, 2 root_uuid bytes, 3 mutations_since_root bytes*, 4 next_action_sequence u
IndexFile: 1 path str, 2 size_bytes u
IndexMetadata: 1 uuid UUID, 2 fields i*, 3 name str, 4 dataset_version u, 5 fragment_bitmap bytes, 6 index_details Any, 7 index_version i, 8 created_at u, 9 base_id u, 10 files IndexFile*, 11 covering_fields i*, 12 clustering_id u, 13 metadata <str,str>
IndexSection: 1 indices IndexMetadata*
ExternalFile: 1 path str, 2 offset u, 3 size u
FragmentReuseIndexDetails: 1 inline FriContent, 2 external ExternalFile
FriContent: 1 legacy_versions FriVersion*, 2 transitions FriTransition*
FriVersion: 1 dataset_version u, 3 groups FriGroup*
FriGroup: 1 changed_row_addrs bytes, 2 old_fragments FragmentDigest*, 3 new_fragments FragmentDigest*
FragmentDigest: 1 id u, 2 physical_rows u, 3 num_deleted_rows u
FriTransition: 1 sources FragmentDigest*, 2 destinations FragmentDigest*, 3 ordered_compaction FriOrdered, 4 stable_partition FriPartition
FriOrdered: 1 changed_row_addrs bytes
FriPartition: 1 map_id str, 2 map_size_bytes u, 3 base_id u
RowIdSequence: 1 segments U64Segment*
U64Segment: 1 range Range, 2 range_with_holes RangeWithHoles, 3 range_with_bitmap RangeWithBitmap, 4 sorted_array EncodedU64Array, 5 array EncodedU64Array
Range: 1 start u, 2 end u
RangeWithHoles: 1 start u, 2 end u, 3 holes EncodedU64Array
RangeWithBitmap: 1 start u, 2 end u, 3 bitmap bytes
EncodedU64Array: 1 u16_array OffsetArray, 2 u32_array OffsetArray, 3 u64_array PlainArray
OffsetArray: 1 base u, 2 offsets bytes
PlainArray: 2 values bytes
RowDatasetVersionSequence: 1 runs RowDatasetVersionRun*
RowDatasetVersionRun: 1 span U64Segment, 2 version u
Transaction: 1 read_version u, 2 uuid str, 3 tag str, 4 transaction_properties <str,str>, 100 append Append, 101 delete Delete, 102 overwrite Overwrite, 103 create_index CreateIndex, 104 rewrite Rewrite, 105 merge Merge, 106 restore Restore, 107 reserve_fragments ReserveFragments, 108 update Update, 109 project Project, 110 update_config UpdateConfig, 111 data_replacement DataReplacement, 112 update_mem_wal_state UpdateMemWalState, 113 clone Clone, 114 update_bases UpdateBases, 115 data_overlay DataOverlay
Append: 1 fragments DataFragment*
Delete: 1 updated_fragments DataFragment*, 2 deleted_fragment_ids u*, 3 predicate str
Overwrite: 1 fragments DataFragment*, 2 schema Field*, 3 schema_metadata <str,bytes>, 4 config_upsert_values <str,str>, 5 initial_bases BasePath*
CreateIndex: 1 new_indices IndexMetadata*, 2 removed_indices IndexMetadata*
Rewrite: 1 old_fragments DataFragment*, 2 new_fragments DataFragment*, 3 groups RewriteGroup*, 4 rewritten_indices RewrittenIndex*
RewriteGroup: 1 old_fragments DataFragment*, 2 new_fragments DataFragment*
RewrittenIndex: 1 old_id UUID, 2 new_id UUID, 3 new_index_details Any, 4 new_index_version u, 5 new_index_files IndexFile*
Merge: 1 fragments DataFragment*, 2 schema Field*, 3 schema_metadata <str,bytes>, 4 preserves_nullability bool
Restore: 1 version u
ReserveFragments: 1 num_fragments u
KeyExistenceFilter: 1 field_ids i*, 2 exact ExactKeySetFilter, 3 bloom BloomFilter
ExactKeySetFilter: 1 key_hashes u*
BloomFilter: 1 bitmap bytes, 2 num_bits u, 3 number_of_items u, 4 probability f64
UInt32List: 1 values u*
Update: 1 removed_fragment_ids u*, 2 updated_fragments DataFragment*, 3 new_fragments DataFragment*, 4 fields_modified u*, 5 compacted_sstables CompactedSsTable*, 6 fields_for_preserving_frag_bitmap u*, 7 update_mode u, 8 inserted_rows KeyExistenceFilter, 9 updated_fragment_offsets <u,UInt32List>, 10 updated_fragment_offset_bitmaps <u,bytes>
CompactedSsTable: 1 shard_id UUID, 2 generation u
Project: 1 schema Field*, 2 preserves_nullability bool
UpdateMapEntry: 1 key str, 2 value str
UpdateMap: 1 update_entries UpdateMapEntry*, 2 replace bool
FieldMetadataUpdate: 5 metadata <str,str>
UpdateConfig: 1 upsert_values <str,str>, 2 delete_keys str*, 3 schema_metadata <str,str>, 4 field_metadata <u,FieldMetadataUpdate>, 6 config_updates UpdateMap, 7 table_metadata_updates UpdateMap, 8 schema_metadata_updates UpdateMap, 9 field_metadata_updates <i,UpdateMap>
DataReplacementGroup: 1 fragment_id u, 2 new_file DataFile
DataReplacement: 1 replacements DataReplacementGroup*
UpdateMemWalState: 1 compacted_sstables CompactedSsTable*
Clone: 1 is_shallow bool, 2 ref_name str, 3 ref_version u, 4 ref_path str, 5 branch_name str
UpdateBases: 1 new_bases BasePath*
DataOverlayGroup: 1 fragment_id u, 2 overlays DataOverlayFile*
DataOverlay: 1 groups DataOverlayGroup*
"""


@dataclass(frozen=True)
class FieldSpec:
    """One row of a message table."""

    name: str
    kind: str
    repeated: bool = False
    map_value: str | None = None  # when set, ``kind`` is the map key kind


def _parse_tables(text: str) -> dict[str, dict[int, FieldSpec]]:
    tables: dict[str, dict[int, FieldSpec]] = {}
    for line in text.strip().splitlines():
        message, _, body = line.partition(":")
        table = tables.setdefault(message, {})
        for entry in filter(None, (part.strip() for part in body.split(", "))):
            number, name, kind = entry.split(" ")
            if kind.startswith("<"):
                key_kind, value_kind = kind.strip("<>").split(",")
                table[int(number)] = FieldSpec(name, key_kind, map_value=value_kind)
            else:
                table[int(number)] = FieldSpec(name, kind.rstrip("*"), kind.endswith("*"))
    return tables


MESSAGES = _parse_tables(_TABLES)
OPERATIONS = [s.name for n, s in MESSAGES["Transaction"].items() if n >= 100]
_VARINTS = {"u", "i", "bool"}


def read_varint(buf: bytes, pos: int) -> tuple[int, int]:
    """Return ``(value, next position)`` of a base-128 varint."""
    value = shift = 0
    while True:
        if pos >= len(buf):
            raise FormatError("truncated varint")
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & U64_MASK, pos
        shift += 7
        if shift > 63:
            raise FormatError("varint longer than ten bytes")


def wire_fields(buf: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield ``(field number, wire type, raw value)`` for one message body."""
    pos = 0
    while pos < len(buf):
        key, pos = read_varint(buf, pos)
        number, wire_type = key >> 3, key & 7
        if wire_type == 0:
            raw, pos = read_varint(buf, pos)
            yield number, wire_type, raw
            continue
        if wire_type == 2:
            size, pos = read_varint(buf, pos)
        elif wire_type in (1, 5):
            size = 8 if wire_type == 1 else 4
        else:
            raise FormatError(f"field {number}: wire type {wire_type}")
        raw, pos = buf[pos : pos + size], pos + size
        if len(raw) != size:
            raise FormatError(f"field {number}: truncated")
        yield number, wire_type, raw


def _varint_value(kind: str, raw: int) -> Any:
    if kind == "bool":
        return bool(raw)
    # A negative int32/int64 is sign-extended to a ten-byte varint.
    return raw - (1 << 64) if kind == "i" and raw >> 63 else raw


def _value(kind: str, wire_type: int, raw: Any) -> Any:
    if kind in _VARINTS:
        if wire_type != 0:
            raise FormatError(f"expected a varint for kind {kind}")
        return _varint_value(kind, raw)
    if kind == "str":
        return raw.decode("utf-8")
    if kind == "bytes":
        return raw
    if kind == "f64":
        return struct.unpack("<d", raw)[0]
    return decode(kind, raw)


def _default(kind: str) -> Any:
    return {"str": "", "bytes": b"", "bool": False, "u": 0, "i": 0}.get(kind, {})


def decode(message: str, buf: bytes) -> dict[str, Any]:
    """Decode ``buf`` as ``message``.

    Absent fields stay absent, so explicit presence can be told apart from a
    zero.  Fields missing from the table are collected under ``_unknown``.
    """
    table, out = MESSAGES[message], {}
    for number, wire_type, raw in wire_fields(buf):
        spec = table.get(number)
        if spec is None:
            out.setdefault("_unknown", []).append((number, wire_type, raw))
        elif spec.map_value is not None:
            entry = {1: _default(spec.kind), 2: _default(spec.map_value)}
            for sub, sub_wire, sub_raw in wire_fields(raw):
                entry[sub] = _value(spec.kind if sub == 1 else spec.map_value, sub_wire, sub_raw)
            out.setdefault(spec.name, {})[entry[1]] = entry[2]
        elif spec.repeated and spec.kind in _VARINTS and wire_type == 2:  # packed
            pos, values = 0, out.setdefault(spec.name, [])
            while pos < len(raw):
                item, pos = read_varint(raw, pos)
                values.append(_varint_value(spec.kind, item))
        elif spec.repeated:
            out.setdefault(spec.name, []).append(_value(spec.kind, wire_type, raw))
        else:
            out[spec.name] = _value(spec.kind, wire_type, raw)
    return out


# --------------------------------------------------------------------------
# Roaring
# --------------------------------------------------------------------------


def roaring32(buf: bytes, pos: int = 0) -> tuple[list[int], int]:
    """Decode a portable 32-bit Roaring bitmap; return values and end offset."""
    (cookie,) = struct.unpack_from("<I", buf, pos)
    run_flags = b""
    if cookie & 0xFFFF == 12347:  # some containers are run-encoded
        count, pos = (cookie >> 16) + 1, pos + 4
        run_flags = buf[pos : pos + (count + 7) // 8]
        pos += len(run_flags)
        has_offsets = count >= 4
    elif cookie == 12346:
        (count,) = struct.unpack_from("<I", buf, pos + 4)
        pos, has_offsets = pos + 8, True
    else:
        raise FormatError(f"roaring cookie {cookie:#x}")
    headers = [struct.unpack_from("<HH", buf, pos + 4 * i) for i in range(count)]
    pos += 4 * count * (2 if has_offsets else 1)
    values: list[int] = []
    for i, (key, card_minus_one) in enumerate(headers):
        base, card = key << 16, card_minus_one + 1
        if run_flags and run_flags[i // 8] >> (i % 8) & 1:
            (runs,) = struct.unpack_from("<H", buf, pos)
            pos += 2
            for _ in range(runs):
                start, extra = struct.unpack_from("<HH", buf, pos)
                pos += 4
                values.extend(range(base + start, base + start + extra + 1))
        elif card <= 4096:
            values.extend(base + v for v in struct.unpack_from(f"<{card}H", buf, pos))
            pos += 2 * card
        else:
            bits = int.from_bytes(buf[pos : pos + 8192], "little")
            pos += 8192
            values.extend(base + b for b in range(65536) if bits >> b & 1)
    return values, pos


def roaring64(buf: bytes) -> list[int]:
    """Decode a Roaring treemap: u64 count, then (u32 high key, 32-bit bitmap)."""
    (count,) = struct.unpack_from("<Q", buf)
    pos, values = 8, []
    for _ in range(count):
        (high,) = struct.unpack_from("<I", buf, pos)
        low, pos = roaring32(buf, pos + 4)
        values.extend(high << 32 | v for v in low)
    return values


# --------------------------------------------------------------------------
# Row id and row version sequences
# --------------------------------------------------------------------------


def _encoded_array(msg: dict[str, Any]) -> list[int]:
    for name, width, code in (("u16_array", 2, "H"), ("u32_array", 4, "I")):
        if name in msg:
            raw, base = msg[name].get("offsets", b""), msg[name].get("base", 0)
            return [base + v for v in struct.unpack(f"<{len(raw) // width}{code}", raw)]
    raw = msg.get("u64_array", {}).get("values", b"")
    return list(struct.unpack(f"<{len(raw) // 8}Q", raw))


def segment_values(seg: dict[str, Any]) -> list[int]:
    """Expand one U64Segment."""
    kind = next((k for k in seg if k != "_unknown"), None)
    if kind is None:
        raise FormatError("segment without an encoding")
    part = seg[kind]
    if kind in ("sorted_array", "array"):
        return _encoded_array(part)
    span = range(part.get("start", 0), part.get("end", 0))
    if kind == "range":
        return list(span)
    if kind == "range_with_holes":
        holes = set(_encoded_array(part.get("holes", {})))
        return [v for v in span if v not in holes]
    bitmap = part.get("bitmap", b"")  # value start+i is bit i%8 (LSB first) of byte i/8
    return [v for i, v in enumerate(span) if bitmap[i // 8] >> (i % 8) & 1]


def row_ids(buf: bytes) -> tuple[list[int], list[str]]:
    """Decode a RowIdSequence into its values and the encodings used."""
    segments = decode("RowIdSequence", buf).get("segments", [])
    values = [v for seg in segments for v in segment_values(seg)]
    return values, [next(iter(seg), "empty") for seg in segments]


def row_versions(buf: bytes) -> list[int]:
    """Decode a RowDatasetVersionSequence: one version per physical row.

    Only the *length* of a run's span matters; its values are stale offsets
    after a compaction has masked deleted rows out of it.
    """
    out: list[int] = []
    for run in decode("RowDatasetVersionSequence", buf).get("runs", []):
        out.extend([run.get("version", 0)] * len(segment_values(run.get("span", {}))))
    return out
