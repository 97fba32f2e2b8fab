"""Holds the rooms of src/ to the room tables of docs/architecture.md.

    python tools/check_rooms.py [BUILD FOLDER]    (build/dev when not given)

A room is a folder of src/ that holds sources. Each room has a row in docs/architecture.md, which
names the rooms of the same layer that it may use. A room uses another one when it includes a header
of the other room, or when an object of the room needs a symbol that an object of the other room
defines. So a call counts even where its declaration is in include/glaive. Also checked: the rooms of
a layer have no cycle, no room has more than 24 units, and no file more than 600 lines. Each break is
one line.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from check_layers import ROOT, check_cycles, git, includes, is_test, names, table

MOST_UNITS = 24
MOST_LINES = 600
OBJECT = re.compile(r"glaive_\w+\.dir/(src/.+)\.cc\.o$")


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/dev")
    rows = {row[0].strip("`"): names(row[2]) for row in table("room")}
    sources = [Path(line) for line in git("ls-files", "-co", "--exclude-standard", "src/*.cc", "src/*.h")]
    sources = [file for file in sources if not is_test(file) and (ROOT / file).exists()]
    edges = defaultdict(dict)
    for user, used, where in [*included(sources), *linked(build)]:
        if user != used and layer(user) == layer(used):
            edges[user].setdefault(used, where)
    broken = [*check_sizes(sources), *check_rows(sources, edges, rows), *check_cycles(edges)]
    print("\n".join(broken) if broken else f"rooms: {len(rows)} rooms keep to their rows")
    return bool(broken)


def room(file: Path) -> str:
    return str(file.parent.relative_to("src"))


def layer(name: str) -> str:
    return name.split("/")[0]


def included(sources):
    for file in sources:
        for number, _, header in includes(file):
            if (ROOT / "src" / header).exists():
                yield room(file), str(Path(header).parent), f"{file}:{number}"


def linked(build: Path):
    """Who needs a symbol of whom, by the objects of the build."""
    objects = [path for path in build.rglob("*.cc.o") if is_current(path)]
    if not objects:
        sys.exit(f"{build} holds no objects: build it first")
    defined, needed = defaultdict(set), defaultdict(set)
    listing = subprocess.run(["nm", "-A", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, rest = line.split(".cc.o:", 1)
        file = Path(OBJECT.search(path + ".cc.o")[1])
        kind, symbol = rest.split()[-2:]
        # Inline functions (W, V) have no owner: every object that uses one defines it.
        if kind == "U":
            needed[symbol].add(file)
        elif kind in "TDBR":
            defined[symbol].add(file)
    for symbol, users in needed.items():
        for owner in defined.get(symbol, ()):
            for user in users:
                yield room(user), room(owner), f"{user}.cc needs {symbol} of {owner}.cc"


def is_current(path: Path) -> bool:
    """Whether it is the object of a source of src/ that is still there, and not of a test."""
    found = OBJECT.search(str(path))
    return bool(found) and "_test.cc" not in path.name and (ROOT / (found[1] + ".cc")).exists()


def check_rows(sources, edges, rows):
    layers = {layer(name) for name in rows}
    for name in sorted({room(file) for file in sources if layer(room(file)) in layers} - set(rows)):
        yield f"src/{name} has no row among the rooms of docs/architecture.md"
    for name in sorted(rows):
        if not (ROOT / "src" / name).is_dir():
            yield f"docs/architecture.md names the room {name}, which src/ does not have"
        for used, where in sorted(edges[name].items()):
            if used not in rows[name]:
                yield f"{name} may not use {used}: {where}"


def check_sizes(sources):
    units = defaultdict(set)
    for file in sources:
        units[room(file)].add(file.stem)
        lines = (ROOT / file).read_text().count("\n")
        if lines > MOST_LINES:
            yield f"{file} has {lines} lines; {MOST_LINES} are the most"
    for name, members in sorted(units.items()):
        if len(members) > MOST_UNITS:
            yield f"src/{name} has {len(members)} units; {MOST_UNITS} are the most"


if __name__ == "__main__":
    sys.exit(main())
