"""The differences from pylance that docs/differences.md names, each with what tells it.

A difference is looked at in its smallest form. None of these is a wrong row of Glaive's: where the
values differ, the document says why ours are the ones that they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from expression_outcomes import Difference

Predicate = Callable[[Difference], bool]


@dataclass(frozen=True)
class Named:
    in_docs: str  # the words of docs/differences.md that name it
    holds: Predicate


def _templates(difference: Difference) -> str:
    return " ".join(part.template for part in difference.node.nodes())


def _error(kind: str, pattern: str, within: str = "") -> Predicate:
    """One engine has a value, and the other's error is like that."""

    def holds(difference: Difference) -> bool:
        failed = difference.theirs if kind == "accepted" else difference.ours
        return (
            difference.kind == kind
            and re.search(pattern, failed.error or "") is not None
            and re.search(within, _templates(difference)) is not None
        )

    return holds


def _within(kinds: str, pattern: str) -> Predicate:
    """The expression holds what is like that."""

    def holds(difference: Difference) -> bool:
        return difference.kind in kinds and re.search(pattern, _templates(difference)) is not None

    return holds


# --- floats and decimals

COMPARES = r"\(.* (\{compare\}|BETWEEN|IN|IS|=) |(nullif|greatest|least|array_has|trunc)\("
UINT64 = r"\bu64\b|array_(ndims|length|position)|cardinality"
FLOATS = r"(^| )1\.5( |$)|(trunc|round)\(\{dec|floor|ceil|signum|^st\.z\.w$"


def _of_zeros(difference: Difference) -> bool:
    """All rows that differ compare a zero with the other one."""
    if difference.kind != "values" or not difference.rows:
        return False
    compares = re.match(COMPARES, difference.node.template)
    rows = []
    for row in difference.operands():
        values = [v for value in row for v in (value if isinstance(value, list) else [value])]
        rows.append({v for v in values if v in ("0.0", "-0.0", 0)})
    return compares is not None and all(len(row) > 1 or "-0.0" in row for row in rows)


def _beside_float(difference: Difference) -> bool:
    """A decimal meets a float; so does a sum of uint64 and signed integers, which is a decimal."""
    kinds = {part.kind for part in difference.node.nodes()}
    words = _templates(difference)
    is_decimal = "dec" in kinds or re.search(UINT64, words) is not None
    is_float = "float" in kinds or re.search(FLOATS, words) is not None
    pattern = "Overflow|too (large|small) to store|automatically convert Float16"
    fails = re.search(pattern, difference.theirs.error or "") is not None
    return is_decimal and is_float and (difference.kind in ("values", "type") or fails)


def _digits(difference: Difference) -> bool:
    kinds = {part.kind for part in difference.node.nodes()}
    ours, theirs = difference.ours.error or "", difference.theirs.error or ""
    overflows = re.search("Overflow happened|Decimal overflow while applying", theirs) is not None
    return "dec" in kinds and ("has more digits than" in ours or overflows)


def _of_null_simplified(difference: Difference) -> bool:
    """Ours are null where an operand is, or NaN; pylance's simplifier has replaced the function."""
    values = [difference.ours.value[at] for at in difference.rows]
    nulls = all(value in (None, "nan") for value in values)
    is_such = re.match(r"(power|log)\(|coalesce\(\{int\} \^", difference.node.template) is not None
    return is_such and difference.kind == "values" and nulls


# --- times

LATE = datetime(2099, 1, 1, tzinfo=timezone.utc).timestamp()
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "d32": 1 / 86_400, "d64": 10**3}


def _not_shown(difference: Difference) -> bool:
    """A local time that summer time leaves out or shows twice, which pylance does not see."""
    return difference.kind == "refused" and "does not show" in (difference.ours.error or "")


def _late(difference: Difference) -> bool:
    """In all rows that differ some time lies after 2099, and a zone takes part."""
    has_zone = re.search(r"\{zoned|\bz_|Some\(", _templates(difference)) is not None
    if not has_zone or (difference.kind != "values" and not _not_shown(difference)):
        return False
    times = [
        ([v and v / PER_SECOND[name.split("_")[-1]] for v in values])
        for name, values in difference.columns.items()
        if re.match(r"(z|ts)_|d32|d64", name)
    ]
    if _not_shown(difference):
        return any((at or 0) > LATE for of in times for at in of)
    late = [any((of[at] or 0) > LATE for of in times) for at in difference.rows]
    return late != [] and all(late)


