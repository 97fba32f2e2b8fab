"""Merging other rows into a table by key."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import pyarrow as pa

from .. import _native
from .._engine.arguments import check_names, check_schema, check_time, predicate
from .._engine.batches import coerce_reader
from .._engine.exchange import transaction_from_native
from .._engine.option_kinds import set_option
from .._engine.options import Durability, ProgressFunction, version_options
from ..errors import InvalidInput, as_os_errors, unbuilt

if TYPE_CHECKING:
    from .._engine.operations import Transaction
    from ..dataset import LanceDataset
    from ..types import ReaderLike


class ExecuteResult(TypedDict):
    num_inserted_rows: int
    num_updated_rows: int
    num_deleted_rows: int


class MergeInsertBuilder:
    """Says what a merge does, and does it.

    Rows whose keys the table and the source both have are "matched"; "not matched" are those of
    the source alone, "not matched by source" those of the table alone. Keys that hold a null match
    nothing. Each method gives the builder back.
    """

    def __init__(self, dataset: LanceDataset, on: str | Iterable[str] | None = None) -> None:
        keys = [] if on is None else [on] if isinstance(on, str) else on
        keys = list(keys) if isinstance(keys, Iterable) else keys
        check_names("on", keys)
        self._dataset = dataset
        self._options = _native.MergeInsertOptions()
        self._options.on = _native.merge_key_columns(dataset._ds, keys)

    def when_matched_update_all(self, condition: str | None = None) -> MergeInsertBuilder:
        """Matched rows get the values of the source's columns.

        `condition` is SQL over `source.x` and `target.x`; rows for which it is not true are kept as
        they are, and still count as matched.
        """
        self._options.when_matched = _native.WhenMatched.update_all
        set_option(self._options, "condition", condition, attribute="update_condition")
        return self

    def when_matched_delete(self) -> MergeInsertBuilder:
        """Matched rows are deleted. The source needs no columns but the key's."""
        self._options.when_matched = _native.WhenMatched.delete
        return self

    def when_matched_fail(self) -> MergeInsertBuilder:
        """A match is an error."""
        self._options.when_matched = _native.WhenMatched.fail
        return self

    def when_not_matched_insert_all(self) -> MergeInsertBuilder:
        """Rows of the source alone are added; columns that it lacks are null."""
        self._options.insert_not_matched = True
        return self

    def when_not_matched_by_source_delete(self, expr: str | None = None) -> MergeInsertBuilder:
        """Rows of the table alone are deleted, all or those for which `expr` is true."""
        self._options.delete_not_matched_by_source = True
        if expr is not None:
            condition = predicate(expr, pa.schema(self._dataset._ds.schema))
            check = _native.ScanOptions()
            check.filter = condition
            _native.scan_schema(self._dataset._ds, check)
            self._options.delete_condition = condition
        return self

    def conflict_retries(self, max_retries: int) -> MergeInsertBuilder:
        """Times to try again on a newer version when another writer got in the way; 10 at first."""
        set_option(self._options, "conflict_retries", max_retries)
        return self

    def retry_timeout(self, timeout: timedelta) -> MergeInsertBuilder:
        """How long to go on trying; 30 seconds at first."""
        check_time("timeout", timeout)
        self._options.retry_timeout_ms = timeout // timedelta(milliseconds=1)
        return self

    def data_storage_version(self, version: str) -> MergeInsertBuilder:
        """What the rows are written as; the table's own by default."""
        set_option(self._options, "data_storage_version", version)
        return self

    def use_index(self, use_index: bool) -> MergeInsertBuilder:
        """Has no effect: the key columns are read whole."""
        return self

    def write_mode(
        self, mode: Literal["auto", "rewrite_rows", "rewrite_columns"]
    ) -> MergeInsertBuilder:
        """How matched rows are written: "auto" and "rewrite_rows" move them to new fragments."""
        if mode not in ("auto", "rewrite_rows", "rewrite_columns"):
            raise InvalidInput(
                f"Invalid write_mode: {mode}. Expected one of 'auto', 'rewrite_rows', "
                "'rewrite_columns'"
            )
        if mode == "rewrite_columns":
            unbuilt('MergeInsertBuilder.write_mode("rewrite_columns")')
        return self

    def target_bases(self, bases: list[str]) -> MergeInsertBuilder:
        unbuilt("MergeInsertBuilder.target_bases")

    def target_all_bases(self, include_primary: bool = True) -> MergeInsertBuilder:
        unbuilt("MergeInsertBuilder.target_all_bases")

    def mark_sstables_as_compacted(self, sstables: Any) -> MergeInsertBuilder:
        unbuilt("MergeInsertBuilder.mark_sstables_as_compacted")

    def execute(
        self,
        data_obj: ReaderLike,
        *,
        schema: pa.Schema | None = None,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> ExecuteResult:
        """Merges the rows of `data_obj`, anything that `write_dataset` takes.

        Parameters
        ----------
        data_obj : reader-like
        schema : pyarrow.Schema, optional
            Of `data_obj`.
        durability, transaction_properties, commit_message, progress : optional
            As in `write_dataset`.

        Raises
        ------
        glaive.errors.InvalidInput
            Where nothing was configured.
        glaive.errors.RefusedInput
            Where columns do not fit, or several rows of the source match one row of the table.
        glaive.errors.AlreadyExists
            For a match, after `when_matched_fail`.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        source = coerce_reader(data_obj, schema)
        _native.check_merge_options(self._options)
        with as_os_errors():
            result = _native.merge_insert(self._dataset._ds, source, self._options, version)
        self._dataset._ds = result.dataset
        return _counts(result.stats)

    def execute_uncommitted(
        self,
        data_obj: ReaderLike,
        *,
        schema: pa.Schema | None = None,
        durability: Durability = None,
        transaction_properties: dict[str, str] | None = None,
        commit_message: str | None = None,
        progress: ProgressFunction | None = None,
    ) -> tuple[Transaction, ExecuteResult]:
        """Does the work and returns a transaction for `LanceDataset.commit`, and the counts.

        It says which keys it inserts: of two such transactions that insert one key, the second to
        be committed is refused with a retryable conflict.
        """
        version = version_options(durability, transaction_properties, commit_message, progress)
        source = coerce_reader(data_obj, schema)
        _native.check_merge_options(self._options)
        with as_os_errors():
            staged = _native.stage_merge_insert(
                self._dataset._ds, source, self._options, version
            )
        return transaction_from_native(staged.transaction), _counts(staged.stats)

    def explain_plan(self, schema: pa.Schema | None = None, verbose: bool = False) -> str:
        """How a source of this schema would be merged; the table's own schema by default."""
        if schema is None:
            schema = pa.schema(self._dataset._ds.schema)
        check_schema("schema", schema)
        return _native.explain_merge_insert(self._dataset._ds, schema, self._options)

    def analyze_plan(self, data_obj: ReaderLike, *, schema: pa.Schema | None = None) -> str:
        """Does the work without a commit, leaves no files, and says what was done."""
        return _native.analyze_merge_insert(
            self._dataset._ds, coerce_reader(data_obj, schema), self._options
        )


def _counts(stats: _native.MergeInsertStats) -> ExecuteResult:
    return {
        "num_inserted_rows": stats.num_inserted_rows,
        "num_updated_rows": stats.num_updated_rows,
        "num_deleted_rows": stats.num_deleted_rows,
    }
