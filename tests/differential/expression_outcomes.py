"""What both engines make of an expression, and the smallest form where they differ."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import glaive
import lance
import pyarrow as pa
from expression_grammar import GROUPS, SLOT, WORDS, Node

BATCH = 24
MOST_SHRINKS = 200


@dataclass(frozen=True)
class Outcome:
    """A value, or the text of an error."""

    value: Any = None
    error: str | None = None
    kind: str = ""  # the Arrow type of a column
    is_unbuilt: bool = False

    def __str__(self) -> str:
        return f"error: {self.error}" if self.error is not None else f"{self.kind} {self.value}"


@dataclass(frozen=True)
class Difference:
    seed: int
    verb: str  # value, filter, count, delete, update
    kind: str  # values, type, refused, accepted, unbuilt
    node: Node
    ours: Outcome
    theirs: Outcome
    row: str = ""
    rows: tuple[int, ...] = ()  # that differ
    inputs: tuple[Any, ...] = ()  # of each operand, its values of all rows, or None
    columns: dict[str, list[Any]] = field(default_factory=dict)  # that it reads

    def operands(self) -> list[tuple[Any, ...]]:
        """The operands' values of each row that differs."""
        return [tuple(values and values[at] for values in self.inputs) for at in self.rows]

    def group(self) -> str:
        """What differences of one cause mostly share."""
        below = ", ".join(_leaf(child) for child in self.node.children)
        return f"{self.kind}: {self.node.template} of {below}"

    def report(self) -> str:
        return (
            f"seed {self.seed}: {self.verb} {self.node.sql()}: {self.kind}\n"
            f"  glaive: {str(self.ours)[:300]}\n  pylance: {str(self.theirs)[:300]}\n  {self.row}"
        )


def _leaf(node: Node) -> str:
    return node.kind if node.is_literal or node.kind in WORDS else node.template


def attempt(call: Callable[[], Outcome]) -> Outcome:
    """Runs a call of either engine; a panic of pylance is an error as well."""
    try:
        return call()
    except (KeyboardInterrupt, SystemExit):
        raise
    except NotImplementedError as error:
        return Outcome(error=str(error), is_unbuilt=True)
    except BaseException as error:  # noqa: BLE001, PanicException is no Exception
        return Outcome(error=f"{type(error).__name__}: {error}")


