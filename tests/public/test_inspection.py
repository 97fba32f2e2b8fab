"""The verbs of the command that look into tables: log, diff, scan, verify, repair, orphans, compare, conflicts."""

import csv
import fcntl
import io
import json
import shutil
import signal
import struct
import subprocess
import sys
import termios
from datetime import date
from decimal import Decimal

import glaive
import lance
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from command import COMMAND, error_of, run, run_json

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("text", pa.utf8()),
        pa.field("items", pa.list_(pa.int16())),
        pa.field("point", pa.struct([("x", pa.float32()), ("raw", pa.binary())])),
    ]
)


def rows(start, stop):
    return pa.Table.from_pylist(
        [
            {
                "id": i,
                "text": None if i % 3 == 0 else f"row {i}",
                "items": [i, i + 1] if i % 4 else None,
                "point": {"x": i / 2, "raw": bytes([i % 256])},
            }
            for i in range(start, stop)
        ],
        schema=SCHEMA,
    )


@pytest.fixture
def table(tmp_path):
    """Version 1: five fragments; 2: one more; 3: three rows deleted; 4: another column; 5: a config key."""
    path = tmp_path / "table"
    lance.write_dataset(rows(0, 100), path, max_rows_per_file=20)
    lance.write_dataset(rows(100, 130), path, mode="append", commit_message="thirty more")
    lance.dataset(path).delete("id IN (3, 4, 101)")
    lance.dataset(path).add_columns({"twice": "id * 2"})
    lance.dataset(path).update_config({"owner": "me"})
    return path


def data_file(table, fragment, file=0):
    metadata = lance.dataset(table).get_fragment(fragment).metadata
    return table / "data" / metadata.files[file].path


def manifest(table, version):
    return table / "_versions" / f"{2**64 - 1 - version:020}.manifest"


def test_log(table):
    history = {entry["version"]: entry for entry in run_json("log", table)}
    assert list(history) == [5, 4, 3, 2, 1]
    assert [history[v]["operation"] for v in range(1, 6)] == ["Overwrite", "Append", "Delete", "Merge", "UpdateConfig"]
    assert history[2]["message"] == "thirty more"
    assert (history[2]["rows_added"], history[2]["rows_removed"], history[2]["fragments_added"]) == (30, 0, 1)
    assert (history[3]["rows_added"], history[3]["rows_removed"], history[3]["fragments_changed"]) == (0, 3, 2)
    assert (history[4]["rows_added"], history[4]["fragments_changed"]) == (0, 6)
    assert history[1]["rows_added"] is None and history[1]["rows"] == 100
    assert [v["version"] for v in run_json("log", table, "--limit", 2)] == [5, 4]
    text = run("log", table, "--limit", 4).stdout
    assert "thirty more" in text and "+30" in text and "-3" in text and "versions before 2" in text


def test_diff(table):
    diff = run_json("diff", table, 1, 5)
    assert (diff["rows_before"], diff["rows_after"]) == (100, 127)
    assert [(f["before"], f["after"]) for f in diff["fields"]] == [("", "twice: int64")]
    changed = {fragment["id"]: (fragment["rows_before"], fragment["rows_after"]) for fragment in diff["fragments"]}
    assert changed == {0: (20, 18), 1: (20, 20), 2: (20, 20), 3: (20, 20), 4: (20, 20), 5: (None, 29)}
    assert diff["files_removed"] == [] and len(diff["files_added"]) == 6 + 1 + 2
    assert all((table / path).exists() for path in diff["files_added"])
    assert diff["config"] == [{"key": "owner", "before": None, "after": "me"}]
    text = run("diff", table, 2, 3).stdout
    assert "[~====~]" in text and "4 kept" in text and "130 -> 127" in text
    assert "6 kept" in run("diff", table, 4, 4).stdout
    assert "not found" in error_of("diff", table, 1, 99, expect=3)


def test_diff_of_schemas(table):
    dataset = lance.dataset(table)
    dataset.alter_columns({"path": "text", "name": "words"})
    dataset.drop_columns(["point"])
    fields = {field["id"]: (field["before"], field["after"]) for field in run_json("diff", table, 5, 7)["fields"]}
    assert fields[1] == ("text: string", "words: string")
    assert [after for before, after in fields.values() if before.startswith("point")] == ["", "", ""]


