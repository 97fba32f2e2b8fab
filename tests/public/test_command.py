"""The `glaive` command, as a user runs it. pylance makes the tables and tells what is true of them."""

import json
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import glaive
import lance
import pyarrow as pa
import pytest
from command import COMMAND, error_of, run, run_json
from lance.file import LanceFileReader

NUM_FRAGMENTS, ROWS, LENGTH = 5, 40, 3000


def rows(start, count):
    lists = [[(i * 7 + j) % 1000 for j in range(LENGTH)] for i in range(start, start + count)]
    ids = pa.array(range(start, start + count), pa.int64())
    return pa.table({"id": ids, "feat": pa.array(lists, pa.list_(pa.int16()))})


@pytest.fixture
def table(tmp_path):
    """Five small fragments; two rows of the second are deleted."""
    path = tmp_path / "table"
    lance.write_dataset(rows(0, NUM_FRAGMENTS * ROWS), path, max_rows_per_file=ROWS)
    lance.dataset(path).delete("id IN (45, 46)")
    return path


def snapshot(folder):
    """Every file with its content."""
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_info(table):
    info = run_json("info", table)
    assert info["version"] == 2
    assert info["rows"] == NUM_FRAGMENTS * ROWS - 2
    assert info["deleted_rows"] == 2
    assert (info["fragments"], info["data_files"], info["deletion_files"]) == (NUM_FRAGMENTS, NUM_FRAGMENTS, 1)
    assert info["data_file_bytes"] == sum(file.stat().st_size for file in (table / "data").iterdir())
    assert info["data_storage_version"] == "2.2"
    assert [field["name"] for field in info["schema"]] == ["id", "feat"]
    assert any("glaive compact" in hint for hint in info["hints"])
    assert run_json("info", table, "--version", 1)["deleted_rows"] == 0


def test_info_names_what_mends_small_pages(tmp_path):
    path = tmp_path / "table"
    table = pa.table({"t": [str(i) * 40 for i in range(5000)]})
    glaive.write_dataset(table, path, max_page_bytes=20_000)
    assert "glaive compact --rewrite-small-pages" in run("info", path).stdout
    compacted = run_json("compact", path, "--rewrite-small-pages")
    assert (compacted["fragments_removed"], compacted["pages"]["total"]) == (1, 1)
    assert run_json("info", path)["hints"] == []


def test_info_needs_no_data_file(table):
    before = run("info", table).stdout
    (table / "data").rename(table / "gone")
    assert run("info", table).stdout == before


def test_no_hint_for_a_compact_table(tmp_path):
    lance.write_dataset(rows(0, ROWS), tmp_path / "one")
    assert run_json("info", tmp_path / "one")["hints"] == []


def test_versions(table):
    versions = run_json("versions", table)
    assert [(entry["version"], entry["operation"]) for entry in versions] == [(2, "Delete"), (1, "Overwrite")]
    assert "1 older" in run("versions", table, "--limit", 1).stdout


def test_pages_are_those_of_the_files(table):
    layout = run_json("pages", table)
    expected = {"id": [], "feat": []}
    for fragment in lance.dataset(table).get_fragments():
        file = LanceFileReader(str(table / "data" / fragment.metadata.files[0].path))
        for name, column in zip(expected, file.metadata().columns, strict=True):
            for page in column.pages:
                size = sum(buffer.size for buffer in page.buffers)
                expected[name].append({"first_row": fragment.fragment_id * ROWS, "rows": ROWS, "bytes": size})
    assert {column["name"]: column["pages"] for column in layout["columns"]} == expected
    assert layout["pages"] == 2 * NUM_FRAGMENTS


def test_pages_picture(table, tmp_path):
    text = run("pages", table, "--svg", tmp_path / "pages.svg").stdout
    assert f"{NUM_FRAGMENTS} pages" in text and "█" in text and "▓" in text
    svg = ElementTree.parse(tmp_path / "pages.svg").getroot()
    kinds = [node.get("class") for node in svg.iter("{http://www.w3.org/2000/svg}rect")]
    assert sum(kind in ("a", "b") for kind in kinds) == 2 * NUM_FRAGMENTS
    assert kinds.count("tick") == NUM_FRAGMENTS


