"""Corners of conditions and functions: the rows and values are pylance's, the cost is linear."""

from __future__ import annotations

import itertools
import math
import threading
from typing import Any

import glaive
import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest


def both(path: Any, table: pa.Table) -> tuple[Any, Any]:
    lance.write_dataset(table, str(path), data_storage_version="2.2")
    return glaive.dataset(str(path)), lance.dataset(str(path))


def rows(dataset: Any, condition: str) -> list[int]:
    return dataset.to_table(filter=condition, columns=["id"])["id"].to_pylist()


def bits(values: pa.ChunkedArray) -> list[Any]:
    """Values of which -0.0 and 0.0, and NaN of either sign, are told apart."""

    def of(value: Any) -> Any:
        if not isinstance(value, float):
            return value
        sign = math.copysign(1, value)
        return ("nan", sign) if math.isnan(value) else (value, sign)

    return [of(value) for value in values.to_pylist()]


# --- LIKE -----------------------------------------------------------------------------------------

PIECES = ["\\", "%", "_", "a", "A", "é", "É", "日", "ß", "ẞ", "K", "k", "ſ", "s", "İ", "ı", "\n", "."]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    words = ["", *PIECES, *("".join(p) for p in itertools.product(PIECES[:6], repeat=3))]
    words += ["C:\\a\\", "C:\\b", "straße", "STRASSE", "ﬅ", "ﬆ", "Σας", "ςΑσ"]
    count = len(words)
    patterns = words[count // 2 :] + words[: count // 2]
    table = pa.table({"id": range(count), "s": words, "p": patterns})
    return both(tmp_path_factory.mktemp("like") / "t", table)


@pytest.mark.parametrize("operator", ["LIKE", "ILIKE"])
def test_like_is_one_matcher(texts: tuple[Any, Any], operator: str) -> None:
    ours, theirs = texts
    patterns = ["%\\\\", "%\\", "a\\", "\\", "\\\\%", "a\\%%", "\\_", "_\\", "%é%", "SS", "K%", "_%_"]
    patterns += ["".join(p) for p in itertools.product(PIECES[:5], repeat=3)][::3]
    patterns += [f"%{piece}%" for piece in PIECES]
    for pattern in patterns:
        condition = f"s {operator} '{pattern}'"
        assert rows(ours, condition) == rows(theirs, condition), condition
    condition = f"s {operator} p"
    assert rows(ours, condition) == rows(theirs, condition)


def test_like_with_an_escape_of_its_own(texts: tuple[Any, Any]) -> None:
    ours, _ = texts
    found = ours.to_table(filter="s LIKE '%\\' ESCAPE '!'", columns=["s"])["s"].to_pylist()
    assert found == [s for s in ours.to_table()["s"].to_pylist() if s.endswith("\\")]
    found = ours.to_table(filter="s ILIKE 'AaA_' ESCAPE 'A'", columns=["s"])["s"].to_pylist()
    assert found == []  # the escape is looked for before case is ignored: it stands for "aa_"


@pytest.mark.parametrize("condition", ["p NOT LIKE '%\\\\'", "p ILIKE '%\\'"])
def test_a_delete_by_like(condition: str, tmp_path: Any) -> None:
    left = []
    for engine in (glaive, lance):
        uri = str(tmp_path / engine.__name__)
        lance.write_dataset(pa.table({"p": ["C:\\a\\", "C:\\b", "D:\\"]}), uri)
        engine.dataset(uri).delete(condition)
        left.append(engine.dataset(uri).to_table()["p"].to_pylist())
    assert left[0] == left[1] and len(left[0]) in (1, 2)


# --- numbers --------------------------------------------------------------------------------------

NEGATIVE_NAN = float(np.array([0xFFF8000000000000], np.uint64).view(np.float64)[0])
CORNERS = [math.nan, NEGATIVE_NAN, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, 0.5, -3.0]
FLOAT_FUNCTIONS = (
    "sqrt cbrt exp ln log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "degrees radians signum abs ceil floor round trunc"
).split()


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    x, y = zip(*itertools.product(CORNERS, repeat=2), strict=True)
    columns = {"id": range(len(x)), "x": x, "y": y}
    columns |= {"xf": pa.array(x, pa.float32()), "yf": pa.array(y, pa.float32())}
    return both(tmp_path_factory.mktemp("numbers") / "t", pa.table(columns))


def test_the_sign_of_nan(numbers: tuple[Any, Any]) -> None:
    ours, theirs = numbers
    # CEIL and FLOOR are SQL's own words, which only arguments may hold.
    expressions = [f"coalesce({f}({column}), 7)" for f in FLOAT_FUNCTIONS for column in ("x", "xf")]
    for name, (a, b) in itertools.product(("log", "atan2", "nanvl"), (("x", "y"), ("xf", "yf"))):
        expressions.append(f"{name}({a}, {b})")
    expressions += [f"x {operator} y" for operator in "+-*/%"] + ["log(2, x)", "log(2.0, xf)"]
    for expression in expressions:
        a, b = (d.to_table(columns={"v": expression})["v"] for d in numbers)
        assert a.type == b.type, expression
        for one, other in zip(bits(a), bits(b), strict=True):
            if one == other:
                continue
            assert one[0] == pytest.approx(other[0], rel=1e-6, nan_ok=True), expression
            assert one[0] == one[0] and one[1] == other[1], expression
        for condition in (f"{expression} < 100", f"{expression} >= 0"):
            assert rows(ours, condition) == rows(theirs, condition), condition


def test_zero_has_no_negative_power(numbers: tuple[Any, Any]) -> None:
    for dataset in numbers:
        with pytest.raises(Exception, match="zero raised to a negative power"):
            dataset.to_table(columns={"v": "power(x, y)"})
    a, b = (d.to_table(columns={"v": "power(y, 2)"})["v"] for d in numbers)
    assert bits(a) == bits(b)


# --- cost -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    uri = str(tmp_path_factory.mktemp("counted") / "t")
    return glaive.write_dataset(pa.table({"id": range(1000), "z": [0] * 1000}), uri)


def nested(kind: str, depth: int) -> str:
    """Conditions that double with each level where a part is evaluated twice."""
    inner = {"guard": "1 / z = 1", "part": "cast('2020-01-01' as timestamp)"}.get(kind, "id")
    for k in range(depth, 0, -1):
        if kind == "guard":
            inner = f"(id > {2 * k} AND {inner})" if k % 2 else f"(id = {2 * k} OR {inner})"
        elif kind == "coalesce":
            inner = f"coalesce(nullif({inner}, {k}), id - id)"
        elif kind == "case":
            inner = f"case {inner} when {k} then id when {k + 1} then {k} else id + 1 end"
        elif kind == "distinct":
            inner = f"case when {inner} is distinct from {k} then id else {k} end"
        elif kind == "in":
            inner = f"cast({inner} in (id, id + {k}, {k}) as bigint)"
        elif kind == "part":
            inner = f"to_timestamp_seconds(date_part('nanosecond', {inner}))"
    return inner if kind == "guard" else f"abs(cast({inner} as bigint)) >= 0"


@pytest.mark.parametrize("kind", ["guard", "coalesce", "case", "distinct", "in", "part"])
def test_each_part_is_evaluated_once(counted: Any, kind: str) -> None:
    # Twice at each level would be 2 ** 40 times.
    condition = nested(kind, 40)
    if kind == "guard":
        with pytest.raises(Exception, match="divide by zero"):
            counted.count_rows(condition)
    else:
        assert counted.count_rows(condition) == 1000


def test_guards_inside_of_guards(counted: Any) -> None:
    assert counted.count_rows("id < 5 OR (z <> 0 AND (10 / z > 2 OR 5 / z = 1))") == 5
    assert counted.count_rows("z = 0 OR (id > 3 AND 1 / z = 1)") == 1000
    assert counted.count_rows("id > 990 AND NOT (z = 0 OR 1 / z = 1)") == 0
    assert counted.count_rows("NULL OR (z <> 0 AND 1 / z = 1) OR id = 7") == 1


MANY = 200_000


def as_terms(kind: str) -> Any:
    return {
        "isin": pc.field("id").isin(list(range(MANY))),
        "not isin": ~pc.field("id").isin(list(range(1, MANY))),
        "in": f"id IN ({', '.join(map(str, range(MANY)))})",
        "or": " OR ".join(f"id = {k}" for k in range(MANY)),
        "other or": " OR ".join(f"id + z = {k}" for k in range(2000)),
        "and": " AND ".join(f"id <> {k}" for k in range(1, 2000)),
    }[kind]


@pytest.mark.parametrize("kind", ["isin", "not isin", "in", "or", "other or", "and"])
def test_many_terms_on_a_small_stack(counted: Any, kind: str, tmp_path: Any) -> None:
    condition = as_terms(kind)
    expected = 1 if kind in ("not isin", "and") else 1000
    outcomes: list[Any] = []

    def use() -> None:
        outcomes.append(counted.count_rows(condition))
        outcomes.append(counted.to_table(filter=condition).num_rows)
        fragment = counted.get_fragments()[0]
        outcomes.append(fragment.count_rows(condition))
        copy = glaive.write_dataset(counted.to_table(), str(tmp_path / "t"))
        copy.delete(condition)
        outcomes.append(1000 - copy.count_rows())

    before = threading.stack_size(512 * 1024)
    thread = threading.Thread(target=use)
    threading.stack_size(before)
    thread.start()
    thread.join()
    assert outcomes == [expected] * 4


def test_isin_of_every_shape(tmp_path: Any) -> None:
    count = 300
    columns = {
        "id": range(count),
        "i": pa.array([None if k % 7 == 0 else k for k in range(count)], pa.int32()),
        "s": [f"v{k}" for k in range(count)],
        "f": [k / 2 for k in range(count)],
        "d": pa.array(range(count), pa.date32()),
    }
    ours, theirs = both(tmp_path / "t", pa.table(columns))
    some = list(range(0, count, 2))
    i, s = pc.field("i"), pc.field("s")
    names = [f"v{k}" for k in some]
    for condition in (
        i.isin(some),
        ~i.isin(some),
        i.isin([*some, None]),
        (i.isin(some) | s.isin(names)) & (pc.field("id") > 10),
        pc.field("f").isin([k / 4 for k in some]),
        pc.field("d").isin(pa.array(some, pa.date32())),
        (pc.field("id") + 1).isin(some),
        pc.if_else(i.isin(some), pc.field("id") > 5, s.isin(names)),
    ):
        assert rows(ours, condition) == rows(theirs, condition), condition
