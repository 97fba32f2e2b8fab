"""Workloads, fixtures and context rows.  Everything an implementation must do is
expressed through the pylance names, so `lance` and `glaive` run the same code."""
import importlib
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import time
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.ipc

import gen
from peers import PEERS, arrow_rows, sql

SIZES = {
    "S": dict(num=2_000_000, short=1_000_000, low=1_000_000, high=500_000, text=30_000, list16=600, vec=20_000,
              wide=(1000, 2_000), nested=200_000, nulls=1_000_000, batches=(2_000, 100), njobs_a=750_000,
              njobs_b=100_000, frag=(1000, 1000), lists=(20, 300), lists_sizes=(50, 100), commits=(1_000, 10_000),
              versions=(50, 200), cols_frags=(1000, 100), small_takes=200, writers=(1, 4)),
    "M": dict(num=10_000_000, short=5_000_000, low=10_000_000, high=5_000_000, text=300_000, list16=6_000, vec=200_000,
              wide=(1000, 10_000), nested=2_000_000, nulls=10_000_000, batches=(20_000, 100), njobs_a=3_000_000,
              njobs_b=1_500_000, frag=(1000, 1000), lists=(20, 300), lists_sizes=(150, 300, 600, 1200),
              commits=(1_000, 10_000, 100_000), versions=(200, 1000), cols_frags=(1000, 1000), small_takes=1000,
              writers=(1, 4, 16)),
    "L": dict(num=50_000_000, short=20_000_000, low=50_000_000, high=20_000_000, text=1_000_000, list16=20_000,
              vec=1_000_000, wide=(1000, 50_000), nested=10_000_000, nulls=50_000_000, batches=(100_000, 100),
              njobs_a=10_000_000, njobs_b=3_000_000, frag=(5000, 1000), lists=(20, 3000),
              lists_sizes=(300, 600, 1200, 2400), commits=(10_000, 100_000, 1_000_000), versions=(1000, 5000),
              cols_frags=(1000, 10_000), small_takes=1000, writers=(1, 4, 16)),
}


CORPORA = ("num", "short", "low", "high", "text", "list16", "vec", "wide", "nested", "nulls")      # tables of gen.py, one data file each


class Api:
    """Lazy access to one implementation's modules."""

    def __init__(self, impl):
        self.impl, self.peer = impl, None
        if impl in PEERS:
            self.peer = PEERS[impl]()
            self.version = self.peer.version()
            return
        self.m = importlib.import_module(impl)
        self.version = getattr(self.m, "__version__", "?")

    def sub(self, name):
        return importlib.import_module(self.impl + "." + name)

    @property
    def write_fragments(self):
        return self.sub("fragment").write_fragments

    @property
    def op(self):
        return self.m.LanceOperation


class Env:
    def __init__(self, data, scale, fixture_key, cell):
        self.data, self.scale, self.size = data, scale, SIZES[scale]
        self.fixture_dir = os.path.join(data, "fixtures", scale, fixture_key)
        self.scratch = os.path.join(data, "scratch", cell)

    def table(self, name, *args, tag=None):
        """Generated table, cached as an Arrow IPC file and read back into private memory."""
        if not args:
            v = self.size[name]
            args = v if isinstance(v, tuple) else (v,)
        key = "%s-%s.arrow" % (tag or name, "-".join(str(a) for a in args))
        path = os.path.join(self.data, "gen", key)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            fn = getattr(gen, {"short": "str_short", "low": "str_low", "high": "str_high", "text": "str_text"}.get(name, name))
            t = fn(*args)
            tmp = path + ".%d" % os.getpid()
            with pa.OSFile(tmp, "wb") as f, pa.ipc.new_file(f, t.schema) as w:
                w.write_table(t)
            os.replace(tmp, path)
        with pa.OSFile(path) as f:
            return pa.ipc.open_file(f).read_all()

    def fixture(self, name):
        p = os.path.join(self.fixture_dir, name)
        if not os.path.exists(p + ".done"):
            raise RuntimeError("fixture %s was not built" % name)
        return p

    def clone(self, name, dst):
        """Cheap private copy: data and deletion files are immutable, so hard links do; the rest is copied."""
        src = self.fixture(name)
        shutil.rmtree(dst, ignore_errors=True)
        for root, _, files in os.walk(src):
            rel = os.path.relpath(root, src)
            out = os.path.join(dst, rel) if rel != "." else dst
            os.makedirs(out, exist_ok=True)
            link = rel.split(os.sep)[0] in ("data", "_deletions")
            for f in files:
                (os.link if link else shutil.copyfile)(os.path.join(root, f), os.path.join(out, f))
        return dst


# ------------------------------------------------------------------ fixtures
def _overwrite_n(api, path, n):
    """n synthetic fragments that all reference one tiny data file (cheap, scans still work)."""
    t = pa.table({"id": pa.array([7], pa.int64()), "v": pa.array([0.5], pa.float32())})
    f = api.write_fragments(t, path)[0]
    api.m.LanceDataset.commit(path, api.op.Overwrite(t.schema, [f] * n))


