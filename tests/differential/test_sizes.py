"""Tables of extreme sizes; sizes.py says which.

GLAIVE_SIZES sets how many (a sample where it is not set), GLAIVE_SIZES_FIRST the first seed.
"""

import os

import seeds
import sizes

SIZES = int(os.environ.get("GLAIVE_SIZES", "40"))
FIRST = int(os.environ.get("GLAIVE_SIZES_FIRST", "0"))


def test_sizes():
    run, reports = seeds.run(sizes.__file__, FIRST, SIZES)
    assert not reports, f"{len(reports)} of {SIZES} tables fail; the first:\n{reports[0]}"
    assert run == SIZES
