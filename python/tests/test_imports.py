"""The package's modules stand on floors, and import downwards alone."""

import ast
import importlib
import pickle
import re
from pathlib import Path

import glaive
import pytest

PACKAGE = Path(glaive.__file__).parent

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def floors():
    """Floor of each module or room, from the table of docs/architecture.md."""
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (`[^|]*`) \|", text, re.MULTILINE)
    return {name: int(floor) for floor, names in rows for name in re.findall(r"`(\w+)`", names)}


def modules():
    """Dotted name below the package of each source, with the source."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): ast.parse(path.read_text())
        for path in PACKAGE.rglob("*.py")
    }


def run_time_nodes(node):
    """All nodes but those below `if TYPE_CHECKING`, function bodies included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from run_time_nodes(child)


def imports_of(name, tree, known):
    """Dotted names of the package's modules that `name` imports, at its top or later."""
    room = name.split(".")[:-1]
    for node in run_time_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name.split(".")[0] != "glaive", f"{name} imports the package whole"
        if isinstance(node, ast.ImportFrom) and node.level:
            base = room[: len(room) - (node.level - 1)] + (node.module or "").split(".")
            base = [part for part in base if part]
            for alias in node.names:
                module = ".".join([*base, alias.name])
                yield module if module in known else ".".join(base)


def graph():
    found = modules()
    known = {*found, "_native"}
    return {name: set(imports_of(name, tree, known)) for name, tree in found.items()}


def room_of(name):
    return name.split(".")[0]


def test_imports_form_no_circle():
    left = {name: {to for to in targets if to != "_native"} for name, targets in graph().items()}
    while left:
        free = {name for name, targets in left.items() if not targets & left.keys()}
        assert free, f"these modules import each other in a circle: {sorted(left)}"
        left = {name: targets for name, targets in left.items() if name not in free}


def test_modules_import_lower_floors_alone():
    floor = floors()
    wrong = [
        f"{name} imports {target}"
        for name, targets in graph().items()
        for target in targets
        if room_of(name) != room_of(target)
        and floor[room_of(target)] >= floor[room_of(name)]
    ]
    assert not wrong


def test_modules_import_each_other_at_their_top():
    late = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not late


# Names in pickles that older releases wrote.
OLD_NAMES = [
    "_backfill.BackfillStats",
    "_delta.DatasetDelta",
    "_files.IOStats",
    "_fragment_list.LanceFragments",
    "_fragment_metadata.DataFile",
    "_fragment_metadata.DeletionFile",
    "_fragment_metadata.FragmentMetadata",
    "_fragment_metadata.RowDatasetVersionMeta",
    "_fragment_metadata.RowIdMeta",
    "_indices.IndexDescription",
    "_indices.IndexSegmentDescription",
    "_maintain.maintain",
    "_operations.Index",
    "_operations.IndexFile",
    "_operations.LanceOperation",
    "_operations.Transaction",
    "_refs.Branches",
    "_refs.Tags",
    "_scanner.ColumnOrdering",
    "_session.Session",
    "_staged.StagedColumns",
    "_stats.DataStatistics",
    "_stats.FieldStatistics",
    "_stats.LanceStats",
    "_write.write_dataset",
    "_write_target.WriteTarget",
    "dataset.LanceDataset",
    "fragment.LanceFragment",
    "schema.LanceSchema",
]

# Of an older release: Transaction(1, Append([FragmentMetadata(...)]), "u", {"a": "b"}).
OLD_TRANSACTION = (
    b"ccopy_reg\n_reconstructor\np0\n(cglaive._operations\nTransaction\np1\nc__builtin__\n"
    b"object\np2\nNtp3\nRp4\n(dp5\nVread_version\np6\nI1\nsVoperation\np7\ng0\n(c__builtin__\n"
    b"getattr\np8\n(cglaive._operations\nLanceOperation\np9\nVAppend\np10\ntp11\nRp12\ng2\n"
    b"Ntp13\nRp14\n(dp15\nVfragments\np16\n(lp17\ng0\n(cglaive._fragment_metadata\n"
    b"FragmentMetadata\np18\ng2\nNtp19\nRp20\n(dp21\nVid\np22\nI3\nsVfiles\np23\n(lp24\ng0\n"
    b"(cglaive._fragment_metadata\nDataFile\np25\ng2\nNtp26\nRp27\n(dp28\nV_path\np29\n"
    b"Va.lance\np30\nsVfields\np31\n(lp32\nI0\nasVcolumn_indices\np33\n(lp34\nI0\n"
    b"asVfile_major_version\np35\nI2\nsVfile_minor_version\np36\nI2\nsVfile_size_bytes\np37\n"
    b"I100\nsVbase_id\np38\nNsbasVphysical_rows\np39\nI10\nsVdeletion_file\np40\ng0\n"
    b"(cglaive._fragment_metadata\nDeletionFile\np41\ng2\nNtp42\nRp43\n(dp44\ng6\nI1\nsg22\n"
    b"I2\nsVfile_type\np45\nVarray\np46\nsVnum_deleted_rows\np47\nI4\nsg38\nNsbsVrow_id_meta\n"
    b"p48\ng0\n(cglaive._fragment_metadata\nRowIdMeta\np49\ng2\nNtp50\nRp51\n(dp52\nV_value\n"
    b"p53\n(dp54\nVInline\np55\n(lp56\nI1\nassbsVcreated_at_version_meta\np57\ng0\n"
    b"(cglaive._fragment_metadata\nRowDatasetVersionMeta\np58\ng2\nNtp59\nRp60\n(dp61\ng53\n"
    b"(dp62\ng55\n(lp63\nI2\nassbsVlast_updated_at_version_meta\np64\ng0\n(g58\ng2\nNtp65\n"
    b"Rp66\n(dp67\ng53\n(dp68\ng55\n(lp69\nI3\nassbsVoverlays\np70\n(lp71\ng0\n(g8\n(g9\n"
    b"VDataOverlayFile\np72\ntp73\nRp74\ng2\nNtp75\nRp76\n(dp77\nVdata_file\np78\ng27\n"
    b"sVoffsets\np79\n(lp80\nI1\naI2\nasVcommitted_version\np81\nI5\nsbasbasbsVuuid\np82\nVu\n"
    b"p83\nsVtransaction_properties\np84\n(dp85\nVa\np86\nVb\np87\nssb."
)


@pytest.mark.parametrize("old", OLD_NAMES)
def test_names_in_older_pickles_are_found(old):
    module, name = old.split(".")
    found = pickle.loads(f"cglaive.{module}\n{name}\n.".encode())
    assert found.__name__ == name
    assert getattr(importlib.import_module(found.__module__), name) is found


def test_older_pickles_load():
    transaction = pickle.loads(OLD_TRANSACTION)
    assert type(transaction) is glaive.Transaction
    assert (transaction.read_version, transaction.uuid) == (1, "u")
    fragment = transaction.operation.fragments[0]
    assert type(fragment) is glaive.FragmentMetadata
    assert [file.path for file in fragment.files] == ["a.lance"]
    assert fragment.overlays[0].offsets == [1, 2]
    assert pickle.loads(pickle.dumps(transaction)) == transaction
