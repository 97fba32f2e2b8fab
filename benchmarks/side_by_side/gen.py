"""Deterministic input tables for the benchmark.  Every generator is a pure
function of its size arguments: fixed seeds, no clock, no environment."""
import numpy as np
import pyarrow as pa


def _rng(tag):
    return np.random.default_rng([0x61A1FE, *tag.encode()])


def num(n):
    """Integers and floats: sequential key, random 64-bit, small-range int, f32, f64 (32 B/row)."""
    r = _rng("num")
    return pa.table({
        "id": pa.array(np.arange(n, dtype=np.int64)),
        "r": pa.array(r.integers(-2**62, 2**62, n, dtype=np.int64)),
        "k": pa.array(r.integers(0, 1000, n, dtype=np.int32)),
        "f": pa.array(r.standard_normal(n, dtype=np.float32)),
        "d": pa.array(r.random(n)),
    })


def _fixed_strings(bytes2d, widths=None):
    n, w = bytes2d.shape
    if widths is None:
        offs = np.arange(0, (n + 1) * w, w, dtype=np.int64)
        data = bytes2d
    else:
        keep = np.arange(w)[None, :] < widths[:, None]
        data = bytes2d[keep]
        offs = np.concatenate([[0], np.cumsum(widths, dtype=np.int64)])
    assert offs[-1] < 2**31, "use smaller chunks for string columns"
    return pa.StringArray.from_buffers(n, pa.py_buffer(offs.astype(np.int32)),
                                       pa.py_buffer(np.ascontiguousarray(data)))


_ALNUM = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8)


def str_short(n):
    """Random alphanumeric strings of 4..12 bytes."""
    r = _rng("short")
    m = _ALNUM[r.integers(0, len(_ALNUM), (n, 12), dtype=np.uint8)]
    return pa.table({"s": _fixed_strings(m, r.integers(4, 13, n))})


def str_low(n):
    """100 distinct values, 8..32 bytes, as plain (not dictionary) strings."""
    r = _rng("low")
    words = ["category-%02d-%s" % (i, "x" * (i % 20)) for i in range(100)]
    idx = r.integers(0, 100, n, dtype=np.int32)
    return pa.table({"s": pa.DictionaryArray.from_arrays(pa.array(idx), pa.array(words)).cast(pa.string())})


def str_high(n):
    """36-byte hexadecimal identifiers, all distinct."""
    r = _rng("high")
    hexd = np.frombuffer(b"0123456789abcdef", np.uint8)
    m = hexd[r.integers(0, 16, (n, 36), dtype=np.uint8)]
    m[:, [8, 13, 18, 23]] = ord("-")
    return pa.table({"s": _fixed_strings(m)})


def str_text(n):
    """Pseudo text of 300..1700 bytes: windows into 16 MB of Zipf-distributed words (4000-word vocabulary)."""
    r = _rng("text")
    vocab = ["".join(chr(97 + c) for c in r.integers(0, 26, ln)) for ln in r.integers(2, 11, 4000)]
    ranks = np.minimum(r.zipf(1.3, 3_500_000) - 1, 3999)
    big = " ".join([vocab[i] for i in ranks])[: 16 << 20]
    lens = r.integers(300, 1701, n)
    starts = r.integers(0, len(big) - 1701, n)
    return pa.table({"s": pa.array([big[o:o + l] for o, l in zip(starts.tolist(), lens.tolist())], pa.string())})


