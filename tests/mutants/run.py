"""Breaks the sources in one place after another and sees whether a test notices.

    python tests/mutants/run.py [--build BUILD_FOLDER] [--only TEXT] [LIST ...]

A list (tests/mutants/*.txt) holds mutants as blocks, with an empty line between them:

    src/table/commit.cc                  the file
    - a line as it stands                one or more lines, which stand once in the file
    + the line instead                   none or more
    ? glaive_table_test CommitRacesTest  a target and a filter of its tests; more lines: more targets

Run it in a checkout of its own: files change while it runs, and are put back after each mutant. It
prints a line for each: killed (by which test), does not build, or SURVIVED, which ends it with 1.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HANGS_AFTER_S = 600  # a mutant may wait for ever, which counts as noticed


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


def mutated(text: str, mutant: Mutant) -> str:
    """The file with the lines replaced, whatever their indentation."""
    lines = text.splitlines()
    wanted = [line.strip() for line in mutant.old]
    places = [
        at
        for at in range(len(lines) - len(wanted) + 1)
        if [line.strip() for line in lines[at : at + len(wanted)]] == wanted
    ]
    if len(places) != 1:
        sys.exit(f"{mutant.name}: stands {len(places)} times in the file")
    at = places[0]
    return "\n".join(lines[:at] + mutant.new + lines[at + len(wanted) :]) + "\n"


def outcome(mutant: Mutant, build: Path) -> str:
    for target, test_filter in ((each[0], each[1] if len(each) > 1 else "*") for each in mutant.tests):
        built = subprocess.run(["ninja", "-C", build, target], capture_output=True, text=True)
        if built.returncode:
            return "does not build"
        program = next(path for path in (build / target, *build.glob(f"**/{target}")) if path.is_file())
        try:
            ran = subprocess.run(
                [program, f"--gtest_filter={test_filter}", "--gtest_brief=1"],
                capture_output=True,
                text=True,
                timeout=HANGS_AFTER_S,
            )
        except subprocess.TimeoutExpired:
            return f"killed: {target} waits for ever"
        if ran.returncode:
            failed = re.findall(r"\[  FAILED  \] (\S+)", ran.stdout)
            return f"killed: {failed[0] if failed else target + ' ended by ' + str(ran.returncode)}"
    return "SURVIVED"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="*", type=Path, default=sorted(Path(__file__).parent.glob("*.txt")))
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--only", default="", help="mutants whose file or line has this text")
    options = parser.parse_args()
    outcomes = []
    for mutant in (mutant for path in options.lists for mutant in parse(path)):
        if options.only not in mutant.name:
            continue
        path = ROOT / mutant.file
        text = path.read_text()
        try:
            path.write_text(mutated(text, mutant))
            outcomes.append(outcome(mutant, options.build.resolve()))
        finally:
            path.write_text(text)
        print(f"{outcomes[-1]:60} {mutant.name}", flush=True)
    killed = sum(each.startswith("killed") for each in outcomes)
    print(f"{killed} of {len(outcomes)} mutants killed")
    return "SURVIVED" in outcomes or "does not build" in outcomes


if __name__ == "__main__":
    sys.exit(main())
