"""A table of 48 rows with a column of every type, made from a seed.

Each column draws how wild its values are: near zero, anywhere, or at the ends of its type. Casts
of wild values fail and their sums overflow, so a table of them alone would compare errors only.
"""

import decimal
import random
import struct

import pyarrow as pa

ROWS = 48
DAY = 86_400
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
ZONES = {"s": "+05:30", "ms": "America/New_York", "us": "UTC", "ns": "Europe/Berlin"}
WORDS = [
    "", " ", "a", "b", "A", "ab", "aB", "abc", "Beta", "gamma_1", "100%", "%", "_", "it's", "\\",
    "a\\", "\\a", "a\\%", "C:\\dir\\", "ß", "Straße", "İ", "ı", "é", "e\u0301", "Ünï", "日本語", "Ω",
    "ΑΣ", "🙂", "🙂a", "\t", "x\ny", " x ", "7", "-3", "+5", "007", " 5", "1.5", "-0.5", "1e3",
    "inf", "NaN", "true", "fal", "yes", "0", "off", "2024-02-29", "2024-02-30", "12:34:56",
    "1969-12-31T23:59:59.999Z", "2024-03-10 02:30:00", "1815-06-18 11:35:00+02:00", "a,b,,c",
    "ab" * 20, "9223372036854775808", "-170141183460469231731687303715884105728", "1 day",
]  # fmt: skip
MOMENT_TEXTS = [
    "2024-02-29", "1969-12-31", "1969-12-31T23:59:59.999Z", "2024-03-10 02:30:00",
    "1815-06-18 11:35:00+02:00", "2024-11-03T01:30:00", "2024-03-10T07:30:00.123456789Z",
    "1970-01-01 00:00:00", "2024-12-31 23:59:59", "0001-01-01", "9999-12-31 23:59:59",
    "2024-02-30", "12:34:56", "24:00:00", "23:59:59.999999999", "2024-12-31T23:59:60Z",
    "2024-1-5", "20240105", "+12024-01-01", "",
]  # fmt: skip
NUMBER_TEXTS = [
    "0", "7", "-3", "+5", "007", " 5", "5 ", "1.5", "-0.5", "1e3", "-1E-2", "inf", "-inf", "NaN",
    "127", "128", "-32769", "2147483648", "9223372036854775807", "9223372036854775808", ".5", "5.",
    "18446744073709551615", "0.005", "-0.005", "99999999.99", "99999999.995", "", "1_000", "0x10",
    "true", "f", "-0", "1e400", "123456789012345678901234567890.123456789",
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 0.1, 3.0, 1e10, -1e10, 100.25]
WILD_FLOATS = [*FLOATS, float("nan"), float("inf"), float("-inf"), 1e300, -1e-300, 5e-324, 2.0**63]
MOMENTS = [0, 1_704_067_200, 1_710_054_000, 1_730_610_000, -DAY, -1, -2_208_988_800]
EXACT = decimal.Context(prec=80)


class Values:
    """Random values; `wild` is 0, 1 or 2."""

    def __init__(self, source: random.Random, wild: int):
        self.random = source
        self.wild = wild

    def whole(self, low: int, high: int) -> int:
        draw = self.random.random()
        if self.wild == 2 and draw < 0.3:
            return self.random.choice([low, high, low + 1, high - 1])
        if self.wild == 0 or draw < 0.6:
            return self.random.randint(max(low, -9), min(high, 20))
        return self.random.randint(low, high)

    def real(self, width: int) -> float:
        value = self.random.choice(WILD_FLOATS if self.wild else FLOATS)
        if self.random.random() < 0.3:
            value = self.random.uniform(-50, 50)
        if width == 64:
            return value
        largest = 65504.0 if width == 16 else 3.4028234663852886e38
        if largest < abs(value) < float("inf"):
            value = largest if value > 0 else -largest
        code = "e" if width == 16 else "f"
        return struct.unpack(code, struct.pack(code, value))[0]

    def text(self) -> str:
        if self.random.random() < 0.2:
            return "".join(self.random.choices("abB%_\\ é日", k=self.random.randrange(6)))
        return self.random.choice(WORDS)

    def bytes(self, length: int | None = None) -> bytes:
        if length is None:
            return self.text().encode() if self.random.random() < 0.7 else b"\x00\xff"
        return bytes(self.random.choices([0, 1, 97, 98, 255], k=length))

    def decimal(self, precision: int, scale: int) -> decimal.Decimal:
        top = 10**precision - 1
        unscaled = self.random.randint(-999, 2000)
        if self.wild == 2 and self.random.random() < 0.3:
            unscaled = self.random.choice([top, -top, top - 1, 0])
        elif self.wild and self.random.random() < 0.5:
            unscaled = self.random.randint(-top, top)
        return decimal.Decimal(unscaled).scaleb(-scale, EXACT)

    def ticks(self, per_second: int) -> int:
        """Of a moment, since 1970."""
        if self.wild == 2 and self.random.random() < 0.2:
            return self.random.choice([-(2**63), 2**63 - 1, -(2**62)])
        moment = self.random.choice(MOMENTS)
        if self.random.random() < 0.6:
            reach = 200 * 365 * DAY if self.wild else 40 * DAY
            moment += self.random.randint(-reach, reach)
        rest = self.random.randrange(per_second) if self.random.random() < 0.5 else 0
        return moment * per_second + rest

    def span(self, per_second: int) -> int:
        if self.wild == 2 and self.random.random() < 0.2:
            return self.random.choice([2**62, -(2**62), 2**63 - 1])
        near = self.random.randint(-(10**9), 10**9)
        return self.random.choice([0, 1, -1, DAY * per_second, near])

    def days(self) -> int:
        if self.wild == 2 and self.random.random() < 0.2:
            return self.random.choice([-(2**31), 2**31 - 1, 2_932_896])
        return self.ticks(1) // DAY if self.wild < 2 else self.random.randint(-80_000, 80_000)

    def list(self, item, most: int = 4):
        length = self.random.randrange(most)
        return [None if self.random.random() < 0.15 else item() for _ in range(length)]


