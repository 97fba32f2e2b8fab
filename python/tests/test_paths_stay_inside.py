"""A path that a table gives leads to no file outside of it, whoever wrote it."""

import json
import shutil
import struct
from datetime import timedelta
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import glaive

USERS = b"a file of the user, outside of any table"


@pytest.fixture
def hostile(tmp_path):
    """A table with a fragment whose file lies two folders up, where pylance finds it."""
    path = str(tmp_path / "in" / "t.lance")
    lance.write_dataset(pa.table({"x": [1]}), path)
    known = lance.dataset(path).get_fragments()[0].metadata.to_json()
    shutil.copy(Path(path, "data", known["files"][0]["path"]), tmp_path / "in" / "payload.lance")
    known["files"][0]["path"] = "../../payload.lance"
    made = lance.FragmentMetadata.from_json(json.dumps({**known, "id": 0}))
    lance.LanceDataset.commit(path, lance.LanceOperation.Append([made]), read_version=1)
    assert lance.dataset(path).count_rows() == 2
    return path


@pytest.mark.parametrize(
    "use",
    [
        lambda ds, to: ds.deep_clone(to, ds.version),
        lambda ds, to: ds.to_table(),
        lambda ds, to: [fragment.metadata for fragment in ds.get_fragments()],
        lambda ds, to: ds.take([1]),
        lambda ds, to: ds.optimize.compact_files(),
        lambda ds, to: ds.cleanup_old_versions(timedelta(0)),
        lambda ds, to: ds.validate(),
    ],
    ids=["clone", "scan", "fragments", "take", "compact", "cleanup", "validate"],
)
def test_nothing_follows_it(hostile, tmp_path, use):
    kept = tmp_path / "out" / "payload.lance"
    kept.parent.mkdir()
    kept.write_bytes(USERS)
    inside = Path(hostile, "..", "payload.lance").read_bytes()
    with pytest.raises(OSError, match=r"\.\./\.\./payload\.lance"):
        use(glaive.dataset(hostile), str(tmp_path / "out" / "u.lance"))
    assert kept.read_bytes() == USERS
    assert Path(hostile, "..", "payload.lance").read_bytes() == inside
    assert lance.dataset(hostile).count_rows() == 2


@pytest.mark.parametrize("name", ["../../payload.lance", "/etc/passwd", "a//b", "./x", "a\\..\\b"])
def test_none_is_committed(path, name):
    ds = glaive.write_dataset(pa.table({"x": [1]}), path)
    known = json.loads(json.dumps(ds.get_fragments()[0].metadata.to_json()))
    known["files"][0]["path"] = name
    made = glaive.FragmentMetadata.from_json(json.dumps(known))
    with pytest.raises(ValueError, match="leaves the table"):
        glaive.LanceDataset.commit(path, glaive.LanceOperation.Append([made]), read_version=1)
    assert glaive.dataset(path).version == 1


def test_transaction_files_lie_in_their_folder(path):
    glaive.write_dataset(pa.table({"x": [1]}), path)
    (file,) = Path(path, "_versions").glob("*.manifest")
    bytes_ = file.read_bytes()
    (begin,) = struct.unpack_from("<Q", bytes_, len(bytes_) - 16)
    name = next(Path(path, "_transactions").iterdir()).name.encode()
    there = bytes_.index(name, begin)
    outside = b"../" * (len(name) // 3) + b"x" * (len(name) % 3)
    file.write_bytes(bytes_[:there] + outside + bytes_[there + len(name) :])
    with pytest.raises(OSError, match="the path of the transaction"):
        glaive.dataset(path)
