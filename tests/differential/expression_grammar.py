"""Random typed expressions of Lance's SQL.

A rule gives one class of values (`int`, `text`, ...) and is a template whose `{class}` parts are
replaced by expressions of that class. Classes that only literals have (`literal:int`, `pattern`)
end the tree. Types within a class are not followed: where a rule does not hold for one of them,
both engines refuse.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

COLUMNS = {
    "int": ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "id", "st.x"],
    "float": ["f16", "f32", "f64", "f64", "st.z.w"],
    "dec": ["dec", "dec38", "dec0", "dec256"],
    "bool": ["b"],
    "text": ["t", "t", "lt", "st.y", "di"],
    "bin": ["bin", "lbin", "fsb"],
    "date": ["d32", "d64"],
    "time": ["tm_us", "tm_us", "tm_us", "tm_ns", "tm_ms", "tm_s"],
    "moment": ["tt"],
    "numeral": ["tn"],
    "stamp": ["ts_s", "ts_ms", "ts_us", "ts_ns"],
    "zoned": ["z_s", "z_ms", "z_us", "z_ns"],
    "span": ["du_s", "du_ms", "du_us", "du_ns"],
    "ints": ["li", "ll"],
    "texts": ["lw"],
    "floats": ["lf", "fl"],
    "struct": ["st"],
}
NUMBERS = ["int", "float", "dec"]
GROUPS = {
    "num": [*NUMBERS, "int"],
    "real": ["float", "int", "float"],
    "day": ["date", "stamp", "zoned", "stamp"],
    "list": ["ints", "texts", "floats"],
    "plain": [*NUMBERS, "bool", "text", "date", "time", "stamp", "zoned", "int", "text"],
    "any": [name for name in COLUMNS if name not in ("moment", "numeral")],
}
COMPARED = [*NUMBERS, "text", "bool", "bin", "date", "time", "stamp", "zoned", "span"]

LITERALS = {
    "int": ["0", "1", "-1", "2", "3", "7", "20", "100", "0", "1", "-1", "2", "3", "7", "20", "5",
        "127", "-128", "255", "256", "-32768",
        "65535", "2147483647", "-2147483648", "4294967295", "9223372036854775807",
        "-9223372036854775808"],
    "float": ["0.0", "-0.0", "1.5", "-2.5", "0.1", "0.5", "3.0", "1e10", "-1e300", "65504.0",
        "2.0"],
    "dec": ["decimal(10,2) '1.50'", "decimal(5,0) '20'", "decimal(38,10) '-2.5'", "1", "-2",
        "1.5"],
    "bool": ["true", "false"],
    "text": ["'a'", "'ab'", "''", "'Beta'", "'7'", "'b'", "'é'", "'日'", "'ß'", "'%'", "'\\'",
        "' '", "'a\\'", "'it''s'", "'🙂'", "'A'", "'_'", "'2024-02-29'", "','"],
    "bin": ["X'61'", "X'00ff'", "X''", "X'61626162'"],
    "date": ["date '2024-02-29'", "date '1969-12-31'", "date '1970-01-01'", "date '0001-01-01'"],
    "time": ["arrow_cast('12:34:56', 'Time64(Nanosecond)')",
        "arrow_cast('00:00:00.5', 'Time64(Microsecond)')",
        "arrow_cast('23:59:59', 'Time32(Second)')"],
    "stamp": ["timestamp '2024-03-10 02:30:00'", "timestamp '1969-12-31 23:59:59.999'",
        "timestamp(3) '1970-01-01 00:00:00'", "timestamp(0) '1900-01-01 00:00:00'",
        "timestamp(9) '2024-11-03 06:00:00.123456789'"],
    "zoned": ['arrow_cast(\'2024-03-10T07:30:00Z\', \'Timestamp(Microsecond, Some("UTC"))\')',
        'arrow_cast(\'1969-12-31 23:59:59.5\', \'Timestamp(Second, Some("America/New_York"))\')'],
    "span": ["arrow_cast(1, 'Duration(Second)')",
        "arrow_cast(-86400000, 'Duration(Millisecond)')"],
    "ints": ["make_array(1, 2)", "make_array(0)", "[1, 7]"],
    "texts": ["make_array('a', 'b')", "['a']"],
    "floats": ["make_array(1.5, 0.0)", "[0.5]"],
    "struct": ["st"],
    "moment": ["'2024-02-29'", "'1969-12-31 23:59:59.5'", "'2024-03-10T02:30:00Z'"],
    "numeral": ["'7'", "'-1.5'", "'128'"],
}  # fmt: skip
WORDS = {
    "compare": ["=", "<>", "<", "<=", ">", ">=", "="],
    "like": ["LIKE", "ILIKE", "NOT LIKE", "NOT ILIKE"],
    "pattern": ["'a%'", "'%a'", "'%a%'", "'_'", "'%\\'", "'%\\\\'", "'a\\%'", "'%\\%%'", "'\\_%'",
        "'%'", "''", "'%é_'", "'_日%'", "'a'", "'A%b'", "'%ß%'", "'C:\\\\%'", "'a\\\\'", "'a\\'",
        "'%_a'"],
    "regex": ["'^a'", "'a$'", "'[a-b]+'", "'\\d'", "'\\w+'", "'^\\s*$'", "'(a)(b)?'", "'.'",
        "'^.$'", "''", "'\\bab'", "'\\\\'", "'a|é'", "'(?i)A'", "'x.y'", "'[^a]'", "'\\p{L}'",
        "'b*'"],
    "flags": ["'i'", "'s'", "'im'"],
    "more_flags": ["'i'", "'g'", "'gi'", "'s'"],
    "few": ["0", "1", "2", "3", "-1", "-2", "5", "8"],
    "places": ["0", "1", "2", "-1", "3"],
    "part": ["'year'", "'month'", "'day'", "'hour'", "'minute'", "'second'", "'week'", "'dow'",
        "'doy'", "'quarter'", "'epoch'", "'millisecond'", "'microsecond'", "'nanosecond'",
        "'isodow'"],
    "unit": ["'year'", "'quarter'", "'month'", "'week'", "'day'", "'hour'", "'minute'", "'second'",
        "'millisecond'", "'microsecond'"],
    "interval": ["interval '1 day'", "interval '1 month'", "interval '-1 month'",
        "interval '2 hours'", "interval '1 year 2 days 3 seconds'", "interval '1 millisecond'",
        "interval '-36 hours'"],
    "int_type": ["tinyint", "smallint", "int", "bigint", "tinyint unsigned", "smallint unsigned",
        "int unsigned", "bigint unsigned", "bigint", "bigint"],
    "float_type": ["float", "double", "double"],
    "dec_type": ["decimal(10,2)", "decimal(5,0)", "decimal(38,10)", "decimal(20,4)",
        "decimal(38,0)"],
    "stamp_type": ["timestamp(0)", "timestamp(3)", "timestamp(6)", "timestamp(9)", "timestamp"],
    "arrow_int": ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"],
    "arrow_float": ["Float16", "Float32", "Float64"],
    "arrow_dec": ["Decimal128(10, 2)", "Decimal128(38, 3)", "Decimal256(50, 5)",
        "Decimal256(76, 0)"],
    "arrow_text": ["Utf8", "LargeUtf8", "Utf8View"],
    "arrow_bin": ["Binary", "LargeBinary", "FixedSizeBinary(4)", "BinaryView"],
    "arrow_date": ["Date32", "Date64"],
    "arrow_time": ["Time32(Second)", "Time32(Millisecond)", "Time64(Microsecond)",
        "Time64(Nanosecond)"],
    "arrow_stamp": ["Timestamp(Second, None)", "Timestamp(Millisecond, None)",
        "Timestamp(Microsecond, None)", "Timestamp(Nanosecond, None)"],
    "arrow_zoned": ['Timestamp(Second, Some("UTC"))',
        'Timestamp(Second, Some("America/New_York"))', 'Timestamp(Second, Some("+05:30"))',
        'Timestamp(Millisecond, Some("UTC"))', 'Timestamp(Millisecond, Some("America/New_York"))',
        'Timestamp(Millisecond, Some("+05:30"))', 'Timestamp(Microsecond, Some("UTC"))',
        'Timestamp(Microsecond, Some("America/New_York"))',
        'Timestamp(Microsecond, Some("+05:30"))', 'Timestamp(Nanosecond, Some("UTC"))',
        'Timestamp(Nanosecond, Some("America/New_York"))',
        'Timestamp(Nanosecond, Some("+05:30"))'],
    "arrow_span": ["Duration(Second)", "Duration(Millisecond)", "Duration(Microsecond)",
        "Duration(Nanosecond)"],
    "trunc_text": ["'day'", "'month'"],
}  # fmt: skip

# What a value of a class may be cast from, besides its own class.
CAST_FROM = {
    "int": [*NUMBERS, "bool", "numeral", "numeral", "date", "time", "stamp", "span"],
    "float": [*NUMBERS, "numeral", "bool"],
    "dec": [*NUMBERS, "numeral", "bool"],
    "text": ["plain", "plain", "span", "list", "struct", "bin"],
    "bool": [*NUMBERS, "text"],
    "bin": ["text", "int"],
    "date": ["stamp", "zoned", "moment", "moment", "int"],
    "time": ["stamp", "zoned", "moment"],
    "stamp": ["date", "zoned", "moment", "moment", "int", "float", "dec"],
    "zoned": ["date", "stamp", "moment", "int"],
    "span": ["int"],
}
CAST_TO = {
    "int": ("{int_type}", "{arrow_int}"),
    "float": ("{float_type}", "{arrow_float}"),
    "dec": ("{dec_type}", "{arrow_dec}"),
    "text": ("string", "{arrow_text}"),
    "bool": ("boolean", "Boolean"),
    "bin": ("binary", "{arrow_bin}"),
    "date": ("date", "{arrow_date}"),
    "time": (None, "{arrow_time}"),
    "stamp": ("{stamp_type}", "{arrow_stamp}"),
    "zoned": (None, "{arrow_zoned}"),
    "span": (None, "{arrow_span}"),
}

RULES = {
    "int": """
        4 ({int} + {int})
        3 ({int} - {int})
        3 ({int} * {int})
        2 ({int} / {literal:int})
        2 ({int} % {literal:int})
        1 ({int} / {int})
        1 (- {int})
        1 coalesce({int} & {int})
        1 coalesce({int} | {int})
        1 coalesce({int} ^ {int})
        1 ({int} << {few})
        1 ({int} >> {few})
        2 abs({int})
        1 gcd({int}, {int})
        1 lcm({int}, {literal:int})
        1 signum({int})
        1 ascii({text})
        1 bit_length({text})
        2 char_length({text})
        1 length({text})
        1 octet_length({text})
        1 octet_length({bin})
        2 strpos({text}, {text})
        1 coalesce(position({text} in {text}))
        1 regexp_count({text}, {regex})
        3 date_part({part}, {day})
        1 date_part({part}, {time})
        1 date_part({part}, {span})
        1 coalesce(extract(year from {day}))
        1 to_unixtime({day})
        2 array_length({list})
        1 cardinality({list})
        1 array_ndims({list})
        1 array_position({ints}, {int})
        1 array_position({texts}, {text})
        2 {ints}[{few}]
        1 array_element({ints}, {few})
        1 st['x']
        1 instr({text}, {text})
    """,
    "float": """
        3 ({float} + {num})
        2 ({num} - {float})
        3 ({float} * {real})
        3 ({real} / {float})
        1 ({float} % {float})
        1 (- {float})
        2 abs({float})
        1 coalesce(ceil({real}))
        1 coalesce(floor({real}))
        2 round({real})
        2 round({float}, {places})
        1 trunc({float})
        1 trunc({float}, {places})
        2 sqrt({real})
        1 cbrt({real})
        1 exp({real})
        2 ln({real})
        1 log2({real})
        1 log10({real})
        1 log({real}, {real})
        1 power({real}, {real})
        1 power({int}, {few})
        1 sin({real})
        1 cos({real})
        1 tan({real})
        1 atan({real})
        1 asin({real})
        1 acos({real})
        1 atan2({real}, {real})
        1 sinh({real})
        1 cosh({real})
        1 tanh({real})
        1 degrees({real})
        1 radians({real})
        1 cot({real})
        1 signum({float})
        2 nanvl({float}, {float})
        1 {floats}[{few}]
        1 date_part('epoch', {day})
    """,
    "dec": """
        4 ({dec} + {dec})
        2 ({dec} + {int})
        3 ({dec} - {dec})
        3 ({dec} * {dec})
        2 ({dec} * {int})
        2 ({dec} / {dec})
        2 ({dec} % {dec})
        1 (- {dec})
        2 abs({dec})
        1 coalesce(ceil({dec}))
        1 coalesce(floor({dec}))
        1 signum({dec})
        1 round({dec})
        1 round({dec}, {places})
        1 trunc({dec})
    """,
    "bool": """
        10 ({num} {compare} {num})
        6 ({num} {compare} {literal:int})
        4 ({float} {compare} {literal:float})
        4 ({dec} {compare} {literal:dec})
        6 ({text} {compare} {text})
        4 ({text} {compare} {literal:text})
        3 ({bin} {compare} {bin})
        2 ({bin} {compare} {literal:bin})
        2 ({bool} = {bool})
        4 ({date} {compare} {date})
        5 ({stamp} {compare} {day})
        4 ({stamp} {compare} {literal:stamp})
        3 ({zoned} {compare} {zoned})
        2 ({zoned} {compare} {literal:zoned})
        2 ({zoned} {compare} {stamp})
        3 ({time} {compare} {time})
        2 ({span} {compare} {span})
        1 ({ints} = {ints})
        1 ({texts} < {texts})
        2 ({stamp} {compare} {literal:text})
        1 ({int} {compare} {text})
        1 ({date} {compare} {literal:text})
        10 ({bool} AND {bool})
        10 ({bool} OR {bool})
        5 (NOT {bool})
        2 ({bool} IS TRUE)
        1 ({bool} IS NOT TRUE)
        1 ({bool} IS FALSE)
        1 ({bool} IS NOT FALSE)
        1 ({bool} IS UNKNOWN)
        4 ({any} IS NULL)
        3 ({any} IS NOT NULL)
        3 ({int} IN ({literal:int}, {literal:int}, {literal:int}))
        2 ({float} IN ({literal:float}, {literal:int}))
        2 ({dec} IN ({literal:dec}, {literal:int}))
        3 ({text} IN ({literal:text}, {literal:text}, {literal:text}))
        2 ({text} NOT IN ({literal:text}, {text}))
        1 ({int} NOT IN ({literal:int}, {int}))
        1 ({date} IN ({literal:date}, {date}))
        1 ({stamp} IN ({literal:stamp}, {stamp}))
        1 ({bin} IN ({literal:bin}, {literal:bin}))
        1 ({int} IN ({literal:int}, NULL))
        3 ({num} BETWEEN {num} AND {num})
        2 ({int} BETWEEN {literal:int} AND {literal:int})
        1 ({text} BETWEEN {text} AND {text})
        2 ({day} BETWEEN {literal:date} AND {literal:stamp})
        1 ({time} NOT BETWEEN {time} AND {time})
        8 ({text} {like} {pattern})
        2 ({text} {like} {text})
        1 starts_with({text}, {text})
        1 ends_with({text}, {text})
        1 contains({text}, {text})
        4 regexp_like({text}, {regex})
        1 regexp_like({text}, {regex}, {flags})
        2 regexp_match({text}, {regex})
        1 array_has({ints}, {int})
        1 array_has({texts}, {text})
        1 array_has({floats}, {float})
        1 array_has_any({ints}, {ints})
        1 array_has_all({texts}, {texts})
        1 empty({list})
        1 isnan({float})
        1 iszero({num})
        2 ({int} IS DISTINCT FROM {int})
        1 ({float} IS NOT DISTINCT FROM {float})
        2 ({text} IS DISTINCT FROM {text})
        1 ({stamp} IS NOT DISTINCT FROM {stamp})
    """,
    "text": """
        3 upper({text})
        3 lower({text})
        1 initcap({text})
        2 reverse({text})
        2 btrim({text})
        1 btrim({text}, {literal:text})
        1 ltrim({text})
        1 rtrim({text}, {literal:text})
        1 coalesce(trim(both 'a' from {text}))
        2 replace({text}, {literal:text}, {literal:text})
        1 repeat({text}, {few})
        2 lpad({text}, {few}, {literal:text})
        1 lpad({text}, {few})
        2 rpad({text}, {few}, {literal:text})
        2 left({text}, {few})
        2 right({text}, {few})
        3 coalesce(substr({text}, {few}, {few}))
        1 coalesce(substr({text}, {few}))
        1 coalesce(substr({text}, arrow_cast({int}, 'Int64'), 3))
        2 split_part({text}, {literal:text}, {few})
        1 translate({text}, {literal:text}, {literal:text})
        3 ({text} || {text})
        2 concat({text}, {text}, {int})
        1 concat_ws({literal:text}, {text}, {text}, {text})
        2 regexp_replace({text}, {regex}, {literal:text})
        1 regexp_replace({text}, {regex}, '[\\1]', {more_flags})
        1 array_to_string({list}, {literal:text})
        2 {texts}[{few}]
        1 st['y']
        1 to_hex({int})
        1 encode({bin}, 'hex')
        1 encode({text}, 'base64')
        2 arrow_typeof({any})
    """,
    "bin": """
        1 decode(encode({bin}, 'hex'), 'hex')
        1 decode(encode({text}, 'base64'), 'base64')
    """,
    "date": """
        3 coalesce({date} + {interval})
        2 coalesce({date} - {interval})
        2 to_date({moment})
        2 to_date({day})
        1 ({date} + {few})
        1 coalesce(date_trunc({unit}, {date}))
    """,
    "time": """
        1 coalesce({time} + interval '1 minute')
    """,
    "stamp": """
        4 coalesce({stamp} + {interval})
        3 coalesce({stamp} - {interval})
        4 date_trunc({unit}, {stamp})
        1 date_trunc({unit}, {date})
        1 date_bin(interval '15 minutes', {stamp})
        1 date_bin(interval '1 month', {stamp}, {literal:stamp})
        1 to_timestamp({int})
        1 to_timestamp({float})
        2 to_timestamp({moment})
        1 to_timestamp_millis({int})
        1 to_timestamp_seconds({day})
        1 to_timestamp_micros({stamp})
        1 to_timestamp_nanos({stamp})
        1 from_unixtime({int})
        1 ({stamp} + {span})
        1 ({stamp} - {span})
    """,
    "zoned": """
        4 coalesce({zoned} + {interval})
        3 coalesce({zoned} - {interval})
        4 date_trunc({unit}, {zoned})
        1 date_bin(interval '1 hour', {zoned})
        1 ({zoned} + {span})
    """,
    "span": """
        3 ({stamp} - {stamp})
        1 ({zoned} - {zoned})
        1 ({date} - {date})
        1 ({stamp} - {date})
        1 ({span} + {span})
        1 ({span} - {span})
    """,
    "ints": """
        2 make_array({int}, {int})
        1 make_array({int})
    """,
    "texts": """
        2 make_array({text}, {text})
        3 regexp_match({text}, {regex})
        1 regexp_match({text}, {regex}, {flags})
    """,
    "floats": """
        1 make_array({float}, {num})
    """,
    "struct": "",
    "moment": """
        4 CAST({day} AS string)
        1 CAST({time} AS string)
    """,
    "numeral": """
        4 CAST({num} AS string)
        1 {text}
    """,
}
# Of every class; {same} is the class itself.
FOR_ALL = """
    2 coalesce({same}, {same})
    2 nullif({same}, {same})
    1 nvl({same}, {same})
    1 nvl2({any}, {same}, {same})
    3 coalesce(CASE WHEN {bool} THEN {same} ELSE {same} END)
    1 coalesce(CASE WHEN {bool} THEN {same} WHEN {bool} THEN {same} END)
    1 coalesce(CASE {int} WHEN {literal:int} THEN {same} ELSE {same} END)
    1 coalesce(CASE {text} WHEN {literal:text} THEN {same} WHEN {text} THEN {same} END)
    1 greatest({same}, {same})
    1 least({same}, {same})
