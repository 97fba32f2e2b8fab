"""Processes of both engines at once on one table: it is, version by version, what they reported to have done.

GLAIVE_RACE_SECONDS makes them go on for longer, with four processes of each engine.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import glaive
import lance
import racing

SECONDS = float(os.environ.get("GLAIVE_RACE_SECONDS", "0"))


def share(logs, kinds=None):
    """Of some operations, the part that was acknowledged."""
    entries = [entry for log in logs for entry in log if kinds is None or entry["op"] in kinds]
    return sum(entry["ok"] for entry in entries) / max(1, len(entries))


def race(path, seed, each, count):
    engines = [glaive] * each + [lance] * each
    engines[0].write_dataset(racing.races.base_table(), path, max_rows_per_file=20)
    logs = racing.races.run(engines, path, "everything", seed, count, timeout=600)
    racing.races.check([lance, glaive], path, logs)
    return logs


def test_the_table_is_the_log(tmp_path):
    end = time.monotonic() + SECONDS
    each, count = (4, 20) if SECONDS else (2, 6)
    ours, theirs, seed = [], [], 1
    while True:
        logs = race(tmp_path / str(seed), seed, each, count)
        ours += logs[:each]
        theirs += logs[each:]
        seed += 1
        if time.monotonic() >= end:
            break
    # Whatever may be done again is, by each engine, so that only few are refused in the end.
    rows = ["append", "delete", "update", "upsert", "assign"]
    for name, logs in (("glaive", ours), ("pylance", theirs)):
        print(f"{seed - 1} races: {name} {share(logs):.0%} acknowledged, of rows {share(logs, rows):.0%}")
    assert share(ours, ["append"]) > 0.9 and share(theirs, ["append"]) > 0.9
    if SECONDS:
        assert 0.5 < share(ours) / share(theirs) < 2


def test_compaction_lands_beside_writers(tmp_path):
    """Most of it: four writers of both engines append, delete and update meanwhile."""
    end = time.monotonic() + SECONDS / 5
    fragments, landed, seed = 0, 0, 1
    while True:
        path, count = tmp_path / str(seed), 60 if SECONDS else 12
        lance.write_dataset(
            racing.races.base_table(), path, max_rows_per_file=8, enable_stable_row_ids=seed % 2 == 0
        )
        with ThreadPoolExecutor(2) as pool:
            writing = pool.submit(
                racing.races.run, [glaive, lance] * 2, path, "writers", seed, count, 600
            )
            compacting = pool.submit(
                racing.races.run, [glaive], path, "compactor", seed, count // 3, 600
            )
            logs = writing.result() + compacting.result()
        racing.races.check([lance, glaive], path, logs)
        fragments += sum(entry["fragments"] for entry in logs[-1])
        landed += sum(entry["landed"] for entry in logs[-1])
        seed += 1
        if time.monotonic() >= end:
            break
    print(f"{seed - 1} races: of {fragments} fragments that were compacted, {landed} landed")
    assert fragments > 0 and landed >= fragments / 2