def test_scan_as_json(table):
    lines = run("scan", table, "--filter", "id >= 99 AND id < 103").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [99, 100, 102]
    assert json.loads(lines[1]) == {
        "id": 100,
        "text": "row 100",
        "items": None,
        "point": {"x": 50.0, "raw": "ZA=="},
        "twice": 200,
    }
    lines = run("scan", table, "--columns", "twice,id", "--limit", 2, "--offset", 3).stdout.splitlines()
    assert lines == ['{"twice":10,"id":5}', '{"twice":12,"id":6}']
    assert "twice" not in run("scan", table, "--version", 1, "--limit", 1).stdout
    assert "nope" in error_of("scan", table, "--columns", "nope", expect=2)


def test_scan_as_csv_and_arrow(table):
    columns = ["id", "text", "twice"]
    expected = lance.dataset(table).to_table(columns=columns)
    text = run("scan", table, "--columns", ",".join(columns), "--format", "csv").stdout
    read = pyarrow.csv.read_csv(
        io.BytesIO(text.encode()), convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    )
    assert read.equals(expected)
    stream = run("scan", table, "--format", "arrow", text=False).stdout
    assert pa.ipc.open_stream(stream).read_all().equals(lance.dataset(table).to_table())


def test_every_type_has_one_text(tmp_path):
    nan, inf = float("nan"), float("inf")
    columns = {
        "decimal": (pa.decimal128(10, 2), [Decimal("-1.50")], "-1.50"),
        "date": (pa.date32(), [date(1960, 1, 2)], "1960-01-02"),
        "time": (pa.time64("ns"), [3_600_000_000_001], "01:00:00.000000001"),
        "moment": (pa.timestamp("us"), [-1], "1969-12-31 23:59:59.999999"),
        "zoned": (pa.timestamp("ms", "Europe/Berlin"), [1], "1970-01-01 00:00:00.001Z"),
        "duration": (pa.duration("s"), [5], 5),
        "bytes": (pa.binary(), [b"\x00\xff"], "AP8="),
        "two_bytes": (pa.binary(2), [b"ab"], "YWI="),
        "quoted": (pa.large_string(), ['q"x,\ny'], 'q"x,\ny'),
        "empty": (pa.string(), [""], ""),
        "half": (pa.float16(), [np.float16(0.1)], 0.1),
        "single": (pa.float32(), [0.1], 0.1),
        "nan": (pa.float64(), [nan], "NaN"),
        "infinity": (pa.float32(), [inf], "Infinity"),
        "below": (pa.float16(), [np.float16(-inf)], "-Infinity"),
        "large": (pa.uint64(), [2**64 - 1], 2**64 - 1),
        "yes": (pa.bool_(), [True], True),
        "list": (pa.list_(pa.float32()), [[1.5, None, nan]], [1.5, None, "NaN"]),
        "pair": (pa.list_(pa.int8(), 2), [[1, 2]], [1, 2]),
        "struct": (pa.struct({"x": pa.string()}), [{"x": 'a"b'}], {"x": 'a"b'}),
        "code": (pa.dictionary(pa.int8(), pa.string()), ["word"], "word"),
        "map": (pa.map_(pa.string(), pa.int8()), [[("k", 1)]], [{"key": "k", "value": 1}]),
    }
    table = pa.table({name: pa.array([*values, None], kind) for name, (kind, values, _) in columns.items()})
    lance.write_dataset(table, tmp_path / "types", data_storage_version="2.2")
    full, empty = map(json.loads, run("scan", tmp_path / "types").stdout.splitlines())
    assert full["half"] == pytest.approx(0.1, rel=1e-3)
    expected = {name: text for name, (_, _, text) in columns.items()}
    assert {**full, "half": 0.1} == expected
    assert empty == dict.fromkeys(columns)

    text = run("scan", tmp_path / "types", "--format", "csv", text=False).stdout.decode()
    header, row, nulls = csv.reader(io.StringIO(text, newline=""))
    assert header == list(columns) and nulls == [""] * len(columns)
    for name, cell in zip(header, row, strict=True):
        assert cell == (full[name] if isinstance(full[name], str) else json.dumps(full[name], separators=(",", ":")))
    assert text.splitlines()[-1] == "," * (len(columns) - 1)
    assert ',"",' in text  # an empty string is not null


def wait_until_half_full(pipe):
    room = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    held = bytes(4)
    while 2 * struct.unpack("i", held)[0] < room:
        held = fcntl.ioctl(pipe, termios.FIONREAD, held)


