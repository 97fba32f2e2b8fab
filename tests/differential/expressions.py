"""Random expressions by both engines.

    python tests/differential/expressions.py FIRST_SEED LAST_SEED [EXPRESSIONS]

Each seed makes a table and draws EXPRESSIONS (200) over it; prints what differed as JSON.
"""

from __future__ import annotations

import collections
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from expression_columns import make_table
from expression_differences import name_of
from expression_grammar import Grammar, Node
from expression_outcomes import BATCH, Difference, Engines, differ

KINDS = ["bool"] * 8 + ["int", "float", "dec", "text", "text", "date", "time", "stamp", "zoned"]
KINDS += ["span", "ints", "texts", "int", "float", "bin"]
UPDATED = {"int": "i32", "float": "f32", "dec": "dec", "bool": "b", "text": "t", "bin": "bin",
           "date": "d32", "stamp": "ts_ms", "zoned": "z_us", "span": "du_ms"}  # fmt: skip


class Block:
    """The expressions of one seed."""

    def __init__(self, seed: int, folder: str, expressions: int):
        self.seed, self.random = seed, random.Random(f"expressions {seed}")
        table = make_table(seed)
        self.engines = Engines(table, folder, seed)
        self.grammar = Grammar(self.random, set(table.column_names))
        self.tallies: collections.Counter[str] = collections.Counter()
        self.differences: list[Difference] = []
        self.known: dict[Node, str] = {}  # how the node differed before
        self.expressions = expressions

    def run(self) -> None:
        kinds = self.random.choices(KINDS, k=self.expressions)
        nodes = [self.grammar.draw(kind, self.random.choice([1, 2, 2, 3])) for kind in kinds]
        for at in range(0, len(nodes), BATCH):
            batch = nodes[at : at + BATCH]
            for node, pair in zip(batch, self.engines.values(batch), strict=True):
                self.see("value", node, pair, self.engines.value)
        conditions = [node for node in nodes if node.kind == "bool"]
        for node in conditions:
            pair = self.engines.filter(node)
            self.see("filter", node, pair, self.engines.filter)
            self.see_count(node, pair)
        for node in conditions[:4]:
            self.see("delete", node, self.engines.delete(node), self.engines.delete)
        if self.seed % 2:
            for node in [node for node in nodes if node.kind in UPDATED][-4:]:
                self.see_update(node)
        self.tallies["expressions"] += len(nodes)
        self.engines.close()

    def see_count(self, node: Node, rows: Any) -> None:
        counts = self.engines.count(node)
        self.see("count", node, counts, self.engines.count)
        for engine, found, count in zip(("glaive", "pylance"), rows, counts, strict=True):
            if found.error is None and count.error is None and len(found.value) != count.value:
                self.tallies[f"{engine} counts other rows than it finds"] += 1
                if engine == "glaive":
                    wrong = Difference(self.seed, "count", "values", node, count, found)
                    self.differences.append(wrong)

    def see_update(self, node: Node) -> None:
        def again(form: Node) -> Any:
            return self.engines.update(form, UPDATED[node.kind])

        self.see("update", node, again(node), again)

    def see(self, verb: str, node: Node, pair: Any, again: Any) -> None:
        kind = differ(*pair)
        if kind is not None and self.known.get(node) == kind:
            self.tallies[f"{verb}: as its value"] += 1
            return
        if kind is None:
            same = "same" if pair[0].error is None else "both refuse"
            self.tallies[f"{verb}: {same}"] += 1
            return
        self.known[node] = kind
        difference = self.engines.difference(verb, node, kind, again)
        name = name_of(difference)
        self.tallies[f"named: {name}" if name else f"{verb}: {kind}"] += 1
        if name is None:
            self.differences.append(difference)


def main() -> None:
    first, last = int(sys.argv[1]), int(sys.argv[2])
    expressions = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    tallies: collections.Counter[str] = collections.Counter()
    reports = []
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        for seed in range(first, last):
            print(f"seed {seed}", file=sys.stderr)
            block = Block(seed, folder, expressions)
            block.run()
            tallies += block.tallies
            reports += [(d.group(), d.report()) for d in block.differences]
    print(json.dumps({"tallies": dict(sorted(tallies.items())), "differences": reports}))


if __name__ == "__main__":
    main()
