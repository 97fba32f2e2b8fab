"""What pylance does wrong, by name: the reason why a case ends early."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    name: str
    explains: Callable  # (case, engine, text of the error) -> bool


def error(*pieces):
    """Errors of pylance's own with these texts in them."""
    return lambda case, engine, text: engine == "pylance" and all(piece in text for piece in pieces)


PEER_DEFECTS = [
    Defect(
        "a join makes items nullable that are not",
        error("HashJoiner: ", "interleave arrays of different data types"),
    ),
    Defect(
        "a join fills lists of items that are not nullable with nulls",
        error("non-nullable child of type", "contains nulls not present in parent"),
    ),
    Defect(
        "a write cuts structs with nulls in structs at a wrong place",
        error("null_bit_buffer size too small"),
    ),
]
