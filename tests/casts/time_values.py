"""Dates, times, durations and intervals for the table of casts."""

HOUR = 3_600
DAY = 86_400
MAX = 2**63 - 1


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
