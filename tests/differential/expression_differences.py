"""The differences from pylance that docs/differences.md names, each with what tells it.

A difference is looked at in its smallest form. None of these is a wrong row of Glaive's: where the
values differ, either is a reading of SQL, and the document says why ours is the one it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from expression_grammar import Node
from expression_outcomes import Difference


@dataclass(frozen=True)
class Named:
    in_docs: str  # the words of docs/differences.md that name it
    holds: Callable[[Difference], bool]


def _templates(node: Node) -> str:
    return " ".join(part.template for part in node.nodes())


def _refused_there(pattern: str, within: str = "") -> Callable[[Difference], bool]:
    """Glaive has a value, and pylance's error is like that."""

    def holds(difference: Difference) -> bool:
        return (
            difference.kind == "accepted"
            and re.search(pattern, difference.theirs.error or "") is not None
            and re.search(within, _templates(difference.node)) is not None
        )

    return holds


COMPARES = r"\(.* (\{compare\}|BETWEEN|IN|IS|=) |(nullif|greatest|least)\("


def _of_zeros(difference: Difference) -> bool:
    """All rows that differ compare a zero with the other one."""
    if difference.kind != "values" or not difference.rows:
        return False
    compares = re.match(COMPARES, difference.node.template)
    zeros = [{v for v in row if v in ("0.0", "-0.0", 0)} for row in difference.operands()]
    return compares is not None and all(len(row) > 1 or "-0.0" in row for row in zeros)


def _beside_float(difference: Difference) -> bool:
    """A decimal and a float meet."""
    kinds = {part.kind for part in difference.node.nodes()}
    mixed = "dec" in kinds and "float" in kinds
    fails = re.search("Overflow|automatically convert Float16", difference.theirs.error or "")
    return mixed and (difference.kind in ("values", "type") or fails is not None)


def _of_nvl(difference: Difference) -> bool:
    """Values of several types, or lists, of which pylance makes texts, or which it refuses."""
    return difference.node.template.startswith(("nvl(", "nvl2("))


def _of_null_simplified(difference: Difference) -> bool:
    """Ours are null where an operand is."""
    values = [difference.ours.value[at] for at in difference.rows]
    is_such = re.match(r"(power|log)\(", difference.node.template) is not None
    return is_such and difference.kind == "values" and values == [None] * len(values)


def _only_width(difference: Difference) -> bool:
    ours, theirs = difference.ours.kind, difference.theirs.kind
    return difference.kind == "type" and ours.replace("large_string", "string") == theirs.replace(
        "large_string", "string"
    )


TYPES = (
    r"Unsupported (TRY_)?CAST|[Cc]oerc|signature|No function matches|not comparable|common type|"
    r"Unsupported data type|does not support type|Unsupported SQL type|"
    r"Cannot automatically convert|could not convert to literal|not supported for|"
    r"Cannot cast timezone to different timezone"
)
GUARDS = r"\{bool\} (AND|OR) \{bool\}|CASE|coalesce\(\{\w+\}, \{"
NAMED = [
    Named("expressions, decimals beside floats", _beside_float),
    Named("expressions that compare two columns, or in `nullif`: zeros", _of_zeros),
    Named("expressions, `x <> 0 AND 10 / x > 2`", _refused_there(".", GUARDS)),
    Named("expressions, types that pylance does not bring together", _refused_there(TYPES)),
    Named("expressions, texts that functions make", _only_width),
    Named(
        "expressions, dictionary columns in functions",
        lambda d: d.kind == "type" and "dictionary" in d.theirs.kind,
    ),
    Named("expressions, `nvl`, `ifnull` and `nvl2`", _of_nvl),
    Named("expressions, `power(x, 0)` and `log(x, x)` of nulls", _of_null_simplified),
    Named("expressions, `gcd` and `lcm`", _refused_there("overflow in", "gcd|lcm")),
    Named("expressions, `power(0, -1)`", _refused_there("zero raised to a negative power")),
    Named("expressions, `substr` that begins", _refused_there("start position overflow")),
    Named("expressions, a panic of pylance", _refused_there("[Pp]anic|terminated before")),
]


def name_of(difference: Difference) -> str | None:
    return next((named.in_docs for named in NAMED if named.holds(difference)), None)
