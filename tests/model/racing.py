"""tests/conformance/races.py with all its operations in one mix, for longer."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
import races  # noqa: E402

races.__file__ = __file__  # what its processes run
races.MIXES["everything"] = [
    *["append", "append", "delete_own", "delete_shared", "update_own", "update_shared"],
    *["upsert_own", "assign_shared", "compact", "add_column"],
]

races.MIXES["writers"] = [
    *["append", "append", "delete_own", "delete_shared", "update_own", "update_shared", "upsert_own"],
]
races.MIXES["compactor"] = ["compact_in_pieces"]


def compact_in_pieces(worker, dataset, entry):
    """Plan, execute and commit, so that others come between; tells how much of it landed."""
    compaction = worker.engine.optimize.Compaction
    options = {"target_rows_per_fragment": 60, "materialize_deletions_threshold": 0.0}
    results = [task.execute(dataset) for task in compaction.plan(dataset, options).tasks]
    entry["fragments"] = sum(len(result.original_fragments) for result in results)
    entry["landed"] = 0
    time.sleep(0.1)
    metrics = compaction.commit(dataset, results, partial=True)
    entry["landed"] = metrics.fragments_removed
    entry["left"] = [task.reason for task in metrics.left]
    if entry["landed"] == 0:
        raise OSError("no version was made")


races.Worker.compact_in_pieces = compact_in_pieces

if __name__ == "__main__":
    races.main(*sys.argv[1:])
