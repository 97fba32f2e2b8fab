"""Seeds run by a program of this folder, in as many processes as there are cores."""

import json
import os
import subprocess
import sys


def run(program, first, count):
    """How many tables ran, and the reports of those that failed."""
    workers = max(1, min(count // 10, os.cpu_count()))
    bounds = [first + count * i // workers for i in range(workers + 1)]
    processes = [
        subprocess.Popen(
            [sys.executable, program, str(begin), str(end)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "GLAIVE_DURABILITY": "none"},
        )
        for begin, end in zip(bounds, bounds[1:], strict=False)
    ]
    tables, reports = 0, []
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, f"{out[-3000:]}\n{err[-3000:]}"
        for line in map(json.loads, out.splitlines()):
            tables += line.get("tables", 0)
            reports += [line["report"]] if "report" in line else []
    return tables, reports