def test_a_dry_run_changes_nothing(table):
    before = snapshot(table)
    plan = run_json("compact", table, "--dry-run")
    assert (plan["fragments"], plan["rows"]) == (NUM_FRAGMENTS, NUM_FRAGMENTS * ROWS - 2)
    assert plan["bytes"] == run_json("info", table)["data_file_bytes"]
    assert plan["memory_bytes"] > 64 << 20
    assert snapshot(table) == before
    assert "memory: at most about" in run("compact", table, "--dry-run").stdout


def test_a_dry_run_tells_how_memory_follows_from_the_options(table):
    """Five tasks could run, if there were threads and memory for them."""
    five = ("compact", table, "--dry-run", "--target-rows-per-fragment", 30, "--deletion-threshold", 0)
    lance.dataset(table).delete("id % 40 = 7")
    free = run_json(*five, "--num-threads", 4)
    assert len(free["tasks"]) == NUM_FRAGMENTS
    assert free["memory"]["tasks_at_once"] == 4
    assert free["memory"]["page_bytes"] == 256 << 20
    bound = run_json(*five, "--num-threads", 4, "--memory-limit", "160MiB")
    assert bound["memory"]["tasks_at_once"] == 2
    assert bound["memory_bytes"] <= 160 << 20 < free["memory_bytes"]
    text = run(*five, "--num-threads", 4, "--memory-limit", "160MiB").stdout
    assert "--memory-limit 167.8 MB" in text and "--num-threads 4, 2 tasks at once" in text


def test_a_partial_compaction_tells_what_it_left(table):
    """One file is damaged: its task is given up, the others land."""
    damaged = lance.dataset(table).get_fragments()[0].data_files()[0].path
    file = table / "data" / damaged
    good = file.read_bytes()
    file.write_bytes(b"?" * len(good))
    two = ("compact", table, "--target-rows-per-fragment", 80)
    before = snapshot(table)
    assert damaged in error_of(*two, expect=5)
    assert snapshot(table) == before
    report = run_json(*two, "--partial")
    assert report["fragments_removed"] == 2
    assert [task["fragments"] for task in report["left"]] == [[0, 1, 2]]
    assert damaged in report["left"][0]["why"]
    text = run(*two, "--partial", "--keep-deletions").stdout
    assert text.startswith("left as it is: fragment 0, 1, 2: ") and damaged in text
    file.write_bytes(good)
    assert lance.dataset(table).count_rows() == NUM_FRAGMENTS * ROWS - 2


def test_compact(table):
    before = lance.dataset(table).to_table()
    report = run_json("compact", table)
    assert (report["fragments_removed"], report["fragments_added"]) == (NUM_FRAGMENTS, 1)
    assert report["pages"] == {
        "total": 2,
        "by_page_bytes": 0,
        "by_cache_bytes": 0,
        "by_row_limit": 0,
        "by_file_end": 2,
        "by_format_limit": 0,
    }
    assert lance.dataset(table).to_table() == before
    assert run_json("pages", table)["pages"] == 2
    assert "nothing to compact" in run("compact", table).stdout


def test_compact_names_the_limit_that_ended_pages(table):
    text = run("compact", table, "--max-page-bytes", "256KiB").stdout
    assert "--max-page-bytes" in text and "the end of a file" in text
    assert run_json("pages", table)["columns"][1]["pages"][0]["bytes"] <= 256 << 10


@pytest.mark.parametrize(
    "arguments, code, text",
    [
        (["info", "NOWHERE"], 3, "not found"),
        (["info", "TABLE", "--version", 9], 3, "not found"),
        (["info", "s3://bucket/table"], 6, "s3"),
        (["pages", "NOWHERE"], 3, "not found"),
        (["compact", "NOWHERE"], 3, "not found"),
        (["versions", "NOWHERE"], 3, "not found"),
    ],
)
def test_exit_codes(table, tmp_path, arguments, code, text):
    places = {"TABLE": table, "NOWHERE": tmp_path / "nowhere"}
    assert text in error_of(*[places.get(word, word) for word in arguments], expect=code)