"""
SLOT = re.compile(r"\{([a-z_0-9:]+)\}")


@dataclass(frozen=True)
class Node:
    """Part of an expression: `template` with {} for each child, or the text of a leaf."""

    kind: str
    template: str
    children: tuple[Node, ...] = ()
    is_literal: bool = field(default=False, compare=False)

    def sql(self) -> str:
        if not self.children:
            return self.template
        parts = iter(child.sql() for child in self.children)
        return SLOT.sub(lambda _: next(parts), self.template)

    def nodes(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.nodes()

    def size(self) -> int:
        return sum(1 for _ in self.nodes())


def _weighted(text: str) -> list[tuple[int, str]]:
    lines = (line.strip() for line in text.strip().splitlines())
    return [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines if line]


def _casts(kind: str) -> list[tuple[int, str]]:
    if kind not in CAST_TO:
        return []
    sql, arrow = CAST_TO[kind]
    rules = []
    for source in dict.fromkeys([*CAST_FROM[kind], kind]):
        slot = f"{{{source}}}"
        if sql is not None:
            rules += [(1, f"CAST({slot} AS {sql})"), (2, f"TRY_CAST({slot} AS {sql})")]
        rules.append((1, f"arrow_cast({slot}, '{arrow}')"))
    total = max(1, sum(weight for weight, _ in rules) // 6)
    return [(weight / total, rule) for weight, rule in rules]


def _all_rules() -> dict[str, tuple[list[str], list[float]]]:
    rules = {}
    for kind, own in RULES.items():
        general = FOR_ALL.replace("{same}", f"{{{kind}}}")
        found = [*_weighted(own), *[(w / 4, r) for w, r in _weighted(general)], *_casts(kind)]
        rules[kind] = ([rule for _, rule in found], [weight for weight, _ in found])
    return rules


ALL_RULES = _all_rules()


class Grammar:
    """Draws expressions over the columns of one table."""

    def __init__(self, source: random.Random, columns: set[str]):
        self.random = source
        self.columns = {
            kind: [name for name in names if name.split(".")[0] in columns]
            for kind, names in COLUMNS.items()
        }

    def draw(self, kind: str, depth: int) -> Node:
        if kind in WORDS:
            return Node(kind, self.random.choice(WORDS[kind]))
        if kind.startswith("literal:"):
            return self._literal(kind.removeprefix("literal:"))
        if kind in GROUPS:
            kind = self.random.choice(GROUPS[kind])
        if depth == 0 or self.random.random() < 0.2:
            if self.random.random() < 0.12:
                return self._literal(kind)
            return Node(kind, self.random.choice(self.columns[kind]))
        rules, weights = ALL_RULES[kind]
        template = self.random.choices(rules, weights)[0]
        slots = SLOT.findall(template)
        children = tuple(self.draw(slot, depth - 1) for slot in slots)
        return Node(kind, template, children)

    def _literal(self, kind: str) -> Node:
        return Node(kind, self.random.choice(LITERALS[kind]), is_literal=True)
