"""Single data files."""

import glaive.file
import lance.file
import pyarrow as pa
import pytest

TABLE = pa.table({"a": range(1000), "s": [f"s{i}" for i in range(1000)]})


@pytest.fixture
def file(tmp_path):
    path = str(tmp_path / "file.lance")
    with glaive.file.LanceFileWriter(path, TABLE.schema) as writer:
        writer.write_batch(TABLE.slice(0, 400))
        writer.write_batch(TABLE.slice(400).to_batches()[0])
        writer.add_schema_metadata("who", "glaive")
        assert writer.add_global_buffer(b"hello") == 1
    return path


def test_pylance_reads_it(file):
    reader = lance.file.LanceFileReader(file)
    assert reader.read_all().to_table().to_pydict() == TABLE.to_pydict()
    assert reader.metadata().schema.metadata[b"who"] == b"glaive"
    assert reader.read_global_buffer(1) == b"hello"


def test_reads(file):
    reader = glaive.file.LanceFileReader(file)
    assert reader.num_rows() == 1000
    assert reader.read_all(batch_size=300).to_table().to_pydict() == TABLE.to_pydict()
    sizes = [b.num_rows for b in reader.read_range(10, 700, batch_size=300).to_batches()]
    assert sizes == [300, 300, 100]
    taken = reader.take_rows([3, 5, 999]).to_table()
    assert taken["a"].to_pylist() == [3, 5, 999]
    assert reader.read_global_buffer(1) == b"hello"
    projected = glaive.file.LanceFileReader(file, columns=["s"])
    assert projected.read_all().to_table().column_names == ["s"]
    with pytest.raises(ValueError, match="ascend"):
        reader.take_rows([5, 3])


def test_metadata_is_pylances(file):
    ours, theirs = (m.LanceFileReader(file) for m in (glaive.file, lance.file))
    for name in ("num_rows", "num_data_bytes", "num_column_metadata_bytes"):
        assert getattr(ours.metadata(), name) == getattr(theirs.metadata(), name)
    for our, their in zip(ours.metadata().columns, theirs.metadata().columns, strict=True):
        assert [_places(p.buffers) for p in our.pages] == [_places(p.buffers) for p in their.pages]
    for our, their in zip(
        ours.file_statistics().columns, theirs.file_statistics().columns, strict=True
    ):
        assert (our.num_pages, our.size_bytes) == (their.num_pages, their.size_bytes)


def _places(buffers):
    return [(b.position, b.size) for b in buffers]


def test_closing(tmp_path):
    writer = glaive.file.LanceFileWriter(tmp_path / "f.lance")
    writer.write_batch(TABLE)
    assert writer.close() == 1000
    assert writer.close() is None
    with pytest.raises(ValueError, match="closed"):
        writer.write_batch(TABLE)


def test_failure_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with glaive.file.LanceFileWriter(tmp_path / "f.lance", TABLE.schema) as writer:
            writer.write_batch(TABLE)
            raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.lance"):
        glaive.file.LanceFileReader(tmp_path / "nothing.lance")


def test_session(tmp_path):
    session = glaive.file.LanceFileSession(tmp_path)
    with session.open_writer("f.lance", schema=TABLE.schema) as writer:
        writer.write_batch(TABLE)
    assert session.open_reader("f.lance", ["a"]).read_all().to_table()["a"].to_pylist() == [
        *range(1000)
    ]
