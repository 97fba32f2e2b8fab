"""Random sequences of operations by both engines in turns; sequences.py says what has to hold.

GLAIVE_MODEL_SEQUENCES sets how many, GLAIVE_MODEL_FIRST the first seed.
"""

import json
import os
import subprocess
import sys

import sequences

SEQUENCES = int(os.environ.get("GLAIVE_MODEL_SEQUENCES", "500"))
FIRST = int(os.environ.get("GLAIVE_MODEL_FIRST", "0"))


def test_sequences():
    workers = min(SEQUENCES, os.cpu_count())
    bounds = [FIRST + SEQUENCES * i // workers for i in range(workers + 1)]
    environment = {**os.environ, "GLAIVE_DURABILITY": "none"}
    processes = [
        subprocess.Popen(
            [sys.executable, sequences.__file__, str(first), str(last)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for first, last in zip(bounds, bounds[1:], strict=False)
    ]
    failures = []
    for process in processes:
        out, err = process.communicate(timeout=600 + 3 * SEQUENCES)
        assert process.returncode == 0, err[-3000:]
        failures += json.loads(out)
    first = json.dumps(failures[:1], indent=1)
    assert not failures, f"{len(failures)} of {SEQUENCES} sequences fail; the first:\n{first}"