def list16(n, values_per_row=20_000, ragged=True):
    """list<int16>, ~40 KB per row .  Values need 8 bits."""
    r = _rng("list16")
    if ragged:
        lens = r.integers(values_per_row // 2, values_per_row * 3 // 2, n)
    else:
        lens = np.full(n, values_per_row)
    offs = np.concatenate([[0], np.cumsum(lens)]).astype(np.int32)
    flat = r.integers(-100, 100, int(offs[-1]), dtype=np.int16)
    return pa.table({"feat": pa.ListArray.from_arrays(pa.array(offs), pa.array(flat)),
                     "id": pa.array(np.arange(n, dtype=np.int64))})


def vec(n, dim=768):
    """fixed_size_list<float32, 768> embeddings with an id."""
    r = _rng("vec")
    flat = r.standard_normal(n * dim, dtype=np.float32)
    return pa.table({"id": pa.array(np.arange(n, dtype=np.int64)),
                     "v": pa.FixedSizeListArray.from_arrays(pa.array(flat), dim)})


def wide(ncols, nrows):
    """ncols columns cycling int32 / float32 / float64 / short string."""
    r = _rng("wide")
    cols = {}
    strs = pa.array(["v%03d" % i for i in range(500)])
    for i in range(ncols):
        k = i % 4
        if k == 0:
            a = pa.array(r.integers(0, 100_000, nrows, dtype=np.int32))
        elif k == 1:
            a = pa.array(r.standard_normal(nrows, dtype=np.float32))
        elif k == 2:
            a = pa.array(r.random(nrows))
        else:
            a = strs.take(pa.array(r.integers(0, 500, nrows, dtype=np.int32)))
        cols["c%04d" % i] = a
    return pa.table(cols)


def nested(n):
    """struct<a:int32, b:struct<c:string, d:list<struct<x:float, y:int16>>>> with nulls at each level."""
    r = _rng("nested")
    lens = r.integers(0, 6, n)
    offs = np.concatenate([[0], np.cumsum(lens)]).astype(np.int32)
    m = int(offs[-1])
    item = pa.StructArray.from_arrays(
        [pa.array(r.standard_normal(m, dtype=np.float32)), pa.array(r.integers(-9, 9, m, dtype=np.int16))], ["x", "y"])
    d = pa.ListArray.from_arrays(pa.array(offs), item)
    c = pa.array(["n%04d" % v for v in range(1000)]).take(
        pa.array(r.integers(0, 1000, n, dtype=np.int32), mask=r.random(n) < 0.1))
    b = pa.StructArray.from_arrays([c, d], ["c", "d"], mask=pa.array(r.random(n) < 0.05))
    a = pa.array(r.integers(0, 2**31 - 1, n, dtype=np.int32), mask=r.random(n) < 0.1)
    return pa.table({"id": pa.array(np.arange(n, dtype=np.int64)),
                     "st": pa.StructArray.from_arrays([a, b], ["a", "b"], mask=pa.array(r.random(n) < 0.05))})


def nulls(n):
    """90 % null int64, string and list<int32> columns plus one all-null column."""
    r = _rng("nulls")
    m = [r.random(n) < 0.9 for _ in range(3)]
    s = pa.array(["name-%03d" % i for i in range(300)]).take(
        pa.array(r.integers(0, 300, n, dtype=np.int32), mask=m[1]))
    lens = np.where(m[2], 0, 3)
    offs = np.concatenate([[0], np.cumsum(lens)]).astype(np.int32)
    l = pa.ListArray.from_arrays(pa.array(offs), pa.array(r.integers(0, 99, int(offs[-1]), dtype=np.int32)),
                                 mask=pa.array(m[2]))
    return pa.table({"i": pa.array(r.integers(0, 2**40, n, dtype=np.int64), mask=m[0]), "s": s, "l": l,
                     "z": pa.nulls(n, pa.int32())})


def njobs_a(n):
    """Shape a of the parallel writes: 7 columns, ~53 B per row."""
    r = _rng("njobs")
    s = pa.array(["item-%05d" % i for i in range(10_000)])
    return pa.table({
        "id": pa.array(np.arange(n, dtype=np.int64)), "a": pa.array(r.integers(0, 2**60, n, dtype=np.int64)),
        "b": pa.array(r.integers(0, 1000, n, dtype=np.int32)), "c": pa.array(r.random(n)),
        "d": pa.array(r.standard_normal(n, dtype=np.float32)), "e": pa.array(r.integers(0, 2, n).astype(bool)),
        "s": s.take(pa.array(r.integers(0, 10_000, n, dtype=np.int32)))})


def njobs_b(n):
    """Shape b of the parallel writes: 61 columns (30 double, 30 int64, 1 string), ~490 B per row."""
    r = _rng("njobsb")
    cols = {"id": pa.array(np.arange(n, dtype=np.int64))}
    for i in range(30):
        cols["d%02d" % i] = pa.array(r.random(n))
    for i in range(29):
        cols["i%02d" % i] = pa.array(r.integers(0, 2**48, n, dtype=np.int64))
    s = pa.array(["item-%05d" % i for i in range(10_000)])
    cols["s"] = s.take(pa.array(r.integers(0, 10_000, n, dtype=np.int32)))
    return pa.table(cols)