@pytest.mark.parametrize("form", ["json", "arrow"])
def test_an_interrupted_scan_ends(tmp_path, form):
    lance.write_dataset(pa.table({"id": range(200_000)}), tmp_path / "large")
    command = [COMMAND, "scan", str(tmp_path / "large"), "--format", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(1000)  # and no more: it waits once the pipe is full
        wait_until_half_full(process.stdout.fileno())
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
        assert b"interrupted" in process.stderr.read()
    assert process.returncode == 130


def test_verify_of_a_whole_table(table):
    report = run_json("verify", table)
    assert report["ok"] and report["findings"] == []
    assert (report["version"], report["versions"], report["fragments"], report["rows"]) == (5, 5, 6, 127)
    assert (report["data_files"], report["deletion_files"]) == (12, 2)
    assert report["rows_decoded"] == 130 and report["fragments_decoded"] == 6
    assert "Every value was decoded" in report["statement"]
    quick = run_json("verify", table, "--quick")
    assert quick["ok"] and quick["rows_decoded"] == 0 and "No value was read" in quick["statement"]
    half = run_json("verify", table, "--sample", 0.5, "--jobs", 2)
    assert half["fragments_decoded"] == 3 and "3 of 6 fragments" in half["statement"]
    assert run_json("verify", table, "--version", 1)["rows"] == 100
    assert "sample" in error_of("verify", table, "--sample", 0, expect=2)
    assert "not found" in error_of("verify", table, "--version", 9, expect=3)


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def zero_a_page(path):
    content = bytearray(path.read_bytes())
    content[:64] = b"\xff" * 64
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "damage, quick_finds_it",
    [(lambda path: path.unlink(), True), (cut, True), (zero_a_page, False)],
    ids=["missing", "cut", "page"],
)
def test_verify_finds_a_damaged_file(table, damage, quick_finds_it):
    file = data_file(table, 2)
    damage(file)
    report = run_json("verify", table, expect=5)
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    assert 2 in {finding["fragment"] for finding in errors}
    assert {finding["fragment"] for finding in errors} <= {2, None}
    text = run("verify", table, expect=5)
    assert "[..!...]" in text.stdout and "glaive repair" in text.stderr
    assert run_json("verify", table, "--quick", expect=5 if quick_finds_it else 0)["ok"] is not quick_finds_it


def test_one_missing_file_is_one_error(table):
    file = data_file(table, 2)
    file.unlink()
    for arguments in ((), ("--quick",)):
        report = run_json("verify", table, *arguments, expect=5)
        assert [finding["kind"] for finding in report["findings"]] == ["file not found"]
        assert file.name in report["findings"][0]["path"]
    assert "1 error found" in run("verify", table, expect=5).stderr


@pytest.mark.parametrize("version", ["legacy"])
def test_what_is_not_decoded_is_not_called_whole(tmp_path, version):
    path = tmp_path / "table"
    try:
        lance.write_dataset(rows(0, 30), path, data_storage_version=version, max_rows_per_file=10)
    except (OSError, ValueError) as error:
        pytest.skip(f"pylance does not write it: {error}")
    report = run_json("verify", path, expect=1)
    assert not report["ok"] and (report["fragments_decoded"], report["rows_decoded"]) == (0, 0)
    assert "whole" not in report["statement"] and "0 of 3 fragments were decoded" in report["statement"]
    text = run("verify", path, expect=1)
    assert "is not known" in text.stderr and "damaged" not in text.stdout
    assert not run_json("verify", path, "--quick", expect=1)["ok"]
    info = run("info", path).stdout
    assert "neither reads nor writes" in info and "are written as" not in info
    assert "glaive compact" not in info and "data_storage_version" in info
    for verb in (["compact", path], ["compact", path, "--dry-run"]):
        assert "not written yet" in run(*verb, expect=6).stderr


def test_verify_names_a_stray(tmp_path):
    """A version 2 that version 3 was not made of, with all of its files."""
    path, other = tmp_path / "table", tmp_path / "other"
    glaive.write_dataset(rows(0, 10), path)
    shutil.copytree(path, other)
    for n in range(2):
        glaive.dataset(path).insert(rows(10 + n, 11 + n))
    glaive.dataset(other).insert(rows(50, 60))
    assert run_json("verify", path)["findings"] == []
    for folder in ("data", "_transactions"):
        shutil.copytree(other / folder, path / folder, dirs_exist_ok=True)
    shutil.copy(manifest(other, 2), manifest(path, 2))
    report = run_json("verify", path)
    assert report["ok"] and report["rows"] == 12
    assert ["version 2 is a stray" in finding["message"] for finding in report["findings"]] == [True]


