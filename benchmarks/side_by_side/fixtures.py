"""Tables that workloads read, made once for each implementation and scale."""
import os
import shutil

import numpy as np
import pyarrow as pa

from workload import CORPORA, SIZES, sync_files


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
