"""Workloads that change rows and columns."""
import os
import shutil
import time

import numpy as np
import pyarrow as pa

from workload import W


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
