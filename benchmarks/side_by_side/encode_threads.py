#!/usr/bin/env python3
"""Writes of data that take longer to encode than to store: the default number of threads against one, and against the peer.

    python encode_threads.py --data DIR [--impl glaive,lance] [--rows 4000000] [--rounds 7]

Each write is a process of its own, since the number of threads is read once; the rounds of all are interleaved.  What a write
took is the time of `write_dataset` alone, the second in its process.  DIR should lie in memory (tmpfs), so that the store is not
what is measured.
"""
import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa

THREADS = {"glaive": "GLAIVE_CPU_THREADS", "lance": "LANCE_CPU_THREADS"}


def table(kind, rows):
    rng = np.random.default_rng(0)
    if kind == "words":  # 200 distinct texts
        words = pa.array(["".join(map(chr, rng.integers(97, 123, 20))) for _ in range(200)])
        return pa.table({f"c{i}": words.take(pa.array(rng.integers(0, 200, rows))) for i in range(4)})
    if kind == "small numbers":  # 7 of 64 bits
        return pa.table({f"c{i}": rng.integers(0, 100, rows) for i in range(8)})
    if kind == "runs":  # of 50 equal numbers
        return pa.table({f"c{i}": np.repeat(rng.integers(0, 1 << 40, rows // 50 + 1), 50)[:rows] for i in range(8)})
    assert kind == "lists"  # of 8 small numbers
    offsets = pa.array(np.arange(0, rows * 8 + 1, 8, dtype=np.int32))
    return pa.table({f"c{i}": pa.ListArray.from_arrays(offsets, pa.array(rng.integers(0, 50, rows * 8).astype(np.int32))) for i in range(2)})


def write(impl, kind, rows, path):
    lance, data = importlib.import_module(impl), table(kind, rows)
    for _ in range(2):
        shutil.rmtree(path, ignore_errors=True)
        wall, cpu = time.perf_counter(), time.process_time()
        lance.write_dataset(data, path)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert lance.dataset(path).count_rows() == rows
    stored = sum(e.stat().st_size for e in os.scandir(path + "/data"))
    shutil.rmtree(path)
    print(json.dumps({"wall": wall, "cpu": cpu, "bytes": data.nbytes, "stored": stored}))


def run(impl, threads, args, kind):
    env = {k: v for k, v in os.environ.items() if k not in THREADS.values()} | {"GLAIVE_DURABILITY": "none"}
    if threads:
        env[THREADS[impl]] = str(threads)
    command = [sys.executable, __file__, "--data", args.data, "--rows", str(args.rows), "--write", impl, kind]
    return json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--impl", default="glaive,lance")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", nargs=2, metavar=("IMPL", "KIND"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.write:
        return write(args.write[0], args.write[1], args.rows, os.path.join(args.data, "encode_threads"))
    impls = args.impl.split(",")
    print(f"load {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores, {args.rows} rows, best of {args.rounds}\n")
    print("| data | in, stored | " + " | ".join(f"{i}, 1 thread | {i}, default | ratio" for i in impls) + " |")
    print("|---|---" + "|---|---|---" * len(impls) + "|")
    for kind in ("words", "small numbers", "runs", "lists"):
        best = {}
        for _ in range(args.rounds):
            for impl in impls:
                for threads in (1, None):
                    result = run(impl, threads, args, kind)
                    best[impl, threads] = min(best.get((impl, threads), result), result, key=lambda r: r["wall"])
        row = [kind, " / ".join(f"{best[impls[0], 1][k] / 1e6:.0f} MB" for k in ("bytes", "stored"))]
        for impl in impls:
            one, default = best[impl, 1]["wall"], best[impl, None]["wall"]
            row += [f"{one * 1e3:.0f} ms", f"{default * 1e3:.0f} ms", f"{one / default:.2f}"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