def _fx_num_frags(api, env, path):
    api.m.write_dataset(env.table("num"), path, max_rows_per_file=env.size["num"] // 10)


def _fx_simple(name):
    return lambda api, env, path: api.m.write_dataset(env.table(name), path)


def _fx_frag(api, env, path, **kw):
    f, r = env.size["frag"]
    t = env.table("num", f * r)
    s = env.table("short", f * r)
    t = t.append_column("s", s["s"])
    api.m.write_dataset(t.to_reader(max_chunksize=r), path, max_rows_per_file=r, max_rows_per_group=r, **kw)


def _fx_lists(rows):
    def build(api, env, path):
        nf = env.size["lists"][0]
        n = nf * rows
        if n * 40_000 < 2**31 - 1:
            t = env.table("list16", n, 20_000, False)
            rd = t.to_reader(max_chunksize=rows)
        else:                        # keep generator memory and 32-bit offsets in bounds
            t = env.table("list16", rows, 20_000, False)
            rd = pa.RecordBatchReader.from_batches(t.schema, (b for _ in range(nf) for b in t.to_batches()))
        api.m.write_dataset(rd, path, max_rows_per_file=rows, max_rows_per_group=rows)
    return build


def _fx_lists_bulk(api, env, path):
    nf, rows = env.size["lists"]
    t = env.table("list16", nf * rows, 20_000, False)
    api.m.write_dataset(t, path, max_rows_per_file=1_000_000)


def _fx_frag_deleted(api, env, path):
    _fx_frag(api, env, path)
    api.m.dataset(path).delete("k < 200")


def _fx_num_stable(api, env, path):
    api.m.write_dataset(env.table("num"), path, max_rows_per_file=env.size["num"] // 10, enable_stable_row_ids=True)
    api.m.dataset(path).delete("k = 500")


def _fx_num_deleted(api, env, path):
    api.m.write_dataset(env.table("num"), path, max_rows_per_file=env.size["num"] // 10)
    api.m.dataset(path).delete("k < 100")


def _fx_versions(v):
    def build(api, env, path):
        t = pa.table({"id": pa.array([7], pa.int64())})
        ds = api.m.write_dataset(t, path)
        for i in range(v - 1):
            ds.update_config({"bench.step": str(i)})
    return build


def _fx_cols(api, env, path):
    f, r = env.size["cols_frags"]
    n = f * r
    t = pa.table({"id": pa.array(np.arange(n, dtype=np.int64)), "x": pa.array(np.arange(n, dtype=np.float64)),
                  "y": pa.array(np.zeros(n))})
    api.m.write_dataset(t.select(["id", "x"]).to_reader(max_chunksize=r), path, max_rows_per_file=r, max_rows_per_group=r)
    ds = api.m.dataset(path)
    ds.add_columns({"y": "x * 0.0"})


def fixtures(scale):
    z = SIZES[scale]
    fx = {
        "num_frags": _fx_num_frags, "num_stable": _fx_num_stable, "num_deleted": _fx_num_deleted,
        "frag": _fx_frag, "frag_stable": lambda a, e, p: _fx_frag(a, e, p, enable_stable_row_ids=True),
        "frag_deleted": _fx_frag_deleted, "lists_bulk": _fx_lists_bulk, "cols": _fx_cols,
    }
    for n in CORPORA:
        fx[n] = _fx_simple(n)
    for r in sorted({z["lists"][1], *z["lists_sizes"]}):
        fx["lists_%d" % r] = _fx_lists(r)
    for n in z["commits"]:
        fx["commit_%d" % n] = lambda a, e, p, n=n: _overwrite_n(a, p, n)
    for v in z["versions"]:
        fx["versions_%d" % v] = _fx_versions(v)
    return fx


def build_fixture(api, env, name):
    p = os.path.join(env.fixture_dir, name)
    if os.path.exists(p + ".done"):
        return
    os.makedirs(env.fixture_dir, exist_ok=True)
    shutil.rmtree(p, ignore_errors=True)
    fixtures(env.scale)[name](api, env, p)
    sync_files(p)
    open(p + ".done", "w").close()


# ---------------------------------------------------------------- base class
def tree(path):
    out = {}
    for root, _, files in os.walk(path):
        for f in files:
            q = os.path.join(root, f)
            try:
                out[q] = os.stat(q).st_size
            except OSError:
                pass
    return out


def sync_files(path):
    """Makes the pages clean, so that drop_cache can drop them."""
    for root, _, files in os.walk(path):
        for f in files:
            fd = os.open(os.path.join(root, f), os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)


def drop_cache(path):
    for root, _, files in os.walk(path):
        for f in files:
            fd = os.open(os.path.join(root, f), os.O_RDONLY)
            try:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


def crc(obj):
    return zlib.crc32(repr(obj).encode())


class W:
    group = "?"
    needs = ()            # fixtures
    limit = None          # (kind, text), see bench.LIMITS
    inner = 1             # operations per timed call
    family = None         # (family name, N) for growth exponents
    peer_calls = ()       # a context peer with these methods can run it (see peers.py)
    rounds = None         # cap on rounds
    one_process_per_rep = False

    def __init__(self, api, env):
        self.api, self.env, self.logical, self.watch, self.nfiles = api, env, 0, None, 0
        self.timed = self.timed_cpu = None      # seconds per operation, where the call's own clock is not the answer
        self.peer = api.peer if api else None

    @classmethod
    def peer_can(cls, peer, kw):
        return bool(cls.peer_calls) and all(hasattr(peer, c) for c in cls.peer_calls)

    def setup(self): pass
    def prep(self, rep): pass
    def run(self, rep): raise NotImplementedError
    def after(self, rep): return {}

    def teardown(self):
        shutil.rmtree(self.env.scratch, ignore_errors=True)

    def disk_before(self):
        return tree(self.watch) if self.watch else None

    def disk_after(self, before):
        if before is None:
            return None, None
        now = tree(self.watch)
        new = [s for p, s in now.items() if before.get(p) != s]
        return len(new), sum(new)

    def out(self, name="out"):
        os.makedirs(self.env.scratch, exist_ok=True)
        return os.path.join(self.env.scratch, name)


# ------------------------------------------------------------------ write
class Write(W):
    group, limit, peer_calls = "write", "write", ("write",)

    def __init__(self, api, env, table, tag=None):
        super().__init__(api, env)
        self.tname = table

    def setup(self):
        self.t = self.env.table(self.tname)
        self.logical = self.t.nbytes
        self.watch = self.out()

    def prep(self, rep):
        shutil.rmtree(self.watch, ignore_errors=True)

    def run(self, rep):
        if self.peer:
            self.peer.write(self.t, self.watch)
        else:
            self.api.m.write_dataset(self.t, self.watch)

    def after(self, rep):
        if self.peer or rep:
            return {}
        ds = self.api.m.dataset(self.watch)
        return {"check": [ds.count_rows(), self.t.slice(0, 50).to_pylist() == ds.to_table(limit=50).to_pylist()]}


class WriteBatches(Write):
    """Many tiny batches through a reader: per-batch overhead."""
    peer_calls, limit = (), "write"

    def setup(self):
        nb, r = self.env.size["batches"]
        self.rows = r
        self.t = self.env.table("num", nb * r)
        self.logical = self.t.nbytes
        self.watch = self.out()

    def run(self, rep):
        self.api.m.write_dataset(self.t.to_reader(max_chunksize=self.rows), self.watch)


class WriteStream(Write):
    """A lazily generated stream whose total never sits in memory: the extra RSS is the writer's own buffering."""
    peer_calls, limit = (), "write"

    def setup(self):
        self.b = self.env.table("num", 65_536).to_batches()[0]
        self.n = self.env.size["num"] * 2 // 65_536
        self.logical = self.b.nbytes * self.n
        self.watch = self.out()
        self.t = pa.Table.from_batches([self.b])

    def run(self, rep):
        rd = pa.RecordBatchReader.from_batches(self.b.schema, (self.b for _ in range(self.n)))
        self.api.m.write_dataset(rd, self.watch, schema=self.b.schema)


class WriteAppendFew(W):
    """100 appends of 100 rows to a growing table: fixed cost of one small write."""
    group, limit, inner = "write", "append", 100

    def setup(self):
        self.ts = [self.env.table("num", 10_000).slice(i * 100, 100) for i in range(100)]
        self.watch = self.out()
        self.logical = 100 * 32

    def prep(self, rep):
        shutil.rmtree(self.watch, ignore_errors=True)

    def run(self, rep):
        for i, t in enumerate(self.ts):
            self.api.m.write_dataset(t, self.watch, mode="append" if i else "create")

    def after(self, rep):
        return {"check": self.api.m.dataset(self.watch).count_rows()}


class WriteJobs(W):
    """Parallel overwrite.  Uses n_jobs if write_dataset has it, else the documented thread pattern."""
    group, limit = "write", "write"

    def __init__(self, api, env, table, jobs):
        super().__init__(api, env)
        self.tname, self.jobs = table, jobs

    def setup(self):
        self.t = self.env.table(self.tname)
        self.logical = self.t.nbytes
        self.watch = self.out()
        self.native = "n_jobs" in inspect.signature(self.api.m.write_dataset).parameters

    def prep(self, rep):
        shutil.rmtree(self.watch, ignore_errors=True)

    def run(self, rep):
        if self.native:
            self.api.m.write_dataset(self.t, self.watch, mode="overwrite", n_jobs=self.jobs)
            return
        if self.jobs == 1:
            self.api.m.write_dataset(self.t, self.watch, mode="overwrite")
            return
        from concurrent.futures import ThreadPoolExecutor
        n = self.t.num_rows
        step = -(-n // self.jobs)
        parts = [self.t.slice(o, step) for o in range(0, n, step)]
        wf = self.api.write_fragments
        with ThreadPoolExecutor(len(parts)) as ex:
            frs = [f for fs in ex.map(lambda p: wf(p, self.watch, mode="overwrite"), parts) for f in fs]
        self.api.m.LanceDataset.commit(self.watch, self.api.op.Overwrite(self.t.schema, frs))

    def after(self, rep):
        ds = self.api.m.dataset(self.watch)
        same = ds.to_table().equals(self.t)
        try:
            same = same and importlib.import_module("lance").dataset(self.watch).to_table().equals(self.t)
        except ImportError:
            pass                                       # the reference reader is not here
        return {"check": [ds.count_rows(), same], "how": "n_jobs" if self.native else "threads",
                "files": len(ds.get_fragments())}


# ------------------------------------------------------------------- scan
class Scan(W):
    group, limit, peer_calls = "scan", "scan", ("write", "scan")

    def __init__(self, api, env, fixture, cold=False, count=False, where=None, **kw):
        super().__init__(api, env)
        self.fx, self.kw, self.cold, self.count, self.where = fixture, kw, cold, count, where
        if where:
            self.kw["filter"] = sql(where)

    @classmethod
    def peer_can(cls, peer, kw):
        return super().peer_can(peer, kw) and kw["fixture"] in CORPORA and not kw.get("count") and not kw.get("limit")

    def setup(self):
        if self.peer:
            self.path = self.out("src")
            self.peer.write(self.env.table(self.fx), self.path)
            sync_files(self.path)
            return
        self.path = self.env.fixture(self.fx)
        self.nfiles = len(os.listdir(os.path.join(self.path, "data")))
        self.ds = self.api.m.dataset(self.path)

    def prep(self, rep):
        if self.cold:
            drop_cache(self.path)
            if not self.peer:
                self.ds = self.api.m.dataset(self.path)

    def run(self, rep):
        self.rows = self.bytes = 0
        if self.peer:
            batches = self.peer.scan(self.path, self.kw.get("columns"), self.where)
        elif self.count:
            self.rows = self.ds.count_rows(self.kw.get("filter"))
            return
        else:
            batches = self.ds.to_batches(**self.kw)
        for b in batches:
            self.rows += b.num_rows
            self.bytes += b.nbytes

    def after(self, rep):
        self.logical = self.bytes
        return {"check": self.rows}


class ToTable(Scan):
    """to_table(): scan plus one contiguous result."""
    peer_calls = ()

    def run(self, rep):
        t = self.ds.to_table(**self.kw)
        self.rows, self.bytes = t.num_rows, t.nbytes


# ------------------------------------------------------------------- take
class Take(W):
    group, limit, peer_calls = "take", "take", ("store", "load", "take")

    def __init__(self, api, env, fixture, table=None, n=1000, columns=None, cold=False, how="take", single=False, compact=None, peer=None):
        super().__init__(api, env)
        self.fx, self.table, self.n, self.columns, self.cold, self.how = fixture, table, n, columns, cold, how
        self.single, self.compact, self.reader = single, compact, peer
        if single:
            self.inner = self.n = env.size["small_takes"]

    @classmethod
    def peer_can(cls, peer, kw):
        return super().peer_can(peer, kw) and "table" in kw       # the generated table, for peers to store themselves

    def setup(self):
        if self.peer:
            t = self.env.table(*self.table)
            self.total = t.num_rows
            self.path = self.out("src")
            self.peer.store(t.select(self.columns) if self.columns else t, self.path)
            sync_files(self.path)
        elif self.compact is not None:
            self.path = self.env.clone(self.fx, self.out("c"))
            self.api.m.dataset(self.path).optimize.compact_files(**self.compact)
            sync_files(self.path)
        else:
            self.path = self.env.fixture(self.fx)
        self.open()
        if not self.peer:
            self.total = self.ds.count_rows()
        if self.how == "rowid":
            self.ids = self.ds.scanner(columns=[], with_row_id=True).to_table()["_rowid"].to_numpy()

    def open(self):
        if self.peer:
            self.peer.load(self.path)
        else:
            self.ds = (importlib.import_module(self.reader) if self.reader else self.api.m).dataset(self.path)

    def close(self):
        """Mapped pages survive drop_cache, so nothing may stay open."""
        self.ds = None
        if self.peer:
            self.peer.unload()

    def prep(self, rep):
        r = np.random.default_rng([11, rep])
        idx = r.choice(self.total, self.n, replace=False)
        self.idx = (self.ids[idx] if self.how == "rowid" else idx).tolist()
        if self.cold:
            self.close()
            drop_cache(self.path)
            self.open()

    def take(self, idx):
        return self.peer.take(idx, self.columns) if self.peer else self.ds.take(idx, columns=self.columns)

    def run(self, rep):
        if self.how == "rowid":
            self.t = self.ds._take_rows(self.idx, columns=self.columns)
        elif self.single:
            for i in self.idx:
                self.t = self.take([i])
        else:
            self.t = self.take(self.idx)

    def after(self, rep):
        self.logical = self.t.nbytes
        out = {"check": crc(self.t.slice(0, 20).to_pylist()) if rep < 2 else None}
        if rep == 0 and self.fx.startswith("lists") and not self.peer:
            out["pages"] = pages(self.api, self.ds, "feat")
        return out


class TakeSingleOrBatch(Take):
    """The same 1000 rows one by one (timed) and in one take (`batch_s`); `factor` = what batching saves."""

    def __init__(self, api, env, single, **kw):
        super().__init__(api, env, **kw)
        self.single, self.inner = single, self.n

    def run(self, rep):
        t = time.perf_counter()
        super().run(rep)
        self.single_s = time.perf_counter() - t

    def after(self, rep):
        t = time.perf_counter()
        self.t = self.take(self.idx)
        t = time.perf_counter() - t
        return {**super().after(rep), "batch_s": t, "factor": self.single_s / t}


class Train(Take):
    """Rows of one column in shuffled order, as numpy views (lists) or str: `batch` rows per read, one epoch at most."""
    group, peer_calls = "train", ("store", "load", "rows")

    def __init__(self, api, env, n, **kw):
        super().__init__(api, env, **kw)
        self.batch = n

    def prep(self, rep):
        rows = self.total if self.batch > 1 else min(self.total, self.env.size["small_takes"])
        order = np.random.default_rng([12, rep]).permutation(self.total)[:rows].tolist()
        self.reads = [order[o:o + self.batch] for o in range(0, rows - self.batch + 1, self.batch)]
        self.inner = len(self.reads)

    def run(self, rep):
        col, t = self.columns[0], time.perf_counter()
        self.nbytes = 0
        for idx in self.reads:
            rows = self.peer.rows(idx, col) if self.peer else arrow_rows(self.ds.take(idx, columns=self.columns)[col])
            self.nbytes += sum(r.nbytes if isinstance(r, np.ndarray) else len(r) for r in rows)
        self.seconds, self.last = time.perf_counter() - t, rows

    def after(self, rep):
        self.logical = self.nbytes // len(self.reads)
        check = [self.nbytes, crc([r if isinstance(r, str) else r[:20].tolist() for r in self.last[:20]])] if rep < 2 else None
        return {"check": check, "rows_per_s": round(len(self.reads) * self.batch / self.seconds, 1)}


def pages(api, ds, column):
    try:
        R = api.sub("file").LanceFileReader
        n = 0
        for f in ds.get_fragments():
            for df in f.data_files():
                p = df.path() if callable(df.path) else df.path
                md = R(os.path.join(ds.uri, "data", p)).metadata()
                n += max(len(c.pages) for c in md.columns[:1])
        return n
    except Exception as e:
        return "?" + type(e).__name__


# ------------------------------------------------------------- compaction
class Compact(W):
    group, limit = "compact", "compact"

    def __init__(self, api, env, fixture, fam=None, **kw):
        super().__init__(api, env)
        self.fx, self.kw, self.family = fixture, kw, fam

    def prep(self, rep):
        self.watch = self.env.clone(self.fx, self.out())
        self.ds = self.api.m.dataset(self.watch)
        if rep == 0:
            self.rows = self.ds.count_rows()
            src = os.path.join(self.watch, "data")
            self.logical = sum(tree(src).values())
            self.nfiles = len(os.listdir(src))

    def run(self, rep):
        self.m = self.ds.optimize.compact_files(**self.kw)

    def after(self, rep):
        if rep:
            return {}
        ds = self.api.m.dataset(self.watch)
        ok = ds.count_rows() == self.rows
        return {"check": [ok], "frags": len(ds.get_fragments()), "pages": pages(self.api, ds, "feat")}


# ------------------------------------------------------ commits, manifests
T3 = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "v": pa.array([.1, .2, .3], pa.float32())})


class Open(W):
    group, limit, peer_calls = "commit", "open", ("grow", "open")

    def __init__(self, api, env, n, session=None, fixture=None, fam=None):
        super().__init__(api, env)
        self.n, self.session = n, session
        self.fx = fixture or "commit_%d" % n
        self.family = (fam or ("open.session" if session == "shared" else "open.fresh" if session else "open"), n)

    @classmethod
    def peer_can(cls, peer, kw):
        return super().peer_can(peer, kw) and not kw.get("session") and "fixture" not in kw

    def setup(self):
        if self.peer:
            self.path = self.out()
            self.peer.grow(self.path, T3.schema, self.n)
            return
        self.path = self.env.fixture(self.fx)
        if self.session == "shared":
            self.s = self.api.m.Session()
            self.keep = self.api.m.dataset(self.path, session=self.s)

    def prep(self, rep):
        if self.session == "fresh":
            self.s = self.ds = None
            self.s = self.api.m.Session()

    def run(self, rep):
        if self.peer:
            self.ds = self.peer.open(self.path)
        else:
            self.ds = self.api.m.dataset(self.path, session=self.s) if self.session else self.api.m.dataset(self.path)

    def after(self, rep):
        return {} if self.peer else {"check": self.ds.version}


class Append(W):
    """One 3-row append to a table with n fragments: by URI, or through an already open dataset."""
    group, limit, peer_calls = "commit", "append", ("grow", "append")

    def __init__(self, api, env, n, how="uri"):
        super().__init__(api, env)
        self.n, self.how, self.fx, self.family = n, how, "commit_%d" % n, ("append." + how, n)

    @classmethod
    def peer_can(cls, peer, kw):
        return super().peer_can(peer, kw) and kw["how"] != "commit"

    def setup(self):
        if self.peer:
            self.watch = self.out()
            self.peer.grow(self.watch, T3.schema, self.n)
            self.ds = self.peer.open(self.watch)
            return
        self.watch = self.env.clone(self.fx, self.out())
        self.ds = self.api.m.dataset(self.watch)

    def prep(self, rep):
        if self.how == "commit":
            self.frags = self.api.write_fragments(T3, self.ds)

    def run(self, rep):
        if self.peer:
            self.peer.append(self.watch if self.how == "uri" else self.ds, T3)
        elif self.how == "uri":
            self.api.m.write_dataset(T3, self.watch, mode="append")
        elif self.how == "handle":
            self.ds = self.api.m.write_dataset(T3, self.ds, mode="append")
        else:
            self.ds = self.api.m.LanceDataset.commit(self.ds, self.api.op.Append(self.frags), read_version=self.ds.version)

    def after(self, rep):
        return {} if self.peer else {"check": self.api.m.dataset(self.watch).count_rows()}


def _append_many(conn, impl, n):
    """One writer process: told a table, it appends n times by URI and answers (failed attempts, cpu seconds)."""
    api = Api(impl)
    conn.send("imported")
    for path in iter(conn.recv, None):
        conn.send("ready")
        conn.recv()
        failed, cpu = 0, time.process_time()
        for _ in range(n):
            while True:
                try:
                    api.peer.append(path, T3) if api.peer else api.m.write_dataset(T3, path, mode="append")
                    break
                except Exception:              # conflict: the caller's only remedy is to try again
                    failed += 1
                    if failed > 50 * n:
                        raise
        conn.send((failed, time.process_time() - cpu))


class ConcurrentAppend(W):
    """P processes append at the same time.  Time is per acknowledged append, `retries` are failures the caller saw (what
    a library retries inside is not counted), `wrote` is the total."""
    group, limit, each, peer_calls = "concurrent", "append", 20, ("grow", "append", "count")

    def __init__(self, api, env, p):
        super().__init__(api, env)
        self.p, self.inner, self.family = p, p * self.each, ("append.concurrent", p)

    def setup(self):
        import multiprocessing
        ctx = multiprocessing.get_context("spawn")
        self.watch, self.workers = self.out(), []
        for _ in range(self.p):
            ours, theirs = ctx.Pipe()
            w = ctx.Process(target=_append_many, args=(theirs, self.api.impl, self.each), daemon=True)
            w.start()
            theirs.close()
            self.workers.append((w, ours))
        self.hear()

    def hear(self):
        return [c.recv() for _, c in self.workers]

    def tell(self, x):
        for _, c in self.workers:
            c.send(x)

    def prep(self, rep):
        self.watch = self.out("out%d" % rep)
        if self.peer:
            self.peer.grow(self.watch, T3.schema, 1)
            self.start = self.peer.count(self.watch)
        else:
            self.start = self.api.m.write_dataset(T3, self.watch).count_rows()
        self.tell(self.watch)
        self.hear()

    def run(self, rep):
        t = time.perf_counter()
        self.tell("go")
        done = self.hear()
        self.seconds = time.perf_counter() - t
        self.retries, self.timed_cpu = sum(d[0] for d in done), sum(d[1] for d in done) / self.inner

    def after(self, rep):
        n = self.peer.count(self.watch) if self.peer else self.api.m.dataset(self.watch).count_rows()
        return {"check": [n - self.start == 3 * self.inner], "per_s": round(self.inner / self.seconds, 1), "retries": float(self.retries)}

    def teardown(self):
        self.tell(None)
        for w, _ in self.workers:
            w.join(10)
        super().teardown()


class WriteFragments(W):
    """`write_fragments` of 3 rows against a big table; target given in five ways."""
    group, limit = "commit", "smallfile"

    def __init__(self, api, env, n, target):
        super().__init__(api, env)
        self.n, self.target, self.fx = n, target, "commit_%d" % n
        self.family = ("write_fragments." + target, n)

    def setup(self):
        self.watch = self.env.clone(self.fx, self.out())
        self.kw, self.dest = {}, self.watch
        if self.target == "session":
            self.kw["session"] = self.api.m.Session()
        elif self.target == "smallcache":
            self.kw["session"] = self.api.m.Session(metadata_cache_size_bytes=1 << 20)
        elif self.target == "dataset":
            self.dest = self.api.m.dataset(self.watch)
        elif self.target == "target":          # what a job would send to its workers; pylance has none
            self.dest = pickle.loads(pickle.dumps(self.api.m.dataset(self.watch).write_target()))

    def run(self, rep):
        self.f = self.api.write_fragments(T3, self.dest, mode="append", **self.kw)

    def after(self, rep):
        return {"check": len(self.f)}


class Checkout(W):
    group, limit = "commit", "open"

    def __init__(self, api, env, n):
        super().__init__(api, env)
        self.n, self.fx, self.family = n, "commit_%d" % n, ("checkout", n)

    def setup(self):
        p = self.env.clone(self.fx, self.out())
        self.api.m.write_dataset(T3, p, mode="append")
        self.path = p

    def prep(self, rep):
        self.ds = self.api.m.dataset(self.path)

    def run(self, rep):
        self.d = self.ds.checkout_version(1)

    def after(self, rep):
        return {"check": [self.d.version, len(self.d.get_fragments()) if rep == 0 else None]}


class Versions(W):
    group, limit = "commit", "list"

    def __init__(self, api, env, v):
        super().__init__(api, env)
        self.v, self.fx, self.family = v, "versions_%d" % v, ("versions", v)

    def setup(self):
        self.ds = self.api.m.dataset(self.env.fixture(self.fx))

    def run(self, rep):
        self.r = len(self.ds.versions())

    def after(self, rep):
        return {"check": self.r}


class CountMeta(W):
    """count_rows() without filter: metadata only."""
    group, limit = "commit", "open"

    def __init__(self, api, env, n):
        super().__init__(api, env)
        self.n, self.fx, self.family = n, "commit_%d" % n, ("count_meta", n)

    def setup(self):
        self.ds = self.api.m.dataset(self.env.fixture(self.fx))

    def run(self, rep):
        self.r = self.ds.count_rows()

    def after(self, rep):
        return {"check": self.r}


class FragmentLookup(W):
    """get_fragment(id) x 100 near the end of the list."""
    group, limit, inner = "commit", "none", 100

    def __init__(self, api, env, n):
        super().__init__(api, env)
        self.n, self.fx, self.family = n, "commit_%d" % n, ("get_fragment", n)

    def setup(self):
        self.ds = self.api.m.dataset(self.env.fixture(self.fx))

    def run(self, rep):
        for i in range(100):
            self.f = self.ds.get_fragment(self.n - 1 - i)

    def after(self, rep):
        return {"check": self.f.fragment_id}


class GetFragments(W):
    """ds.get_fragments(): list every fragment handle (peers: the path of every data file)."""
    group, limit, peer_calls = "commit", "none", ("grow", "open", "files")

    def __init__(self, api, env, n):
        super().__init__(api, env)
        self.n, self.fx, self.family = n, "commit_%d" % n, ("get_fragments", n)

    def setup(self):
        if self.peer:
            self.peer.grow(self.out(), T3.schema, self.n)
            self.ds = self.peer.open(self.out())
            return
        self.ds = self.api.m.dataset(self.env.fixture(self.fx))

    def run(self, rep):
        self.r = len(self.peer.files(self.ds) if self.peer else self.ds.get_fragments())

    def after(self, rep):
        return {"check": self.r}


# ----------------------------------------------------------- update paths
class Upd(W):
    group, limit, peer_calls = "update", "bytes", ("store_files", "update")

    def __init__(self, api, env, kind, fixture="num_frags"):
        super().__init__(api, env)
        self.kind, self.fx, self.src = kind, fixture, None

    @classmethod
    def peer_can(cls, peer, kw):
        return super().peer_can(peer, kw) and kw["kind"] in peer.updates and "fixture" not in kw

    def setup(self):
        if self.peer:
            self.peer.store_files(self.env.table("num"), self.out("src"), 10)
        n = self.env.size["num"]
        if self.kind == "merge_insert1":
            m = n // 100
            base = self.env.table("num", m)
            ids = np.concatenate([np.random.default_rng(5).choice(n, m // 2, replace=False), np.arange(n, n + m - m // 2)])
            self.src = base.set_column(0, "id", pa.array(ids.astype(np.int64)))
        if self.kind == "addcol_reader":
            self.new = pa.table({"h": pa.array(np.arange(n, dtype=np.int64))})

    def prep(self, rep):
        if self.peer:
            self.watch = self.out()
            shutil.rmtree(self.watch, ignore_errors=True)
            shutil.copytree(self.out("src"), self.watch)
            self.ds = self.peer.open(self.watch)
            return
        self.watch = self.env.clone(self.fx, self.out())
        self.ds = self.api.m.dataset(self.watch)

    def run(self, rep):
        ds, k = self.ds, self.kind
        if self.peer:
            self.peer.update(k, ds, self.src)
        elif k == "delete1":
            ds.delete("k < 10")
        elif k == "delete50":
            ds.delete("k < 500")
        elif k == "update10":
            ds.update({"d": "d + 1.0"}, where="k < 100")
        elif k == "addcol_sql":
            ds.add_columns({"e": "d * 2.0 + k"})
        elif k == "addcol_udf":
            @self.api.m.batch_udf(output_schema=pa.schema([pa.field("g", pa.float64())]))
            def f(b):
                return pa.record_batch([pa.array(b["d"].to_numpy() * 2)], names=["g"])
            ds.add_columns(f, read_columns=["d"])
        elif k == "addcol_reader":
            ds.add_columns(self.new.to_reader(max_chunksize=65_536))
        elif k == "addcol_null":
            ds.add_columns(pa.field("zz", pa.int32()))
        elif k == "dropcol":
            ds.drop_columns(["r"])
        elif k == "altercast":
            ds.alter_columns({"path": "k", "data_type": pa.int64()})
        elif k == "merge_insert1":
            ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(self.src)
        elif k == "merge_insert1_cols":
            m = self.env.size["num"] // 100
            ids = np.random.default_rng(5).choice(self.env.size["num"], m, replace=False)
            src = pa.table({"id": pa.array(ids.astype(np.int64)), "d": pa.array(np.zeros(m))})
            ds.merge_insert("id").when_matched_update_all().execute(src)
        else:
            raise ValueError(k)

    def after(self, rep):
        if rep or self.peer:
            return {}
        ds = self.api.m.dataset(self.watch)
        return {"check": [ds.count_rows(), ds.count_rows("d > 0.5"), len(ds.schema.names)],
                "frags": len(ds.get_fragments())}


class ColumnWrite(W):
    """Give every fragment a new file for one column, then publish with one commit."""
    group, limit = "update", "bytes"

    def __init__(self, api, env, how, threads=1):
        super().__init__(api, env)
        self.how, self.fx, self.threads = how, "cols", threads

    def prep(self, rep):
        self.watch = self.env.clone(self.fx, self.out())
        self.ds = self.api.m.dataset(self.watch)
        self.nfiles, self.rows = self.env.size["cols_frags"]
        self.batch = pa.table({"y": pa.array(np.full(self.rows, 3.0))})

    def run(self, rep):
        ds, api = self.ds, self.api
        frags = ds.get_fragments()
        t0 = time.perf_counter()
        if self.how == "replace":
            F, frag = api.sub("file"), api.sub("fragment")
            fid = [f.id() for f in ds.lance_schema.fields() if f.name() == "y"][0]
            ver = ds.data_storage_version
            maj, mnr = (int(x) for x in ver.split("."))
            sch = self.batch.schema

            def one(f):
                name = "bench-%d.lance" % f.fragment_id
                p = os.path.join(self.watch, "data", name)
                with F.LanceFileWriter(p, sch, version=ver) as w:
                    w.write_batch(self.batch)
                return api.op.DataReplacementGroup(f.fragment_id, frag.DataFile(name, [fid], [0], maj, mnr, os.path.getsize(p)))
            if self.threads > 1:
                from concurrent.futures import ThreadPoolExecutor
                with ThreadPoolExecutor(self.threads) as ex:
                    groups = list(ex.map(one, frags))
            else:
                groups = [one(f) for f in frags]
            op = api.op.DataReplacement(groups)
        elif self.how == "merge_columns":
            out, sch = [], None
            for f in frags:
                fm, sch = f.merge_columns({"m": "x + 1.0"}, ["x"])
                out.append(fm)
            op = api.op.Merge(out, sch)
        elif self.how == "staged":          # the two-step API, if the implementation offers one
            if not hasattr(ds, "write_fragment_column"):
                raise AttributeError("write_fragment_column")
            sch = ds.new_column_schema(self.batch.rename_columns(["m"]).schema)
            b = self.batch.rename_columns(["m"])
            done = [ds.write_fragment_column(f.fragment_id, b.to_reader(), sch) for f in frags]
            t1 = time.perf_counter()
            ds.commit_column_writes(done)
            self.split = (t1 - t0, time.perf_counter() - t1)
            return
        t1 = time.perf_counter()
        api.m.LanceDataset.commit(self.watch, op, read_version=ds.version)
        self.split = (t1 - t0, time.perf_counter() - t1)

    def after(self, rep):
        out = {"write_s": round(self.split[0], 4), "commit_s": round(self.split[1], 4)}
        if rep == 0:
            ds = self.api.m.dataset(self.watch)
            col = "y" if self.how == "replace" else "m"
            out["check"] = [ds.count_rows(), ds.count_rows(col + " > 2.5")]
        return out


# ------------------------------------------------------------------ import
class Import(W):
    group, limit = "import", "import"

    def run(self, rep):
        subprocess.run([sys.executable, "-c", "import " + self.api.impl], check=True)


class ImportSize(W):
    """Installed bytes of the package itself (value column shows seconds 0; see extra.bytes)."""
    group, limit, rounds = "import", "none", 1

    def run(self, rep):
        root = os.path.dirname(self.api.m.__file__)
        files = tree(root)
        self.b = sum(files.values())
        so = [s for p, s in files.items() if p.endswith(".so")]
        self.so = sum(so)

    def after(self, rep):
        return {"bytes": self.b, "native_bytes": self.so}


# --------------------------------------------------------------- catalogue
def catalogue(scale):
    """name -> (class, kwargs, fixtures, one-line meaning)"""
    z = SIZES[scale]
    c = {}

    def add(name, cls, fx=(), doc="", **kw):
        c[name] = (cls, kw, (fx,) if isinstance(fx, str) else tuple(fx), doc)

    def human(n):
        return "%dM" % (n // 10**6) if n >= 10**6 else "%dk" % (n // 1000)

    for n, doc in (("num", "5 numeric columns, 32 B/row"), ("short", "strings of 4-12 B"), ("low", "100 distinct strings"),
                   ("high", "distinct 36-B ids"), ("text", "text of 300-1700 B"), ("list16", "ragged list<int16>, ~40 KB/row"),
                   ("vec", "fixed_size_list<float32,768>"), ("wide", "1000 columns"), ("nested", "struct/list/struct with nulls"),
                   ("nulls", "90 % null")):
        add("write." + n, Write, (), doc, table=n)
    add("write.batches", WriteBatches, (), "%d batches of %d rows" % z["batches"], table="num")
    add("write.stream", WriteStream, (), "RecordBatchReader of 64k-row batches, 2x num rows", table="num")
    add("write.appends100", WriteAppendFew, (), "100 appends of 100 rows, time per append")
    jobs = (1, 2) if scale == "S" else (1, 2, 4)
    for j in jobs:
        add("write.njobs7c.%d" % j, WriteJobs, (), "parallel write, 7 columns, %d job(s)" % j, table="njobs_a", jobs=j)
    for j in jobs:
        add("write.njobs61c.%d" % j, WriteJobs, (), "parallel write, 61 columns, %d job(s)" % j, table="njobs_b", jobs=j)

    for n in CORPORA:
        add("scan." + n, Scan, n, "full scan, warm", fixture=n)
    add("scan.num.cold", Scan, "num", "full scan after dropping the page cache, reopened", fixture="num", cold=True)
    add("scan.vec.cold", Scan, "vec", "same, embeddings", fixture="vec", cold=True)
    add("scan.num.to_table", ToTable, "num", "to_table()", fixture="num")
    add("scan.frag1000", Scan, "frag", "%d fragments x %d rows" % z["frag"], fixture="frag")
    add("scan.proj1of1000", Scan, "wide", "one column of 1000", fixture="wide", columns=["c0500"])
    add("scan.proj1of1000.cold", Scan, "wide", "one column of 1000, cold, reopened", fixture="wide", columns=["c0500"], cold=True)
    for p, k in (("0.1pct", 1), ("10pct", 100), ("90pct", 900)):
        add("scan.filter." + p, Scan, "num", "k < %d, all columns" % k, fixture="num", where=("k", None, k))
    add("scan.filter.clustered", Scan, "num", "0.1 % of the rows, one run of `id`", fixture="num", where=("id", z["num"] // 3, z["num"] // 3 + z["num"] // 1000))
    add("scan.count_filter", Scan, "num", "count_rows('k < 100')", fixture="num", where=("k", None, 100), count=True)
    add("scan.limit10", Scan, "num", "first 10 rows", fixture="num", limit=10)

    add("take.1000", Take, "num", "1000 random rows, all columns", fixture="num", table=("num",))
    add("take.1000.col", Take, "num", "1000 random rows, one column", fixture="num", table=("num",), columns=["d"])
    add("take.1000.cold", Take, "num", "1000 random rows, cold, open included in nothing", fixture="num", table=("num",), cold=True)
    add("take.single", Take, "num", "%d takes of one row, time per take" % z["small_takes"], fixture="num", table=("num",), single=True)
    add("take.single1000_vs_batch", TakeSingleOrBatch, "num", "1000 one-row takes (per take) against one 1000-row take", fixture="num", table=("num",), single=True)
    add("take.strings", Take, "high", "1000 random 36-B ids", fixture="high", table=("high",))
    add("take.vec", Take, "vec", "1000 random embeddings", fixture="vec", table=("vec",))
    add("take.frag1000", Take, "frag", "1000 random rows of %d fragments" % z["frag"][0], fixture="frag")
    s0 = "lists_%d" % z["lists"][1]
    bulk = ("list16", z["lists"][0] * z["lists"][1], 20_000, False)
    add("take.list16.frags", Take, s0, "8 rows, %d fragments" % z["lists"][0], fixture=s0, n=8)
    add("take.list16.compacted", Take, s0, "8 rows after own compact_files(reencode)", fixture=s0, n=8, compact={"compaction_mode": "reencode"})
    add("take.list16.compacted.peer", Take, s0, "own compaction, read by lance", fixture=s0, n=8, compact={"compaction_mode": "reencode"}, peer="lance")
    add("take.list16.bulk", Take, "lists_bulk", "8 rows, one bulk write", fixture="lists_bulk", table=bulk, n=8)
    add("take.list16.frags.cold", Take, s0, "8 rows, cold", fixture=s0, n=8, cold=True)
    add("take.list16.compacted.cold", Take, s0, "8 rows after compaction, cold", fixture=s0, n=8, cold=True, compact={"compaction_mode": "reencode"})
    add("take.list16.bulk.cold", Take, "lists_bulk", "8 rows, bulk write, cold", fixture="lists_bulk", table=bulk, n=8, cold=True)
    add("take.rowids_stable", Take, "num_stable", "1000 rows by stable row id", fixture="num_stable", how="rowid")
    add("take.deletions", Take, "num_deleted", "1000 offsets, 10 % of rows deleted", fixture="num_deleted")

    for name, f, col, n, doc in (("row.40k", "list16", "feat", 1, "shuffled one-row reads, list<int16> of ~40 KB"),
                                 ("row.1k", "text", "s", 1, "shuffled one-row reads, text of ~1 KB"),
                                 ("shuffle.vec", "vec", "v", 256, "one epoch in shuffled batches of 256 rows, time per batch, 3 KB embeddings"),
                                 ("shuffle.list16", "list16", "feat", 256, "same, ~40 KB lists")):
        add("train." + name, Train, f, doc, fixture=f, table=(f,), columns=[col], n=n)

    add("compact.lists", Compact, s0, "small fragments, %dx%d rows of 40 KB, reencode" % z["lists"], fixture=s0, compaction_mode="reencode", batch_size=6000)
    add("compact.lists.default", Compact, s0, "same, default mode", fixture=s0)
    add("compact.lists.binary", Compact, s0, "same, try_binary_copy", fixture=s0, compaction_mode="try_binary_copy")
    for r in z["lists_sizes"]:
        f = "lists_%d" % r
        add("compact.size.%d" % r, Compact, f, "%d x %d rows of 40 KB" % (z["lists"][0], r), fixture=f, compaction_mode="reencode", fam=("compact.size", r))
    add("compact.frag1000", Compact, "frag", "%d fragments x %d rows, 7 columns" % z["frag"], fixture="frag", compaction_mode="reencode")
    add("compact.frag1000.binary", Compact, "frag", "same, try_binary_copy", fixture="frag", compaction_mode="try_binary_copy")
    for t in jobs:
        add("compact.frag1000.threads%d" % t, Compact, "frag", "num_threads=%d, 4 output files" % t, fixture="frag", compaction_mode="reencode", num_threads=t,
            target_rows_per_fragment=z["frag"][0] * z["frag"][1] // 4)
    add("compact.deleted20", Compact, "frag_deleted", "20 % of rows deleted", fixture="frag_deleted", compaction_mode="reencode")
    add("compact.stable_rowids", Compact, "frag_stable", "stable row ids", fixture="frag_stable", compaction_mode="reencode")

    for n in z["commits"]:
        f, h = "commit_%d" % n, human(n)
        add("open.%s" % h, Open, f, "lance.dataset(uri), %s fragments" % h, n=n)
        add("open.fresh.%s" % h, Open, f, "open with a Session that knows nothing yet", n=n, session="fresh")
        add("open.session.%s" % h, Open, f, "one more open with a shared Session", n=n, session="shared")
        add("append.uri.%s" % h, Append, f, "3-row append by URI", n=n, how="uri")
        add("append.handle.%s" % h, Append, f, "3-row append through an open dataset", n=n, how="handle")
        add("append.commit.%s" % h, Append, f, "commit only (Append, files written before)", n=n, how="commit")
        add("checkout.%s" % h, Checkout, f, "checkout_version of the previous version", n=n)
        add("count_meta.%s" % h, CountMeta, f, "count_rows() from metadata", n=n)
        add("get_fragment.%s" % h, FragmentLookup, f, "get_fragment(id)", n=n)
        add("get_fragments.%s" % h, GetFragments, f, "get_fragments()", n=n)
        for t in ("uri", "session", "smallcache", "dataset", "target"):
            if n >= 10_000 or t not in ("session", "smallcache"):
                add("wfrag.%s.%s" % (t, h), WriteFragments, f, "write_fragments of 3 rows, " + ("unpickled dataset.write_target()" if t == "target" else "target = %s" % t), n=n, target=t)
    for p in z["writers"]:
        add("append.concurrent.%d" % p, ConcurrentAppend, (), "%d processes x %d appends of 3 rows to one small table, by URI" % (p, ConcurrentAppend.each), p=p)
    for v in z["versions"]:
        f = "versions_%d" % v
        add("versions.%d" % v, Versions, f, "ds.versions() with %d versions" % v, v=v)
        add("open.versions.%d" % v, Open, f, "open, %d versions of a 1-fragment table" % v, n=v, fixture=f, fam="open.versions")

    for k, doc in (("delete1", "delete 1 % of rows"), ("delete50", "delete 50 % of rows"), ("update10", "update one column of 10 % of rows"),
                   ("addcol_sql", "add_columns by SQL"), ("addcol_udf", "add_columns by batch UDF"),
                   ("addcol_reader", "add_columns from a reader"), ("addcol_null", "metadata-only column"),
                   ("dropcol", "drop_columns"), ("altercast", "alter_columns int32 -> int64"),
                   ("merge_insert1", "upsert of 1 %, half new"), ("merge_insert1_cols", "partial-column update of 1 %")):
        add("upd." + k, Upd, "num_frags", doc, kind=k)
    add("upd.update10.stable", Upd, "num_stable", "update 10 % with stable row ids", kind="update10", fixture="num_stable")
    add("upd.merge_insert1.stable", Upd, "num_stable", "upsert of 1 % with stable row ids", kind="merge_insert1", fixture="num_stable")
    cf = "%d fragments x %d rows" % z["cols_frags"]
    add("upd.replace1000", ColumnWrite, "cols", "DataReplacement, " + cf, how="replace")
    add("upd.replace1000.t4", ColumnWrite, "cols", "same, 4 writer threads", how="replace", threads=4)
    add("upd.merge_columns1000", ColumnWrite, "cols", "fragment.merge_columns + Merge, " + cf, how="merge_columns")
    add("upd.staged1000", ColumnWrite, "cols", "write_fragment_column + commit_column_writes, " + cf, how="staged")

    add("import.time", Import, (), "python -c 'import X'")
    add("import.size", ImportSize, (), "installed size of the package")
    return c


def make(name, api, env):
    cls, kw, _, _ = catalogue(env.scale)[name]
    return cls(api, env, **kw)
