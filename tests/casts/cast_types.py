"""The source types of the table of casts with their values, and its target types."""

import math

import numpy as np
import pyarrow as pa

from number_values import FLOATS, decimals, halves, integers
from text_values import TEXTS
from time_values import DURATIONS, INTERVALS, clock, days, stamps

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
