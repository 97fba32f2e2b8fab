"""What every workload is made of: sizes, the implementation it runs on, its folders, the base class."""
import importlib
import os
import shutil
import zlib

import pyarrow as pa
import pyarrow.ipc

import gen
from peers import PEERS


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