def shown(array: pa.Array) -> list[Any]:
    """Values that are equal where their bits are, but for NaNs."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return shown(array.dictionary_decode())
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    if pa.types.is_floating(kind):
        return [v if v is None or (v and v == v) else str(v) for v in array.to_pylist()]
    if pa.types.is_struct(kind):
        fields = [shown(field) for field in array.flatten()]
        rows = zip(*fields, strict=True) if fields else [() for _ in array]
        known = array.is_valid().to_pylist()
        return [row if there else None for row, there in zip(rows, known, strict=True)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        items = iter(shown(array.flatten()))
        lengths = array.value_lengths().to_pylist()
        return [None if n is None else [next(items) for _ in range(n)] for n in lengths]
    return array.to_pylist()


def shape(kind: pa.DataType) -> str:
    """The type without names of list items; views are the texts that they show."""
    if pa.types.is_fixed_size_list(kind):
        return f"fixed<{shape(kind.value_type)}, {kind.list_size}>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{'large_' if pa.types.is_large_list(kind) else ''}list<{shape(kind.value_type)}>"
    if pa.types.is_dictionary(kind):
        return f"dictionary<{shape(kind.value_type)}>"
    return str(kind).replace("_view", "")


def column(array: pa.ChunkedArray) -> Outcome:
    values = [value for chunk in array.chunks for value in shown(chunk)]
    return Outcome(value=values, kind=shape(array.type))


def differ(ours: Outcome, theirs: Outcome) -> str | None:
    """How two outcomes differ; two errors do not."""
    if ours.error is not None and theirs.error is not None:
        return None
    if ours.error is not None:
        return "unbuilt" if ours.is_unbuilt else "refused"
    if theirs.error is not None:
        return "accepted"
    if ours.value != theirs.value:
        return "values"
    return "type" if ours.kind != theirs.kind else None


class Engines:
    """Both engines on one table, and copies of it for deletes and updates."""

    def __init__(self, table: pa.Table, folder: str, seed: int):
        self.path = os.path.join(folder, f"{seed}.lance")
        self.table, self.seed = table, seed
        lance.write_dataset(table, self.path, data_storage_version="2.2", max_rows_per_file=30)
        self.ours, self.theirs = glaive.dataset(self.path), lance.dataset(self.path)

    def pair(self, call: Callable[[Any], Outcome]) -> tuple[Outcome, Outcome]:
        return attempt(lambda: call(self.ours)), attempt(lambda: call(self.theirs))

    # -- the verbs

    def values(self, nodes: list[Node]) -> list[tuple[Outcome, Outcome]]:
        """One scan of all where that goes, since most of what it costs is not the expressions."""
        found = [self._project(dataset, nodes) for dataset in (self.ours, self.theirs)]
        return list(zip(*found, strict=True))

    def _project(self, dataset: Any, nodes: list[Node]) -> list[Outcome]:
        columns = {"id": "id", **{f"x{i}": node.sql() for i, node in enumerate(nodes)}}
        outcome = attempt(lambda: Outcome(value=dataset.to_table(columns=columns)))
        if outcome.error is None:
            return [column(outcome.value[f"x{i}"]) for i in range(len(nodes))]
        if len(nodes) == 1:
            return [outcome]
        half = len(nodes) // 2
        return self._project(dataset, nodes[:half]) + self._project(dataset, nodes[half:])

    def value(self, node: Node) -> tuple[Outcome, Outcome]:
        return self.values([node])[0]

    def filter(self, node: Node) -> tuple[Outcome, Outcome]:
        def run(dataset: Any) -> Outcome:
            rows = dataset.to_table(columns=["id"], filter=node.sql())
            return Outcome(rows["id"].to_pylist())

        return self.pair(run)

    def count(self, node: Node) -> tuple[Outcome, Outcome]:
        sql = node.sql()
        return self.pair(lambda d: Outcome(d.count_rows(sql)))

    def delete(self, node: Node) -> tuple[Outcome, Outcome]:
        def run(dataset: Any) -> Outcome:
            dataset.delete(node.sql())
            return Outcome(lance.dataset(dataset.uri).to_table(columns=["id"])["id"].to_pylist())

        return self._changed(run)

    def update(self, node: Node, name: str) -> tuple[Outcome, Outcome]:
        def run(dataset: Any) -> Outcome:
            dataset.update({name: node.sql()}, where="id % 2 = 0")
            rows = lance.dataset(dataset.uri).to_table(columns=["id", name]).sort_by("id")
            return column(rows[name])

        return self._changed(run)

    def _changed(self, run: Callable[[Any], Outcome]) -> tuple[Outcome, Outcome]:
        found = []
        for engine in (glaive, lance):
            copy = self.path + ".copy"
            shutil.copytree(self.path, copy, copy_function=os.link)
            found.append(attempt(lambda e=engine, c=copy: run(e.dataset(c))))
            shutil.rmtree(copy)
        return found[0], found[1]

    # -- what differs

    def difference(self, verb: str, node: Node, kind: str, again: Any) -> Difference:
        """The smallest form of what differs in that way; `again` runs a form of it."""
        node = shrink(node, lambda form: differ(*again(form)) == kind, free=verb == "value")
        ours, theirs = again(node)
        rows = _rows(ours, theirs)
        inputs = tuple(self._known(child) for child in node.children) if rows else ()
        columns = self._columns(node)
        shown_row = _row(columns, ours, theirs, rows)
        return Difference(
            self.seed, verb, kind, node, ours, theirs, shown_row, rows, inputs, columns
        )

    def _columns(self, node: Node) -> dict[str, list[Any]]:
        """Those that the expression reads, with their values."""
        used = {leaf.template.split(".")[0] for leaf in node.nodes() if not leaf.children}
        names = [name for name in self.table.column_names if name in used]
        return {name: column(self.table[name]).value for name in names}

    def _known(self, node: Node) -> Any:
        if node.kind in WORDS:
            return None
        ours, theirs = self.value(node)
        return theirs.value if theirs.error is None else ours.value

    def close(self) -> None:
        shutil.rmtree(Path(self.path), ignore_errors=True)


def _row(columns: dict[str, list[Any]], ours: Outcome, theirs: Outcome, rows: Any) -> str:
    """The first row that differs, with what it is made from."""
    if not rows:
        return ""
    given = {name: values[rows[0]] for name, values in columns.items()}
    pair = f"{ours.value[rows[0]]!r} and {theirs.value[rows[0]]!r}, " if ours.kind else ""
    return f"{pair}{len(rows)} rows: {given}"


def _rows(ours: Outcome, theirs: Outcome) -> tuple[int, ...]:
    if not isinstance(ours.value, list) or not isinstance(theirs.value, list):
        return ()
    if not ours.kind:  # ids of rows
        return tuple(sorted(set(ours.value) ^ set(theirs.value)))
    pairs = zip(ours.value, theirs.value, strict=False)
    return tuple(i for i, (left, right) in enumerate(pairs) if left != right)


# --- shrinking -----------------------------------------------------------------------------------


def shrink(node: Node, differs: Callable[[Node], bool], free: bool) -> Node:
    """A small form for which `differs` holds; a `free` one may be of another class than `node`."""
    tries = 0
    progress = True
    while progress and tries < MOST_SHRINKS:
        progress = False
        for form in _smaller(node, None if free else node.kind):
            tries += 1
            if differs(form):
                node, progress = form, True
                break
            if tries >= MOST_SHRINKS:
                break
    return node


LEAVES = {"int": "i32", "float": "f64", "dec": "dec", "bool": "b", "text": "t", "bin": "bin",
          "date": "d32", "time": "tm_us", "stamp": "ts_us", "zoned": "z_us", "span": "du_us",
          "ints": "li", "texts": "lw", "floats": "lf", "struct": "st", "moment": "tt",
          "numeral": "tn"}  # fmt: skip


def _smaller(node: Node, slot: str | None) -> Iterator[Node]:
    """Forms with a part replaced by what lies below it or by a column, the largest steps first."""
    if node.is_literal and node.kind == "int" and node.template != "1":
        yield Node("int", "1", is_literal=True)
    if not node.children:
        return
    for child in node.children:
        if child.kind not in WORDS and _may_stand(child.kind, slot):
            yield child
    if node.kind in LEAVES and slot is not None:
        yield Node(node.kind, LEAVES[node.kind])
    slots = SLOT.findall(node.template)
    for at, child in enumerate(node.children):
        for form in _smaller(child, slots[at]):
            children = (*node.children[:at], form, *node.children[at + 1 :])
            yield Node(node.kind, node.template, children)


def _may_stand(kind: str, slot: str | None) -> bool:
    return slot is None or kind == slot or kind in GROUPS.get(slot, ())
