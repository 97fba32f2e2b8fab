"""Asks pylance for every cast and stores the outcomes in golden.arrow, for cast_table_test.cc.

    python tests/casts/make_golden.py        # some minutes; needs pylance

The table has a row for each value of each source type, and these columns:
  source   the type's name, as arrow_cast() takes it
  values   the value: one struct with a field for each source type, of which one is set
  outcome  a struct with a field for each target type: what CAST gives
  tried    likewise: what TRY_CAST gives, where that is another value than CAST's
  status   a struct with a field for each target: bits, see below
"""

import decimal
import math
import os
import shutil
import sys
import tempfile

import lance
import numpy as np
import pyarrow as pa

CAST_FAILS = 1  # CAST of this value is an error
TRY_FAILS = 2  # so is TRY_CAST, which ought to be null
REFUSED = 4  # the pair of types is refused, whatever the value
TRY_DIFFERS = 8  # TRY_CAST's value is in `tried`
TRY_REFUSED = 16  # only TRY_CAST is refused

D = decimal.Decimal
decimal.getcontext().prec = 100
HOUR = 3_600
DAY = 86_400
MAX = 2**63 - 1
ZONES = ("UTC", "America/New_York", "+05:30", "Asia/Tokyo")


def integers(bits, signed):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    edges = [
        0,
        1,
        2,
        5,
        100,
        127,
        128,
        255,
        256,
        999,
        1000,
        32767,
        32768,
        65504,
        65520,
        65535,
        65536,
        86399,
        86400,
        106751,
        106752,
        2932896,
        2932897,
        16777217,
        2**31 - 1,
        2**31,
        2**32 - 1,
        2**32,
        9223372036,
        9223372037,
        253402300799,
        8210266876799,
        2**53 + 1,
        10**17 + 5,
        MAX,
        2**63,
        2**64 - 1,
    ]
    values = edges + [-value for value in edges]
    return sorted({value for value in values + [low, high] if low <= value <= high}) + [None]


FLOATS = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    0.1,
    0.5,
    -0.5,
    0.9,
    -0.9,
    1.0,
    -1.0,
    1.005,
    1.5,
    2.5,
    -2.5,
    2.675,
    0.005,
    0.0049999,
    127.5,
    128.0,
    -128.9,
    -129.0,
    255.9,
    256.0,
    999.994,
    999.995,
    -999.99,
    1000.0,
    32767.9,
    65504.0,
    65519.0,
    65520.0,
    1e5,
    123456789.0,
    2.0**31,
    2.0**31 - 1,
    -(2.0**31) - 1,
    2.0**32,
    2.0**53,
    2.0**63,
    -(2.0**63),
    2.0**63 - 1024,
    2.0**64,
    1e15,
    1e16,
    1.5e16,
    1e17,
    1e20,
    1e21,
    1e38,
    1e39,
    1e50,
    1e76,
    1e77,
    1e300,
    1e-4,
    1e-5,
    1e-6,
    1e-7,
    1.5e-5,
    1e-10,
    5e-324,
    1.7976931348623157e308,
    3.4028234663852886e38,
    1e-45,
    6e-8,
    3e-8,
    None,
]


def halves():
    bits = [
        0x7E00,
        0x7C00,
        0xFC00,
        0,
        0x8000,
        0x2E66,
        0x3800,
        0xB800,
        0x3C00,
        0xBC00,
        0x3E00,
        0x4100,
        0xC100,
        0x57F0,
        0x5800,
        0xD808,
        0x5BFF,
        0x5C00,
        0x63D0,
        0x7BFF,
        0xFBFF,
        0x0001,
        0x0400,
        0x1000,
        0x7800,
        0x68D6,
    ]
    values = np.array(bits, np.uint16).view(np.float16)
    return pa.array([*values, None], pa.float16())


