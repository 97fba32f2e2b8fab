#!/usr/bin/env python3
"""Opening and appending at millions of fragments: best time, cpu and memory of each call, in a process of its own.

    python many_fragments.py --data DIR [--impl glaive,lance] [--fragments 10000,100000,1000000] [--columns 1] [--rounds 3]

The tables share one data file of one row; their manifests are written here, by hand, so that 4.56 million fragments take
seconds and no gigabytes.  Nothing is cached: each round has a Session of its own.  `extra` is the high-water mark of resident
memory above what was there before the first round.  pylance 14.0.2 needs 2 kB a fragment for an append by URI.
"""
import argparse
import gc
import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
import time

import pyarrow as pa

CALLS = ("open", "append.uri", "append.handle", "wfrag.uri", "wfrag.handle")


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def multiply(root, rows, writer, n):
    """A table of n fragments that are all the one that `writer` makes of `rows`."""
    shutil.rmtree(root, ignore_errors=True)
    writer.write_dataset(rows, root)
    (path,) = (e.path for e in os.scandir(root + "/_versions") if e.name.endswith(".manifest"))
    with open(path, "rb") as f:
        raw = f.read()
    (offset,) = struct.unpack("<q", raw[-16:-8])
    (length,) = struct.unpack("<I", raw[offset:offset + 4])
    message = raw[offset + 4:offset + 4 + length]
    before, fragment, after, at = b"", b"", b"", 0
    while at < len(message):
        begin = at
        tag, at = read_varint(message, at)
        size, at = read_varint(message, at)
        body = message[at:at + size] if tag & 7 == 2 else b""
        at += len(body)
        number = tag >> 3
        if number == 1:
            before += message[begin:at]
        elif number == 2:
            fragment = body  # its id, 0, is left out
        elif number == 11:
            after += b"\x58" + varint(n - 1)  # max_fragment_id
        elif number not in (6, 23):  # offsets of sections that the new file does not have
            after += message[begin:at]
    with open(path + ".new", "wb") as out:
        out.write(b"\0\0\0\0" + before)
        for i in range(n):
            record = (b"\x08" + varint(i) if i else b"") + fragment
            out.write(b"\x12" + varint(len(record)) + record)
        out.write(after)
        size = out.tell() - 4
        out.write(struct.pack("<qhh", 0, 0, 2) + b"LANC")
        out.seek(0)
        out.write(struct.pack("<I", size))
    os.replace(path + ".new", path)


def resident():
    with open("/proc/self/status") as f:
        lines = dict(line.split(":", 1) for line in f if line.startswith(("VmRSS", "VmHWM")))
    return {name: int(text.split()[0]) * 1024 for name, text in lines.items()}


def measure(engine, call, root, columns, rounds):
    m = importlib.import_module(engine)
    write_fragments = importlib.import_module(engine + ".fragment").write_fragments
    rows = pa.table({"c%d" % i: pa.array([7], pa.int64()) for i in range(columns)})
    small = root + "-warm"  # what the engine sets up once is not what is measured
    shutil.rmtree(small, ignore_errors=True)
    m.write_dataset(rows, small)
    m.write_dataset(rows, small, mode="append")
    write_fragments(rows, small)
    shutil.rmtree(small)
    versions = root + "/_versions"
    there = set(os.listdir(versions))
    walls, cpus, extra, dataset = [], [], 0, None
    for r in range(rounds):
        dataset = None
        gc.collect()
        session = m.Session()
        if call.endswith("handle"):
            dataset = m.dataset(root, session=session)
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
        before, cpu, begin = resident(), time.process_time(), time.perf_counter()
        if call == "open":
            dataset = m.dataset(root, session=session)
        elif call == "append.uri":
            m.write_dataset(rows, root, mode="append", session=session)
        elif call == "append.handle":
            m.write_dataset(rows, dataset, mode="append")
        elif call == "wfrag.uri":
            write_fragments(rows, root, session=session)
        else:
            write_fragments(rows, dataset)
        walls.append(time.perf_counter() - begin)
        cpus.append(time.process_time() - cpu)
        if r == 0:
            extra = max(0, resident()["VmHWM"] - before["VmRSS"])
        for name in set(os.listdir(versions)) - there:
            os.unlink(os.path.join(versions, name))
        with open(versions + "/latest_version_hint.json", "w") as f:
            f.write('{"version":1}')
    print(json.dumps({"wall": min(walls), "cpu": min(cpus), "extra": extra}))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--data", required=True)
    ap.add_argument("--impl", default="glaive,lance")
    ap.add_argument("--fragments", default="10000,100000,1000000")
    ap.add_argument("--columns", type=int, default=1)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--one", nargs=2, metavar=("IMPL", "CALL"), help=argparse.SUPPRESS)
    a = ap.parse_args()
    engines = a.impl.split(",")
    if a.one:
        return measure(*a.one, a.data, a.columns, a.rounds)
    rows = pa.table({"c%d" % i: pa.array([7], pa.int64()) for i in range(a.columns)})
    print("| fragments | manifest | call | " + " | ".join("%s: best | cpu | extra" % e for e in engines) + " |")
    print("|--:|--:|---|" + "--:|--:|--:|" * len(engines))
    for n in map(int, a.fragments.split(",")):
        root = os.path.join(os.path.abspath(a.data), "fragments_%d" % n)
        multiply(root, rows, importlib.import_module(engines[0]), n)
        size = max(e.stat().st_size for e in os.scandir(root + "/_versions"))
        for call in CALLS:
            cells = []
            for e in engines:
                done = subprocess.run([sys.executable, __file__, "--data", root, "--columns", str(a.columns), "--rounds", str(a.rounds), "--one", e, call],
                                      capture_output=True, text=True)
                if done.returncode:
                    sys.stderr.write(done.stderr)
                    cells.append("failed | | ")
                    continue
                r = json.loads(done.stdout.splitlines()[-1])
                cells.append("%.3g ms | %.3g ms | %.3g MB (%.2f)" % (1e3 * r["wall"], 1e3 * r["cpu"], r["extra"] / 1e6, r["extra"] / size))
            print("| %s | %.3g MB | %s | %s |" % (format(n, ","), size / 1e6, call, " | ".join(cells)), flush=True)
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
