"""A backfill is killed at random moments and started again: no fragment is computed twice without cause.

GLAIVE_KILLS above 6 makes it 200 fragments and five kills, else 60 and three.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import backfill_writer
import glaive
import lance
import pyarrow as pa
import pytest

FRAGMENTS, KILLS = (200, 5) if int(os.environ.get("GLAIVE_KILLS", "6")) > 6 else (60, 3)
THREADS = 2  # fragments that may be under way when the process dies


@pytest.mark.parametrize("commit_every", [0, 17])
def test_killed_and_gone_on_with(tmp_path, commit_every):
    path, checkpoint, log = tmp_path / "table", tmp_path / "kept", tmp_path / "log"
    glaive.write_dataset(pa.table({"x": range(FRAGMENTS * 2)}), path, max_rows_per_file=2)
    command = [sys.executable, backfill_writer.__file__, path, checkpoint, log, str(commit_every)]
    environment = os.environ | {"GLAIVE_CPU_THREADS": str(THREADS)}
    moments = random.Random(commit_every)
    for _ in range(KILLS):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        begun = computed(log)
        # At some moment of what is left of the job, but not behind its end.
        while computed(log) < begun + max(1, (FRAGMENTS - begun) // 4) and process.poll() is None:
            time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        process.stdout.close()
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)

    for engine in (glaive, lance):
        table = engine.dataset(path).to_table()
        assert table["x"].to_pylist() == list(range(FRAGMENTS * 2))
        assert table["y"].to_pylist() == list(range(1, FRAGMENTS * 2 + 1))
    times = Counter(int(line) for line in log.read_text().splitlines())
    assert set(times) == set(range(0, FRAGMENTS * 2, 2))
    assert sum(times.values()) <= FRAGMENTS + KILLS * THREADS
    assert not checkpoint.exists()
    glaive.dataset(path).cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)
    dataset = glaive.dataset(path)
    used = {file.path for fragment in dataset.get_fragments() for file in fragment.metadata.files}
    assert {file.name for file in Path(path, "data").iterdir()} == used
    dataset.validate()


def computed(log):
    return len(log.read_text().splitlines()) if log.exists() else 0