def _of_old_date(difference: Difference) -> bool:
    """Theirs are null where a literal date has no nanoseconds."""
    is_such = re.match(r"\(\{day\} .*\{literal:date\}", difference.node.template) is not None
    if not is_such or difference.kind != "values":
        return False
    return all(difference.theirs.value[at] is None for at in difference.rows)


def _zones_of_type(difference: Difference) -> bool:
    """The same instants of another zone."""

    def without(kind: str) -> str:
        return re.sub(r"tz=[^\]]*", "tz", kind)

    ours, theirs = difference.ours.kind, difference.theirs.kind
    return difference.kind == "type" and without(ours) == without(theirs)


def _intervals(difference: Difference) -> bool:
    theirs = difference.theirs
    return "month_day_nano" in theirs.kind or "Interval(MonthDayNano)" in (theirs.error or "")


# --- texts, lists, dictionaries


def _only_width(difference: Difference) -> bool:
    ours, theirs = difference.ours.kind, difference.theirs.kind
    return difference.kind == "type" and ours.replace("large_", "") == theirs.replace("large_", "")


def _of_dictionary(difference: Difference) -> bool:
    kinds = difference.ours.kind + difference.theirs.kind
    return difference.kind == "type" and "dictionary" in kinds


def _type_told(part: str) -> Predicate:
    """`arrow_typeof` of what is another type with pylance."""

    def holds(difference: Difference) -> bool:
        told = str(difference.theirs)
        return difference.node.template.startswith("arrow_typeof") and part in told

    return holds


