"""A writer is killed at random moments, again and again on one table: whatever it reported is there, and nothing is torn.

GLAIVE_KILLS sets how often.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import glaive
import lance
import pyarrow as pa
import writer

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("GLAIVE_COMMAND", str(ROOT / "build/dev/bin/glaive"))
KILLS = int(os.environ.get("GLAIVE_KILLS", "6"))


def killed_run(path, seed, after):
    """What the writer said until it was killed, `after` seconds from its first operation on."""
    command = [sys.executable, writer.__file__, str(path), str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == '{"ready": true}\n', process.stderr.read()[-2000:]
    time.sleep(after)
    assert process.poll() is None, process.stderr.read()[-2000:]
    process.send_signal(signal.SIGKILL)
    said = process.stdout.read()  # not communicate(), which would not see what readline() read ahead
    process.stderr.close()
    process.wait(timeout=60)
    return [json.loads(line) for line in said.splitlines() if line.endswith("}")]


def replay(rows, said):
    """The rows after what was reported, those after what was still under way, and the last version reported."""
    begun, version = None, 0
    for line in said:
        if "begin" in line:
            begun = line["begin"]
        elif "done" in line:
            rows, begun, version = writer.apply(begun, rows), None, line["done"]
    return rows, writer.apply(begun, rows) if begun else rows, version


def test_what_was_reported_outlives_the_writer(tmp_path):
    path, seed = tmp_path / "table", 1
    rows, operations = {i: i for i in range(50)}, 0
    glaive.write_dataset(pa.table({"id": list(rows), "v": list(rows)}), path, max_rows_per_file=10)
    moments = random.Random(seed)
    for number in range(KILLS):
        said = killed_run(path, seed + number, after=moments.uniform(0, 0.4))
        reported, under_way, version = replay(rows, said)
        operations += sum("done" in line for line in said)
        found = {}
        for engine in (glaive, lance):
            dataset = engine.dataset(path)
            assert dataset.version >= version
            table = dataset.to_table(columns=["id", "v"])
            found = dict(zip(table["id"].to_pylist(), table["v"].to_pylist(), strict=True))
            assert len(found) == table.num_rows
            assert found in (reported, under_way), f"run {number}: {engine.__name__} after {said[-4:]}"
        rows = found
        done = subprocess.run([COMMAND, "verify", path, "--json"], capture_output=True, text=True)
        findings = [finding for finding in json.loads(done.stdout)["findings"] if "_transactions/" not in finding["path"]]
        assert findings == [], f"run {number}: after {said[-4:]}"
    assert operations > KILLS
