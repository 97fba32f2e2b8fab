"""What the tests of the package share."""

import signal
import subprocess
import sys
import textwrap

import glaive
import pytest


@pytest.fixture
def path(tmp_path):
    """Where a table may be made."""
    return str(tmp_path / "table")


@pytest.fixture
def run():
    """Runs a program in a process of its own, with more environment; returns what it printed."""

    def run_program(program, environment=None, timeout=60):
        import os

        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            # What is started in the background inherits an ignored Ctrl-C, and would not notice it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run_program


@pytest.fixture
def files():
    """Every file below a folder, as a set of paths."""

    def list_files(root):
        from pathlib import Path

        return {str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_file()}

    return list_files


@pytest.fixture
def small(path):
    """A table of three fragments: a = 0..29, s = "s0".."s29"."""
    import pyarrow as pa

    rows = pa.table({"a": range(30), "s": [f"s{i}" for i in range(30)]})
    return glaive.write_dataset(rows, path, max_rows_per_file=10)
