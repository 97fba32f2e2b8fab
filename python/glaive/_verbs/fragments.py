"""The fragments of a version as a sequence, and takes from one again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from .. import _native
from .._engine.arguments import projection
from .._engine.option_kinds import set_option

if TYPE_CHECKING:
    from ..dataset import LanceDataset
    from ..fragment import LanceFragment


class LanceFragments(Sequence["LanceFragment"]):
    """The fragments of one version, in the order of their ids; each is made when it is asked for.

    It reads like a list and stays as it is when the dataset moves on. Slices are of this type too;
    ``+`` gives a list. It is equal to a list, or another sequence, of equal fragments.
    """

    __slots__ = ("_dataset", "_positions")

    def __init__(self, dataset: LanceDataset, positions: range | None = None) -> None:
        self._dataset = dataset  # of its own, which no verb moves on
        self._positions = range(dataset._ds.num_fragments) if positions is None else positions

    def _at(self, position: int) -> LanceFragment:
        return self._dataset._fragment(self._dataset._ds.fragment_at(position))

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> LanceFragment: ...
    @overload
    def __getitem__(self, index: slice) -> LanceFragments: ...
    def __getitem__(self, index: Any) -> Any:
        try:
            chosen = self._positions[index]
        except IndexError:
            count = len(self._positions)
            raise IndexError(f"fragment {index} of {count}: index out of range") from None
        except TypeError:
            kind = type(index).__name__
            raise TypeError(f"fragments are numbered by int or slice, not {kind}") from None
        if isinstance(chosen, range):
            return LanceFragments(self._dataset, chosen)
        return self._at(chosen)

    def __iter__(self) -> Iterator[LanceFragment]:
        return map(self._at, self._positions)

    def __reversed__(self) -> Iterator[LanceFragment]:
        return map(self._at, reversed(self._positions))

    def __contains__(self, fragment: object) -> bool:
        number = getattr(fragment, "fragment_id", None)
        if not isinstance(number, int):
            return False
        position = self._dataset._ds.position_of(number)
        return position in self._positions and self._at(position) == fragment

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LanceFragments):
            if self._dataset._ds.is_same_version_as(other._dataset._ds):
                return self._positions == other._positions
        elif not isinstance(other, list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __add__(self, other: Sequence[LanceFragment]) -> list[LanceFragment]:
        if not isinstance(other, LanceFragments | list):
            return NotImplemented
        return [*self, *other]

    def __radd__(self, other: list[LanceFragment]) -> list[LanceFragment]:
        return [*other, *self] if isinstance(other, list) else NotImplemented

    def __mul__(self, times: int) -> list[LanceFragment]:
        return list(self) * times

    __rmul__ = __mul__

    def copy(self) -> list[LanceFragment]:
        return list(self)

    def __repr__(self) -> str:
        shown = [repr(fragment) for fragment in self[:20]]
        return f"[{', '.join(shown)}{', ...' if len(self) > len(shown) else ''}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return LanceFragments, (self._dataset, self._positions)


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