TEXTS = [
    "",
    " ",
    "0",
    "1",
    "-1",
    "+1",
    "+-1",
    "-+1",
    "--1",
    " 5",
    "5 ",
    "\t7",
    "007",
    "-0",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1.0",
    "1.",
    ".5",
    "-.5",
    ".",
    "-",
    "+",
    "+.5",
    "1.5",
    "2.5",
    "-2.5",
    "0.005",
    "0.0049999",
    "-0.005",
    "-0.004",
    "-0.5",
    "999.994",
    "999.995",
    "-999.995",
    "1000",
    "1e3",
    "1E3",
    "1e-3",
    "1.5e2",
    "1e400",
    "1e-400",
    "1e",
    "e3",
    "1_000",
    "1,000",
    "0x10",
    "1.2.3",
    "12a",
    "1.5f",
    "1d",
    "12345678901234567890123456789012345678",
    "99999999999999999999999999999999999999",
    "100000000000000000000000000000000000000",
    "-1234567890.12345678905",
    "9" * 76,
    "1" + "0" * 76,
    "0." + "9" * 80,
    "0.33333333333333333333333333333333333333333",
    "nan",
    "NaN",
    "-NaN",
    "NAN",
    "inf",
    "-inf",
    "Infinity",
    "-infinity",
    "+inf",
    "INF",
    "infinit",
    "3.4028236e38",
    "1e39",
    "65519",
    "65520",
    "1e-8",
    "0.1",
    "16777217",
    "1.00048828125",
    "true",
    "TRUE",
    "t",
    "tr",
    "tru",
    "y",
    "ye",
    "yes",
    "on",
    "false",
    "f",
    "fa",
    "fal",
    "fals",
    "n",
    "no",
    "of",
    "off",
    " true ",
    "o",
    "2",
    "False",
    "\tyes\n",
    "ja",
    "1969-12-31",
    "1970-01-01",
    "2024-02-29",
    "2023-02-29",
    "0001-01-01",
    "0000-01-01",
    "9999-12-31",
    "10000-01-01",
    "+10000-01-01",
    "-0001-01-01",
    "-4713-11-24",
    "+262142-12-31",
    "2024-1-5",
    "2024-01-5",
    "2024-1-05",
    "20240105",
    "2024/01/05",
    "2024-13-01",
    "2024-00-10",
    "2024-01-32",
    "24-01-05",
    "2024-01-05T",
    "2024-01",
    " 2024-01-05",
    "2024-01-05 ",
    "2024-03-05T14:00:00.123Z",
    "2024-03-05 14:00:00",
    "2024-03-05t14:00:00",
    "2024-03-05T14:00",
    "2024-03-05T140000",
    "2024-03-05T14",
    "2024-03-05T14:00:00.123456789",
    "2024-03-05T14:00:00.1234567891234",
    "2024-03-05T14:00:00.1",
    "2024-03-05T14:00:00.",
    "2024-03-05T14:00:00+01:00",
    "2024-03-05T14:00:00+0100",
    "2024-03-05T14:00:00+01",
    "2024-03-05T14:00:00 +01:00",
    "2024-03-05T14:00:00-05:30",
    "2024-03-05T14:00:00 America/New_York",
    "2024-03-05T14:00:00 Mars/X",
    "2024-03-05T14:00:00z",
    "2024-03-05T14:00:00Z ",
    "2024-03-05T23:59:60",
    "2024-03-05T24:00:00",
    "2024-03-05T14:60:00",
    "2024-03-05T14:00:00.123456Z",
    "1969-12-31T23:59:59.999999Z",
    "1969-12-31T23:59:59.999999",
    "1969-12-31T23:59:59.5+01:00",
    "1969-12-31T23:59:59.999999999",
    "1677-09-21T00:12:43.145224192",
    "1677-09-21T00:12:43.145224193",
    "1677-09-21T00:12:44",
    "2262-04-11T23:47:16.854775807",
    "2262-04-11T23:47:16.854775808",
    "2500-01-01T00:00:00",
    "0001-01-01T00:00:00",
    "2024-03-10T02:30:00",
    "2024-03-10T03:30:00",
    "2024-11-03T01:30:00",
    "2024-03-10",
    "2024-11-03 02:00:00",
    "14:00",
    "14:00:00",
    "14:00:00.5",
    "1:02",
    "1:02:03",
    "24:00:00",
    "23:59:60",
    "23:59:60.5",
    "12:30 AM",
    "12:30 PM",
    "1:05:06 pm",
    "13:00 AM",
    "14:00:00.1234567891",
    "14",
    "14:0",
    "14:00:00Z",
    "23:59:59.999999999",
    "86399",
    "1 month",
    "1 year 2 months 3 days",
    "-1 day",
    "1.5 days",
    "2 hours 30 minutes",
    "1 month -2 days 3.25 seconds",
    "0 secs",
    "1",
    "3 weeks",
    "500 milliseconds",
    "1 decade",
    "P1D",
    "a",
    "abc",
    "äö",
    "日本語",
    "\U0001f600",
    "x" * 40,
    "[1, 2]",
    'a"b',
    "line\nbreak",
    None,
]


