"""All workloads, by name.  Everything an implementation must do is
expressed through the pylance names, so `lance` and `glaive` run the same code."""
import os
import subprocess
import sys

from change_workloads import ColumnWrite, Upd
from fixtures import build_fixture
from peers import PEERS
from read_workloads import Scan, Take, TakeSingleOrBatch, ToTable, Train
from table_workloads import Append, Checkout, Compact, ConcurrentAppend, CountMeta, FragmentLookup, GetFragments, Open, Versions, WriteFragments
from workload import Api, CORPORA, Env, SIZES, W, tree
from write_workloads import Write, WriteAppendFew, WriteBatches, WriteJobs, WriteStream


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
