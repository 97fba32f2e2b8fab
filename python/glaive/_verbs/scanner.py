"""Scans: what to read, and the ways to receive it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.dataset

from .. import _native
from .._engine.arguments import (
    check_integer,
    check_size,
    check_text,
    distance_metric,
    predicate,
    projection,
    query_vector,
    refuse,
)
from .._engine.batches import record_batches
from .._engine.option_kinds import set_option
from .._engine.shown import ShownAs
from ..errors import InvalidInput, unbuilt

if TYPE_CHECKING:
    from .._engine.arguments import Filter
    from ..dataset import LanceDataset
    from ..fragment import LanceFragment

_DEFAULT_BATCH_SIZE = 8192
_BLOB_HANDLING = ("all_binary", "all_descriptions", "blobs_descriptions")


@dataclass
class ColumnOrdering:
    """A column to sort by."""

    column_name: str
    ascending: bool = True
    nulls_first: bool = False


class ScannerBuilder:
    """Collects the options of a scan.

    Options that cannot change the rows of this engine's results are accepted and have no effect:
    ``batch_readahead`` and ``fragment_readahead`` (reading ahead is bounded in bytes, by
    ``io_buffer_size``), ``late_materialization``, ``use_stats``, ``use_scalar_index`` and
    ``fast_search``.
    """

    def __init__(self, ds: LanceDataset) -> None:
        self.ds = ds
        self._native_dataset = ds._ds
        self._options = _native.ScanOptions()
        self._batch_size: int | None = None
        self._strict = False
        self._nearest: _native.NearestQuery | None = None
        self._prefilter = False
        self._autoproject = True

    def apply_defaults(self, default_opts: dict[str, Any]) -> ScannerBuilder:
        """Sets options by name. Errors: ValueError for a name that is none."""
        if not isinstance(default_opts, Mapping):
            raise TypeError(f"default_opts must be a dict of options by name, got {default_opts!r}")
        for name, value in default_opts.items():
            check_text("a name in default_opts", name)
            setter = None if name.startswith("_") else getattr(type(self), name, None)
            if setter is None or name in ("apply_defaults", "to_scanner"):
                raise InvalidInput(f"Unknown option {name}")
            if isinstance(value, dict):
                setter(self, **value)
            else:
                setter(self, value)
        return self

    def _given(self, _dataset: _native.Dataset | None = None, **given: Any) -> ScannerBuilder:
        # Options as `LanceDataset.scanner` names them; None leaves the default.
        names = {"fragments": "with_fragments", "index_segments": "with_index_segments"}
        if _dataset is not None:
            self._native_dataset = _dataset
        for name, value in given.items():
            if value is not None:
                setter = getattr(self, names.get(name, name))
                setter(**value) if name == "nearest" and isinstance(value, dict) else setter(value)
        return self

    def batch_size(self, batch_size: int) -> ScannerBuilder:
        """Rows of every batch but the last."""
        check_size("batch_size", batch_size, 1)
        self._batch_size = batch_size
        return self

    def batch_size_bytes(self, batch_size_bytes: int) -> ScannerBuilder:
        refuse("scanner", batch_size_bytes=batch_size_bytes)
        return self

    def io_buffer_size(self, io_buffer_size: int) -> ScannerBuilder:
        """Bytes that may be read ahead of the caller."""
        check_size("io_buffer_size", io_buffer_size, 1)
        if io_buffer_size is not None:
            set_option(
                self._options, "io_buffer_size", io_buffer_size, attribute="read_ahead_bytes"
            )
        return self

    def batch_readahead(self, nbatches: int | None = None) -> ScannerBuilder:
        check_size("batch_readahead", nbatches, 1)
        return self

    def fragment_readahead(self, nfragments: int | None = None) -> ScannerBuilder:
        check_size("fragment_readahead", nfragments, 0)
        return self

    def scan_in_order(self, scan_in_order: bool = True) -> ScannerBuilder:
        """False lets batches come as they are ready."""
        set_option(self._options, "scan_in_order", scan_in_order, attribute="ordered")
        return self

    def limit(self, n: int | None = None) -> ScannerBuilder:
        check_integer("limit", n)
        check_size("Limit", n, 0)
        set_option(self._options, "limit", n)
        return self

    def offset(self, n: int | None = None) -> ScannerBuilder:
        check_integer("offset", n)
        check_size("Offset", n, 0)
        set_option(self._options, "offset", n or 0)
        return self

    def columns(self, cols: list[str] | dict[str, str] | None = None) -> ScannerBuilder:
        """Names of columns, with dots below structs; all without it. A dict gives each column of
        the result its SQL expression.
        """
        self._options.columns = None
        self._options.computed = None
        if isinstance(cols, dict):
            for name, expression in cols.items():
                check_text("a column's name", name)
                check_text(f"the expression of column {name!r}", expression)
            self._options.computed = [
                _native.ComputedColumn(name, expression) for name, expression in cols.items()
            ]
        else:
            self._options.columns = projection(cols, "scanner")
        return self

    def filter(self, filter: Filter) -> ScannerBuilder:
        """SQL text or a pyarrow Expression."""
        if isinstance(filter, dict) or type(filter).__name__ in (
            "FullTextQuery",
            "VectorSearchQuery",
        ):
            unbuilt("scanner(filter=...) with a search")
        self._options.filter = predicate(filter, pa.schema(self._native_dataset.schema))
        return self

    def row_addr_prefilter(
        self, allowlist: bytes | None = None, blocklist: bytes | None = None
    ) -> ScannerBuilder:
        refuse("scanner", row_addr_allowlist=allowlist, row_addr_blocklist=blocklist)
        return self

    def row_addr_allowlist(self, allowlist: bytes | None = None) -> ScannerBuilder:
        return self.row_addr_prefilter(allowlist=allowlist)

    def row_addr_blocklist(self, blocklist: bytes | None = None) -> ScannerBuilder:
        return self.row_addr_prefilter(blocklist=blocklist)

    def prefilter(self, prefilter: bool) -> ScannerBuilder:
        """True filters before the nearest rows are chosen, False those that were."""
        self._prefilter = bool(prefilter)
        return self

    def with_row_id(self, with_row_id: bool = True) -> ScannerBuilder:
        set_option(self._options, "with_row_id", with_row_id)
        return self

    def with_row_address(self, with_row_address: bool = True) -> ScannerBuilder:
        """Adds ``_rowaddr``: the fragment's id in the upper 32 bits, the row in the lower."""
        set_option(self._options, "with_row_address", with_row_address)
        return self

    def late_materialization(self, late_materialization: bool | list[str]) -> ScannerBuilder:
        return self

    def blob_handling(self, blob_handling: str | None) -> ScannerBuilder:
        """How blob columns are read. Tables with such columns are refused when they are read."""
        if blob_handling is not None and blob_handling not in _BLOB_HANDLING:
            raise InvalidInput(
                f"Invalid blob_handling: {blob_handling}. Expected one of: "
                + ", ".join(_BLOB_HANDLING)
            )
        if blob_handling == "all_descriptions":
            unbuilt('scanner(blob_handling="all_descriptions")')
        return self

    def use_stats(self, use_stats: bool = True) -> ScannerBuilder:
        return self

    def use_scalar_index(self, use_scalar_index: bool = True) -> ScannerBuilder:
        return self

    def with_fragments(self, fragments: Iterable[LanceFragment] | None) -> ScannerBuilder:
        """Only these fragments, in this order."""
        if fragments is None:
            self._options.fragment_ids = None
            return self
        given = list(fragments)
        for fragment in given:
            if not hasattr(fragment, "fragment_id"):
                raise TypeError(
                    f"fragments must be an iterable of LanceFragment. Got {type(fragment)} instead."
                )
        self._options.fragment_ids = [fragment.fragment_id for fragment in given]
        return self

    def with_index_segments(self, index_segments: Iterable[Any] | None) -> ScannerBuilder:
        if index_segments is not None:
            unbuilt("scanner(index_segments=...)")
        return self

    def nearest(
        self,
        column: str,
        q: Any,
        k: int | None = None,
        metric: str | None = None,
        nprobes: int | None = None,
        minimum_nprobes: int | None = None,
        maximum_nprobes: int | None = None,
        refine_factor: int | None = None,
        use_index: bool = True,
        ef: int | None = None,
        query_parallelism: int | None = None,
        approx_mode: str = "normal",
        distance_range: tuple[float | None, float | None] | None = None,
        search_effort: float | None = None,
    ) -> ScannerBuilder:
        """The `k` rows whose vectors are nearest to `q`, exactly, with their ``_distance``.

        `q` may hold several vectors; ``query_index`` tells their rows apart. The parameters of an
        approximate search are accepted and have no effect. Raises NotImplementedError where
        `column` has a vector index and `use_index` is left at True.
        """
        search = _native.NearestQuery(column, query_vector(self.ds.schema, column, q))
        check_integer("k", k)
        check_size("Nearest-K", k, 1)
        if k is not None:
            set_option(search, "k", k)
        search.metric = distance_metric(metric)
        if distance_range is not None:
            search.min_distance, search.max_distance = distance_range
        set_option(search, "use_index", use_index)
        self._nearest = search
        return self

    def fast_search(self, flag: bool) -> ScannerBuilder:
        return self

    def include_deleted_rows(self, flag: bool) -> ScannerBuilder:
        """Deleted rows come too, with a null ``_rowid``."""
        set_option(self._options, "include_deleted_rows", flag)
        return self

    def full_text_search(self, query: Any, columns: list[str] | None = None) -> ScannerBuilder:
        unbuilt("scanner(full_text_query=...)")

    def full_text_query(self, query: Any) -> ScannerBuilder:
        unbuilt("scanner(full_text_query=...)")

    def minhash_search(self, query: Any) -> ScannerBuilder:
        unbuilt("scanner(nearest=...) with a MinHashQuery")

    def scan_stats_callback(self, callback: Any) -> ScannerBuilder:
        refuse("scanner", scan_stats_callback=callback)
        return self

    def strict_batch_size(self, strict_batch_size: bool = False) -> ScannerBuilder:
        """Fills batches also where no batch_size is given. A given one is always filled."""
        self._strict = strict_batch_size
        return self

    def order_by(self, orderings: list[ColumnOrdering] | None) -> ScannerBuilder:
        """Sorts the rows by columns of the table: the first one, then the others among equals."""
        if isinstance(orderings, str) or not isinstance(orderings or [], Iterable):
            raise TypeError(
                f"order_by must be a list of columns' names or ColumnOrdering, got {orderings!r}"
            )
        keys = []
        for order in orderings or []:
            if isinstance(order, str):
                order = ColumnOrdering(order)
            if not isinstance(order, ColumnOrdering):
                raise TypeError(
                    f"orderings must be a list of ColumnOrdering. Got {type(order)} instead."
                )
            keys.append(_native.SortKey(order.column_name, order.ascending, order.nulls_first))
        self._options.order_by = keys
        return self

    def disable_scoring_autoprojection(self, disable: bool = True) -> ScannerBuilder:
        """Leaves ``_distance`` out of results whose columns do not name it."""
        self._autoproject = not disable
        return self

    def substrait_aggregate(self, aggregate: bytes) -> ScannerBuilder:
        refuse("scanner", substrait_aggregate=aggregate)
        return self

    def to_scanner(self) -> LanceScanner:
        if self._batch_size is None and self._strict:
            self._options.batch_size = _DEFAULT_BATCH_SIZE
        else:
            self._options.batch_size = self._batch_size
        if self._nearest is not None:
            self._nearest.prefilter = self._prefilter
            self._nearest.add_distance = self._autoproject
        self._options.nearest = self._nearest
        scanner = LanceScanner(self._options, self.ds)
        scanner._native_dataset = self._native_dataset
        return scanner


