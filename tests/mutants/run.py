"""Breaks the sources in one place after another and sees whether a test notices.

    python tests/mutants/run.py [--check | --together] [--build FOLDER] [--only TEXT] [LIST ...]

A list (tests/mutants/*.txt) holds mutants as blocks, with an empty line between them:

    # a gap is passed over               what it does, in words
    src/table/commit/commit.cc                  the file
    - a line as it stands                one or more lines, which stand once in the file
    + the line instead                   none or more
    ? glaive_table_test CommitRacesTest  a target and a filter of its tests; more lines: more targets

Run it in a checkout of its own: files change while it runs, and are put back. It prints a line for
each: killed (by which test), does not build, or SURVIVED, which ends it with 1. --check only sees
whether the lines stand once. --together builds all whose lines are whole statements in one go, each
behind a look at an environment variable; the others follow one by one.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HANGS_AFTER_S = 300  # a mutant may wait for ever, which counts as noticed
SWITCH = """#include <cstdlib>
static bool IsMutant(int number) {
  static const char* const text = std::getenv("GLAIVE_MUTANT");
  static const int chosen = text == nullptr ? 0 : std::atoi(text);
  return chosen == number;
}
"""


@dataclass
class Mutant:
    file: Path
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    tests: list[list[str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.file}: {' '.join(line.strip() for line in self.old)}"


def parse(path: Path) -> list[Mutant]:
    mutants = []
    for block in re.split(r"\n\s*\n", path.read_text()):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        mutant = Mutant(Path(lines[0].strip()))
        for line in lines[1:]:
            mark, rest = line[0], line[2:]
            if mark == "-":
                mutant.old.append(rest)
            elif mark == "+":
                mutant.new.append(rest)
            elif mark == "?":
                mutant.tests.append(rest.split())
            else:
                sys.exit(f"{path}: not a line of a mutant: {line}")
        mutants.append(mutant)
    return mutants


def place_of(text: str, mutant: Mutant) -> list[int]:
    """Where the lines stand, whatever their indentation."""
    lines = [line.strip() for line in text.splitlines()]
    wanted = [line.strip() for line in mutant.old]
    return [at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]


def mutated(text: str, mutant: Mutant, new: list[str]) -> str:
    (at,) = place_of(text, mutant)
    lines = text.splitlines()
    return "\n".join(lines[:at] + new + lines[at + len(mutant.old) :]) + "\n"


def switched(mutant: Mutant, number: int) -> list[str] | None:
    """Old and new lines in one program; nothing where they are no whole statements."""
    old, new = "\n".join(mutant.old).strip(), "\n".join(mutant.new).strip()
    on = f"IsMutant({number})"
    condition = re.compile(r"((?:\} else )?(?:if|while) \()([^;]*)(\) \{)", re.DOTALL)
    heads = condition.fullmatch(old), condition.fullmatch(new)
    if heads[0] and heads[1]:
        return [f"{heads[0][1]}{on} ? ({heads[1][2]}) : ({heads[0][2]}){heads[0][3]}"]
    value = re.compile(r"((?:const )?(?:bool|auto|uint64_t|arrow::Status) \w+ =\s+)([^;]*);", re.DOTALL)
    values = value.fullmatch(old), value.fullmatch(new)
    if values[0] and values[1] and values[0][1].split() == values[1][1].split():
        return [f"{values[0][1]}{on} ? ({values[1][2]}) : ({values[0][2]});"]
    declares = re.match(r"(const |auto |ARROW_ASSIGN|std::|int |uint64_t |arrow::Status \w)", old)
    is_whole = old.endswith((";", "}")) and old.count("{") == old.count("}") and not declares
    if not is_whole or re.match(r"(case|default|else|\}|for|ours\.|return \w+\(.*[^;]$)", old):
        return None
    return [f"if ({on}) {{ {new} }} else {{", *mutant.old, "}"]


def built(build: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ninja", "-k0", "-C", build, *targets], capture_output=True, text=True)


def run_tests(build: Path, test: list[str], number: int, *more: str) -> subprocess.CompletedProcess[str]:
    target, test_filter = test[0], test[1] if len(test) > 1 else "*"
    program = next(path for path in (build / target, *build.glob(f"**/{target}")) if path.is_file())
    return subprocess.run(
        [program, f"--gtest_filter={test_filter}", *more],
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER_S,
        env=os.environ | {"GLAIVE_MUTANT": str(number)},
    )


def leave_out_failing(mutants: list[Mutant], build: Path) -> None:
    """Tests that fail without a mutant tell nothing with one."""
    left_out: dict[str, str] = {}
    for test in [test for mutant in mutants for test in mutant.tests]:
        key = " ".join(test)
        if key not in left_out:
            ran = run_tests(build, test, 0)
            if "Running 0 tests" in ran.stdout:
                sys.exit(f"{key} names no test")
            failing = sorted(set(re.findall(r"\[  FAILED  \] ([^\s,]+)", ran.stdout)))
            if ran.returncode and not failing:
                sys.exit(f"{key} fails without a mutant")
            left_out[key] = ":".join(failing)
            print(*(f"left out: {name}" for name in failing), sep="\n", end="\n" if failing else "")
        if left_out[key]:
            test[1:] = [f"{test[1] if len(test) > 1 else '*'}-{left_out[key]}"]


def outcome(mutant: Mutant, build: Path, number: int = 0) -> str:
    for test in mutant.tests:
        target = test[0]
        if not number and built(build, target).returncode:
            return "does not build"
        try:
            ran = run_tests(build, test, number, "--gtest_fail_fast")
        except subprocess.TimeoutExpired:
            return f"killed: {target} waits for ever"
        if ran.returncode:
            failed = re.findall(r"\[  FAILED  \] ([^\s,]+)", ran.stdout)
            ended = re.findall(r"\[ RUN      \] (\S+)", ran.stdout)[-1:] or [target]
            return f"killed: {failed[0] if failed else ended[0] + ' (ended the program)'}"
    return "SURVIVED"


def run_together(mutants: list[Mutant], build: Path) -> dict[int, str]:
    """Outcomes by the place in the list, of those that can be built in one program."""
    texts: dict[Path, str] = {}
    numbers = []
    for number, mutant in enumerate(mutants, 1):
        text = texts.get(mutant.file) or (ROOT / mutant.file).read_text()
        lines = switched(mutant, number)
        if lines and len(place_of(text, mutant)) == 1:
            texts[mutant.file] = mutated(text, mutant, lines)
            numbers.append(number)
    before = {file: (ROOT / file).read_text() for file in texts}
    try:
        for file, text in texts.items():
            (ROOT / file).write_text(SWITCH + text)
        targets = sorted({each[0] for number in numbers for each in mutants[number - 1].tests})
        made = built(build, *targets)
        if made.returncode:
            sys.exit("\n".join(re.findall(r".*error:.*\n.*", made.stdout)) or made.stdout + made.stderr)
        leave_out_failing(mutants, build)
        found = {}
        for number in numbers:
            found[number - 1] = outcome(mutants[number - 1], build, number)
            print(f"{found[number - 1]:60} {mutants[number - 1].name}", flush=True)
        return found
    finally:
        for file, text in before.items():
            (ROOT / file).write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="*", type=Path, default=sorted(Path(__file__).parent.glob("*.txt")))
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--only", default="", help="mutants whose file or line has this text")
    parser.add_argument("--check", action="store_true", help="see whether all lines stand once")
    parser.add_argument("--together", action="store_true", help="build as many as can be in one go")
    options = parser.parse_args()
    mutants = [each for path in options.lists for each in parse(path) if options.only in each.name]
    places = [len(place_of((ROOT / each.file).read_text(), each)) for each in mutants]
    wrong = [f"stands {n} times: {each.name}" for each, n in zip(mutants, places, strict=True) if n != 1]
    if wrong or options.check:
        print("\n".join(wrong) or f"{len(mutants)} mutants, each of which stands once")
        return bool(wrong)
    build = options.build.resolve()
    if options.together:
        outcomes = run_together(mutants, build)
    else:
        outcomes = {}
        built(build, *sorted({test[0] for each in mutants for test in each.tests}))
        leave_out_failing(mutants, build)
    for place, mutant in enumerate(mutants):
        if place in outcomes:
            continue
        path = ROOT / mutant.file
        text = path.read_text()
        try:
            path.write_text(mutated(text, mutant, mutant.new))
            outcomes[place] = outcome(mutant, build)
        finally:
            path.write_text(text)
        print(f"{outcomes[place]:60} {mutant.name}", flush=True)
    killed = sum(each.startswith("killed") for each in outcomes.values())
    print(f"{killed} of {len(mutants)} mutants killed")
    return killed < len(mutants)


if __name__ == "__main__":
    sys.exit(main())