def test_a_file_that_cannot_be_read_is_not_called_damaged(table):
    """A link to itself, since whoever may do everything can read files without permission."""
    file = data_file(table, 2)
    file.rename(table.parent / "moved")
    file.symlink_to(file.name)
    report = run_json("verify", table, expect=1)
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    assert {finding["kind"] for finding in errors} == {"I/O error"} and not report["ok"]
    assert report["rows_decoded"] == 130 - 20  # of the others, deleted ones too
    text = run("verify", table, expect=1)
    assert "[..!...]" in text.stdout and "I/O error" in text.stderr and "damaged" not in text.stdout
    plan = run_json("repair", table, expect=1)
    assert plan["steps"] == [] and file.name in plan["unread"][0]
    text = run("repair", table, "--yes", expect=1)
    assert "not read" in text.stdout and "nothing to repair" not in text.stdout
    assert lance.dataset(table).version == 5
    cut(data_file(table, 1))  # is damaged, and may be dropped
    assert run_json("verify", table, expect=5)["findings"]
    assert [step["fragment"] for step in run_json("repair", table, expect=1)["steps"]] == [1]


def test_verify_finds_what_else_is_wrong(table):
    deletions = next((table / "_deletions").glob("0-*"))
    content = deletions.read_bytes()
    deletions.unlink()
    assert deletions.name in json.dumps(run_json("verify", table, "--quick", expect=5)["findings"])
    deletions.write_bytes(content)
    next((table / "_transactions").glob("4-*")).unlink()  # its copy is in the manifest
    report = run_json("verify", table)
    assert report["ok"] and [finding["severity"] for finding in report["findings"]] == ["warning"]
    cut(manifest(table, 2))
    report = run_json("verify", table, expect=5)
    assert report["version"] == 5 and any("version 2" in finding["message"] for finding in report["findings"])


def test_repair_moves_a_torn_head_aside(table):
    expected = lance.dataset(table, version=4).to_table()
    head = manifest(table, 5)
    cut(head)
    torn = head.read_bytes()
    assert f"`glaive repair {table}`" in run("compact", table, expect=5).stderr
    plan = run_json("repair", table)
    assert [step["step"] for step in plan["steps"]] == ["move manifest aside"] and plan["version"] == 4
    assert head.read_bytes() == torn  # only shown
    assert "nothing was changed" in run("repair", table).stdout
    assert run_json("repair", table, "--yes")["repaired_version"] == 4
    assert not head.exists() and len(list(table.glob("_versions/*.manifest-*"))) == 1
    assert lance.dataset(table).version == 4 and lance.dataset(table).to_table() == expected
    lance.write_dataset(rows(200, 201).append_column("twice", pa.array([400])), table, mode="append")
    assert lance.dataset(table).version == 5
    assert run_json("verify", table)["ok"]
    assert run("repair", table).stdout.endswith("nothing to repair\n")


def test_repair_drops_what_cannot_be_read(table):
    lost = set(range(40, 60))
    data_file(table, 2).unlink()
    plan = run_json("repair", table)
    assert [(step["step"], step["fragment"], step["rows_lost"]) for step in plan["steps"]] == [("drop fragment", 2, 20)]
    assert lance.dataset(table).version == 5
    text = run("repair", table, "--yes").stdout
    assert "20 rows would no longer be in the table" in text and "version 6 is whole" in text
    ids = set(lance.dataset(table).to_table(columns=["id"])["id"].to_pylist())
    assert ids == set(range(130)) - {3, 4, 101} - lost
    assert run_json("log", table)[0]["operation"] == "Delete"


