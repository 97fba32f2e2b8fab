"""Workloads on whole tables: compaction, opening, commits, versions."""
import os
import pickle
import time

import pyarrow as pa

from workload import Api, W, tree


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
