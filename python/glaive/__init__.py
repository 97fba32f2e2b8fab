"""Glaive reads and writes Lance datasets.

Names and parameters are those of pylance 14, so that ``import glaive as lance`` is enough to move a
program over.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import commit as commit
from . import debug as debug
from . import errors as errors
from . import file as file
from . import fragment as fragment
from . import optimize as optimize
from . import progress as progress
from . import schema as schema
from . import types as types
from . import udf as udf
from ._engine.arguments import given
from ._engine.write_target import WriteTarget
from ._jobs.backfill import BackfillStats, backfill
from ._jobs.maintain import maintain
from ._native import (
    CleanupCandidateFile,
    CleanupExplanation,
    CleanupReferencedBranch,
    CleanupStats,
    DatasetBasePath,
    MaintenanceReport,
)
from ._native import version as engine_version
from .dataset import (
    Index,
    IndexFile,
    LanceDataset,
    LanceOperation,
    LanceScanner,
    Session,
    StagedColumns,
    Transaction,
    write_dataset,
)
from .errors import InvalidInput, NotFound
from .fragment import FragmentMetadata, LanceFragment
from .udf import batch_udf

if TYPE_CHECKING:
    from .commit import CommitLock

# Programs choose code paths by pylance's version, so this is the one whose interface is met. What
# glaive itself is, `engine_version` says.
__version__ = "14.0.2"

__all__ = [
    "BackfillStats",
    "CleanupCandidateFile",
    "CleanupExplanation",
    "CleanupReferencedBranch",
    "CleanupStats",
    "DatasetBasePath",
    "FragmentMetadata",
    "Index",
    "IndexFile",
    "LanceDataset",
    "LanceFragment",
    "LanceOperation",
    "LanceScanner",
    "MaintenanceReport",
    "Session",
    "StagedColumns",
    "Transaction",
    "WriteTarget",
    "__version__",
    "backfill",
    "batch_udf",
    "dataset",
    "engine_version",
    "maintain",
    "write_dataset",
]


# Where classes stood that pickles of older releases name.
_MOVED = {
    "_backfill": "_jobs.backfill",
    "_delta": "_verbs.delta",
    "_files": "_verbs.files",
    "_fragment_list": "_verbs.fragments",
    "_fragment_metadata": "_engine.fragment_metadata",
    "_indices": "_verbs.indices",
    "_maintain": "_jobs.maintain",
    "_operations": "_engine.operations",
    "_refs": "_verbs.refs",
    "_scanner": "_verbs.scanner",
    "_session": "_engine.session",
    "_staged": "_verbs.column_writes",
    "_stats": "_verbs.stats",
    "_write": "dataset",
    "_write_target": "_engine.write_target",
}
sys.modules.update(
    {f"glaive.{old}": sys.modules[f"glaive.{new}"] for old, new in _MOVED.items()}
)


def dataset(
    uri: str | os.PathLike[str] | None = None,
    version: int | str | None = None,
    asof: datetime | str | None = None,
    block_size: int | None = None,
    commit_lock: CommitLock | None = None,
    index_cache_size: int | None = None,
    storage_options: dict[str, str] | None = None,
    default_scan_options: dict[str, Any] | None = None,
    metadata_cache_size_bytes: int | None = None,
    index_cache_size_bytes: int | None = None,
    read_params: dict[str, Any] | None = None,
    session: Session | None = None,
    namespace_client: Any | None = None,
    table_id: list[str] | None = None,
    base_store_params: dict[str, dict[str, str]] | None = None,
) -> LanceDataset:
    """Opens a table.

    Parameters
    ----------
    uri : str or path
        A path, or a ``file://`` or ``memory://`` URI.
    version : int, optional
        The newest without it.
    asof : datetime or str, optional
        The newest version made before this local time. Not looked at beside a `version`.
    default_scan_options : dict, optional
        Options of `LanceDataset.scanner` for every scan that does not set them.
    metadata_cache_size_bytes : int, optional
        Gives the handle a cache of its own, of this size.
    session : Session, optional
        Cache to share; the process's own without it.
    block_size, index_cache_size, index_cache_size_bytes, read_params
        Accepted; they tune parts of pylance that have no counterpart here.

    Others
        Not supported: NotImplementedError when they are given.

    Raises
    ------
    ValueError
        Where there is no table or no such version.
    OSError
        For a damaged table.
    NotImplementedError
        For another scheme, or a table that needs features which are not supported, by name.
    """
    if uri is None and namespace_client is None and table_id is None:
        raise InvalidInput("Must specify either 'uri' or both 'namespace_client' and 'table_id'.")
    opened = LanceDataset(**given(locals(), but=["asof"]))
    if version is not None or asof is None:
        return opened
    moment = _moment(asof)
    for entry in reversed(opened.versions()):
        if entry["timestamp"] < moment:
            return opened.checkout_version(entry["version"])
    raise NotFound(f"{moment} is earlier than the first version of this dataset")


def _moment(asof: Any) -> datetime:
    if isinstance(asof, str):
        try:
            return datetime.fromisoformat(asof)
        except ValueError as error:
            raise InvalidInput(f"not a time: {asof}") from error
    if hasattr(asof, "to_pydatetime"):
        asof = asof.to_pydatetime()
    if not isinstance(asof, datetime):
        raise TypeError(f"asof must be a datetime or a str, not {type(asof).__name__}")
    return asof
