"""Values of numbers for the table of casts: borders of each type, and what is rounded."""

import decimal
import math

import numpy as np
import pyarrow as pa

D = decimal.Decimal
decimal.getcontext().prec = 100
MAX = 2**63 - 1


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
