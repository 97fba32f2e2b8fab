"""Writes what the fuzz targets start from: files of small tables that pylance made.

    python fuzz/make_corpus.py build/corpus
"""

import shutil
import struct
import sys
import tempfile
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.compute as pc

SQL = [
    "i = 1",
    "i >= 2 AND s = 'x%_' OR NOT b",
    "s LIKE 'x%' AND f BETWEEN 0.1 AND 0.9",
    "i IN (1, 2, 3) AND s IS NOT NULL",
    "-i + 2 * 3 <> 4 AND (f < 1e3)",
    "cast(i as string) = '1'",
]

EXPRESSIONS = [
    pc.field("i") == 1,
    (pc.field("i") >= 2) & (pc.field("s") == "x%_") | ~pc.field("b"),
    pc.field("i").isin([1, 2, 3]) & pc.field("s").is_valid(),
    pc.field("i").cast("float64", safe=False) * 2 > pc.field("f"),
    pc.starts_with(pc.field("s"), "x"),
    pc.add(pc.field("i"), 1) == pc.field("i"),
]


def columns(rows: int) -> dict:
    words = ["", "a", "lance", "a longer word than the others", None]
    return {
        "i64": pa.array([None if i % 7 == 0 else i * 1000 for i in range(rows)], pa.int64()),
        "u8": pa.array([i % 256 for i in range(rows)], pa.uint8()),
        "bool": pa.array([None if i % 5 == 0 else i % 2 == 0 for i in range(rows)]),
        "f32": pa.array([i / 3 for i in range(rows)], pa.float32()),
        "text": pa.array([words[i % 5] for i in range(rows)], pa.utf8()),
        "wide": pa.array([b"x" * (i * 37 % 2000) for i in range(rows)], pa.large_binary()),
        "list": pa.array([None if i % 4 == 0 else list(range(i % 6)) for i in range(rows)], pa.list_(pa.int16())),
        "fsl": pa.array([[i, i + 1, i + 2] for i in range(rows)], pa.list_(pa.float32(), 3)),
        "struct": pa.array(
            [None if i % 6 == 0 else {"x": i * 1.5, "y": words[i % 5]} for i in range(rows)],
            pa.struct([("x", pa.float64()), ("y", pa.utf8())]),
        ),
        "same": pa.array([42] * rows, pa.int32()),
    }


def main(corpus: Path):
    kinds = ("file", "manifest", "deletions", "sql", "substrait", "transaction", "index", "row_ids")
    folders = {name: corpus / f"fuzz_{name}" for name in kinds}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(SQL):
        (folders["sql"] / f"start-{number}").write_text(text)
    types = {"i": pa.int64(), "s": pa.utf8(), "f": pa.float64(), "b": pa.bool_()}
    for number, expression in enumerate(EXPRESSIONS):
        message = expression.to_substrait(pa.schema(types))
        (folders["substrait"] / f"start-{number}").write_bytes(bytes(message))
    with tempfile.TemporaryDirectory() as scratch:
        for version in ("2.1", "2.2"):
            for rows in (0, 3, 70):
                for name, column in columns(rows).items():
                    path = Path(scratch, f"{version}-{rows}-{name}")
                    table = pa.table({name: column, "k": pa.array(range(rows), pa.int64())})
                    dataset = lance.write_dataset(table, path, data_storage_version=version)
                    if rows:
                        dataset.delete(f"k % 3 = {rows % 3}")
                    collect(path, folders)
        for stable in (False, True):
            path = Path(scratch, f"changed-{stable}")
            change(path, stable)
            collect(path, folders)
            collect_sections(path, folders)


def change(path: Path, stable: bool):
    """A table with a version of each kind that a few calls can make."""
    rows = pa.table({"a": range(30), "b": [str(i) for i in range(30)]})
    lance.write_dataset(rows, path, max_rows_per_file=10, enable_stable_row_ids=stable)
    lance.dataset(path).create_scalar_index("a", "BTREE")
    lance.dataset(path).delete("a in (3, 5, 17)")
    lance.dataset(path).update({"b": "'x'"}, where="a % 4 = 0")
    source = pa.table({"a": [1, 77], "b": ["y", "z"]})
    merge = lance.dataset(path).merge_insert("a").when_matched_update_all()
    merge.when_not_matched_insert_all().execute(source)
    lance.dataset(path).add_columns({"c": "a + 1"})
    lance.dataset(path).drop_columns(["c"])
    lance.dataset(path).update_metadata({"owner": "me"})
    lance.dataset(path).optimize.compact_files()
    lance.dataset(path).restore()


def fields(message: bytes):
    """Number and bytes of each length-delimited field."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            yield key >> 3, message[at : at + length]
            at += length
        else:
            at += 4 if key & 7 == 5 else 8


def collect_sections(table: Path, folders: dict):
    """What lies inside of manifests: index sections, and the row lineage of fragments."""
    for path in table.glob("_versions/*.manifest"):
        file = path.read_bytes()
        (begin,) = struct.unpack_from("<Q", file, len(file) - 16)
        message = file[begin + 4 : len(file) - 16]
        name = f"start-{table.name}-{path.stem}"
        for number, value in fields(message):
            if number == 6:
                (length,) = struct.unpack_from("<I", file, value)
                (folders["index"] / name).write_bytes(file[value + 4 : value + 4 + length])
            if number == 2:
                fragment = dict(fields(value))
                for lineage in (5, 7, 9):
                    if lineage in fragment:
                        start = struct.pack("<H", fragment.get(4, 0)) + fragment[lineage]
                        part = f"{name}-{fragment.get(1, 0)}-{lineage}"
                        (folders["row_ids"] / part).write_bytes(start)


def collect(table: Path, folders: dict):
    kinds = {
        "file": "data/*.lance",
        "manifest": "_versions/*.manifest",
        "deletions": "_deletions/*",
        "transaction": "_transactions/*.txn",
    }
    for kind, pattern in kinds.items():
        for file in table.glob(pattern):
            shutil.copy(file, folders[kind] / f"start-{table.name}-{file.name[:40]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
