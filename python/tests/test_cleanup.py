"""Old versions and what only they refer to."""

import os
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import glaive
import lance
import pyarrow as pa
import pytest

ALL = {"older_than": timedelta(0), "delete_unverified": True}
WEEK = 8 * 24 * 3600


def rows(first, count=10):
    return pa.table({"a": pa.array(range(first, first + count), pa.int64())})


def age(file):
    old = time.time() - WEEK
    os.utime(file, (old, old))


def names(folder):
    return {p.name for p in Path(folder).iterdir()} if Path(folder).exists() else set()


@pytest.fixture
def table(path):
    for version in range(4):
        glaive.write_dataset(rows(10 * version), path, mode="append")
    return glaive.dataset(path)


def detached(path):
    """A version beside the others, by pylance."""
    source = lance.dataset(path)
    fragments = lance.fragment.write_fragments(rows(1000), source)
    return lance.LanceDataset.commit(
        path, lance.LanceOperation.Append(fragments), read_version=source.version, detached=True
    ).version


def test_a_detached_version_is_whole_afterwards(table, path):
    """pylance takes its files for nobody's."""
    version = detached(path)
    glaive.write_dataset(rows(0), path, mode="overwrite")
    glaive.dataset(path).cleanup_old_versions(**ALL)
    assert lance.dataset(path, version=version).to_table()["a"].to_pylist() == [
        *range(40),
        *range(1000, 1010),
    ]
    assert glaive.dataset(path).count_rows() == 10


@pytest.mark.parametrize("by_age", [True, False])
def test_orphan_transaction_files_go(table, path, by_age):
    """pylance leaves them for ever: they are younger than the oldest version that stays."""
    kept = names(f"{path}/_transactions")
    orphan = Path(path, "_transactions", "4-00000000-0000-4000-8000-000000000000.txn")
    orphan.write_bytes(b"x")
    if by_age:
        age(orphan)
    stats = table.cleanup_old_versions(retain_versions=10, delete_unverified=not by_age)
    assert stats.transaction_files_removed == 1 and not orphan.exists()
    assert names(f"{path}/_transactions") == kept


def test_young_files_of_nobody_stay(table, path):
    orphans = [
        Path(path, "_transactions", "4-x.txn"),
        Path(path, "data", "x.lance"),
        Path(path, "data", ".tmp_x"),
        Path(path, "_versions", ".tmp_x"),
        Path(path, "_indices", "00000000-0000-4000-8000-000000000000", "x.idx"),
    ]
    for orphan in orphans:
        orphan.parent.mkdir(parents=True, exist_ok=True)
        orphan.write_bytes(b"x")
    table.cleanup_old_versions(older_than=timedelta(0))
    assert all(orphan.exists() for orphan in orphans)
    for orphan in orphans:
        age(orphan)
    table.cleanup_old_versions(older_than=timedelta(0))
    assert not any(orphan.exists() for orphan in orphans)
    assert not orphans[-1].parent.exists()


def test_the_explanation_is_what_happens(table, path):
    table.delete("a = 3")
    table.optimize.compact_files()
    told = table.explain_cleanup_old_versions(older_than=timedelta(0), include_files=True)
    before = {str(p): p.stat().st_size for p in Path(path).rglob("*") if p.is_file()}
    done = table.cleanup_old_versions(older_than=timedelta(0))
    after = {str(p) for p in Path(path).rglob("*") if p.is_file()}
    assert repr(told.stats) == repr(done)
    assert {file.path for file in told.candidate_files} == set(before) - after
    assert sum(before[path] for path in set(before) - after) == done.bytes_removed


def test_a_long_explanation_is_cut(table):
    told = table.explain_cleanup_old_versions(
        older_than=timedelta(0), include_files=True, max_files=2
    )
    assert len(told.candidate_files) == 2 and told.candidate_files_truncated and told.warnings


def test_all_conditions_must_hold(table, path):
    table.cleanup_old_versions(retain_versions=3, versions=[1, 2])
    assert [v["version"] for v in lance.dataset(path).versions()] == [2, 3, 4]


def test_a_time_to_come_is_as_good_as_now(table):
    assert table.cleanup_old_versions(timedelta(days=-1)).old_versions == 3


def test_a_handle_on_an_old_version_keeps_what_came_after(table, path):
    table.checkout_version(3).cleanup_old_versions(older_than=timedelta(0))
    assert [v["version"] for v in lance.dataset(path).versions()] == [3, 4]


@pytest.mark.parametrize(
    "options",
    [{"versions": []}, {"retain_versions": 0}, {"delete_rate_limit": 0}, {"delete_concurrency": 0}],
    ids=str,
)
def test_options_that_cannot_be(table, options):
    with pytest.raises(OSError):
        table.cleanup_old_versions(**options)


def test_a_slow_rate(table):
    begin = time.monotonic()
    stats = table.cleanup_old_versions(older_than=timedelta(0), delete_rate_limit=20)
    assert stats.old_versions == 3 and time.monotonic() - begin > 0.2


def test_a_branch_keeps_what_it_needs(table, path):
    branch = table.create_branch("dev", 2)
    branch.delete("a = 1")
    glaive.write_dataset(rows(0), path, mode="overwrite")
    newest = glaive.dataset(path)
    newest.cleanup_old_versions(**ALL)
    assert [v["version"] for v in newest.versions()] == [2, 5]
    assert lance.dataset(path, version=2).count_rows() == 20
    assert lance.dataset(path).checkout_version(("dev", None)).count_rows() == 19
    newest.branches.delete("dev")
    newest.cleanup_old_versions(**ALL)
    assert len(names(f"{path}/data")) == 1


