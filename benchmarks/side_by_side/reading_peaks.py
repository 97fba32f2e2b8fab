#!/usr/bin/env python3
"""Measures the memory of scans of tables that decode to much more than they store.

    python reading_peaks.py --data DIR [--impl glaive,lance] [--by glaive]

`--by` names the engine that writes the tables. A rule gives the values of each table, which is written batch by batch.
For each table and engine, a process opens the table and scans it with batch_size=100. It prints its high-water mark of
resident memory, interpreter and pyarrow included, and the cpu seconds of all its threads.
"""
import argparse
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa

TEXT = [chr(97 + i) * 30_000 for i in range(5)]
MASK = np.ones(500 * 4096, np.int64)


def texts(rows):
    return pa.array([TEXT[i % 5] for i in range(rows)])


def masks(rows):
    return pa.ListArray.from_arrays(pa.array((np.arange(rows + 1) * 4096).astype(np.int32)), MASK[:rows * 4096])


def no_items(rows, nulls):
    offsets = pa.array(np.zeros(rows + 1, np.int32))
    items = pa.array([], pa.int32())
    return pa.ListArray.from_arrays(offsets, items, mask=pa.array(np.ones(rows, bool)) if nulls else None)


# name: (column of that many rows, rows of a batch, batches, bytes when decoded)
TABLES = {
    "texts of 30 kB, five values": (texts, 1000, 100, 3_000_000_000),
    "masks, lists of 4,096 ones": (masks, 500, 120, 60_000 * 4096 * 8),
    "null lists": (lambda rows: no_items(rows, True), 1_000_000, 20, 20_000_000 * 4),
    "empty lists": (lambda rows: no_items(rows, False), 1_000_000, 20, 20_000_000 * 4),
}


def write(module, name, path):
    make, rows, batches, _ = TABLES[name]
    batch = pa.record_batch([make(rows)], names=["x"])
    stream = pa.RecordBatchReader.from_batches(batch.schema, (batch for _ in range(batches)))
    module.write_dataset(stream, path, data_storage_version="2.2", max_rows_per_file=rows * batches)


def scan(module, name, path):
    _, rows, batches, _ = TABLES[name]
    begin = time.process_time()
    found = sum(batch.num_rows for batch in module.dataset(path).to_batches(batch_size=100))
    assert found == rows * batches, found
    return time.process_time() - begin


def run(verb, engine, name, path):
    command = [sys.executable, __file__, "--child", verb, engine, name, path]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def child(verb, engine, name, path):
    seconds = {"write": write, "scan": scan}[verb](importlib.import_module(engine), name, path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peak": peak, "seconds": seconds}))


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--impl", default="glaive,lance")
    parser.add_argument("--by", default="glaive")
    options = parser.parse_args()
    engines = options.impl.split(",")
    path = os.path.join(options.data, "reading_peaks.lance")
    print("table | MB decoded | MB stored | " + " | ".join(f"{e} peak MB | cpu s" for e in engines))
    for name in TABLES:
        shutil.rmtree(path, ignore_errors=True)
        run("write", options.by, name, path)
        stored = sum(e.stat().st_size for e in os.scandir(path + "/data")) / 1e6
        cells = [name, f"{TABLES[name][3] / 1e6:,.0f}", f"{stored:.1f}"]
        for engine in engines:
            found = run("scan", engine, name, path)
            cells += [f"{found['peak']:.0f}", f"{found['seconds']:.1f}"]
        print(" | ".join(cells), flush=True)
    shutil.rmtree(path)


if __name__ == "__main__":
    main()
