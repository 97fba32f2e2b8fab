"""Holds the sources to the layer table of docs/architecture.md.

    python tools/check_layers.py

Checked: each folder of src/ includes only what its row names; the folder graph has no cycle; the
public headers include only the standard library, `arrow/result.h`, `arrow/status.h`,
`arrow/type_fwd.h` and each other; bindings, command and examples see public headers only; a third
party's headers stay where the second table puts them; CMake links the same rows; files are named
as docs say; rows are taken out of arrays in one place. Every break is printed as `file:line: what`.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PUBLIC_ARROW = {"arrow/result.h", "arrow/status.h", "arrow/type_fwd.h"}
PUBLIC_ONLY = ("python", "src/cli", "examples", "tests/public")
EVERYTHING = "everything"
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
TAKE = re.compile(r"\b(compute|cp)::(Take|Filter)\(")
TAKES = {"src/query/values/array_rows.cc", "src/dataset/scan/sorted.cc"}  # the latter: decoded rows alone
FILE_NAME = re.compile(r"[a-z][a-z0-9_]*\.(cc|h|py|pyi)")


def main() -> int:
    layers = {row[0]: names(row[2]) for row in table("layer")}
    parties = [(names(row[0]), names(row[1])) for row in table("headers")]
    sources = [Path(line) for line in git("ls-files", "-co", "--exclude-standard", "*.cc", "*.h")]
    broken = list(check_cmake(layers)) + list(check_names()) + list(check_takes(sources))
    graph = defaultdict(dict)
    for file in sources:
        for number, quote, header in includes(file):
            where = f"{file}:{number}"
            broken += [f"{where}: {text}" for text in check_include(file, quote, header, layers, parties)]
            if file.parts[0] == "src" and (ROOT / "src" / header).exists() and not is_test(file):
                graph[file.parent][(Path("src") / header).parent] = where
    broken += check_cycles(graph)
    print("\n".join(broken) if broken else f"layers: {len(sources)} files keep to {len(layers)} rows")
    return bool(broken)


def git(*arguments) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def table(first_column: str) -> list[list[str]]:
    """The rows of the table of docs/architecture.md whose heading begins with `first_column`."""
    rows, inside = [], False
    for line in (ROOT / "docs/architecture.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == first_column:
            inside = True
        elif inside and set(cells[0]) != {"-"}:
            rows.append([cells[0].strip("`"), *cells[1:]] if first_column == "layer" else cells)
    if not rows:
        sys.exit(f"docs/architecture.md has no table that begins with '{first_column}'")
    return rows


def names(cell: str) -> set[str]:
    return {EVERYTHING} if cell == EVERYTHING else set(re.findall(r"`([^`]+)`", cell))


def includes(file: Path):
    for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2]


def is_test(file: Path) -> bool:
    return file.name.endswith("_test.cc") or file.parts[:2] == ("src", "testing")


def check_include(file, quote, header, layers, parties):
    if file.parts[:2] == ("include", "glaive"):
        if not header.startswith("glaive/") and header not in PUBLIC_ARROW and ("/" in header or header.endswith(".h")):
            yield f"a public header includes {header}"
        return
    ours = header.startswith("glaive/") or (ROOT / "src" / header).exists()
    if str(file).startswith(PUBLIC_ONLY):
        if ours and not header.startswith("glaive/") and not (ROOT / file.parent / header).exists():
            if not header.startswith("cli/") or file.parts[1] != "cli":
                yield f"includes {header}; only include/glaive/ is for it"
    elif file.parts[0] == "src" and ours and not header.startswith("glaive/"):
        layer, used = file.parts[1], header.split("/")[0]
        allowed = layers.get(layer)
        if allowed is None:
            yield f"src/{layer} has no row in docs/architecture.md"
        elif used != layer and EVERYTHING not in allowed and used not in allowed:
            if not (used == "testing" and is_test(file)):
                yield f"{layer} may not use {used} ({header})"
    if not ours and not is_test(file):
        folder = file.parts[1] if file.parts[0] == "src" else file.parts[0]
        for prefixes, folders in parties:
            if header.startswith(tuple(prefixes)) and folder not in folders:
                yield f"{header} is for {', '.join(sorted(folders))} only"


def check_takes(sources):
    """Arrow's kernels that gather rows are called in one place, which knows where they fail."""
    for file in sources:
        if is_test(file) or str(file) in TAKES or not (ROOT / file).exists():
            continue
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if TAKE.search(line):
                yield f"{file}:{number}: rows are taken by query/values/array_rows.h"


def check_cycles(graph) -> list[str]:
    broken, done = [], set()

    def walk(folder, path):
        if folder in path:
            loop = [*path[path.index(folder):], folder]
            edges = ", ".join(f"{graph[a][b]} -> {b}" for a, b in zip(loop, loop[1:]))
            broken.append(f"folders include each other in a circle: {edges}")
        elif folder not in done:
            for other in graph[folder]:
                if other != folder:
                    walk(other, [*path, folder])
            done.add(folder)

    for folder in list(graph):
        walk(folder, [])
    return broken


def check_cmake(layers):
    """Each glaive_layer() links its row of the table."""
    text = (ROOT / "CMakeLists.txt").read_text()
    linked = {}
    for name, body in re.findall(r"glaive_layer\((\w+)([^)]*)\)", text):
        linked[name] = set(re.findall(r"glaive::(\w+)", body))
    for name, used in linked.items():
        if name not in layers:
            yield f"CMakeLists.txt: layer {name} has no row in docs/architecture.md"
        elif more := used - layers[name]:
            yield f"CMakeLists.txt: {name} links {', '.join(sorted(more))}, which its row does not name"


def check_names():
    folders = ("src", "include", "python", "tests", "benchmarks", "examples", "fuzz", "tools")
    for path in map(Path, git("ls-files", "-co", "--exclude-standard", *folders)):
        if path.suffix in (".cc", ".h", ".py", ".pyi") and path.name != "__init__.py":
            if not FILE_NAME.fullmatch(path.name.lstrip("_")):
                yield f"{path}: sources are named in snake_case, .cc and .h"
        if path.suffix in (".cpp", ".cxx", ".hpp", ".hh"):
            yield f"{path}: sources are named .cc and .h"


if __name__ == "__main__":
    sys.exit(main())