def test_wrong_usage(table):
    assert run("info", expect=2).stderr
    assert run("inspect", table, expect=2).stderr
    assert run("compact", table, "--max-page-bytes", "many", expect=2).stderr
    for arguments, names in {
        ("compact", table, "--dry-run", "--canary"): ("--dry-run", "--canary"),
        ("compact", table, "--keep-deletions", "--deletion-threshold", 1): ("--keep", "--deletion-th"),
        ("maintain", table, "--older-than", "3d", "--no-cleanup"): ("--older-than", "--no-cleanup"),
        ("maintain", table, "--no-compact", "--mode", "reencode"): ("--no-compact", "--mode"),
        ("maintain", table, "--no-sweep", "--orphan-age", "8d"): ("--no-sweep", "--orphan-age"),
        ("verify", table, "--quick", "--sample", 0.5): ("--quick", "--sample"),
        ("demo", table, "--rows", 5): ("path", "--rows"),
        ("compare", table, "--python", "python3"): ("--python", "--engine-b"),
    }.items():
        text = run(*arguments, expect=2).stderr
        assert all(name in text for name in names), text
    for share in (-1, "inf", "nan"):
        assert "at least 0" in error_of("compact", table, "--deletion-threshold", share, expect=2)
    for option in ("--limit", "--offset"):
        for number in (-1, "abc", 1.5):
            assert f"'{number}' is no number of rows" in run("scan", table, option, number, expect=2).stderr
    assert "Exit codes" in run("--help").stdout


def test_a_damaged_file_is_named(table):
    file = next((table / "data").iterdir())
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert file.name in error_of("pages", table, expect=5)


def interrupt(has_begun, *arguments):
    """Runs the command until `has_begun()`, then sends it a Ctrl-C; returns what it prints after that."""
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.time() + 30
    while not has_begun() and process.poll() is None and time.time() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    if process.returncode == 0:  # a loaded machine may look too late: then nothing was interrupted
        pytest.skip("the command was faster than the signal")
    assert process.returncode == 130, errors
    assert errors.strip() == "glaive: interrupted: stopped by Ctrl-C"
    return output


def test_an_interrupted_compaction_leaves_nothing(tmp_path):
    table = tmp_path / "table"
    run("demo", "--make", table, "--fragments", 20, "--rows", 300)
    before = sorted(file for file in table.rglob("*") if file.is_file())
    interrupt(lambda: len(list((table / "data").iterdir())) > 20, "compact", table)
    assert sorted(file for file in table.rglob("*") if file.is_file()) == before


def test_an_interrupted_maintenance_says_what_was_done(tmp_path):
    """What had been committed stays; of the rest no file is left."""
    table = tmp_path / "table"
    run("demo", "--make", table, "--fragments", 24, "--rows", 200)
    before = lance.dataset(table).to_table()
    command = ["maintain", table, "--target-rows-per-fragment", "400", "--json"]
    report = json.loads(
        interrupt(lambda: lance.dataset(table).version >= 3, *command, "--commit-interval", "0s")
    )
    assert [report[step]["outcome"] for step in ("compaction", "cleanup", "sweep")] == [
        "interrupted",
        "not_run",
        "not_run",
    ]
    done, left = report["compaction"]["done"], report["compaction"]["left"]
    assert done["fragments"] + left["fragments"] == 24
    assert report["compaction"]["fragments_removed"] == done["fragments"] > 0
    dataset = lance.dataset(table)
    assert report["version"] == dataset.version
    assert dataset.to_table().sort_by("id") == before.sort_by("id")
    known = {
        file.path
        for version in dataset.versions()
        for fragment in lance.dataset(table, version=version["version"]).get_fragments()
        for file in fragment.data_files()
    }
    assert {file.name for file in (table / "data").iterdir()} == known


def test_demo(tmp_path):
    report = run_json("demo", "--into", tmp_path / "demo", "--fragments", 6, "--rows", 50, "--list", 2000)
    before, after = report["before"], report["after"]
    assert report["rows_compared"] == 300
    assert (before["fragments"], before["pages"]) == (6, 12)
    assert (after["fragments"], after["pages"]) == (1, 2)
    assert after["take"]["requests"] < before["take"]["requests"]
    for take in (before["take"], after["take"]):  # each round was made to take 30 ms
        assert take["object_store_ms"] >= 30 * take["dependent_rounds"] > 0
    assert lance.dataset(report["table"]).count_rows() == 300
    for name in ("before", "after", "before-after"):
        ElementTree.parse(tmp_path / "demo" / f"{name}.svg")
    # The next one takes the same folder; a folder of somebody else's is left alone.
    assert "all equal" in run("demo", "--into", tmp_path / "demo", "--fragments", 2, "--rows", 5).stdout
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    assert "in use" in error_of("demo", "--into", tmp_path / "mine", expect=2)


