"""Random typed expressions: Glaive's outcome is pylance's, or the difference is a named one.

GLAIVE_EXPRESSION_SEEDS sets how many tables of 200 expressions, GLAIVE_EXPRESSION_FIRST the first
seed. `expressions.py FIRST LAST` runs seeds without pytest.
"""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import expressions
from expression_differences import NAMED

SEEDS = int(os.environ.get("GLAIVE_EXPRESSION_SEEDS", "30"))
FIRST = int(os.environ.get("GLAIVE_EXPRESSION_FIRST", "1"))
DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"


def test_expressions():
    workers = min(SEEDS, os.cpu_count())
    bounds = [FIRST + SEEDS * i // workers for i in range(workers + 1)]
    environment = {**os.environ, "GLAIVE_DURABILITY": "none", "RUST_LOG": "off"}
    processes = [
        subprocess.Popen(
            [sys.executable, expressions.__file__, str(first), str(last)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for first, last in zip(bounds, bounds[1:], strict=False)
    ]
    differences = []
    tallies = collections.Counter()
    for process in processes:
        out, err = process.communicate(timeout=600 + 20 * SEEDS)
        assert process.returncode == 0, err[-3000:]
        found = json.loads(out)
        differences += found["differences"]
        tallies.update(found["tallies"])
    print(json.dumps(tallies, indent=1, sort_keys=True))
    shown = "\n".join(report for _, report in differences[:20])
    assert not differences, f"{len(differences)} differences without a name; the first:\n{shown}"
    # Were most refused, little would have been compared.
    assert tallies["value: same"] > tallies["expressions"] // 2


def test_named_differences_are_documented():
    text = DIFFERENCES.read_text()
    missing = [named.in_docs for named in NAMED if f"| {named.in_docs}" not in text]
    assert not missing
