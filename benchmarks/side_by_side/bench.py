#!/usr/bin/env python3
"""Side-by-side benchmark of Lance implementations that share the pylance names.

    python bench.py --data DIR [--impl glaive,lance] [--only PATTERN ...] [--scale S|M|L] [--json OUT]

Each workload runs in a subprocess per implementation; the rounds are interleaved
(A B A B ...).  Within one run the RATIOS count, not the absolute numbers.
See README.md.
"""
import argparse
import datetime
import fnmatch
import json
import math
import os
import platform
import resource
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from scratch import make_scratch

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGET = {"S": 0.2, "M": 6.0, "L": 60.0}      # seconds per implementation and workload after the minimum rounds
MIN_ROUNDS = {"S": 3, "M": 3, "L": 2}
MAX_ROUNDS = 15
TIMEOUT = {"S": 60, "M": 300, "L": 3600}


# ------------------------------------------------------------------ worker
class Worker:
    def __init__(self, python, prefix=()):
        self.err = tempfile.TemporaryFile()
        self.p = subprocess.Popen([*prefix, python, os.path.join(HERE, "worker.py")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=self.err, cwd=HERE)
        self.buf = b""

    def call(self, timeout, **msg):
        try:
            self.p.stdin.write((json.dumps(msg) + "\n").encode())
            self.p.stdin.flush()
        except OSError:
            return self._dead()
        end = time.monotonic() + timeout
        while b"\n" not in self.buf:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
                self.kill()
                return dict(ok=False, kind="timeout", error="no answer in %ds" % timeout)
            chunk = os.read(self.p.stdout.fileno(), 1 << 16)
            if not chunk:
                return self._dead()
            self.buf += chunk
        line, self.buf = self.buf.split(b"\n", 1)
        return json.loads(line)

    def _dead(self):
        rc = self.p.wait()
        self.err.seek(0)
        tail = self.err.read()[-400:].decode("utf8", "replace")
        return dict(ok=False, kind="crash", error="worker died (rc %s) %s" % (rc, tail.strip().splitlines()[-1:] or ""))

    def alive(self):
        return self.p.poll() is None

    def kill(self):
        if self.alive():
            self.p.kill()
        self.p.wait()

    def quit(self):
        r = self.call(20, cmd="quit") if self.alive() else {}
        try:
            self.p.stdin.close()
        except OSError:
            pass
        try:
            self.p.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
        return r


def find_versions(names, pythons):
    """name -> version of the implementations and context peers that can be imported; says which cannot."""
    out = {}
    for i in names:
        r = subprocess.run([pythons.get(i, sys.executable), "-c", "import workloads as w; print(w.Api(%r).version)" % i],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=HERE)
        if r.returncode:
            print("%-10s missing: %s" % (i, (r.stderr.decode().strip().splitlines() or ["?"])[-1]))
        else:
            out[i] = r.stdout.decode().strip().splitlines()[-1]
    return out


def build_fixtures(python, impl, env, names, timeout):
    for f in names:
        if os.path.exists(os.path.join(env["data"], "fixtures", env["scale"], env["fixture_key"], f + ".done")):
            continue
        w = Worker(python)
        t = time.time()
        r = w.call(timeout, cmd="init", impl=impl, env=env, fixture=f)
        print("fixture %-16s by %s %s in %.1fs" % (f, impl, "built" if r["ok"] else "FAILED " + r["error"], time.time() - t))
        w.quit()


# ------------------------------------------------------------- calibration
def calibrate(data):
    """Machine limits in this directory, in its own process (keeps the driver small)."""
    out = subprocess.run([sys.executable, os.path.abspath(__file__), "--_calibrate", data], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def _calibrate(data):
    import numpy as np
    n = 256 << 20
    a, b = np.ones(n, np.uint8), np.zeros(n, np.uint8)

    def best(fn, k=5):
        ts = []
        for _ in range(k):
            t = time.perf_counter()
            fn()
            ts.append(time.perf_counter() - t)
        return min(ts)

    cal = {"memcpy_GBps": n / best(lambda: np.copyto(b, a)) / 1e9}
    d = os.path.join(make_scratch(data), "cal")
    os.makedirs(d, exist_ok=True)
    p = os.path.join(d, "f")
    mv = memoryview(a)

    def wr(sync):
        if os.path.exists(p):
            os.unlink(p)
        fd = os.open(p, os.O_CREAT | os.O_WRONLY)
        for o in range(0, n, 8 << 20):
            os.write(fd, mv[o:o + (8 << 20)])
        if sync:
            os.fsync(fd)
        os.close(fd)
    cal["write_cached_GBps"] = n / best(lambda: wr(False), 3) / 1e9
    cal["write_fsync_GBps"] = n / best(lambda: wr(True), 2) / 1e9

    fd = os.open(p, os.O_RDONLY)
    mvb = memoryview(b)

    def rd():
        os.lseek(fd, 0, 0)
        o = 0
        while o < n:
            o += os.readv(fd, [mvb[o:o + (8 << 20)]])
    cal["read_cached_GBps"] = n / best(rd, 3) / 1e9

    def cold():
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        t = time.perf_counter()
        rd()
        return time.perf_counter() - t
    cal["read_cold_GBps"] = n / min(cold() for _ in range(2)) / 1e9
    r = np.random.default_rng(1).integers(0, n // 4096, 2000) * 4096
    rd()
    t = time.perf_counter()
    for o in r.tolist():
        os.pread(fd, 4096, o)
    cal["pread4k_warm_us"] = (time.perf_counter() - t) / 2000 * 1e6
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    t = time.perf_counter()
    for o in r[:300].tolist():
        os.pread(fd, 4096, o)
    cal["pread4k_cold_us"] = (time.perf_counter() - t) / 300 * 1e6
    os.close(fd)

    def create(i, sync):
        q = os.path.join(d, "s%d" % i)
        f = os.open(q + ".tmp", os.O_CREAT | os.O_WRONLY | os.O_EXCL)
        os.write(f, b"x" * 400)
        if sync:
            os.fsync(f)
        os.close(f)
        os.rename(q + ".tmp", q)
    t = time.perf_counter()
    for i in range(500):
        create(i, False)
    cal["create_us"] = (time.perf_counter() - t) / 500 * 1e6
    t = time.perf_counter()
    for i in range(500, 520):
        create(i, True)
    cal["create_fsync_us"] = (time.perf_counter() - t) / 20 * 1e6

    def op():
        os.listdir(os.path.join(d, "v"))
        f = os.open(q, os.O_RDONLY)
        os.fstat(f)
        os.pread(f, 4096, 0)
        os.close(f)
    os.makedirs(os.path.join(d, "v"), exist_ok=True)
    q = os.path.join(d, "s1")
    t = time.perf_counter()
    for _ in range(500):
        op()
    cal["open_us"] = (time.perf_counter() - t) / 500 * 1e6
    cal["python_s"] = best(lambda: subprocess.run([sys.executable, "-c", "pass"]), 3)
    cal["import_pyarrow_s"] = best(lambda: subprocess.run([sys.executable, "-c", "import pyarrow"]), 3)
    shutil.rmtree(d, ignore_errors=True)
    return {k: round(v, 4) for k, v in cal.items()}


def limit_seconds(kind, name, cal, rec, kw):
    """Simple physical floor of a workload on this machine, one thread, no fsync (see README)."""
    logical = max((r.get("logical") or 0) for r in rec.values())
    files = [r["new_bytes"] for r in rec.values() if r.get("new_bytes")]
    fbytes = min(files) if files else 0
    rchar = min((r.get("rchar") or 0) for r in rec.values())
    nfiles = max((r.get("nfiles") or 0) for r in rec.values())
    cold = name.endswith(".cold")
    rbw = cal["read_cold_GBps" if cold else "read_cached_GBps"] * 1e9
    if kind == "write":
        return logical / (cal["memcpy_GBps"] * 1e9) + fbytes / (cal["write_cached_GBps"] * 1e9)
    if kind == "scan":
        return rchar / rbw + logical / (cal["memcpy_GBps"] * 1e9) + nfiles * cal["open_us"] / 1e6
    if kind == "take":
        n = 1 if kw.get("single") else kw.get("n", 1000)
        n *= len(kw.get("columns") or ()) or {"num": 5, "frag": 6, "vec": 2, "lists": 2}.get(kw["fixture"].split("_")[0], 1)
        return n * cal["pread4k_cold_us" if cold else "pread4k_warm_us"] / 1e6 + logical / rbw
    if kind == "compact":
        return logical / rbw + fbytes / (cal["write_cached_GBps"] * 1e9) + nfiles * cal["open_us"] / 1e6
    if kind == "bytes":
        return rchar / rbw + fbytes / (cal["write_cached_GBps"] * 1e9) + max(nfiles, 3) * cal["create_us"] / 1e6
    if kind == "append":      # the format rewrites the whole fragment list: those bytes count, parsing them does not
        n = 3 if kw.get("how") == "commit" or "kind" in kw else 4     # data, transaction, manifest, version hint
        return n * cal["create_us"] / 1e6 + fbytes / (cal["write_cached_GBps"] * 1e9) + rchar / rbw
    if kind == "smallfile":
        return cal["create_us"] / 1e6
    if kind == "open":
        return cal["open_us"] / 1e6 + rchar / rbw
    if kind == "list":
        return kw.get("v", 1) * cal["open_us"] / 1e6
    if kind == "import":
        return cal["import_pyarrow_s"]
    return None


def limit_kind(cls, kw):
    return "append" if kw.get("kind") in ("addcol_null", "dropcol") else cls.limit


# ------------------------------------------------------------------ format
def ft(s):
    if s is None:
        return "-"
    for unit, k in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if s * k >= 1 or unit == "us":
            v = s * k
            return ("%.0f" if v >= 100 else "%.1f" if v >= 10 else "%.2f") % v + unit


def fb(b):
    if b is None:
        return "-"
    for u in ("B", "K", "M", "G"):
        if abs(b) < 1000 or u == "G":
            return ("%.0f%s" if b >= 100 or u == "B" else "%.1f%s") % (b, u)
        b /= 1000


def summarize(reps):
    ts = [r["t"] for r in reps]
    body = ts[1:] or ts
    last = reps[-1]
    out = dict(median=statistics.median(body), min=min(body), max=max(body), first=ts[0], rounds=len(body),
               cpu=statistics.median([r["cpu"] for r in reps[1:] or reps]),
               peak_rss=max(r["hwm_kb"] for r in reps) * 1024, rss_delta=(reps[0]["hwm_kb"] - reps[0]["rss0_kb"]) * 1024,
               rchar=int(statistics.median([r["rchar"] for r in reps[1:] or reps])), wchar=last["wchar"],
               disk_read=last["disk_read"], new_files=last["new_files"], new_bytes=last["new_bytes"], logical=last["logical"], nfiles=last["nfiles"],
               checks=[r["check"] for r in reps if r["check"] is not None][:2], extra={}, times=[float("%.4g" % t) for t in body])
    for r in reps:
        for k, v in r["extra"].items():
            out["extra"].setdefault(k, v)
    for k, v in out["extra"].items():
        if isinstance(v, float):              # measured per round; counts and words are those of the first round
            out["extra"][k] = float("%.4g" % statistics.median([r["extra"][k] for r in reps if k in r["extra"]]))
    return out


HEAD = "%-30s %-12s %9s %19s %9s %9s %8s %8s %7s %7s %7s %7s %9s"


def print_row(name, impl, r, ratio, cratio, lim, note):
    if "error" in r:
        print(HEAD % ((name, impl, r["kind"]) + ("",) * 10) + " " + (r["error"][:70] if r["kind"] != "missing" else ""))
    else:
        print(HEAD % (name, impl, ft(r["median"]), "%s-%s" % (ft(r["min"]), ft(r["max"])), ft(r["first"]), ft(r["cpu"]),
                      fb(r["peak_rss"]), fb(r["rss_delta"]), fb(r["new_bytes"]), fb(r["rchar"]),
                      "x%.2f" % ratio if ratio else "", "x%.2f" % cratio if cratio else "", "x%.1f" % (r["min"] / lim) if lim else ""), note)
    sys.stdout.flush()


def growth(results, impl):
    fam = {}
    for name, w in results.items():
        r = w["impls"].get(impl)
        if w.get("family") and r and "median" in r:
            f, n = w["family"]
            fam.setdefault(f, {})[n] = r
    out = {}
    for f, pts in sorted(fam.items()):
        ns = sorted(pts)
        if len(ns) < 2:
            continue
        ex = {}
        for key in ("min", "cpu", "new_bytes", "rss_delta", "peak_rss", "rchar"):
            v = [pts[n].get(key) or 0 for n in ns]
            if all(x > 0 for x in v):
                lx, ly = [math.log(n) for n in ns], [math.log(x) for x in v]
                mx, my = sum(lx) / len(lx), sum(ly) / len(ly)
                ex[key] = {"exponent": round(sum((a - mx) * (b - my) for a, b in zip(lx, ly)) / sum((a - mx) ** 2 for a in lx), 2),
                           "last_step": round((ly[-1] - ly[-2]) / (lx[-1] - lx[-2]), 2),
                           "values": {str(n): x for n, x in zip(ns, v)}}
        out[f] = ex
    return out


def print_growth(results, impls):
    for impl in impls:
        g = growth(results, impl)
        if g:
            print("\ngrowth, %s  (best time ~ N^e; fitted over all N, then over the last step)" % impl)
            for f, ex in g.items():
                e = ex.get("min")
                if not e:
                    continue
                s = "  %-24s time e=%.2f (last %.2f)  %s" % (f, e["exponent"], e["last_step"], " ".join("%s:%s" % (n, ft(v)) for n, v in e["values"].items()))
                for key, lab in (("cpu", "cpu"), ("new_bytes", "bytes"), ("rss_delta", "+rss")):
                    if key in ex and ("append" in f or "compact" in f):
                        s += "  %s e=%.2f" % (lab, ex[key]["exponent"])
                print(s)


# --------------------------------------------------------------------- run
def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--data", help="directory for generated inputs, fixtures and scratch (required to run)")
    ap.add_argument("--impl", default="glaive,lance", help="comma list of module names; ours first, peer last")
    ap.add_argument("--python", default="", help="interpreter per implementation: glaive=PATH,lance=PATH")
    ap.add_argument("--only", action="append", default=[], help="workload name or glob; repeatable")
    ap.add_argument("--skip", action="append", default=[], help="glob to leave out; repeatable")
    ap.add_argument("--scale", default="S", choices="SML")
    ap.add_argument("--rounds", type=int, default=MAX_ROUNDS)
    ap.add_argument("--budget", type=float, help="seconds per implementation and workload after the minimum rounds")
    ap.add_argument("--fixtures-by", default="auto", help="implementation that writes the inputs of read workloads; 'self' = each its own")
    ap.add_argument("--context", default="parquet,ipc", help="context rows: comma list of parquet,ipc,vortex,delta,iceberg,lmdb,array_record")
    ap.add_argument("--no-context", dest="context", action="store_const", const="", help="same as --context ''")
    ap.add_argument("--json", help="write results here")
    ap.add_argument("--merge", action="store_true", help="keep other results already in the --json file")
    ap.add_argument("--list", action="store_true")
    ap.add_argument("--render", metavar="JSON", help="print the tables of a result file as Markdown and stop")
    ap.add_argument("--_calibrate", help=argparse.SUPPRESS)
    a = ap.parse_args()
    if a._calibrate:
        print(json.dumps(_calibrate(a._calibrate)))
        return 0
    if a.render:
        return render(a.render)
    sys.path.insert(0, HERE)
    import workloads
    cat = workloads.catalogue(a.scale)
    pick = [n for n in cat if (not a.only or any(fnmatch.fnmatch(n, p) or n.startswith(p + ".") for p in a.only))
            and not any(fnmatch.fnmatch(n, p) for p in a.skip)]
    if a.list:
        for n in pick:
            print("%-32s %s" % (n, cat[n][3]))
        return 0
    if not a.data:
        ap.error("--data is required")
    data = os.path.abspath(a.data)
    os.makedirs(data, exist_ok=True)
    t_start = time.time()
    pythons = dict(x.split("=", 1) for x in a.python.split(",") if x)
    versions = find_versions(a.impl.split(","), pythons)
    impls = list(versions)
    context = find_versions([c for c in a.context.split(",") if c], pythons)
    if not impls:
        print("nothing to run")
        return 1
    by = a.fixtures_by
    if by == "auto":
        by = "lance" if "lance" in impls else impls[0]
    cal = calibrate(data)
    print("machine: %s x %d, load %.2f; memcpy %.1f GB/s, cached write %.2f, cached read %.1f, cold read %.2f GB/s; create %.0f us, fsync'd create %.0f us"
          % (platform.machine(), os.cpu_count(), os.getloadavg()[0], cal["memcpy_GBps"], cal["write_cached_GBps"], cal["read_cached_GBps"],
             cal["read_cold_GBps"], cal["create_us"], cal["create_fsync_us"]))
    print("impls: " + ", ".join("%s %s" % (i, versions[i]) for i in impls) + "; fixtures by %s; scale %s; %d workloads" % (by, a.scale, len(pick)))
    if context:
        print("context: " + ", ".join("%s %s" % kv for kv in context.items()))

    def env_of(impl, cell):
        key = impl if by == "self" else by
        return dict(data=data, scale=a.scale, fixture_key="%s-%s" % (key, versions.get(key, "x")), cell=cell)

    # fixtures first, so their cost never lands in a measurement
    need = list(dict.fromkeys(f for n in pick for f in cat[n][2]))
    for who in (impls if by == "self" else [by]):
        build_fixtures(pythons.get(who, sys.executable), who, env_of(who, "fixture"), need, TIMEOUT[a.scale] * 4)
    os.sync()
    t_fix = time.time() - t_start
    print()
    print(HEAD % ("workload", "impl", "median", "min-max", "first", "cpu", "peakRSS", "+RSS", "wrote", "read", "ratio", "cpu-r", "vs limit"))
    budget = a.budget or BUDGET[a.scale]
    results, shared, ours = {}, {}, impls[0]
    for name in pick:
        cls, kw, _, doc = cat[name]
        # peer rows read with another implementation: only meaningful when both are importable
        who = list(impls) + [c for c in context if cls.peer_can(workloads.PEERS[c], kw)]
        if kw.get("peer"):
            who = [i for i in who if i != kw["peer"]] if kw["peer"] in versions else []
            if not who:
                continue
        make_scratch(data)
        share = cls.group in ("commit", "take", "train")
        ws, reps, bad = {}, {}, {}

        def kept(impl):
            return share or (impl in context and cls.group in ("write", "scan"))

        for impl in who:
            w = shared.get((impl, cls.group)) if kept(impl) else None
            if w is None or not w.alive():
                w = Worker(pythons.get(impl, sys.executable))
                if kept(impl):
                    shared[(impl, cls.group)] = w
            r = w.call(TIMEOUT[a.scale], cmd="init", impl=impl, workload=name, env=env_of(impl if impl in impls else by, "%s-%s" % (impl, name)))
            if r["ok"]:
                ws[impl], reps[impl] = w, []
            else:
                bad[impl] = r
                if not kept(impl):
                    w.quit()
        load = os.getloadavg()[0]
        rounds = min(a.rounds, cls.rounds or a.rounds)
        spent = {i: 0.0 for i in ws}
        for rep in range(rounds + 1):
            for impl in list(ws):
                if impl in context and rep > 1 and spent[impl] > (budget if rep > 3 else 4 * budget):
                    continue
                t = time.monotonic()
                r = ws[impl].call(TIMEOUT[a.scale], cmd="run", rep=rep)
                spent[impl] += time.monotonic() - t
                if r["ok"]:
                    reps[impl].append(r)
                else:
                    bad[impl] = r
                    w = ws.pop(impl)
                    if not kept(impl):
                        w.quit()
            live = [i for i in ws if i in impls]
            if not live:
                break
            slow = max(spent[i] for i in live)
            if (rep >= MIN_ROUNDS[a.scale] and slow > budget) or (rep >= 2 and slow > 4 * budget):
                break
        rec = {i: summarize(v) for i, v in reps.items() if v and i not in bad}
        for i, r in rec.items():
            if kept(i):
                r["peak_rss"] = None              # the process has run other workloads before
        for i, w in ws.items():
            if kept(i):
                continue
            q = w.quit()
            if i in rec and q.get("ok"):
                rec[i]["maxrss"] = q["maxrss_kb"] * 1024
        shutil.rmtree(os.path.join(data, "scratch"), ignore_errors=True)
        real = {i: r for i, r in rec.items() if i in impls}
        lim = limit_seconds(limit_kind(cls, kw), name, cal, real, kw) if real else None
        fam = None
        if cls.group in ("commit", "compact", "concurrent"):
            try:
                fam = cls(None, type("E", (), {"size": workloads.SIZES[a.scale]})(), **kw).family
            except Exception:
                fam = None
        entry = {"doc": doc, "group": cls.group, "impls": {}, "limit_s": lim, "family": fam, "load": round(load, 2)}
        checks = [json.dumps(real[i]["checks"]) for i in real]
        mismatch = len(set(checks)) > 1
        if mismatch:
            entry["mismatch"] = {i: real[i]["checks"] for i in real}
        for impl in who:
            if impl in bad:
                r = {"kind": bad[impl]["kind"], "error": bad[impl]["error"].replace(data, "<data>")}
                entry["impls"][impl] = r
                print_row(name, impl, r, None, None, None, "")
                continue
            r = rec[impl]
            entry["impls"][impl] = r
            ratio = cratio = None
            if impl == ours and len(real) > 1 and impls[-1] in real:
                peer = real[impls[-1]]
                if "bytes" in r["extra"]:              # size rows compare bytes, not seconds
                    ratio = peer["extra"]["bytes"] / max(r["extra"]["bytes"], 1)
                else:
                    ratio = peer["median"] / r["median"]
                    cratio = entry["cpu_ratio"] = peer["cpu"] / max(r["cpu"], 1e-9)
                entry["ratio"] = ratio
            note = " ".join("%s=%s" % (k, fb(v) if "bytes" in k else v) for k, v in r["extra"].items())
            if mismatch and impl in real or impl in context and r["checks"] and checks and json.dumps(r["checks"]) not in checks:
                note += "  CHECK DIFFERS"
            print_row(name, impl, r, ratio, cratio, lim if impl in real else None, note)
        results[name] = entry
        if a.json:
            save(a, results, cal, versions, context, t_start, by)
    for w in shared.values():
        w.quit()
    print_growth(results, [*impls, *context])
    rat = [w["ratio"] for w in results.values() if w.get("ratio")]
    if rat:
        print("\ngeometric mean of %d ratios (%s/%s): x%.2f; slower than peer: %s" % (
            len(rat), impls[-1], ours, math.exp(sum(map(math.log, rat)) / len(rat)),
            ", ".join(n for n, w in results.items() if w.get("ratio") and w["ratio"] < 1) or "none"))
    ru = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("\ntotal %.0fs wall, %.0fs cpu (fixtures and calibration %.0fs wall), load at end %.2f"
          % (time.time() - t_start, ru.ru_utime + ru.ru_stime, t_fix, os.getloadavg()[0]))
    if a.json:
        save(a, results, cal, versions, context, t_start, by)
    return 0


def save(a, results, cal, versions, context, t_start, by):
    doc = {"scales": {}}
    if a.merge and os.path.exists(a.json):
        with open(a.json) as f:
            doc = json.load(f)
    sc = doc["scales"].setdefault(a.scale, {"results": {}})
    sc["results"].update(results)
    old = sc.get("calibration", {})
    cal = {k: v if k not in old else (max if k.endswith("GBps") else min)(v, old[k]) for k, v in cal.items()}
    if context:
        sc.setdefault("context", {}).update(context)
    sc.update(calibration=cal, versions=versions, fixtures_by=by,
              when=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
              machine={"cpu": _cpu_model(), "cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()},
              last_run_seconds=round(time.time() - t_start))
    sc["growth"] = {i: growth(sc["results"], i) for i in (*versions, *sc.get("context", ()))}
    tmp = a.json + ".tmp"
    with open(tmp, "w") as f:
        json.dump(doc, f, indent=1, sort_keys=True)
    os.replace(tmp, a.json)


def _cpu_model():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":")[1].strip()
    except OSError:
        pass
    return platform.processor()


def render(path):
    sys.path.insert(0, HERE)
    import workloads
    with open(path) as f:
        doc = json.load(f)
    for scale in "SML":
        sc = doc["scales"].get(scale)
        if not sc:
            continue
        print("\n### Scale %s (%s; %s)\n" % (scale, sc["when"], ", ".join("%s %s" % kv for kv in sc["versions"].items())))
        print("calibration: " + ", ".join("%s %.4g" % kv for kv in sc["calibration"].items()) + "\n")
        print("| workload | impl | median | min-max | first | cpu | peak RSS | +RSS | wrote | read | limit | vs limit | note |")
        print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
        cat = workloads.catalogue(scale)
        for n, w in sorted(sc["results"].items(), key=lambda kv: list(cat).index(kv[0]) if kv[0] in cat else 10**6):
            real = {i: r for i, r in w["impls"].items() if i in sc["versions"] and "median" in r}
            if n in cat and real:                  # limits from the best calibration of all merged runs
                cls, kw = cat[n][:2]
                w["limit_s"] = limit_seconds(limit_kind(cls, kw), n, sc["calibration"], real, kw)
            for i, r in w["impls"].items():
                if "error" in r:
                    print("| %s | %s | %s | | | | | | | | | | |" % (n, i, r["kind"]))
                    continue
                real = i in sc["versions"]
                lim = w.get("limit_s") if real else None
                note = "; ".join("%s %s" % (k, fb(v) if "bytes" in k else v) for k, v in r["extra"].items())
                print("| %s | %s | %s | %s-%s | %s | %s | %s | %s | %s | %s | %s | %s | %s |" % (
                    n, i, ft(r["median"]), ft(r["min"]), ft(r["max"]), ft(r["first"]), ft(r["cpu"]), fb(r["peak_rss"]), fb(r["rss_delta"]),
                    fb(r["new_bytes"]), fb(r["rchar"]), ft(lim), "x%.1f" % (r["min"] / lim) if lim else "", note))
    return 0


if __name__ == "__main__":
    sys.exit(main())
