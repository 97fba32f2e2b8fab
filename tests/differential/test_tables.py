"""Random tables through every verb of both engines; tables.py says what has to hold.

GLAIVE_TABLES sets how many (a sample where it is not set), GLAIVE_TABLES_FIRST the first seed.
"""

import os

import seeds
import tables

TABLES = int(os.environ.get("GLAIVE_TABLES", "150"))
FIRST = int(os.environ.get("GLAIVE_TABLES_FIRST", "0"))


def test_tables():
    run, reports = seeds.run(tables.__file__, FIRST, TABLES)
    assert not reports, f"{len(reports)} of {TABLES} tables fail; the first:\n{reports[0]}"
    assert run == TABLES
