"""Changes a table with Glaive until it is killed, saying before and after each operation what it does.

    python tests/crash/writer.py PATH SEED

Lines on standard output: {"begin": OPERATION}, then {"done": VERSION}. An operation is applied to rows {id: v} by `apply`.
"""

import json
import random
import sys

MOST_ROWS = 300


def apply(operation, rows):
    """What is left of `rows` after an operation."""
    kind, ids = operation["kind"], operation.get("ids", [])
    rows = dict(rows)
    if kind in ("append", "upsert"):
        rows |= {i: operation["v"] for i in ids}
    elif kind == "overwrite":
        rows = {i: operation["v"] for i in ids}
    elif kind == "delete":
        rows = {i: v for i, v in rows.items() if i not in ids}
    elif kind == "update":
        rows = {i: v + operation["v"] if i in ids else v for i, v in rows.items()}
    return rows


class Writer:
    def __init__(self, path, seed):
        import glaive
        import pyarrow as pa

        self.glaive, self.pa, self.path = glaive, pa, path
        self.random = random.Random(seed)
        self.schema = pa.schema([("id", pa.int64()), ("v", pa.int64())])

    def say(self, line):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def run(self):
        self.say({"ready": True})
        while True:
            dataset = self.glaive.dataset(self.path)
            operation = self.choose(dataset)
            self.say({"begin": operation})
            getattr(self, operation["kind"])(dataset, operation)
            self.say({"done": self.glaive.dataset(self.path).version})

    def choose(self, dataset):
        ids = dataset.to_table(columns=["id"])["id"].to_pylist()
        kinds = ["append"] * 4 + ["delete", "update", "upsert"] * 2 + ["compact"] * 2 + ["overwrite", "add_column", "tag"]
        if len(ids) > MOST_ROWS:
            kinds = ["delete", "overwrite"]
        kind = self.random.choice(kinds)
        top = max(ids, default=0)
        new = list(range(top + 1, top + 1 + self.random.randrange(1, 30)))
        old = self.random.sample(ids, min(len(ids), self.random.randrange(1, 40)))
        chosen = {"append": new, "overwrite": new, "upsert": old + new, "delete": old, "update": old}.get(kind, [])
        return {"kind": kind, "ids": chosen, "v": self.random.randrange(1000)}

    def table(self, operation):
        ids = operation["ids"]
        return self.pa.table({"id": ids, "v": [operation["v"]] * len(ids)}, schema=self.schema)

    def append(self, _, operation):
        self.glaive.write_dataset(self.table(operation), self.path, mode="append", max_rows_per_file=10)

    def overwrite(self, _, operation):
        self.glaive.write_dataset(self.table(operation), self.path, mode="overwrite", max_rows_per_file=10)

    def delete(self, dataset, operation):
        dataset.delete(self.where(operation))

    def update(self, dataset, operation):
        dataset.update({"v": f"v + {operation['v']}"}, where=self.where(operation))

    def upsert(self, dataset, operation):
        builder = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        builder.execute(self.table(operation))

    def compact(self, dataset, _):
        dataset.optimize.compact_files(target_rows_per_fragment=100, materialize_deletions_threshold=0.0)

    def add_column(self, dataset, _):
        if "extra" in dataset.schema.names:
            dataset.drop_columns(["extra"])
        else:
            dataset.add_columns({"extra": "id"})

    def tag(self, dataset, operation):
        dataset.tags.create(f"t{operation['v']}-{self.random.randrange(1 << 40)}", dataset.version)

    def where(self, operation):
        return f"id IN ({', '.join(map(str, operation['ids'] or [-1]))})"


if __name__ == "__main__":
    Writer(sys.argv[1], int(sys.argv[2])).run()
