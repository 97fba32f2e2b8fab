"""Names and parameters are pylance's."""

import importlib
import inspect

import glaive
import lance
import pytest

# Callables that glaive has and pylance has not; and parameters, by `module.path.parameter`.
OURS_ONLY = {
    "dataset.DatasetOptimizer.compact_files.target_bytes_per_fragment",
    "dataset.DatasetOptimizer.compact_files.rewrite_small_pages",
    "dataset.DatasetOptimizer.compact_files.memory_limit",
    "dataset.DatasetOptimizer.compact_files.max_overlays_per_fragment",
    "dataset.DatasetOptimizer.compact_files.max_page_bytes",
    "dataset.DatasetOptimizer.compact_files.data_cache_bytes",
    "dataset.DatasetOptimizer.compact_files.canary",
    "dataset.DatasetOptimizer.compact_files.partial",
    "optimize.Compaction.commit.partial",
    "dataset.LanceDataset.commit.idempotency_token",
    "dataset.LanceDataset.commit.session",
    "dataset.LanceDataset.commit.strict",
    "dataset.LanceDataset.drop.session",
    "dataset.LanceDataset.commit_batch.session",
    "dataset.write_dataset.n_jobs",
    "fragment.write_fragments.durability",
    "fragment.write_fragments.n_jobs",
    # What Arrow's Dataset has and pylance leaves to it, where it reads uninitialised memory.
    "dataset.LanceDataset.filter",
    "dataset.LanceDataset.sort_by",
    "dataset.LanceDataset.join_asof",
    # A scan option's name must also be the name of its setter, for default_scan_options.
    "dataset.ScannerBuilder.row_addr_allowlist",
    "dataset.ScannerBuilder.row_addr_blocklist",
    "dataset.ScannerBuilder.full_text_query",
}
# Calls that make a version, and what each of them takes.
VERSION_OPTIONS = {"durability", "transaction_properties", "commit_message", "progress"}
MAKE_VERSIONS = {
    "dataset.write_dataset",
    "dataset.DatasetOptimizer.compact_files",
    "optimize.Compaction.commit",
    "dataset.MergeInsertBuilder.execute",
    "dataset.MergeInsertBuilder.execute_uncommitted",
} | {
    f"dataset.LanceDataset.{verb}"
    for verb in (
        "add_bases add_columns alter_columns commit commit_batch create_branch deep_clone delete"
        " delete_config_keys drop_columns drop_index merge restore shallow_clone truncate_table"
        " update update_config update_field_metadata update_metadata update_schema_metadata"
    ).split()
}
NOT_BUILT = {
    # Modules' own helpers and the names of later work.
    "dataset": {
        "AlterColumn", "AutoCleanupConfig", "Branch", "DataStatistics", "DatasetDelta",
        "FieldStatistics", "IndexInformation", "SqlQuery", "SqlQueryBuilder", "Tag", "Tags",
        "Branches", "VectorIndexReader", "VectorSearchQuery",
        "serialize_row_addrs",
    },
    "fragment": {"FragmentSession", "RowIdSequence"},
    "optimize": set(),
    "file": {"ListResult"},
    "commit": set(),
}  # fmt: skip

# Classes of pylance whose constructors are not for callers.
NO_CONSTRUCTOR = {"LanceScanner", "LanceStats", "DatasetOptimizer", "ReaderResults", "LanceSchema"}


def public_callables(module):
    """`path, object` of each public function, and each public method of each public class."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            yield from class_callables(name, value)


def class_callables(name, value):
    for attribute, member in vars(value).items():
        if attribute == "__init__" and name not in NO_CONSTRUCTOR:
            yield f"{name}.__init__", member
        elif not attribute.startswith("_") and not isinstance(member, type):
            if isinstance(member, (staticmethod, classmethod)) or inspect.isfunction(member):
                yield f"{name}.{attribute}", getattr(value, attribute)
            elif isinstance(member, property):
                yield f"{name}.{attribute}", member


def cases():
    for module, missing in NOT_BUILT.items():
        for path, theirs in public_callables(importlib.import_module(f"lance.{module}")):
            if path.split(".")[0] not in missing:
                yield pytest.param(module, path, theirs, id=f"{module}.{path}")
    yield pytest.param("", "dataset", lance.dataset, id="dataset")


def find(module, path):
    found = importlib.import_module(f"glaive.{module}") if module else glaive
    for part in path.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("module, path, theirs", list(cases()))
def test_signature(module, path, theirs):
    ours = find(module, path)
    if isinstance(theirs, property):
        assert isinstance(ours, property)
        return
    where = f"{module}.{path}"
    theirs = parameters(theirs)
    own = VERSION_OPTIONS - {p[0] for p in theirs} if where in MAKE_VERSIONS else set()
    assert own <= {p[0] for p in parameters(ours) if p[1] is inspect.Parameter.KEYWORD_ONLY}
    ours = [p for p in parameters(ours) if p[0] not in own]
    assert [p for p in ours if f"{where}.{p[0]}" not in OURS_ONLY] == theirs


def parameters(function):
    signature = inspect.signature(function)
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


@pytest.mark.parametrize("name", ["LanceDataset", "LanceFragment", "LanceScanner"])
def test_nothing_is_left_to_arrow(name):
    """Arrow's own methods read members that its constructor would have set."""
    cls = getattr(glaive, name)
    harmless = {"__reduce_cython__", "__setstate_cython__"}
    for base in cls.__mro__:
        if base.__module__ == "pyarrow._dataset":
            for attribute in vars(base):
                if not attribute.startswith("__") and attribute not in harmless:
                    owner = next(c for c in cls.__mro__ if attribute in vars(c))
                    assert owner.__module__.startswith("glaive"), f"{name}.{attribute}"


def test_options_of_compaction():
    ours = glaive.optimize.CompactionOptions.__annotations__
    theirs = lance.optimize.CompactionOptions.__annotations__
    assert set(ours) == set(theirs) | {
        "target_bytes_per_fragment",
        "rewrite_small_pages",
        "memory_limit",
        "max_overlays_per_fragment",
        "look_ahead",
        "max_page_bytes",
        "data_cache_bytes",
        "canary",
        "partial",
        *VERSION_OPTIONS,
    }


def test_version_is_at_least_the_one_that_clients_ask_for():
    assert tuple(int(part) for part in glaive.__version__.split(".")) >= (10, 0, 0)
    assert glaive.engine_version