def _makers():
    """Of each column: its type and what draws a value."""
    columns = {}
    for bits in (8, 16, 32, 64):
        columns[f"i{bits}"] = (
            getattr(pa, f"int{bits}")(),
            lambda v, b=bits: v.whole(-(2 ** (b - 1)), 2 ** (b - 1) - 1),
        )
        columns[f"u{bits}"] = (getattr(pa, f"uint{bits}")(), lambda v, b=bits: v.whole(0, 2**b - 1))
    for bits in (16, 32, 64):
        columns[f"f{bits}"] = (getattr(pa, f"float{bits}")(), lambda v, b=bits: v.real(b))
    for name, kind in {
        "dec": pa.decimal128(10, 2),
        "dec38": pa.decimal128(38, 10),
        "dec0": pa.decimal128(5, 0),
        "dec256": pa.decimal256(60, 20),
    }.items():
        columns[name] = (kind, lambda v, k=kind: v.decimal(k.precision, k.scale))
    columns["b"] = (pa.bool_(), lambda v: v.random.random() < 0.5)
    columns["t"] = (pa.utf8(), Values.text)
    columns["lt"] = (pa.large_utf8(), Values.text)
    columns["tt"] = (pa.utf8(), lambda v: v.random.choice(MOMENT_TEXTS[: 6 * v.wild + 8]))
    columns["tn"] = (pa.utf8(), lambda v: v.random.choice(NUMBER_TEXTS[: 16 * v.wild + 3]))
    columns["bin"] = (pa.binary(), Values.bytes)
    columns["lbin"] = (pa.large_binary(), Values.bytes)
    columns["fsb"] = (pa.binary(4), lambda v: v.bytes(4))
    columns["d32"] = (pa.date32(), Values.days)
    columns["d64"] = (pa.date64(), lambda v: v.days() * DAY * 1000)
    for unit, scale in UNITS.items():
        time = pa.time32(unit) if scale < 10**6 else pa.time64(unit)
        columns[f"tm_{unit}"] = (time, lambda v, s=scale: v.random.randrange(DAY * s))
        columns[f"ts_{unit}"] = (pa.timestamp(unit), lambda v, s=scale: v.ticks(s))
        columns[f"z_{unit}"] = (pa.timestamp(unit, ZONES[unit]), lambda v, s=scale: v.ticks(s))
        columns[f"du_{unit}"] = (pa.duration(unit), lambda v, s=scale: v.span(s))
    columns["li"] = (pa.list_(pa.int32()), lambda v: v.list(lambda: v.whole(-(2**31), 2**31 - 1)))
    columns["lw"] = (pa.list_(pa.utf8()), lambda v: v.list(v.text))
    columns["lf"] = (pa.list_(pa.float64()), lambda v: v.list(lambda: v.real(64)))
    columns["ll"] = (
        pa.large_list(pa.int64()),
        lambda v: v.list(lambda: v.whole(-(2**63), 2**63 - 1)),
    )
    columns["fl"] = (pa.list_(pa.float32(), 3), lambda v: [v.real(32) for _ in range(3)])
    columns["st"] = (
        pa.struct([("x", pa.int32()), ("y", pa.utf8()), ("z", pa.struct([("w", pa.float64())]))]),
        lambda v: {"x": v.whole(-(2**31), 2**31 - 1), "y": v.text(), "z": {"w": v.real(64)}},
    )
    columns["di"] = (pa.dictionary(pa.int16(), pa.utf8()), Values.text)
    return columns


COLUMNS = _makers()


def make_table(seed: int) -> pa.Table:
    """`id` counts the rows; every fourth column or so has no nulls. Odd seeds have no dictionary,
    which Glaive does not write."""
    source = random.Random(f"table {seed}")
    arrays = {"id": pa.array(range(ROWS), pa.int64())}
    for name, (kind, draw) in COLUMNS.items():
        values = Values(source, source.choice([0, 0, 1, 1, 2]))
        nulls = source.choice([0, 0.1, 0.1, 0.4])
        drawn = [None if source.random() < nulls else draw(values) for _ in range(ROWS)]
        if pa.types.is_dictionary(kind):
            arrays[name] = pa.array(drawn, kind.value_type).dictionary_encode().cast(kind)
        else:
            arrays[name] = pa.array(drawn, kind)
    if seed % 2:
        del arrays["di"]
    return pa.table(arrays)
