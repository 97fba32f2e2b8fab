"""Takes from one fragment, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import _native
from ._arguments import projection, set_option

if TYPE_CHECKING:
    from .fragment import LanceFragment


class FragmentSession:
    """Reads rows of the same columns of one fragment, again and again."""

    def __init__(
        self,
        fragment: LanceFragment,
        columns: list[str] | dict[str, str] | None,
        with_row_address: bool,
    ) -> None:
        self._fragment = fragment
        self._options = _native.TakeOptions()
        self._options.columns = projection(columns, "open_session")
        set_option(self._options, "with_row_address", with_row_address)

    def take(self, indices: Any) -> pa.Table:
        """Rows by their position among the fragment's live rows."""
        return self._fragment._take(indices, self._options)
