"""Every call that takes a table's URI takes a session, and uses it."""

import inspect
import pathlib

import glaive
import pyarrow as pa
import pytest
from glaive import LanceDataset, LanceFragment, LanceOperation, Session, WriteTarget
from glaive.fragment import write_fragments

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64())})
FRAGMENTS = 500


def newest(uri):
    """The newest version, without a read that would be counted."""
    return len(list((pathlib.Path(uri) / "_versions").glob("*.manifest")))


def append(uri, session):
    operation = LanceOperation.Append([])
    return LanceDataset.commit(uri, operation, read_version=newest(uri), session=session)


def append_batch(uri, session):
    transaction = glaive.Transaction(newest(uri), LanceOperation.Append([]))
    return LanceDataset.commit_batch(uri, [transaction], session=session)["dataset"]


def cached_target(uri, session):
    WriteTarget.close_cached(uri)
    return WriteTarget.cached(uri, session=session)


CALLS = {
    "dataset": (glaive.dataset, lambda u, s: glaive.dataset(u, session=s)),
    "version": (LanceDataset, lambda u, s: LanceDataset(u, 2, session=s)),
    "write_dataset": (
        glaive.write_dataset,
        lambda u, s: glaive.write_dataset(ROWS, u, mode="append", session=s),
    ),
    "write_fragments": (write_fragments, lambda u, s: write_fragments(ROWS, u, session=s)),
    "create": (LanceFragment.create, lambda u, s: LanceFragment.create(u, ROWS, session=s)),
    "commit": (LanceDataset.commit, append),
    "commit_batch": (LanceDataset.commit_batch, append_batch),
    "cached": (WriteTarget.cached, cached_target),
    "maintain": (glaive.maintain, lambda u, s: glaive.maintain(u, compact=False, session=s)),
    "backfill": (
        glaive.backfill,
        lambda u, s: glaive.backfill(u, {"a": "a"}, overwrite=True, session=s),
    ),
}


@pytest.fixture
def uri(tmp_path):
    """A table whose manifest is most of what is read of it."""
    uri = str(tmp_path / "t")
    glaive.write_dataset(ROWS, uri)
    [fragment] = write_fragments(ROWS, uri)
    LanceDataset.commit(uri, LanceOperation.Append([fragment] * FRAGMENTS), read_version=1)
    return uri


def bytes_read(call, uri, session):
    recorder = glaive._native.IoRecorder()
    call(uri, session)
    return recorder.stats().bytes_read


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("maintain", "backfill")])
def test_a_warm_session_saves_the_manifest(uri, name):
    call = CALLS[name][1]
    warm = Session()
    assert glaive.dataset(uri, session=warm).session().size_bytes() > 0
    cold = bytes_read(call, uri, Session())
    # The call may have made a version, which is read as the one before was.
    glaive.dataset(uri, session=warm)
    assert bytes_read(call, uri, warm) <= cold - FRAGMENTS * 50


@pytest.mark.parametrize("name", ["maintain", "backfill"])
def test_verbs_of_many_reads_open_with_it(uri, name):
    session = Session()
    CALLS[name][1](uri, session)
    assert session.size_bytes() > 0


@pytest.mark.parametrize("name", CALLS)
def test_it_is_a_keyword_with_no_default(name):
    parameter = inspect.signature(CALLS[name][0]).parameters["session"]
    assert parameter.default is None


@pytest.mark.parametrize("name", CALLS)
def test_something_else_is_refused_by_its_name(uri, name):
    with pytest.raises(TypeError, match="session"):
        CALLS[name][1](uri, "large")


@pytest.mark.parametrize("verb", ["shallow_clone", "deep_clone"])
def test_clones_open_with_it(uri, tmp_path, verb):
    session = Session()
    source = glaive.dataset(uri, version=1)
    clone = getattr(source, verb)(str(tmp_path / "clone"), 1, session=session)
    assert clone.session().is_same_as(session)
    assert session.size_bytes() > 0


def test_every_call_that_takes_a_uri_takes_one():
    places = {"uri", "base_uri", "dataset_uri", "dest"}
    # A file system's path, not a table's; and what reads nothing.
    other = {"FileSystemFragmentWriteProgress", "DeletionFile.path", "close_cached", "uri_text"}
    other |= {"from_pydantic_model"}  # not built
    missing = []
    modules = (glaive, glaive.fragment, glaive.optimize, glaive.udf, glaive.progress)
    for module in modules:
        for name, value in vars(module).items():
            if name.startswith("_"):
                continue
            members = {name: value}
            if inspect.isclass(value) and value.__module__.startswith("glaive"):
                members |= {f"{name}.{n}": getattr(value, n) for n in dir(value) if n[0] != "_"}
            for path, member in members.items():
                try:
                    parameters = inspect.signature(member).parameters
                except (TypeError, ValueError):
                    continue
                skipped = any(path.endswith(one) for one in other)
                if places & set(parameters) and "session" not in parameters and not skipped:
                    missing.append(path)
    assert missing == []
