"""Writes what the fuzz targets start from: files of small tables that pylance made.

    python fuzz/make_corpus.py build/corpus
"""

import shutil
import sys
import tempfile
from pathlib import Path

import lance
import pyarrow as pa

SQL = [
    "i = 1",
    "i >= 2 AND s = 'x%_' OR NOT b",
    "s LIKE 'x%' AND f BETWEEN 0.1 AND 0.9",
    "i IN (1, 2, 3) AND s IS NOT NULL",
    "-i + 2 * 3 <> 4 AND (f < 1e3)",
    "cast(i as string) = '1'",
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
    folders = {name: corpus / f"fuzz_{name}" for name in ("file", "manifest", "deletions", "sql")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(SQL):
        (folders["sql"] / f"start-{number}").write_text(text)
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


def collect(table: Path, folders: dict):
    for kind, pattern in (("file", "data/*.lance"), ("manifest", "_versions/*.manifest"), ("deletions", "_deletions/*")):
        for file in table.glob(pattern):
            shutil.copy(file, folders[kind] / f"start-{table.name}-{file.name[:40]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