def test_orphans(table, tmp_path):
    assert run_json("orphans", table)["orphans"] == []
    (table / "data" / "left.lance").write_bytes(b"12345")
    (table / "_deletions" / "0-1-5.arrow").write_bytes(b"1")
    (table / "_transactions" / "1-x.txn").write_bytes(b"1")
    (table / "_versions" / ".tmp_1").write_bytes(b"1")
    (table / "data" / "dir" / "mine.txt").parent.mkdir()
    (table / "notes.txt").write_text("not of the table")
    survey = run_json("orphans", table)
    assert {(file["path"], file["kind"]) for file in survey["orphans"]} == {
        ("data/left.lance", "data"),
        ("_deletions/0-1-5.arrow", "deletions"),
        ("_transactions/1-x.txn", "transaction"),
        ("_versions/.tmp_1", "temporary"),
    }
    assert all(file["recent"] for file in survey["orphans"])
    assert survey["missing"] == []
    assert run_json("verify", table)["orphans"] == 4
    data_file(table, 0).unlink()
    assert len(run_json("orphans", table)["missing"]) == 1
    cut(manifest(table, 3))
    assert "what version 3 refers to is not known" in error_of("orphans", table, expect=5)


def test_orphans_are_none_of_branches_tags_and_detached_versions(table):
    dataset = lance.dataset(table)
    dataset.tags.create("keep", 1)
    branch = dataset.create_branch("work", 3)
    branch.delete("id = 7")
    lance.write_dataset(rows(500, 510), branch.uri, mode="append")
    more = rows(600, 610).append_column("twice", pa.array(range(10)))
    append = lance.LanceOperation.Append(lance.fragment.write_fragments(more, table))
    lance.LanceDataset.commit(table, append, read_version=5, detached=True)
    survey = run_json("orphans", table)
    assert survey["orphans"] == [] and survey["missing"] == []
    assert survey["versions"] == 5 + 3 + 1
    assert "branch" in error_of("orphans", branch.uri, expect=2)
    # What only an old version has is no orphan; once that is cleaned up, pylance removes it itself.
    shutil.rmtree(table / "tree")
    next((table / "_versions").glob("d*.manifest")).unlink()
    kinds = {file["kind"] for file in run_json("orphans", table)["orphans"]}
    assert kinds == {"data", "transaction"}


def test_compare(table, tmp_path):
    assert run_json("compare", table)["equal"]
    result = run_json("compare", table, "--engine-b", "pylance", "--python", sys.executable)
    assert result["equal"] and result["a"] == result["b"] and result["a"]["rows"] == 127
    assert len(result["a"]["fragments"]) == 6
    copy = tmp_path / "copy"
    shuffled = lance.dataset(table).to_table().take(list(range(126, -1, -1)))
    lance.write_dataset(shuffled, copy, max_rows_per_file=50)
    assert run("compare", table, copy).stdout.endswith("equal\n")
    lance.dataset(copy).update({"text": "'other'"}, where="id = 50")
    assert run_json("compare", table, copy, expect=7)["differences"] == ["rows: as many, with other values"]
    lance.dataset(copy).delete("id = 50")
    assert "rows: 127 | 126" in run("compare", table, copy, expect=7).stdout
    assert "differ" in error_of("compare", table, "--version-b", 4, "--version-a", 1, expect=7)


def test_compare_goes_to_the_newest_version(table):
    for arguments in (("--version-a", 1), (table, "--version-a", 1)):
        result = run_json("compare", table, *arguments, expect=7)
        assert (result["a"]["version"], result["b"]["version"]) == (1, 5)
    pylance = ("--engine-b", "pylance", "--python", sys.executable)
    assert run_json("compare", table, "--version-a", 1, *pylance)["b"]["version"] == 1


def test_compare_sees_a_changed_value_by_fragment(table):
    other = table.parent / "other"
    shutil.copytree(table, other)
    lance.dataset(table).update({"twice": "0"}, where="id = 125")
    lines = run_json("compare", table, other, expect=7)["differences"]
    assert lines == ["rows: as many, with other values"]
    message = run("compare", table, "--engine-b", "pylance", "--python", "/nonexistent/python", expect=2).stderr
    assert "cannot start" in message


def test_conflicts():
    matrix = run_json("conflicts")
    names = matrix["operations"]
    assert len(names) == 16 and [len(row) for row in matrix["rules"]] == [16] * 16
    assert matrix["rules"][names.index("Append")][names.index("Append")] == "."
    assert matrix["rules"][names.index("Append")][names.index("Overwrite")] == "X"
    assert set("".join(matrix["rules"])) == set(matrix["meanings"]) and all(matrix["meanings"].values())
    assert "never in the way" in run("conflicts").stdout


def test_help_lists_every_verb():
    text = run("--help").stdout
    for verb in ["log", "diff", "scan", "verify", "repair", "orphans", "compare", "conflicts"]:
        assert f"\n  {verb} " in text, verb
