"""Runs the `glaive` command for the tests of this folder."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("GLAIVE_COMMAND", str(ROOT / "build/dev/bin/glaive"))


def run(*arguments, expect=0, **options):
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    done = subprocess.run([COMMAND, *map(str, arguments)], **options)
    assert done.returncode == expect, f"{done.stdout}{done.stderr}"
    return done


def run_json(*arguments, expect=0):
    return json.loads(run(*arguments, "--json", expect=expect).stdout)


def error_of(*arguments, expect):
    """The one line on standard error."""
    done = run(*arguments, expect=expect)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("glaive: "), done.stderr
    return lines[0]