def decimals(precision, scale):
    unit = D(1).scaleb(-scale)
    top = D(10) ** (precision - scale) - unit
    wanted = [
        "0",
        "1",
        "-1",
        "0.5",
        "-0.5",
        "0.49",
        "1.25",
        "-1.25",
        "1.005",
        "2.5",
        "-2.5",
        "127.99",
        "128",
        "-128.99",
        "-129",
        "255.5",
        "256",
        "65504",
        "999.99",
        "999.995",
        "-999.995",
        "999.994",
        "1000",
        "2147483647.9",
        "2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "0.00001",
        "123456789.123456789",
        "1e20",
        "1e37",
        "1e38",
        "1e50",
        "1e75",
    ]
    values = [D(text) for text in wanted] + [top, -top, unit, -unit, 5 * unit, top / 2]
    values = [
        value.quantize(unit, rounding=decimal.ROUND_DOWN) for value in values if abs(value) <= top
    ]
    return list(dict.fromkeys(values)) + [None]


def days():
    return [
        0,
        1,
        -1,
        19000,
        19787,
        19792,
        20030,
        -719162,
        -719163,
        -719528,
        -719529,
        2932896,
        2932897,
        95026,
        106751,
        106752,
        -106751,
        -106752,
        -106753,
        95026279,
        95026236,
        95026237,
        -96465292,
        -96465658,
        2**31 - 1,
        -(2**31),
        None,
    ]


