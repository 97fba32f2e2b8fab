"""What pyarrow's own C++ makes of objects of this package: it works, or raises; it never crashes."""

import pyarrow as pa
import pyarrow.dataset as pds
import pytest

PREPARE = """
import pyarrow as pa, pyarrow.dataset as pds, pyarrow.acero as acero, glaive
dataset = glaive.write_dataset(pa.table({{"id": [1, 2], "b": ["x", "y"]}}), {path!r})
fragment = dataset.get_fragment(0)
table = pa.table({{"id": [1, 3], "c": [1, 3]}})
schema = dataset.schema
try:
    {call}
    print("works")
except (TypeError, NotImplementedError) as error:
    print("raises", type(error).__name__)
"""

REFUSED = [
    'pds.dataset(table).join(dataset, "id")',
    'table.join(dataset, "id")',
    'table.join_asof(dataset, "id", [], 1)',
    'pds.dataset(table).join_asof(dataset, "id", [], 1)',
    'dataset.join(pds.dataset(table), "id")',
    "pds.Scanner.from_dataset(dataset)",
    'pds.Scanner.from_dataset(dataset, columns=["id"])',
    "pds.Scanner.from_fragment(fragment)",
    "pds.Scanner.from_fragment(fragment, schema=schema)",
    'acero.Declaration("scan", acero.ScanNodeOptions(dataset)).to_table()',
    "pds.dataset([dataset, dataset])",
    "pds.UnionDataset(schema, [dataset])",
    "pds.FileSystemDataset([fragment], schema, pds.ParquetFileFormat())",
]
WORKING = [
    'pds.dataset(table).join(pds.dataset(dataset.to_table()), "id").to_table()',
    'table.join(dataset.to_table(), "id")',
    "pds.Scanner.from_batches(dataset.scanner().to_reader()).to_table()",
    "pa.table(dataset)",
    "pa.table(dataset.scanner())",
    'pds.write_dataset(dataset, {path!r} + "-parquet", format="parquet")',
    'pds.write_dataset(dataset.scanner(columns=["id"]), {path!r} + "-parquet", format="parquet")',
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_needs_an_object_of_pyarrows_own_is_refused(path, run, call):
    assert run(PREPARE.format(path=path, call=call)).startswith("raises ")


@pytest.mark.parametrize("call", WORKING)
def test_what_goes_by_streams_works(path, run, call):
    call = call.replace("{path!r}", repr(path))
    assert run(PREPARE.format(path=path, call=call)) == "works\n"


def test_they_are_shown_as_pyarrows(small):
    for value, base in (
        (small, pds.Dataset),
        (small.get_fragment(0), pds.Fragment),
        (small.scanner(), pds.Scanner),
    ):
        assert isinstance(value, base) and isinstance(value, type(value))
        assert not issubclass(type(value), base)
        assert issubclass(value.__class__, (base, type(value)))
        assert value.__class__.__qualname__ == type(value).__qualname__
        assert value.__class__ is value.__class__


def test_written_to_parquet_it_is_the_same(small, path):
    pds.write_dataset(small, path + "-parquet", format="parquet")
    assert pds.dataset(path + "-parquet").to_table().sort_by("a") == pa.table(small).sort_by("a")