class LanceScanner(ShownAs):
    """A scan over one version of a table. May be run any number of times."""

    _shown_as = pa.dataset.Scanner

    def __init__(
        self,
        scanner: _native.ScanOptions,
        dataset: LanceDataset,
        snapshot: dict[str, Any] | None = None,
    ) -> None:
        self._options = scanner
        self._ds = dataset
        # The scan's version stays, whatever the dataset object is moved on to.
        self._native_dataset = dataset._ds

    def _open(self) -> _native.BatchStream:
        return _native.scan(self._native_dataset, self._options)

    def to_table(self) -> pa.Table:
        """All rows, in memory."""
        return pa.table(self._open().read_all())

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Batches as they are asked for; errors keep their classes."""
        return record_batches(self._open())

    def to_reader(self) -> pa.RecordBatchReader:
        stream = self._open()
        return pa.RecordBatchReader.from_batches(pa.schema(stream.schema), record_batches(stream))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, blob_mode: str = "lazy", **kwargs: Any) -> Any:
        """All rows as a pandas DataFrame; `kwargs` are pyarrow's `Table.to_pandas`'s."""
        if blob_mode not in ("lazy", "bytes", "descriptions"):
            raise InvalidInput("blob_mode must be one of: 'lazy', 'bytes', 'descriptions'")
        return self.to_table().to_pandas(**kwargs)

    @property
    def projected_schema(self) -> pa.Schema:
        return pa.schema(_native.scan_schema(self._native_dataset, self._options))

    @property
    def dataset_schema(self) -> pa.Schema:
        return self._ds.schema

    def count_rows(self) -> int:
        return _native.count_rows(self._native_dataset, self._options)

    def head(self, num_rows: int) -> pa.Table:
        batches = []
        missing = num_rows
        stream = self._open()
        for batch in record_batches(stream):
            if missing <= 0:
                break
            batches.append(batch.slice(0, missing))
            missing -= batch.num_rows
        return pa.Table.from_batches(batches, pa.schema(stream.schema))

    def scan_batches(self) -> list[pa.RecordBatch]:
        return list(self.to_batches())

    def explain_plan(self, verbose: bool = False) -> str:
        """The steps of the scan, the last first. The text is for people."""
        return _native.explain_scan(self._native_dataset, self._options)

    def analyze_plan(self, count_rows: bool = False) -> str:
        """Runs the scan and returns its steps, with the rows, batches and time that it took."""
        return _native.analyze_scan(self._native_dataset, self._options)

    def take(self, indices: Any) -> NoReturn:
        unbuilt("LanceScanner.take")

    @staticmethod
    def from_dataset(*args: Any, **kwargs: Any) -> NoReturn:
        unbuilt("LanceScanner.from_dataset")

    @staticmethod
    def from_fragment(*args: Any, **kwargs: Any) -> NoReturn:
        unbuilt("LanceScanner.from_fragment")

    @staticmethod
    def from_batches(*args: Any, **kwargs: Any) -> NoReturn:
        unbuilt("LanceScanner.from_batches")
