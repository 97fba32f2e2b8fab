"""Rows of megabytes, added and compacted by turns: memory stays flat, and the work follows what was added.

GLAIVE_LARGE_ROW_MB (1 by default; 8 for an endurance run) sets the size of a row.
"""

import json
import math
import os
import subprocess
import sys

MIB = 1 << 20
ROW_MIB = int(os.environ.get("GLAIVE_LARGE_ROW_MB", "1"))
ROUNDS, ROWS = 10, 40 if ROW_MIB >= 8 else 8
LIMIT = 512 * MIB if ROW_MIB >= 8 else 64 * MIB

# A process for each compaction, whose peak is then its own.
COMPACT = """
import json, sys
import glaive
path, limit = sys.argv[1], int(sys.argv[2])
dataset = glaive.dataset(path)
dataset.take([0])

def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))

before = status("VmRSS:")
files = {f.path for fragment in dataset.get_fragments() for f in fragment.metadata.files}
dataset.optimize.compact_files(memory_limit=limit, num_threads=2, durability="none")
new = [f for fragment in dataset.get_fragments() for f in fragment.metadata.files if f.path not in files]
print(json.dumps({"grown": status("VmHWM:") - before, "written": sum(f.file_size_bytes for f in new)}))
"""

WRITE = """
import os, sys
import glaive, pyarrow as pa
path, first, rows, row_bytes = sys.argv[1], *map(int, sys.argv[2:])
batches = (
    pa.record_batch({"id": [first + i], "b": pa.array([os.urandom(row_bytes)], pa.large_binary())})
    for i in range(rows)
)
schema = pa.schema({"id": pa.int64(), "b": pa.large_binary()})
glaive.write_dataset(pa.RecordBatchReader.from_batches(schema, batches), path, mode="append", durability="none")
"""


def in_process(program, *arguments):
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_rounds_of_large_rows(tmp_path):
    path = tmp_path / "table"
    rounds = []
    for i in range(ROUNDS):
        in_process(WRITE, path, i * ROWS, ROWS, ROW_MIB * MIB)
        rounds.append(json.loads(in_process(COMPACT, path, LIMIT)))
        print(f"round {i}: peak +{rounds[-1]['grown'] / MIB:.0f} MiB, written {rounds[-1]['written'] / MIB:.0f} MiB")
        for file in (path / "data").iterdir():  # what no version needs, so that the disk is enough
            if file.name not in newest_files(path):
                file.unlink()
    assert max(r["grown"] for r in rounds) <= LIMIT
    added = ROUNDS * ROWS * ROW_MIB * MIB
    assert sum(r["written"] for r in rounds) <= added * math.log2(ROUNDS)


def newest_files(path):
    import glaive

    fragments = glaive.dataset(path).get_fragments()
    return {file.path for fragment in fragments for file in fragment.metadata.files}
