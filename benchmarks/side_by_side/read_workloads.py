"""Workloads that scan, take and train."""
import importlib
import os
import time

import numpy as np

from peers import arrow_rows, sql
from table_workloads import pages
from workload import CORPORA, W, crc, drop_cache, sync_files


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