def test_cleaning_a_branch_spares_its_parent_and_children(table, path):
    branch = table.create_branch("dev", 3)
    glaive.write_dataset(rows(100), branch, mode="append")
    branch = table.checkout_version(("dev", None))
    child = branch.create_branch("child")
    branch.delete("a >= 0")
    branch.cleanup_old_versions(**ALL)
    assert lance.dataset(path).count_rows() == 40
    assert lance.dataset(path).checkout_version(("child", None)).count_rows() == 40
    assert child.count_rows() == 40


def test_clean_up_after_commits(path):
    table = glaive.write_dataset(
        rows(0), path, auto_cleanup_options={"interval": 2, "older_than_seconds": 0}
    )
    assert table.config() == {
        "lance.auto_cleanup.interval": "2",
        "lance.auto_cleanup.older_than": "0s",
    }
    for version in range(5):
        table.update_metadata({"n": str(version)})
    assert [v["version"] for v in table.versions()] == [5, 6]


def test_a_config_that_cannot_be_read_fails_no_commit(path):
    table = glaive.write_dataset(rows(0), path)
    table.update_config({"lance.auto_cleanup.interval": "often"})
    table.delete("a = 1")
    assert table.version == 3


def test_drop(table, path, tmp_path):
    table.create_branch("dev")
    glaive.LanceDataset.drop(path)
    assert not Path(path).exists()
    with pytest.raises(OSError):
        glaive.LanceDataset.drop(path)
    glaive.LanceDataset.drop(path, ignore_not_found=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(ValueError, match="not dropped"):
        glaive.LanceDataset.drop(tmp_path / "mine")
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_migration_that_was_cut_short_goes_on(path):
    for version in range(3):
        lance.write_dataset(
            rows(version), path, mode="append", enable_v2_manifest_paths=False
        )
    handle = glaive.dataset(path)
    Path(path, "_versions", "1.manifest").rename(
        Path(path, "_versions", f"{2**64 - 2:020}.manifest")
    )
    handle.migrate_manifest_paths_v2()
    handle.migrate_manifest_paths_v2()
    assert [v["version"] for v in lance.dataset(path).versions()] == [1, 2, 3]


def damage(table, path):
    (file,) = {f.path for fragment in table.get_fragments() for f in fragment.metadata.files} & {
        table.get_fragments()[1].metadata.files[0].path
    }
    return Path(path, "data", file)


def test_validate(table, path):
    table.delete("a = 11")
    table.validate()
    file = damage(table, path)
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(OSError, match=file.name):
        glaive.dataset(path, session=glaive.Session()).validate()


def test_validate_finds_a_file_of_other_rows(table, path):
    first, second = (Path(path, "data", f.metadata.files[0].path) for f in table.get_fragments()[:2])
    short = lance.write_dataset(rows(0, 3), f"{path}-short")
    source = Path(f"{path}-short", "data", short.get_fragments()[0].metadata.files[0].path)
    second.write_bytes(source.read_bytes())
    with pytest.raises(OSError):
        glaive.dataset(path, session=glaive.Session()).validate()


def test_a_handle_of_another_table_removes_nothing(path):
    """A table that was made anew, or put back from a backup, has other versions of its numbers."""
    handle = glaive.write_dataset(rows(0), path)
    for _ in range(3):
        handle.insert(rows(0))
    stale = glaive.dataset(path)
    shutil.rmtree(path)
    glaive.write_dataset(pa.table({"b": ["precious"]}), path)
    with pytest.raises(OSError, match="that version of"):
        stale.cleanup_old_versions(**ALL)
    for _ in range(3):
        glaive.write_dataset(pa.table({"b": ["precious"]}), path, mode="append")
    with pytest.raises(OSError, match="that version of"):
        stale.cleanup_old_versions(**ALL)
    with pytest.raises(OSError, match="another one has its number"):
        stale.restore()
    assert glaive.dataset(path).count_rows() == 4


def test_a_handle_on_a_detached_version_is_refused(table, path):
    """No version comes before it, so that all would go."""
    handle = glaive.dataset(path, version=detached(path))
    with pytest.raises(OSError, match="is detached"):
        handle.cleanup_old_versions(**ALL)
    assert [v["version"] for v in glaive.dataset(path).versions()] == [1, 2, 3, 4]


def test_a_branch_made_by_another_path(table, path):
    """Its manifest names its parent by the path of that day."""
    link = f"{path}-link"
    os.symlink(path, link)
    glaive.dataset(link).create_branch("dev")
    glaive.write_dataset(rows(0), path, mode="overwrite")
    glaive.dataset(path).cleanup_old_versions(**ALL)
    code = f"import glaive; b = glaive.dataset({str(link)!r}).checkout_version(('dev', None))\n"
    code += "print(len(b.to_table()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "40\n", done.stderr


def test_pylance_passes_over_what_a_clean_up_left(table, path):
    """Of a clean-up that died between its steps."""
    versions = Path(path, "_versions")
    first = max(versions.glob("*.manifest"), key=lambda file: file.name)
    first.rename(f"{first}-gone-0123")
    Path(versions, ".manifest-fate-0123").write_text("")
    Path(versions, f"{min(versions.glob('*.manifest')).name}-pin-9-0123").write_bytes(b"")
    assert [v["version"] for v in lance.dataset(path).versions()] == [2, 3, 4]
    lance.write_dataset(rows(0), path, mode="append")
    lance.dataset(path).cleanup_old_versions(older_than=timedelta(0))
    assert lance.dataset(path).count_rows() == 50
    assert [v["version"] for v in glaive.dataset(path).versions()] == [5]
