"""Small pages do not survive a compaction: a table of 20 fragments, each with a page of its own."""

import glaive as lance
import numpy as np
import pyarrow as pa
import pytest

FRAGMENTS, ROWS, ITEMS = 20, 300, 20_000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    count = FRAGMENTS * ROWS
    items = pa.array(rng.integers(-100, 100, count * ITEMS, dtype=np.int16))
    offsets = pa.array(np.arange(0, (count + 1) * ITEMS, ITEMS, dtype=np.int32))
    return pa.table({"feat": pa.ListArray.from_arrays(offsets, items), "id": np.arange(count)})


@pytest.fixture(scope="module")
def fragments(rows, tmp_path_factory):
    """20 fragments of 300 rows, which compactions of copies start from."""
    path = tmp_path_factory.mktemp("small_pages") / "source"
    lance.write_dataset(rows, path, max_rows_per_file=ROWS, max_rows_per_group=ROWS)
    return path


@pytest.fixture
def copy(fragments, tmp_path):
    """The table again, its files linked."""
    import os
    import shutil

    return str(shutil.copytree(fragments, tmp_path / "copy", copy_function=os.link))


def pages(dataset, column=0):
    from glaive.file import LanceFileReader

    files = [f for fragment in dataset.get_fragments() for f in fragment.data_files()]
    readers = [LanceFileReader(f"{dataset.uri}/data/{f.path}") for f in files]
    return sum(len(reader.metadata().columns[column].pages) for reader in readers)


def test_compaction_makes_the_pages_of_a_direct_write(rows, copy, tmp_path):
    dataset = lance.dataset(copy)
    assert (len(dataset.get_fragments()), pages(dataset)) == (FRAGMENTS, 20)
    dataset.optimize.compact_files(compaction_mode="reencode", batch_size=6000)
    assert (len(dataset.get_fragments()), pages(dataset)) == (1, 1)
    direct = lance.write_dataset(
        rows.to_reader(max_chunksize=6000), tmp_path / "direct", max_rows_per_file=1_000_000
    )
    assert pages(direct) == 1
    picks = [5999, 0, 299, 300, 3456]
    assert dataset.take(picks) == direct.take(picks) == rows.take(picks)
    assert dataset.count_rows() == FRAGMENTS * ROWS


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"max_page_bytes": 32 << 20}, 8),
        ({"max_rows_per_group": 1000}, 6),
        ({"max_rows_per_group": 1024}, 1),
        ({"batch_size": 7}, 1),
    ],
    ids=["page_bytes", "rows", "inert_rows", "batch_size"],
)
def test_limits_cut_alike(rows, copy, tmp_path, options, expected):
    dataset = lance.dataset(copy)
    dataset.optimize.compact_files(compaction_mode="reencode", **options)
    assert pages(dataset) == expected
    options.pop("batch_size", None)
    direct = lance.write_dataset(
        rows.to_reader(max_chunksize=6000),
        tmp_path / "direct",
        max_rows_per_file=1_000_000,
        **options,
    )
    assert pages(direct) == expected


def test_a_batch_size_is_filled_across_fragments(fragments):
    batches = lance.dataset(fragments).scanner(columns=["id"], batch_size=6000).to_batches()
    assert [batch.num_rows for batch in batches] == [6000]
