"""Runs the snippets of the documents, so that they stay true."""

import importlib.util
import re
import shlex
from pathlib import Path

import glaive
import pyarrow.dataset
import pytest
from command import run
from glaive.optimize import Compaction, DatasetOptimizer

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONAL = ("duckdb", "polars")


def blocks_of(document):
    """(line, language, text) of each block of code."""
    text = (ROOT / document).read_text()
    return [(text[: m.start()].count("\n") + 2, m[1], m[2]) for m in BLOCK.finditer(text)]


def lacks_module(code):
    imported = [name for name in OPTIONAL if re.search(rf"^import {name}$", code, re.MULTILINE)]
    return any(importlib.util.find_spec(name) is None for name in imported)


def run_python(document, line, code, names):
    """Errors name the document and its line."""
    exec(compile("\n" * (line - 1) + code, str(ROOT / document), "exec"), names)


def run_commands(code):
    for words in (shlex.split(line, comments=True) for line in code.splitlines()):
        assert words[0] == "glaive"
        run(*words[1:])


@pytest.mark.parametrize(
    "document", ["README.md", "docs/verbs.md", "docs/distributed_writes.md", "docs/column_writes.md"]
)
def test_snippets_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLAIVE_DURABILITY", "none")
    names = {"__name__": "snippets"}
    blocks = blocks_of(document)
    assert any(language == "python" for _, language, _ in blocks)
    for line, language, code in blocks:
        if language == "sh":
            run_commands(code)
        if language == "python" and not lacks_module(code):
            run_python(document, line, code, names)


def test_readme_compacts_to_one_fragment(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    line, _, code = next(block for block in blocks_of("README.md") if block[1] == "python")
    run_python("README.md", line, code, {})
    printed = capsys.readouterr().out
    assert "fragments_removed=100, fragments_added=1," in printed
    assert "{'id': [5, 500, 995]}" in printed


def test_readme_has_the_figures_of_the_performance_page():
    specification = importlib.util.spec_from_file_location(
        "readme_figures", ROOT / "tools" / "readme_figures.py"
    )
    tool = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tool)
    readme = (ROOT / "README.md").read_text()
    performance = (ROOT / "docs/performance.md").read_text()
    assert tool.with_figures(readme, performance) == readme

    slower = re.sub(r"(?<=^\| scan\.num \| )\S+", "987ms", performance, flags=re.MULTILINE)
    lines = zip(readme.splitlines(), tool.with_figures(readme, slower).splitlines(), strict=True)
    (changed,) = [after for before, after in lines if before != after]
    assert changed.startswith("| scan a table of 5 numeric columns, 47 MB | 987 ms | ")

    without = performance.replace("| scan.num |", "| scan.other |")
    with pytest.raises(KeyError, match="scan.num"):
        tool.with_figures(readme, without)


def test_settings_names_every_environment_variable():
    sources = [
        path
        for folder in ("src", "python", "tests")
        for ending in ("*.cc", "*.h", "*.py")
        for path in (ROOT / folder).rglob(ending)
    ]
    quoted = re.compile(r"""["']((?:GLAIVE|LANCE)_[A-Z_]+)["']""")
    used = {name for path in sources for name in quoted.findall(path.read_text())}
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs/settings.md").read_text()))
    assert {"GLAIVE_DURABILITY", "LANCE_IMPL"} <= used
    assert not used - documented


DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_exist(document):
    """Links to other documents with their headings, and the sources that are named with a folder."""
    text = (ROOT / document).read_text()
    for target in re.findall(r"\]\((?!https?:)([^)\s]*)\)", text):
        name, _, heading = target.partition("#")
        linked = (ROOT / document).parent / name if name else ROOT / document
        assert linked.exists(), target
        assert not heading or heading in headings_of(linked), target
    for name in re.findall(r"`((?:src|include|tests|python|benchmarks|tools|cmake)/[^`\s]+)`", text):
        assert name.startswith("src/encoding/codec/x") or any(ROOT.glob(name)), name


def headings_of(document):
    """As links name them."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_api_page_names_every_public_name():
    named = set(re.findall(r"[A-Za-z_]\w*", (ROOT / "docs/api.md").read_text()))
    classes = (
        glaive.LanceDataset,
        glaive.LanceFragment,
        glaive.StagedColumns,
        glaive.WriteTarget,
        Compaction,
        DatasetOptimizer,
    )
    public = set(glaive.__all__)
    public |= {name for each in classes for name in dir(each) if not name.startswith("_")}
    assert not public - set(dir(pyarrow.dataset.Dataset)) - named
