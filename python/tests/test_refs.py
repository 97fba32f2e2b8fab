"""Tags, branches, clones and restored versions, told apart from pylance's only by who wrote them."""

import json

import glaive
import lance
import pyarrow as pa
import pytest


def rows(first, count=10):
    return pa.table({"a": pa.array(range(first, first + count), pa.int64())})


@pytest.fixture
def table(path):
    """Version n holds the numbers below 10 * n."""
    for version in range(3):
        glaive.write_dataset(rows(10 * version), path, mode="append")
    return glaive.dataset(path)


def test_a_tag_is_pylances_file(table, path):
    table.tags.create("v1", 2)
    with open(f"{path}/_refs/tags/v1.json") as file:
        tag = json.load(file)
    assert list(tag) == ["branch", "version", "createdAt", "updatedAt", "manifestSize", "metadata"]
    assert lance.dataset(path).tags.list() == table.tags.list()


def test_a_tag_names_the_version_at_hand(table):
    table.checkout_version(1).tags.create("old")
    assert table.tags.get_version("old") == 1
    table.tags.update("old", ("main", None))
    assert table.tags.get_version("old") == 3


def test_what_others_noted_in_a_tag_stays(table, path):
    table.tags.create("t", 1)
    with open(f"{path}/_refs/tags/t.json") as file:
        tag = json.load(file)
    tag["later"] = {"writer": "knows"}
    with open(f"{path}/_refs/tags/t.json", "w") as file:
        json.dump(tag, file)
    table.tags.update("t", 2)
    with open(f"{path}/_refs/tags/t.json") as file:
        assert json.load(file)["later"] == {"writer": "knows"}


def test_a_damaged_tag_is_named(table, path):
    table.tags.create("t", 1)
    with open(f"{path}/_refs/tags/t.json", "w") as file:
        file.write('{"version": "x"}')
    with pytest.raises(glaive.errors.Corrupt, match=r"t\.json"):
        table.tags.list()


def test_tags_of_a_branch_are_the_tables(table):
    branch = table.create_branch("dev", 2)
    branch.tags.create("here")
    assert table.tags.list()["here"]["branch"] == "dev"
    assert table.checkout_version("here").count_rows() == 20
    assert branch.checkout_version(("main", 1)).count_rows() == 10
    assert glaive.dataset(branch.uri).checkout_version((None, None)).count_rows() == 30


def test_a_branch_goes_its_own_way(table, path):
    branch = table.create_branch("team/x", 2)
    glaive.write_dataset(rows(100), branch, mode="append")
    branch.checkout_latest()
    branch.delete("a < 5")
    assert table.count_rows() == 30 and branch.count_rows() == 25
    assert lance.dataset(path).checkout_version(("team/x", None)).count_rows() == 25
    assert branch.read_transaction(2).operation.__class__.__name__ == "Clone"


def test_a_branch_of_pylance_as_parent(table, path):
    lance.dataset(path).create_branch("theirs", 2)
    ours = table.create_branch("ours", ("theirs", None))
    assert ours.count_rows() == 20
    identifiers = {n: b["branch_identifier"] for n, b in table.branches.list().items()}
    assert identifiers["ours"][:-1] == identifiers["theirs"]
    with pytest.raises(OSError, match="ours"):
        lance.dataset(path).branches.delete("theirs")


@pytest.mark.parametrize("name", ["main", "", "a//b", "../x", "a/..", "x.lock", "a/data", "."])
def test_names_that_no_branch_has(table, name):
    with pytest.raises(OSError, match="Ref is invalid"):
        table.create_branch(name)


def test_deleting_a_branch_takes_its_folder(table, tmp_path):
    table.create_branch("a/b", 2)
    table.create_branch("a/c", 2)
    table.branches.delete("a/b")
    assert not (tmp_path / "table/tree/a/b").exists() and (tmp_path / "table/tree/a/c").exists()
    table.branches.delete("a/c")
    assert not (tmp_path / "table/tree/a").exists()
    assert table.create_branch("a/b", 1).count_rows() == 10


def test_deleting_a_branch_spares_the_one_below(table):
    table.create_branch("a", 2)
    below = table.create_branch("a/b", 1)
    table.branches.delete("a")
    assert below.count_rows() == 10
    assert table.create_branch("a", 3).count_rows() == 30


def test_a_branch_that_is_referred_to_stays(table):
    branch = table.create_branch("dev", 2)
    branch.create_branch("child")
    with pytest.raises(OSError, match="child"):
        table.branches.delete("dev")
    table.branches.delete("child")
    table.tags.create("t", ("dev", None))
    with pytest.raises(OSError, match="tag t"):
        table.branches.delete("dev")
    table.tags.delete("t")
    table.branches.delete("dev")
    assert table.branches.list() == {}


def test_a_branch_is_made_once(table):
    table.create_branch("dev", 2)
    with pytest.raises(OSError, match="already exists"):
        table.create_branch("dev", 1)
    assert table.checkout_version(("dev", None)).count_rows() == 20


def test_clone_of_a_relative_path_opens_anywhere(tmp_path, monkeypatch):
    """pylance notes the path as it was given, and finds nothing from elsewhere."""
    monkeypatch.chdir(tmp_path)
    glaive.write_dataset(rows(0), "source")
    glaive.dataset("source").shallow_clone("clone", 1)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert lance.dataset(tmp_path / "clone").count_rows() == 10
    assert glaive.dataset(tmp_path / "clone").count_rows() == 10


def test_a_failed_deep_clone_leaves_nothing(table, tmp_path):
    data = sorted((tmp_path / "table/data").iterdir())
    data[-1].unlink()
    with pytest.raises(OSError, match=data[-1].name):
        table.deep_clone(tmp_path / "copy", 3)
    assert not list((tmp_path / "copy").rglob("*.*"))


def test_restored_by_turns(table, path):
    table.update_config({"k": "1"})
    table.checkout_version(2).restore()
    lance.dataset(path, version=4).restore()
    newest = glaive.dataset(path)
    assert (newest.version, newest.count_rows(), newest.config()) == (6, 30, {"k": "1"})
    newest.checkout_version(5).restore()
    assert lance.dataset(path).config() == {}
    lance.write_dataset(rows(50), path, mode="append")
    assert lance.dataset(path).count_rows() == 30


def test_stable_row_ids_are_not_given_twice_after_a_restore(path):
    table = glaive.write_dataset(rows(0), path, enable_stable_row_ids=True)
    glaive.write_dataset(rows(10), path, mode="append")
    table.restore()
    glaive.write_dataset(rows(20), path, mode="append")
    ids = lance.dataset(path).to_table(with_row_id=True)["_rowid"].to_pylist()
    assert ids == [*range(10), *range(20, 30)]
