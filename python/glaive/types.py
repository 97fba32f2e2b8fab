"""What the writing calls take as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.dataset

from ._engine.batches import coerce_reader as _coerce_reader  # noqa: F401  (pylance's name)

if TYPE_CHECKING:
    import pandas as pd

    ReaderLike: TypeAlias = (
        pd.DataFrame
        | pa.Table
        | pa.dataset.Dataset
        | pa.dataset.Scanner
        | pa.RecordBatch
        | Iterable[pa.RecordBatch]
        | pa.RecordBatchReader
        | dict[str, Any]
        | list[dict[str, Any]]
    )
