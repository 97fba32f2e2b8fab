"""Indices of a table: what there is. Building them is not part of this engine."""

from __future__ import annotations

from . import _native


class IndexVerbs:
    """Methods of LanceDataset."""

    _ds: _native.Dataset