TYPES = (
    r"Unsupported (TRY_)?CAST|[Cc]oerc|signature|No function matches|not comparable|common type|"
    r"Unsupported data type|does not support type|Unsupported SQL type|common argument type|"
    r"Cannot automatically convert|could not convert to literal|not supported for|"
    r"Cannot cast timezone to different timezone|Invalid string/binary operation"
)
GUARDS = r"\{bool\} (AND|OR) \{bool\}|CASE|coalesce\(\{\w+\}, \{"
UNWRAPPED = (
    r"^\(\{stamp\} (IS|\{compare\}).* (TRY_)?CAST\(\{\w+\} AS \{stamp_type|"
    r"^\(\{(int|dec)\} (IS|IN|BETWEEN|\{compare\}).* (TRY_)?CAST\(\{dec\} AS \{(int|dec)_type"
)
CALENDAR = r"Cannot convert arrow_array|Failed to create naive|Failed to convert"
NAMED = [
    Named("expressions, `-9223372036854775808`", lambda d: "-9223372036854775808" in d.node.sql()),
    Named("expressions, decimals beside floats", _beside_float),
    Named("expressions, decimals of many digits", _digits),
    Named("expressions that compare two columns, or in `nullif`: zeros", _of_zeros),
    Named("expressions, nulls in `power(x, 0)`", _of_null_simplified),
    Named("expressions, `round` of a decimal of 256 bits", _within("type", r"round\(\{dec")),
    Named(
        "expressions, `round` of a decimal of 256 bits",
        _error("accepted", "Invalid comparison operation", r"round\(\{dec"),
    ),
    Named("expressions, `x <> 0 AND 10 / x > 2`", _error("accepted", ".", GUARDS)),
    Named("expressions, types that pylance does not bring together", _error("accepted", TYPES)),
    Named(
        "expressions, `nvl`, `ifnull` and `nvl2`",
        _within("values type accepted refused", r"\bnvl2?\("),
    ),
    Named("expressions, `gcd` and `lcm`", _error("accepted", "overflow in", "gcd|lcm")),
    Named("expressions, `substr` that begins", _error("accepted", "start position overflow")),
    Named("expressions, a panic of pylance", _error("accepted", "[Pp]anic|terminated before")),
    Named("expressions, zoned times after the year 2099", _late),
    Named("expressions, types of two zones", _zones_of_type),
    Named(
        "expressions, types of two zones",
        _within("values accepted", r"(greatest|least|nullif|coalesce)\(\{zoned\}, \{zoned\}\)"),
    ),
    Named(
        "expressions, timestamps without a zone beside a literal",
        _within("values", r"\{(stamp|zoned|day)\} (\{compare\}|IN|BETWEEN|IS).*Some\("),
    ),
    Named("expressions, durations of two units", _intervals),
    Named(
        "expressions, dates beside timestamps, before 1677 or after 2262",
        _error("accepted", "Cannot cast Date(32|64) value"),
    ),
    Named("expressions, dates beside timestamps, before 1677 or after 2262", _of_old_date),
    Named(
        "expressions, TRY_CAST of days that no calendar has",
        _error("accepted", CALENDAR, "TRY_CAST"),
    ),
    Named(
        "expressions, `date_trunc` of times before 1677",
        _error("accepted", "out of range", "date_trunc"),
    ),
    Named(
        "expressions, `date_bin` and `date_trunc` of the first times",
        _error("refused", "out of the range of nanoseconds", "date_bin"),
    ),
    Named(
        "expressions, `date_bin` and `date_trunc` of the first times",
        _error("refused", "Timestamp -[0-9]+ out of range", "date_trunc"),
    ),
    Named(
        "expressions, the year of nanoseconds compared",
        _within("values", r"\(.*(\{compare\}|IN|BETWEEN|IS) .*(extract\(year|'year')"),
    ),
    Named("expressions, texts that functions make", _only_width),
    Named("expressions, dictionary columns in functions", _of_dictionary),
    Named("expressions, `arrow_cast` to `Utf8View` and `BinaryView`", _type_told("View")),
    Named("expressions, dictionary columns in functions", _type_told("Dictionary")),
    Named("expressions, a group of `regexp_match`", _within("values", r"regexp_match.*\(b\)\?")),
    Named(
        "expressions, `regexp_like` of a backslash",
        _within("values", r"regexp_like.*'\\\\'"),
    ),
    Named(
        "expressions, `array_has` of `make_array`",
        _within(
            "values",
            r"^array_has\(.*make_array\(|^array_has_(any|all).*CASE|CASE .*array_has_(any|all)|"
            r"^array_has_(any|all)\(.*regexp_match",
        ),
    ),
    Named("expressions, `-(a & b)`", _within("values", r"\(- .*\{int\} [&|^]")),
    Named(
        "expressions, `trunc(x, digits)`",
        _within("values type", r"^(trunc|atan2)\(.*(f16|[iu](8|16|32|64)\b|st\.x|\bid\b)"),
    ),
    Named(
        "expressions, parts of a second of days that no calendar has",
        _within("values", r"date_part.*'(nano|micro|milli)?second'"),
    ),
    Named("expressions, `log` to a base", _within("values", r"^log\(.*f16")),
    Named(
        "expressions, a cast that pylance has not",
        _error("refused", "Unsupported CAST", r"\{compare\}|IN |BETWEEN"),
    ),
    Named(
        "expressions, a cast compared with a constant",
        _error("refused", ".", r"(\{compare\}|IN |BETWEEN).*(CAST|arrow_cast)"),
    ),
    Named(
        "expressions, a cast compared with a constant",
        lambda d: d.kind == "values" and re.search(UNWRAPPED, _templates(d)) is not None,
    ),
    Named("expressions, `x <> 0 AND 10 / x > 2`", _error("refused", ".", r"\{bool\} (AND|OR)")),
    Named(
        "expressions, `x <> 0 AND 10 / x > 2`",
        _error("refused", "a time of day has no", r"coalesce\(\{\w+\}, \{"),
    ),
    Named("expressions, `arrow_typeof` of", _error("accepted", ".", r"^arrow_typeof")),
    Named("`power` of decimals", _error("unbuilt", r"power\(\) of decimals")),
    Named(
        "`date_part` of durations",
        _error("refused", r"requires a date or a timestamp, but received (Duration|Interval)"),
    ),
    Named("`date_part` of durations", _error("unbuilt", "month_day_nano_interval")),
    Named("`date_bin` by months", _error("unbuilt", r"date_bin\(\) by months")),
    Named("regular expressions with `\\b`", _error("unbuilt", r"with \\b or \\B")),
    Named(
        "expressions on fields below structs",
        _error("unbuilt", r"of values of type \w*(List|Struct)|comparing values of type"),
    ),
]


def name_of(difference: Difference) -> str | None:
    return next((named.in_docs for named in NAMED if named.holds(difference)), None)
