"""Tables of extreme sizes through writing, compaction and reading of both engines.

    python sizes.py SEED [LAST]

A column is told by a rule, so that what is expected needs no copy of it: rows of 0 bytes to 100 MB,
1 to 10 million rows, dictionaries of one value, pages of one row. A seed draws the sizes so that a
table has at most `GLAIVE_SIZES_MB` (default 64) of values; a hundredth of the seeds has eight times
as much.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback

import glaive
import lance
import numpy as np
import pyarrow as pa

MOST = int(os.environ.get("GLAIVE_SIZES_MB", "64")) << 20
ENGINES = {"glaive": glaive, "pylance": lance}


class Wrong(AssertionError):
    pass


def log_uniform(rng, low, high):
    return int(round(np.exp(rng.uniform(np.log(low), np.log(high)))))


# --- columns: each takes (rng, number of rows, bytes it may have) ---------------------------------


def constant_text(rng, rows, most):
    return pa.array([text_of(rng, min(most // rows, log_uniform(rng, 1, 2000)))] * rows)


def few_texts(rng, rows, most):
    words = [
        text_of(rng, min(most // rows, log_uniform(rng, 1, 500)))
        for _ in range(rng.choice([1, 2, 5, 300]))
    ]
    return pa.array(words).take(picks(rng, len(words), rows))


def wide_binary(rng, rows, most):
    """Some rows of up to 100 MB, the others of few bytes or none."""
    sizes = np.array(
        [log_uniform(rng, 1, 64) - 1 for _ in range(min(rows, 100))] * -(-rows // 100)
    )[:rows]
    wide = rng.sample(range(rows), min(rows, rng.choice([1, 1, 2, 9])))
    for row in wide:
        sizes[row] = min(most // len(wide), log_uniform(rng, 1 << 10, 100 << 20))
    return bytes_of(rng, sizes)


def empty_binary(rng, rows, most):
    return bytes_of(rng, np.zeros(rows, np.int64))


def large_texts(rng, rows, most):
    return bytes_of(rng, np.full(rows, min(most // rows, log_uniform(rng, 1, 1 << 20)))).cast(
        pa.large_binary()
    )


def numbers(rng, rows, most):
    high = rng.choice([1, 2, 100, 1 << 40])
    values = np.random.default_rng(rng.getrandbits(32)).integers(0, high, rows)
    return pa.array(values, mask=nulls_of(rng, rows))


def small_numbers(rng, rows, most):
    return pa.array(
        (np.arange(rows) // rng.choice([1, 7, 5000]) % 120).astype(np.int8),
        mask=nulls_of(rng, rows),
    )


def booleans(rng, rows, most):
    return pa.array(
        np.random.default_rng(rng.getrandbits(32)).random(rows) < rng.choice([0, 0.5, 1]),
        mask=nulls_of(rng, rows),
    )


def vectors(rng, rows, most):
    width = max(1, min(most // rows // 4, log_uniform(rng, 1, 4096)))
    values = np.random.default_rng(rng.getrandbits(32)).random(rows * width, np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(values), width)


def lists(rng, rows, most):
    per_row = max(0, min(most // rows // 4, log_uniform(rng, 1, 5000)) - 1)
    generator = np.random.default_rng(rng.getrandbits(32))
    sizes = (
        generator.integers(0, per_row + 1, rows) if rng.random() < 0.7 else np.zeros(rows, np.int64)
    )
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    items = pa.array(
        generator.integers(0, rng.choice([1, 50, 1 << 30]), int(offsets[-1])).astype(np.int32)
    )
    mask = nulls_of(rng, rows)
    return pa.ListArray.from_arrays(
        pa.array(offsets), items, mask=None if mask is None else pa.array(mask)
    )


def structs(rng, rows, most):
    columns = [
        rng.choice([numbers, few_texts, small_numbers, lists])(rng, rows, most // 2)
        for _ in range(2)
    ]
    mask = nulls_of(rng, rows)
    return pa.StructArray.from_arrays(
        columns, ["a", "b"], mask=None if mask is None else pa.array(mask)
    )


def nothing(rng, rows, most):
    return pa.nulls(rows, rng.choice([pa.int32(), pa.utf8(), pa.list_(pa.int8())]))


COLUMNS = [
    constant_text,
    few_texts,
    wide_binary,
    empty_binary,
    large_texts,
    numbers,
    small_numbers,
    booleans,
    vectors,
    lists,
]
COLUMNS += [structs, nothing]


def text_of(rng, size):
    return (f"{rng.getrandbits(64):x}" * (size // 8 + 1))[: max(size, 0)]


def picks(rng, words, rows):
    return pa.array(np.random.default_rng(rng.getrandbits(32)).integers(0, words, rows))


def nulls_of(rng, rows):
    share = rng.choice([0, 0, 0.01, 0.5, 1])
    return np.random.default_rng(rng.getrandbits(32)).random(rows) < share if share else None


def bytes_of(rng, sizes):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    pool = np.frombuffer(rng.randbytes(1 << 16), np.uint8)
    data = np.tile(pool, int(offsets[-1]) // len(pool) + 1)[: offsets[-1]]
    return pa.Array.from_buffers(
        pa.binary(), len(sizes), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


# --- one table ------------------------------------------------------------------------------------


def run(seed, uri):
    rng = random.Random(f"sizes {seed}")
    most = MOST * (8 if seed % 100 == 99 else 1)
    rows = log_uniform(rng, 1, 10_000_000) if seed % 100 == 99 else log_uniform(rng, 1, 300_000)
    makers = rng.sample(COLUMNS, rng.choice([1, 2]))
    fitting = [make for make in makers if rows * 16 <= most]
    columns = {make.__name__: make(rng, rows, most // 2) for make in fitting or [small_numbers]}
    table = pa.table({"id": pa.array(np.arange(rows)), **columns})
    log = [
        f"{rows} rows of {[str(column.type) for column in columns.values()]}",
        f"{table.nbytes >> 10} KiB",
    ]
    try:
        steps(rng, table, uri, log)
    except Exception as error:  # noqa: BLE001: every failure is told with its seed
        trace = "".join(traceback.format_exc(limit=-3))
        raise Wrong(
            "\n".join([f"seed {seed}", *log, f"{type(error).__name__}: {error}"[:1500], trace])
        ) from None


def steps(rng, table, uri, log):
    rows = table.num_rows
    writer = rng.choice(["glaive", "glaive", "pylance"])
    options = {"data_storage_version": rng.choice(["2.1", "2.2"])}
    if rng.random() < 0.4:
        options["max_rows_per_file"] = max(1, rows // rng.choice([2, 3, 10]))
    if writer == "glaive":
        pages = rng.choice([None, None, 1 << 20, 64 << 10, 1])
        if pages is not None and (pages > 1 or rows <= 3000):
            options["max_page_bytes"] = pages  # 1: pages of one row
    log.append(f"{writer} writes {options}")
    ENGINES[writer].write_dataset(table, uri, **options)
    check(rng, table, uri, log)
    if rng.random() < 0.5:
        begin = rng.randrange(rows)
        end = min(rows, begin + 1 + rng.randrange(rows))
        log.append(f"delete rows {begin} to {end}")
        glaive.dataset(uri).delete(f"id >= {begin} AND id < {end}")
        table = pa.concat_tables([table.slice(0, begin), table.slice(end)])
        check(rng, table, uri, log)
    if rng.random() < 0.6:
        options = {"max_page_bytes": 1 << 20} if rng.random() < 0.4 else {}
        options["compaction_mode"] = rng.choice(["reencode", "try_binary_copy"])
        log.append(f"compact {options}")
        glaive.dataset(uri).optimize.compact_files(**options)
        check(rng, table, uri, log)


def check(rng, table, uri, log):
    rows = table.num_rows
    for name, engine in ENGINES.items():
        dataset = engine.dataset(uri)
        log.append(f"{name} reads")
        expect(dataset.count_rows() == rows, f"{dataset.count_rows()} rows, expected {rows}")
        if rows == 0:
            continue
        at = 0
        for batch in (
            dataset.to_batches(batch_size=rng.choice([100, 8192]))
            if rows < 20_000
            else dataset.to_batches()
        ):
            same(pa.Table.from_batches([batch]), table.slice(at, batch.num_rows))
            at += batch.num_rows
        expect(at == rows, f"a scan of {at} rows, expected {rows}")
        places = sorted(rng.sample(range(rows), min(rows, rng.choice([1, 5, 100]))))
        same(dataset.take(places), table.take(places))
        low = rng.randrange(rows)
        key = table["id"][low].as_py()
        same(dataset.to_table(filter=f"id = {key}"), table.slice(low, 1))
        log.pop()


def same(found, expected):
    expect(found.schema.names == expected.schema.names, f"columns {found.schema.names}")
    for name in expected.schema.names:
        left, right = found[name].combine_chunks(), expected[name].combine_chunks()
        if not left.equals(right):
            first = next(
                i for i in range(len(right)) if i >= len(left) or not left[i].equals(right[i])
            )
            raise Wrong(
                f"column {name}, row {first}: {str(left[first])[:200]}"
                f" instead of {str(right[first])[:200]}"
            )


def expect(holds, text):
    if not holds:
        raise Wrong(text)


def main(first, last):
    began, failures = time.time(), 0
    for seed in range(first, last):
        folder = tempfile.mkdtemp(
            prefix=f"glaive-sizes-{seed}-", dir=os.environ.get("GLAIVE_DIFFERENTIAL_FOLDER")
        )
        try:
            run(seed, os.path.join(folder, "t.lance"))
        except Wrong as wrong:
            failures += 1
            print(json.dumps({"seed": seed, "report": str(wrong)}), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(
        json.dumps({"tables": last - first, "failures": failures, "seconds": time.time() - began}),
        flush=True,
    )
    os._exit(0)  # no teardown of native pools


if __name__ == "__main__":
    start = int(sys.argv[1])
    main(start, int(sys.argv[2]) if len(sys.argv) > 2 else start + 1)