def test_demo_of_a_users_table_only_reads_it(table, tmp_path):
    before = snapshot(table)
    text = run("demo", table, "--into", tmp_path / "demo").stdout
    assert f"first {NUM_FRAGMENTS} fragments" in text and str(tmp_path / "demo") in text
    assert "6 files linked, 0 copied" in text  # five data files, one deletion file
    assert "198 rows compared, all equal" in text
    assert snapshot(table) == before
    assert lance.dataset(tmp_path / "demo/table").to_table() == lance.dataset(table).to_table()
    assert all(file.stat().st_nlink == 2 for file in (table / "data").iterdir())


def test_demo_takes_leading_fragments_up_to_the_limit(table, tmp_path):
    size = max(file.stat().st_size for file in (table / "data").iterdir())
    text = run("demo", table, "--into", tmp_path / "demo", "--limit", 2 * size).stdout
    assert "first 2 fragments (78 rows," in text and "3 more are left out" in text
    message = error_of("demo", table, "--into", tmp_path / "demo", "--limit", "1kB", expect=2)
    assert "first fragment" in message
    assert "in the table itself" in error_of("demo", table, "--into", table / "demo", expect=2)


def test_maintain(table):
    before = lance.dataset(table).to_table()
    (table / "data" / "young.lance").write_bytes(b"0123456789")
    tree = snapshot(table)
    plan = run_json("maintain", table, "--dry-run", "--older-than", "0s")
    assert plan["dry_run"] and plan["version"] == plan["version_before"] == 2
    assert (plan["compaction"]["done"]["fragments"], plan["cleanup"]["versions"]) == (NUM_FRAGMENTS, 1)
    assert "would rewrite" in run("maintain", table, "--dry-run").stdout
    assert snapshot(table) == tree

    report = run_json("maintain", table, "--older-than", "0s", "--canary")
    assert [report[step]["outcome"] for step in ("compaction", "cleanup", "sweep")] == ["done"] * 3
    assert report["compaction"]["rows_compared"] == NUM_FRAGMENTS * ROWS - 2
    assert report["cleanup"]["data_files"] == NUM_FRAGMENTS
    assert report["sweep"]["left"] == {"young_files": 1, "young_bytes": 10}
    assert lance.dataset(table).to_table() == before
    assert "0 fragments became 0" in run("maintain", table, "--no-cleanup", "--no-sweep").stdout


def test_maintain_one_branch(table):
    dataset = lance.dataset(table)
    dataset.create_branch("dev")
    before = snapshot(table / "data")
    report = run_json("maintain", table, "--branch", "dev", "--older-than", "0s")
    assert report["compaction"]["fragments_removed"] == NUM_FRAGMENTS
    assert snapshot(table / "data") == before
    assert lance.dataset(table).version == 2
    assert "nowhere" in error_of("maintain", table, "--branch", "nowhere", expect=3)


def test_maintain_ends_with_the_error_of_a_step(table):
    file = max((table / "data").iterdir(), key=lambda path: path.stat().st_mtime)
    file.write_bytes(b"")
    done = run("maintain", table, "--json", "--older-than", "0s", expect=5)
    report = json.loads(done.stdout)
    assert (report["compaction"]["outcome"], report["cleanup"]["outcome"]) == ("failed", "not_run")
    assert file.name in report["compaction"]["why"] and file.name in done.stderr


def test_compact_with_a_canary(table):
    before = lance.dataset(table).to_table()
    report = run_json("compact", table, "--canary")
    assert report["canary"] == {"rows": NUM_FRAGMENTS * ROWS - 2, "old_fragments": NUM_FRAGMENTS, "new_fragments": 1}
    assert lance.dataset(table).to_table() == before


def test_an_unknown_verb(table):
    assert "no verb foo: there are info, versions, " in error_of("foo", table, expect=2)


def test_compare_without_pylance(table, tmp_path):
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    line = error_of("compare", table, "--engine-b", "pylance", "--python", python, expect=2)
    assert "ModuleNotFoundError" in line and "--python" in line
