"""Random sequences of operations on one table, by Glaive and pylance in turns, against a model of plain Python.

    python tests/model/sequences.py FIRST_SEED LAST_SEED [STEPS]

After each step both engines must read the model's rows, and pylance must be able to check out and to restore the version
before, on a copy.
"""

import copy
import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

import glaive
import lance
import pyarrow as pa

ENGINES = {"glaive": glaive, "pylance": lance}
BASE_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int32()), ("text", pa.utf8()), ("items", pa.list_(pa.int16()))])
BASE_NAMES = BASE_SCHEMA.names
MOST_ROWS = 60


class Sequence:
    def __init__(self, path, seed):
        self.path, self.random = str(path), random.Random(seed)
        self.stable = self.random.random() < 0.5
        self.version = self.random.choice(["2.1", "2.2"])
        self.schema, self.rows = BASE_SCHEMA, {}
        self.row_ids = {}  # of the rows that the last step left, on tables with stable ones
        self.next_id, self.next_column = 0, 0
        self.history = {}  # version -> (schema, rows)
        self.tags = {}
        self.log = []

    # -- the driver

    def run(self, steps):
        self.create()
        self.check()
        actions = [
            *[self.append] * 4,
            *[self.delete] * 3,
            *[self.update] * 3,
            *[self.upsert] * 3,
            self.insert_new,
            self.sync_with_source,
            *[self.compact] * 2,
            self.add_column,
            self.add_null_column,
            self.rename_column,
            self.drop_column,
            self.cast_column,
            self.restore,
            self.overwrite,
            self.tag,
            self.configure,
        ]
        for _ in range(steps):
            self.random.choice(actions)()
            self.check()

    def act(self, what, change):
        """Lets an engine drawn at random do `change(engine, dataset)`."""
        name = self.random.choice(list(ENGINES))
        self.log.append(f"{name}: {what}")
        change(ENGINES[name], ENGINES[name].dataset(self.path) if self.history else None)

    def check(self):
        expected = sorted(self.rows.values(), key=lambda row: row["id"])
        for name, engine in ENGINES.items():
            dataset = engine.dataset(self.path)
            table = dataset.to_table(with_row_id=True)
            assert table.schema.names == [*self.schema.names, "_rowid"], f"{name} reads columns {table.schema.names}"
            assert dataset.count_rows() == len(expected), f"{name} counts {dataset.count_rows()}, expected {len(expected)}"
            found = sorted(table.to_pylist(), key=lambda row: row["id"])
            ids = {row["id"]: row.pop("_rowid") for row in found}
            assert found == expected, f"{name} reads\n{found}\nexpected\n{expected}"
            assert len(set(ids.values())) == len(found), f"{name} gives one row id twice"
            self.check_row_ids(name, ids)
        self.row_ids = ids
        self.check_history(dataset.version)

    def check_row_ids(self, name, ids):
        if self.stable:
            moved = {key: (old, ids[key]) for key, old in self.row_ids.items() if key in ids and ids[key] != old}
            assert not moved, f"{name} reads other row ids: {moved}"

    def check_history(self, version):
        for tag, tagged in self.tags.items():
            for engine in ENGINES.values():
                assert engine.dataset(self.path, version=tag).version == tagged
        self.history[version] = (self.schema, copy.deepcopy(self.rows))
        if version - 1 in self.history:
            # Restored where it harms nobody. Files never change, so links will do for all but the names of versions.
            elsewhere = self.path + "-copy"
            shutil.copytree(self.path, elsewhere, copy_function=os.link, ignore=shutil.ignore_patterns("_versions"))
            shutil.copytree(Path(self.path, "_versions"), Path(elsewhere, "_versions"))
            dataset = lance.dataset(elsewhere).checkout_version(version - 1)
            dataset.restore()
            rows = lance.dataset(elsewhere).to_table().to_pylist()
            shutil.rmtree(elsewhere)
            expected = self.history[version - 1][1]
            assert {row["id"]: row for row in rows} == expected, f"pylance restores version {version - 1} as {rows}"

    # -- data

    def new_row(self, key):
        row = {
            "id": key,
            "v": None if self.random.random() < 0.15 else self.random.randrange(-1000, 1000),
            "text": None if self.random.random() < 0.15 else "t" * self.random.randrange(5) + str(key),
            "items": [self.random.randrange(99) for _ in range(self.random.randrange(4))],
        }
        if self.random.random() < 0.15:
            row["items"] = None
        extra = {name: self.random.randrange(100) for name in self.schema.names[len(BASE_NAMES) :]}
        return {**row, **extra}

    def fresh(self, most):
        count = self.random.randrange(1, most)
        self.next_id += count
        return list(range(self.next_id - count, self.next_id))

    def some(self, most):
        return sorted(self.random.sample(sorted(self.rows), min(len(self.rows), self.random.randrange(1, most))))

    def source(self, keys):
        rows = [self.new_row(key) for key in keys]
        return pa.Table.from_pylist(rows, schema=self.schema), {row["id"]: row for row in rows}

    @property
    def extras(self):
        return self.schema.names[len(BASE_NAMES) :]

    # -- operations

    def create(self):
        table, self.rows = self.source(self.fresh(30))

        def change(engine, _):
            engine.write_dataset(
                table, self.path, max_rows_per_file=8, enable_stable_row_ids=self.stable, data_storage_version=self.version
            )

        self.act("create", change)

    def append(self):
        if len(self.rows) > MOST_ROWS:
            return self.delete()
        table, rows = self.source(self.fresh(12))
        self.act(
            f"append {table.num_rows}",
            lambda engine, _: engine.write_dataset(table, self.path, mode="append", max_rows_per_file=8),
        )
        self.rows |= rows

    def overwrite(self):
        self.schema = BASE_SCHEMA
        table, self.rows = self.source(self.fresh(30))
        self.row_ids = {}
        self.act(
            "overwrite",
            lambda engine, _: engine.write_dataset(
                table, self.path, mode="overwrite", max_rows_per_file=8, data_storage_version=self.version
            ),
        )

    def delete(self):
        keys = self.some(12)
        if keys:
            self.act(f"delete {keys}", lambda _, dataset: dataset.delete(f"id IN ({', '.join(map(str, keys))})"))
            for key in keys:
                del self.rows[key]

    def update(self):
        keys = self.some(15)
        if keys:
            low, high = keys[0], keys[-1]
            where = f"id >= {low} AND id <= {high}"
            self.act(f"update {low}..{high}", lambda _, dataset: dataset.update({"v": "v + 7", "text": "'upd'"}, where=where))
            for key, row in self.rows.items():
                if low <= key <= high:
                    row["v"], row["text"] = None if row["v"] is None else row["v"] + 7, "upd"

    def upsert(self):
        keys = self.some(8) + self.fresh(5)
        self.random.shuffle(keys)
        table, rows = self.source(keys)
        self.act(
            f"upsert {keys}",
            lambda _, dataset: dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(table),
        )
        self.rows |= rows

    def insert_new(self):
        table, rows = self.source(self.some(8) + self.fresh(5))
        self.act("insert_new", lambda _, dataset: dataset.merge_insert("id").when_not_matched_insert_all().execute(table))
        self.rows = rows | self.rows

    def sync_with_source(self):
        table, rows = self.source(self.some(20) + self.fresh(5))

        def change(_, dataset):
            builder = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            builder.when_not_matched_by_source_delete().execute(table)

        self.act("sync", change)
        self.rows = rows

    def compact(self):
        self.act(
            "compact",
            lambda _, dataset: dataset.optimize.compact_files(target_rows_per_fragment=20, materialize_deletions_threshold=0.0),
        )

    def column(self):
        self.next_column += 1
        return f"extra{self.next_column}"

    def add_column(self):
        name = self.column()
        self.act(f"add_column {name}", lambda _, dataset: dataset.add_columns({name: "id * 3 + 1"}))
        self.schema = self.schema.append(pa.field(name, pa.int64()))
        for row in self.rows.values():
            row[name] = row["id"] * 3 + 1

    def add_null_column(self):
        field = pa.field(self.column(), pa.int64())
        self.act(f"add_null_column {field.name}", lambda _, dataset: dataset.add_columns(field))
        self.schema = self.schema.append(field)
        for row in self.rows.values():
            row[field.name] = None

    def rename_column(self):
        if self.extras:
            old, new = self.random.choice(self.extras), self.column()
            self.act(f"rename_column {old} {new}", lambda _, dataset: dataset.alter_columns({"path": old, "name": new}))
            at = self.schema.get_field_index(old)
            self.schema = self.schema.set(at, self.schema.field(at).with_name(new))
            for row in self.rows.values():
                row[new] = row.pop(old)

    def cast_column(self):
        if self.extras:
            name = self.random.choice(self.extras)
            at = self.schema.get_field_index(name)
            to = pa.int32() if self.schema.field(at).type == pa.int64() else pa.int64()
            self.act(f"cast_column {name} {to}", lambda _, dataset: dataset.alter_columns({"path": name, "data_type": to}))
            self.schema = self.schema.set(at, self.schema.field(at).with_type(to))

    def drop_column(self):
        if self.extras:
            name = self.random.choice(self.extras)
            self.act(f"drop_column {name}", lambda _, dataset: dataset.drop_columns([name]))
            self.schema = self.schema.remove(self.schema.get_field_index(name))
            for row in self.rows.values():
                del row[name]

    def restore(self):
        target = self.random.choice(sorted(self.history))
        self.act(f"restore {target}", lambda engine, _: engine.dataset(self.path, version=target).restore())
        self.schema, self.rows = self.history[target][0], copy.deepcopy(self.history[target][1])
        self.row_ids = {}

    def tag(self):
        version = self.random.choice(sorted(self.history))
        name = f"tag{len(self.tags)}"
        self.act(f"tag {version}", lambda _, dataset: dataset.tags.create(name, version))
        self.tags[name] = version

    def configure(self):
        value = str(self.random.randrange(100))
        self.act("configure", lambda _, dataset: dataset.update_config({"model.key": value}))


def main(first, last, steps=20):
    failures = []
    scratch = Path(tempfile.mkdtemp(prefix="glaive-model-"))
    for seed in range(int(first), int(last)):
        sequence = Sequence(scratch / str(seed), seed)
        try:
            sequence.run(int(steps))
        except Exception as error:  # noqa: BLE001: every failure is told with its seed
            failures.append({"seed": seed, "error": f"{type(error).__name__}: {error}"[:3000], "log": sequence.log})
        shutil.rmtree(sequence.path, ignore_errors=True)
        shutil.rmtree(sequence.path + "-copy", ignore_errors=True)
    shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps(failures), flush=True)
    os._exit(0)  # no teardown of native pools


if __name__ == "__main__":
    main(*sys.argv[1:])
