"""Writes the stub of the compiled Python module, python/glaive/_native.pyi, from the module itself.

    ./run stub

nanobind's generator reads the signatures, python/stub_patterns.txt refines some, and long ones are
broken into lines. python/tests/test_native_stub.py fails when the file is not what this gives.
"""

import re
from pathlib import Path

from glaive import _native
from nanobind.stubgen import StubGen, load_pattern_file

PYTHON = Path(__file__).resolve().parent.parent / "python"
STUB = PYTHON / "glaive" / "_native.pyi"
HEAD = '''"""What the compiled module holds; the package shows it under pylance's names.

Written by tools/make_stub.py.
"""

'''
WIDTH = 100


def stub():
    """The text of the stub."""
    patterns = load_pattern_file(PYTHON / "stub_patterns.txt")
    generator = StubGen(_native, include_docstrings=False, patterns=patterns)
    generator.put(_native)
    unused = [pattern.query.pattern for pattern in patterns if pattern.matches == 0]
    assert not unused, f"patterns that match nothing: {unused}"
    lines = [part for line in generator.get().splitlines() for part in broken(line)]
    return HEAD + "\n".join(lines).rstrip() + "\n"


def broken(line):
    """A signature of more than WIDTH columns with a parameter on each line."""
    signature = re.fullmatch(r"( *)(def \w+)\((.*)\) -> (.*)", line)
    if len(line) <= WIDTH or signature is None:
        return [line]
    indent, name, parameters, result = signature.groups()
    inner = [part for each in split(parameters) for part in filled(f"{indent}    {each},")]
    last = f"{indent}) -> {result}"
    if len(last) <= WIDTH:
        return [f"{indent}{name}(", *inner, last]
    kind = filled(f"{indent}    {result.removesuffix(': ...')}")
    return [f"{indent}{name}(", *inner, f"{indent}) -> (", *kind, f"{indent}): ..."]


def filled(line):
    """A line that is longer than WIDTH in parts, each of which but the last ends before a `|`."""
    inner = " " * (len(line) - len(line.lstrip()) + 4)
    lines = []
    while len(line) > WIDTH:
        cut = line.rindex(" | ", 0, WIDTH)
        lines.append(line[:cut])
        line = inner + line[cut + 1 :]
    return [*lines, line]


def split(parameters):
    """The parameters between the commas outside of brackets."""
    found, depth, start = [], 0, 0
    for place, letter in enumerate(parameters):
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            found.append(parameters[start:place].strip())
            start = place + 1
    return [*found, parameters[start:].strip()]


if __name__ == "__main__":
    STUB.write_text(stub())