def stamps(per_second):
    ticks = [
        0,
        1,
        -1,
        499,
        500,
        -500,
        999,
        -999,
        1000,
        1001,
        -1001,
        999999,
        -999999,
        -1000000,
        -1000001,
        1000001,
        999999999,
        -999999999,
        -1000000001,
        1_000_000_000,
        MAX,
        -MAX - 1,
        9223372036,
        9223372037,
        -9223372037,
    ]
    seconds = [
        DAY,
        DAY - 1,
        -DAY,
        -DAY - 1,
        1709647200,
        1710054000,
        1710055800,
        1710055800 + HOUR,
        1710061200,  # about 2024-03-10
        2540462400,  # 2050-07-02
        1730610000,
        1730613600,
        1730615400,
        1730617200,
        -5364662400,
        -62135596800,
        253402300799,
        253402300800,
        -62167219200,
        -62167219201,
        8210266876799,
        8210266876800,
        -8334601228800,
    ]
    values = ticks + [
        second * per_second + extra
        for second in seconds
        for extra in ([0] if per_second == 1 else [0, per_second // 2])
    ]
    return list(dict.fromkeys(value for value in values if -MAX - 1 <= value <= MAX)) + [None]


def clock(per_second):
    one_day = DAY * per_second
    values = [
        0,
        1,
        59,
        999,
        1000,
        1001,
        999999,
        one_day - 1,
        43200 * per_second,
        3723 * per_second + per_second // 2,
        one_day,
        -1,
        -per_second,
    ]
    limit = 2**31 if per_second <= 1000 else 2**63
    return list(dict.fromkeys(value for value in values if -limit <= value < limit)) + [None]


DURATIONS = [
    0,
    1,
    -1,
    59,
    60,
    999,
    1000,
    1001,
    -1001,
    1_000_000,
    1_000_001,
    -1_000_001,
    86_399_999,
    86_400_000,
    93_784_005_006,
    -93_784_005_006,
    3_600_000_000_000,
    9223372036,
    9223372037,
    9223372036854,
    -9223372036855,
    MAX // 1000,
    MAX,
    -MAX - 1,
    None,
]
INTERVALS = [
    "1 month",
    "14 months",
    "3 days",
    "-2 days",
    "1 hour",
    "1 second",
    "1.5 seconds",
    "-0.000001 seconds",
    "1 nanosecond",
    "1 month 2 days 3 hours 4 minutes 5.678 seconds",
    "0 days",
    "-1 month 1 day",
    "-90 seconds",
    "2562047 hours",
    None,
]
NAMES = {"s": "s", "ms": "ms", "us": "µs", "ns": "ns"}
PER_SECOND = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}
SCALES = [(5, 2), (38, 0), (38, 10), (3, 3), (20, -2)]
WIDE_SCALES = [(5, 2), (50, 10), (76, 0), (76, 76)]


def counted(values, type):
    bits = pa.int32() if type.bit_width == 32 else pa.int64()
    return pa.array(values, bits).view(type)


def sources():
    """The values of each source type, by the type's name."""
    yield "Boolean", pa.array([True, False, None])
    for bits in (8, 16, 32, 64):
        yield f"Int{bits}", pa.array(integers(bits, True), getattr(pa, f"int{bits}")())
        yield f"UInt{bits}", pa.array(integers(bits, False), getattr(pa, f"uint{bits}")())
    yield "Float16", halves()
    yield "Float32", pa.array(
        np.array([0.0 if v is None else v for v in FLOATS]).astype(np.float32),
        mask=np.array([v is None for v in FLOATS]),
    )
    yield "Float64", pa.array(FLOATS, pa.float64(), from_pandas=False)
    for precision, scale in SCALES:
        yield f"Decimal128({precision}, {scale})", pa.array(
            decimals(precision, scale), pa.decimal128(precision, scale)
        )
    for precision, scale in WIDE_SCALES:
        yield f"Decimal256({precision}, {scale})", pa.array(
            decimals(precision, scale), pa.decimal256(precision, scale)
        )
    yield "Utf8", pa.array(TEXTS, pa.utf8())
    yield "LargeUtf8", pa.array(TEXTS[::7] + [None], pa.large_utf8())
    raw = [b"", b"a", b"abc", b"ab\xff", "äö".encode(), b"\x00\x01\x02", b"abcd", b"12", None]
    yield "Binary", pa.array(raw, pa.binary())
    yield "LargeBinary", pa.array(raw, pa.large_binary())
    yield "FixedSizeBinary(3)", pa.array([b"abc", b"\x00\xff\x10", b"123", None], pa.binary(3))
    yield "Date32", counted(days(), pa.date32())
    yield "Date64", counted(
        [value if value is None else value for value in stamps(1000)], pa.date64()
    )
    for unit in ("s", "ms"):
        yield f"Time32({unit})", counted(clock(PER_SECOND[unit]), pa.time32(unit))
    for unit in ("us", "ns"):
        yield f"Time64({NAMES[unit]})", counted(clock(PER_SECOND[unit]), pa.time64(unit))
    for unit in ("s", "ms", "us", "ns"):
        yield f"Timestamp({NAMES[unit]})", counted(stamps(PER_SECOND[unit]), pa.timestamp(unit))
    for unit, zone in (
        ("us", "UTC"),
        ("us", "America/New_York"),
        ("s", "+05:30"),
        ("ns", "Asia/Tokyo"),
        ("ms", "America/New_York"),
    ):
        yield f'Timestamp({NAMES[unit]}, "{zone}")', counted(
            stamps(PER_SECOND[unit]), pa.timestamp(unit, zone)
        )
    for unit in ("s", "ms", "us", "ns"):
        yield f"Duration({NAMES[unit]})", counted(DURATIONS, pa.duration(unit))
    yield "Interval(MonthDayNano)", pa.array(INTERVALS, pa.utf8())
    lists = [[1, None, 3], [], None, [256], [-1, 7], [2**31 - 1, 0]]
    yield "List(Int32)", pa.array(lists, pa.list_(pa.int32()))
    yield "LargeList(Float64)", pa.array(
        [[1.5, None], [], None, [math.nan, 1e300], [-0.0, 7]], pa.large_list(pa.float64())
    )
    yield "List(Utf8)", pa.array(
        [["1", "x"], [], None, ["2", None], ["a, b", "7"]], pa.list_(pa.utf8())
    )
    yield "List(List(Int32))", pa.array(
        [[[1], [], None], [], None, [[300, None]]], pa.list_(pa.list_(pa.int32()))
    )
    yield "List(Timestamp(µs))", pa.array(
        [[0, None], [-1], None, []], pa.list_(pa.timestamp("us"))
    )
    yield "FixedSizeList(2 x Int32)", pa.array(
        [[1, 2], None, [300, -1], [None, 5]], pa.list_(pa.int32(), 2)
    )
    yield "FixedSizeList(1 x Float32)", pa.array(
        [[1.5], None, [300], [math.nan]], pa.list_(pa.float32(), 1)
    )
    yield 'Struct("a": Int32, "b": Utf8)', pa.array(
        [{"a": 1, "b": "7"}, None, {"a": None, "b": "x"}, {"a": 300, "b": None}],
        pa.struct([("a", pa.int32()), ("b", pa.utf8())]),
    )
    yield 'Struct("l": List(Int32))', pa.array(
        [{"l": [1, 300]}, None, {"l": None}], pa.struct([("l", pa.list_(pa.int32()))])
    )
    yield "Dictionary(Int32, Utf8)", pa.array(
        ["12", None, "x", "true", "12", "2024-01-05"], pa.utf8()
    ).dictionary_encode()


def targets():
    yield "Boolean", pa.bool_()
    for bits in (8, 16, 32, 64):
        yield f"Int{bits}", getattr(pa, f"int{bits}")()
        yield f"UInt{bits}", getattr(pa, f"uint{bits}")()
    yield "Float16", pa.float16()
    yield "Float32", pa.float32()
    yield "Float64", pa.float64()
    for precision, scale in SCALES:
        yield f"Decimal128({precision}, {scale})", pa.decimal128(precision, scale)
    for precision, scale in WIDE_SCALES:
        yield f"Decimal256({precision}, {scale})", pa.decimal256(precision, scale)
    yield "Utf8", pa.utf8()
    yield "LargeUtf8", pa.large_utf8()
    yield "Binary", pa.binary()
    yield "LargeBinary", pa.large_binary()
    yield "FixedSizeBinary(3)", pa.binary(3)
    yield "Date32", pa.date32()
    yield "Date64", pa.date64()
    for unit in ("s", "ms"):
        yield f"Time32({unit})", pa.time32(unit)
    for unit in ("us", "ns"):
        yield f"Time64({NAMES[unit]})", pa.time64(unit)
    for unit in ("s", "ms", "us", "ns"):
        yield f"Timestamp({NAMES[unit]})", pa.timestamp(unit)
    for unit, zone in (
        ("us", "UTC"),
        ("us", "America/New_York"),
        ("s", "+05:30"),
        ("ns", "Asia/Tokyo"),
        ("ms", "America/New_York"),
    ):
        yield f'Timestamp({NAMES[unit]}, "{zone}")', pa.timestamp(unit, zone)
    for unit in ("s", "ms", "us", "ns"):
        yield f"Duration({NAMES[unit]})", pa.duration(unit)
    yield "Interval(MonthDayNano)", pa.month_day_nano_interval()
    yield "List(Int8)", pa.list_(pa.int8())
    yield "List(Int32)", pa.list_(pa.int32())
    yield "List(Utf8)", pa.list_(pa.utf8())
    yield "LargeList(Float64)", pa.large_list(pa.float64())
    yield "List(List(Int8))", pa.list_(pa.list_(pa.int8()))
    yield "FixedSizeList(2 x Int8)", pa.list_(pa.int8(), 2)
    yield "FixedSizeList(1 x Int32)", pa.list_(pa.int32(), 1)
    yield "FixedSizeList(3 x Int32)", pa.list_(pa.int32(), 3)
    yield 'Struct("a": Int64, "b": LargeUtf8)', pa.struct(
        [("a", pa.int64()), ("b", pa.large_utf8())]
    )
    yield 'Struct("b": Int32, "a": Int8)', pa.struct([("b", pa.int32()), ("a", pa.int8())])
    yield 'Struct("x": Int8, "y": Utf8)', pa.struct([("x", pa.int8()), ("y", pa.utf8())])
    yield 'Struct("a": Int64)', pa.struct([("a", pa.int64())])
    yield 'Struct("l": List(Int8))', pa.struct([("l", pa.list_(pa.int8()))])
    yield "Dictionary(Int32, Utf8)", pa.dictionary(pa.int32(), pa.utf8())
    yield "Dictionary(Int8, Int64)", pa.dictionary(pa.int8(), pa.int64())


class Oracle:
    def __init__(self, folder, column, inner):
        shutil.rmtree(folder, ignore_errors=True)
        table = pa.table({"row": pa.array(range(len(column)), pa.int32()), "a": column})
        self.table = lance.write_dataset(table, folder, data_storage_version="2.1")
        self.inner = inner
        self.size = len(column)
        self.rows = []
        if pa.types.is_dictionary(column.type):
            for row in range(len(column)):
                one = column.slice(row, 1).dictionary_decode().dictionary_encode()
                shutil.rmtree(f"{folder}-{row}", ignore_errors=True)
                self.rows.append(lance.write_dataset(pa.table({"a": one}), f"{folder}-{row}"))

    def ask(self, expression, row=None):
        filter = None if row is None else f"row = {row}"
        table = self.table
        if (
            row is not None and self.rows
        ):  # a dictionary's values are cast for all rows that share it
            table, filter = self.rows[row], None
        try:
            found = table.scanner(columns={"x": expression}, filter=filter).to_table()["x"]
            return found.combine_chunks(), None
        except BaseException as problem:  # a panic is no Exception
            if isinstance(problem, KeyboardInterrupt):
                raise
            return None, f"{type(problem).__name__} {problem}"

    def outcomes(self, function, target, type):
        """What comes of every value, and where that is an error. None: the types are refused."""
        expression = f"{function}({self.inner}, '{target}')"
        whole, problem = self.ask(expression)
        if whole is not None:
            return plain(whole, type), [False] * self.size
        if refuses(problem):
            return None
        pieces, failed = [], []
        for row in range(self.size):
            one, problem = self.ask(expression, row)
            if problem and "Panic" in problem:
                print("a panic:", expression, row, problem[:100], file=sys.stderr)
            failed.append(one is None)
            pieces.append(pa.nulls(1, stored(type)) if one is None else plain(one, type))
        return pa.concat_arrays(pieces), failed


def plain(array, type):
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(type):
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    if not array.type.equals(type):
        print("another type:", array.type, "for", type, file=sys.stderr)
        return array.cast(type)
    return array


def refuses(problem):
    return (
        "Unsupported CAST" in problem
        or "Unsupported TRY_CAST" in problem
        or "Unsupported type" in problem
    )


def stored(type):
    return type.value_type if pa.types.is_dictionary(type) else type


def main():
    folder = tempfile.mkdtemp(prefix="casts-")
    all_targets = list(targets())
    all_sources = list(sources())
    wanted = sys.argv[1:]
    names, values = [], []
    outcome = {name: [] for name, _ in all_targets}
    tried = {name: [] for name, _ in all_targets}
    status = {name: [] for name, _ in all_targets}
    for source, column in all_sources:
        if wanted and source not in wanted:
            continue
        print(source, file=sys.stderr)
        inner = (
            "arrow_cast(a, 'Interval(MonthDayNano)')" if source.startswith("Interval") else "a"
        )
        oracle = Oracle(os.path.join(folder, "table"), column, inner)
        if inner != "a":
            column = oracle.ask(inner)[0]
        names += [source] * len(column)
        values.append((source, column))
        for target, type in all_targets:
            cast = oracle.outcomes("arrow_cast", target, type)
            attempt = oracle.outcomes("arrow_try_cast", target, type)
            nothing = pa.nulls(len(column), stored(type))
            if cast is None:
                outcome[target].append(nothing)
                tried[target].append(nothing)
                status[target] += [REFUSED] * len(column)
                continue
            refused = TRY_REFUSED * (attempt is None)
            attempt = attempt or (nothing, [False] * len(column))
            bits = []
            other = []
            for i in range(len(column)):
                differs = (
                    not refused
                    and not cast[1][i]
                    and not attempt[1][i]
                    and not same(cast[0].slice(i, 1), attempt[0].slice(i, 1))
                )
                odd = cast[1][i] and not attempt[1][i] and attempt[0][i].is_valid
                bits.append(
                    refused
                    + CAST_FAILS * cast[1][i]
                    + TRY_FAILS * attempt[1][i]
                    + TRY_DIFFERS * bool(differs or odd)
                )
                other.append(differs or odd)
            outcome[target].append(cast[0])
            pieces = [
                attempt[0].slice(i, 1) if other[i] else nothing.slice(i, 1)
                for i in range(len(column))
            ]
            tried[target].append(pa.concat_arrays(pieces))
            status[target] += bits
    rows = len(names)
    fields = []
    start = 0
    for source, column in values:
        kept = pa.dictionary if pa.types.is_dictionary(column.type) else None
        column = column.dictionary_decode() if kept else column
        pieces = [
            pa.nulls(start, column.type),
            column,
            pa.nulls(rows - start - len(column), column.type),
        ]
        fields.append(pa.concat_arrays(pieces))
        start += len(column)

    def structure(arrays, columns):
        return pa.StructArray.from_arrays(arrays, columns)

    table = pa.table(
        {
            "source": pa.array(names).dictionary_encode(),
            "values": structure(fields, [source for source, _ in values]),
            "outcome": structure(
                [pa.concat_arrays(outcome[name]) for name, _ in all_targets],
                [name for name, _ in all_targets],
            ),
            "tried": structure(
                [pa.concat_arrays(tried[name]) for name, _ in all_targets],
                [name for name, _ in all_targets],
            ),
            "status": structure(
                [pa.array(status[name], pa.uint8()) for name, _ in all_targets],
                [name for name, _ in all_targets],
            ),
        }
    )
    table = table.replace_schema_metadata({"pylance": lance.__version__})
    out = (
        os.path.join(os.path.dirname(__file__), "golden.arrow")
        if not wanted
        else "/tmp/ct/part.arrow"
    )
    with pa.ipc.new_file(
        out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table.combine_chunks())
    print(
        rows,
        "values,",
        len(all_targets),
        "targets,",
        os.path.getsize(out),
        "bytes",
        file=sys.stderr,
    )


def same(left, right):
    return left.equals(right) or repr(left) == repr(right)  # NaN is like itself here


if __name__ == "__main__":
    main()
