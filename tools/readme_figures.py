"""Writes the figures of README.md's table "Beside pylance" from docs/performance.md.

    python tools/readme_figures.py

Each row of the table is a workload of docs/performance.md; a row that is not in WORKLOADS, or a
workload that docs/performance.md lacks, is an error. tests/public/test_docs.py fails when README.md
is not what this gives.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PERFORMANCE = ROOT / "docs" / "performance.md"

WORKLOADS = {
    "write lists of 20,000 int16, 24 MB": "write.list16",
    "scan a table of 5 numeric columns, 47 MB": "scan.num",
    "take 1,000 random rows of 5 columns": "take.1000",
    "compact 1,000 fragments of 1,000 rows": "compact.frag1000",
    "compact 20 fragments of 300 lists of 20,000 int16, 240 MB": "compact.lists",
    "append to a table of 1,000,000 fragments, on a handle": "append.handle.1M",
}

TIME = re.compile(r"([\d.]+)(us|ms|s)")
TABLE = re.compile(r"(?<=^## Beside pylance\n\n)(.*\n.*\n)((?:\| .*\n)+)", re.MULTILINE)


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def measured(performance):
    """The best times of each workload in docs/performance.md, Glaive's and pylance's."""
    times = {}
    for line in performance.splitlines():
        row = cells(line) if line.startswith("| ") else []
        if len(row) < 3 or not all(TIME.fullmatch(cell) for cell in row[1:3]):
            continue
        if times.setdefault(row[0], row[1:3]) != row[1:3]:
            raise ValueError(f"{PERFORMANCE.name} has two rows of different times for {row[0]}")
    return times


def with_figures(readme, performance):
    """The text of README.md with the figures of docs/performance.md."""
    times = measured(performance)
    table = TABLE.search(readme)
    if table is None:
        raise ValueError(f'{README.name} has no table below "Beside pylance"')
    rows = []
    for line in table[2].splitlines():
        label = cells(line)[0]
        figures = [" ".join(TIME.fullmatch(time).groups()) for time in times[WORKLOADS[label]]]
        rows.append(f"| {' | '.join([label, *figures])} |\n")
    return readme[: table.start(2)] + "".join(rows) + readme[table.end(2) :]


if __name__ == "__main__":
    README.write_text(with_figures(README.read_text(), PERFORMANCE.read_text()))
