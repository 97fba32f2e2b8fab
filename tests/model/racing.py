"""tests/conformance/races.py with all its operations in one mix, for longer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
import races  # noqa: E402

races.__file__ = __file__  # what its processes run
races.MIXES["everything"] = [
    *["append", "append", "delete_own", "delete_shared", "update_own", "update_shared"],
    *["upsert_own", "assign_shared", "compact", "add_column"],
]

if __name__ == "__main__":
    races.main(*sys.argv[1:])
