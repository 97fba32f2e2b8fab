"""Workloads that write tables."""
import importlib
import inspect
import shutil

import pyarrow as pa

from workload import W


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
