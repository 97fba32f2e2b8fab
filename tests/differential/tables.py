"""Random tables through every verb of both engines, against rows kept as plain Python.

    python tables.py SEED [LAST]     runs the seeds; of one that fails, the smallest part that does

A seed gives a schema, and steps of one engine each. Every step and column draws from a generator of
its own, so that a failure shrinks: columns and steps are left out and the others stay.
"""

import contextlib
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import traceback

import glaive
import lance
import pyarrow as pa
from arrays import (
    Builder,
    contains,
    is_text,
    plain,
    plain_field,
    random_field,
    random_type,
    random_values,
)
from peer import PEER_DEFECTS

ENGINES = {"glaive": glaive, "pylance": lance}
FORMS = {  # other forms of a plain type, which an append takes
    pa.utf8(): [
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.utf8()),
        pa.dictionary(pa.int32(), pa.utf8()),
    ],
    pa.binary(): [pa.binary_view(), pa.dictionary(pa.uint16(), pa.binary())],
    pa.large_utf8(): [pa.dictionary(pa.int16(), pa.large_utf8())],
    pa.int32(): [pa.dictionary(pa.uint8(), pa.int32())],
    pa.binary(16): [pa.uuid()],
}


class PeerDefect(Exception):
    """The other engine cannot go on, by a defect that has a row in peer.py."""


class Wrong(AssertionError):
    pass


class Case:
    """One table. `columns` and `steps` say what takes part, all where None."""

    def __init__(self, seed, path, columns=None, steps=None):
        self.seed, self.path = seed, str(path)
        rng = random.Random(f"{seed}")
        self.version = rng.choice(["2.1", "2.2", "2.2"])
        self.stable = rng.random() < 0.3
        self.max_depth = rng.choice([1, 2, 3, 4, 4])
        self.most = rng.choice([1, 3, 10, 40, 40, 150])
        names = [f"c{i}" for i in range(rng.choice([1, 1, 2, 3]))]
        self.columns = [name for name in names if columns is None or name in columns]
        self.fields = {
            name: random_field(random.Random(f"{seed}/{name}"), name, self.max_depth)
            for name in names
        }
        self.fields = {name: self.fields[name] for name in self.columns}
        self.foreign = seed % 8 == 7  # with a column that only pylance writes
        if self.foreign and (columns is None or "f" in columns):
            self.columns.append("f")
            self.fields["f"] = pa.field("f", foreign_type(random.Random(f"{seed}/f"), self.version))
        self.steps = ["create", *rng.choices(VERBS, k=rng.choice([0, 1, 2, 4, 6]))]
        self.taking_part = range(len(self.steps)) if steps is None else steps
        self.rows, self.next_id, self.log = {}, 0, []
        self.nullable_now = set()

    # -- the driver

    def run(self):
        for index in self.taking_part:
            self.rng = random.Random(f"{self.seed}/{index}")
            self.index = index
            name = self.rng.choice(["glaive", "glaive", "pylance"])
            if self.foreign and self.steps[index] not in ("delete", "drop_columns"):
                name = "pylance"
            self.name, self.engine, self.native = name, ENGINES[name], name == "glaive"
            verb = self.steps[index]
            self.log.append(f"{index} {name} {verb}")
            with peer_defects(self, name):
                getattr(self, verb)()
            self.check()

    def note(self, text):
        self.log[-1] += f" {text}"

    def schema(self, fields=None):
        fields = self.fields if fields is None else fields
        return pa.schema([pa.field("id", pa.int64(), nullable=False), *fields.values()])

    # -- rows

    def fresh(self, least=0):
        count = self.rng.randint(least, self.most)
        self.next_id += count
        return list(range(self.next_id - count, self.next_id))

    def some(self):
        if not self.rows:
            return []
        return self.rng.sample(
            sorted(self.rows), self.rng.randint(1, min(len(self.rows), 1 + self.most // 3))
        )

    def new_rows(self, ids, fields=None):
        """By column, so that leaving one out changes no other."""
        columns = {"id": list(ids)}
        for name, field in (self.fields if fields is None else fields).items():
            rng = random.Random(f"{self.seed}/{self.index}/{name}")
            nulls = rng.choice([0, 0.1, 0.1, 0.3, 0.9, 1])
            columns[name] = random_values(rng, plain_field(field), len(ids), nulls)
            if rng.random() < 0.15 and columns[name]:
                columns[name] = [columns[name][0]] * len(ids)
        return columns

    def given(self, columns, fields=None):
        """Arrow data that holds these rows, in a random form and cut at random."""
        fields = self.fields if fields is None else fields
        schema = self.schema(fields)
        dirty = self.native
        count = len(columns["id"])
        cuts = sorted(self.rng.choices(range(count + 1), k=self.rng.choice([0, 0, 1, 3])))
        bounds = [0, *cuts, count]
        batches = []
        for begin, end in zip(bounds, bounds[1:], strict=False):
            arrays = []
            for field in schema:
                rng = random.Random(f"{self.seed}/{self.index}/{field.name}/{begin}")
                arrays.append(Builder(rng, dirty).array(field, columns[field.name][begin:end]))
            batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
        form = self.rng.choice(["table", "reader", "slices"])
        self.note(f"{form} of {count} rows cut at {cuts}")
        if form == "reader":
            return pa.RecordBatchReader.from_batches(schema, batches)
        table = pa.Table.from_batches(batches, schema)
        if form == "slices" and dirty:
            around = pa.Table.from_batches([batches[0], *batches, batches[-1]], schema)
            table = around.slice(len(batches[0]), count)
        return table

    def forms(self):
        """Fields whose leaves come in other forms than they are stored in."""
        if not self.native or self.rng.random() < 0.5:
            return self.fields
        return {name: other_form(self.rng, field) for name, field in self.fields.items()}

    def remember(self, columns):
        for at, key in enumerate(columns["id"]):
            self.rows[key] = {name: values[at] for name, values in columns.items()}
            for name in self.fields:
                self.rows[key].setdefault(name, None)

    # -- verbs

    def options(self):
        options = (
            {"max_rows_per_file": self.rng.choice([3, 20, 1000])} if self.rng.random() < 0.5 else {}
        )
        if self.native and self.rng.random() < 0.5:
            options["max_page_bytes"] = self.rng.choice([1, 40, 400, 4000])
        if self.native and self.rng.random() < 0.2:
            options["n_jobs"] = 2
        self.note(f"{options}")
        return options

    def create(self, **more):
        columns = self.new_rows(self.fresh())
        data = self.given(columns)
        options = {
            "data_storage_version": self.version,
            "enable_stable_row_ids": self.stable,
            **self.options(),
            **more,
        }
        self.engine.write_dataset(data, self.path, **options)
        self.rows = {}
        self.remember(columns)

    def overwrite(self):
        self.create(mode="overwrite")

    def dataset(self):
        return self.engine.dataset(self.path)

    def append(self):
        fields = self.partial(self.forms())
        columns = self.new_rows(self.fresh(), fields)
        data = self.given(columns, fields)
        if self.rng.random() < 0.5:
            self.engine.write_dataset(data, self.path, mode="append", **self.options())
        else:
            self.dataset().insert(data)
        self.remember(columns)

    def partial(self, fields):
        """Sometimes without a nullable column, or in another order."""
        if self.rng.random() < 0.7:
            return fields
        names = [name for name in fields if not fields[name].nullable or self.rng.random() < 0.5]
        self.rng.shuffle(names)
        return {name: fields[name] for name in names}

    def write_fragments(self):
        fields = self.forms()
        columns = self.new_rows(self.fresh(1), fields)
        dataset = self.dataset()
        fragments = self.engine.fragment.write_fragments(
            self.given(columns, fields), dataset, mode="append", **self.options()
        )
        self.engine.LanceDataset.commit(
            self.path, self.engine.LanceOperation.Append(fragments), read_version=dataset.version
        )
        self.remember(columns)

    def delete(self):
        gone = self.some()
        if not gone:
            return
        if self.rng.random() < 0.7:
            self.dataset().delete(f"id IN ({', '.join(map(str, gone))})")
        else:
            name = self.rng.choice(self.columns or ["id"])
            gone = [key for key, row in self.rows.items() if row[name] is None]
            self.dataset().delete(f"{name} IS NULL")
        for key in gone:
            del self.rows[key]

    def update(self):
        keys = self.some()
        if not keys:
            return
        low, high = min(keys), max(keys)
        name = self.rng.choice(["id", *self.columns])
        values = {name: name}
        nullable = name != "id" and self.fields[name].nullable
        null = (
            nullable
            and self.rng.random() < 0.3
            and not contains(self.fields[name].type, pa.types.is_nested)
        )
        if null:
            values = {name: "NULL"}
        self.note(f"{values} {low}..{high}")
        self.dataset().update(values, where=f"id >= {low} AND id <= {high}")
        for key, row in self.rows.items():
            if low <= key <= high and null:
                row[name] = None

    def merge_insert(self):
        known, new = self.some(), self.fresh()
        fields = self.forms()
        keys = known + new
        self.rng.shuffle(keys)
        if not keys:
            return
        columns = self.new_rows(keys, fields)
        how = self.rng.choice(["upsert", "insert", "update", "sync", "delete"])
        self.note(how)
        builder = self.dataset().merge_insert("id")
        if how in ("upsert", "update", "sync"):
            builder.when_matched_update_all()
        if how in ("upsert", "insert", "sync"):
            builder.when_not_matched_insert_all()
        if how == "sync":
            builder.when_not_matched_by_source_delete()
        if how == "delete":
            builder.when_matched_delete()
        builder.execute(self.given(columns, fields))
        before = self.rows
        if how == "delete":
            self.rows = {key: row for key, row in before.items() if key not in known}
            return
        made = {"upsert": keys, "sync": keys, "insert": new, "update": known}[how]
        self.rows = {} if how == "sync" else dict(before)
        kept = set(made)
        at = [i for i, key in enumerate(keys) if key in kept]
        self.remember({name: [values[i] for i in at] for name, values in columns.items()})

    def new_field(self):
        name = f"n{self.index}"
        field = random_field(random.Random(f"{self.seed}/{name}"), name, self.max_depth)
        return field.with_nullable(True)

    def add_columns(self):
        field = self.new_field()
        keys = self.order()
        if not keys or (self.columns == [] and self.taking_part is not None):
            return
        columns = self.new_rows(keys, {field.name: field})
        by_id = dict(zip(keys, columns[field.name], strict=True))
        how = self.rng.choice(["function", "reader", "copy", "null"])
        self.note(f"{how} {field}")
        schema = pa.schema([field])
        builder = Builder(random.Random(f"{self.seed}/{self.index}/b"), self.native)
        dataset = self.dataset()
        if how == "function":

            @self.engine.batch_udf(output_schema=schema)
            def compute(batch):
                values = [by_id[key] for key in batch["id"].to_pylist()]
                return pa.RecordBatch.from_arrays([builder.array(field, values)], schema=schema)

            dataset.add_columns(compute, read_columns=["id"])
        elif how == "reader":
            values = [by_id[key] for key in keys]
            batch = pa.RecordBatch.from_arrays([builder.array(field, values)], schema=schema)
            dataset.add_columns(pa.RecordBatchReader.from_batches(schema, [batch]))
        elif how == "copy":
            source = self.rng.choice(self.columns or ["id"])
            source_field = self.schema().field(source)
            field = source_field.with_name(field.name).with_nullable(
                self.nullable_copy(source_field)
            )
            dataset.add_columns({field.name: source})
            by_id = {key: row[source] for key, row in self.rows.items()}
        else:
            dataset.add_columns(field)
            by_id = dict.fromkeys(keys)
        self.add(field, by_id)

    def nullable_copy(self, field):
        return field.nullable

    def add(self, field, by_id):
        self.fields[field.name] = field
        self.columns.append(field.name)
        for key, row in self.rows.items():
            row[field.name] = by_id.get(key)

    def merge(self):
        field = self.new_field()
        keys = self.some()
        self.rng.shuffle(keys)
        if not keys:
            return
        columns = self.new_rows(keys, {field.name: field})
        self.note(f"{field}")
        self.dataset().merge(self.given(columns, {field.name: field}), "id")
        self.add(field, dict(zip(keys, columns[field.name], strict=True)))

    def update_columns(self):
        """Of one fragment, some rows."""
        dataset = self.dataset()
        fragments = dataset.get_fragments()
        if not fragments or not self.columns:
            return
        fragment = self.rng.choice(list(fragments))
        inside = fragment.to_table(columns=["id"])["id"].to_pylist()
        keys = self.rng.sample(inside, self.rng.randint(1, len(inside))) if inside else []
        name = self.rng.choice(self.columns)
        field = self.fields[name].with_nullable(self.fields[name].nullable)
        if not keys:
            return
        columns = self.new_rows(keys, {name: field})
        self.note(f"{name} in fragment {fragment.fragment_id}")
        data = self.given(columns, {name: field})
        if isinstance(data, pa.Table):
            data = data.to_reader()
        changed, modified = fragment.update_columns(data, "id", "id")[:2]
        operation = self.engine.LanceOperation.Update(
            removed_fragment_ids=[],
            updated_fragments=[changed],
            new_fragments=[],
            fields_modified=modified,
        )
        self.engine.LanceDataset.commit(self.path, operation, read_version=dataset.version)
        for key, value in zip(keys, columns[name], strict=True):
            self.rows[key][name] = value

    def compact(self):
        options = {"target_rows_per_fragment": self.rng.choice([10, 100, 10_000])}
        if self.rng.random() < 0.5:
            options["materialize_deletions_threshold"] = 0.0
        if self.native and self.rng.random() < 0.5:
            options["max_page_bytes"] = self.rng.choice([1, 40, 4000])
        self.note(f"{options}")
        self.dataset().optimize.compact_files(**options)

    def drop_columns(self):
        if len(self.columns) < 2:
            return
        name = self.rng.choice(self.columns)
        self.note(name)
        self.dataset().drop_columns([name])
        self.columns.remove(name)
        del self.fields[name]
        for row in self.rows.values():
            del row[name]

    def order(self):
        return glaive.dataset(self.path).to_table(columns=["id"])["id"].to_pylist()

    # -- reading

    def check(self):
        self.keys = None
        for name, engine in ENGINES.items():
            self.rng = random.Random(f"{self.seed}/{self.index}/check")
            with peer_defects(self, name):
                self.check_by(name, engine.dataset(self.path))

    def check_by(self, name, dataset):
        rng = self.rng
        schema = dataset.schema
        names = ["id", *self.columns]
        same(f"{name}: columns", sorted(schema.names), sorted(names))
        for field in self.schema():
            if not same_type(schema.field(field.name).type, field.type):
                raise Wrong(
                    f"{name}: `{field.name}` is of {schema.field(field.name).type},"
                    f" expected {field.type}"
                )
        table = dataset.to_table()
        table.validate(full=True)
        keys = self.values(f"{name}: to_table", table)
        same(f"{name}: rows", sorted(keys), sorted(self.rows))
        if self.keys is not None:
            same(f"{name}: order of rows", keys, self.keys)
        self.keys = keys
        same(f"{name}: count_rows", dataset.count_rows(), len(keys))
        for read in rng.sample(READS, 4):
            getattr(self, read)(name, dataset)

    def values(self, what, table, columns=None, keys=None):
        """Compares a table with the rows; gives back the keys."""
        names = columns or ["id", *self.columns]
        found = {column: plain(table[column]) for column in names}
        keys = found["id"] if keys is None else keys
        for column in names:
            try:
                expected = [self.rows[key][column] for key in keys]
            except KeyError as error:
                raise Wrong(f"{what}: row {error} is not there") from None
            same(f"{what}: column `{column}` of rows {keys}", found[column], expected)
        return keys

    def projection(self):
        return ["id", *[name for name in self.columns if self.rng.random() < 0.6]]

    def scan(self, name, dataset):
        size = self.rng.choice([1, 2, 7, 1000])
        columns = self.projection()
        batches = list(dataset.to_batches(columns=columns, batch_size=size))
        for batch in batches:
            batch.validate(full=True)
            if batch.num_rows > size:
                raise Wrong(f"{name}: a batch of {batch.num_rows} rows where {size} are the most")
        if batches:
            keys = self.values(f"{name}: scan by {size}", pa.Table.from_batches(batches), columns)
            same(f"{name}: scan by {size}", keys, self.keys)

    def take(self, name, dataset):
        if not self.keys:
            return
        picks = self.rng.choices(range(len(self.keys)), k=self.rng.choice([1, 2, 9]))
        columns = self.projection()
        table = dataset.take(picks, columns=columns)
        same(
            f"{name}: take {picks}",
            self.values(f"{name}: take {picks}", table, columns),
            [self.keys[i] for i in picks],
        )

    def head(self, name, dataset):
        count = self.rng.choice([0, 1, 5, 100])
        table = dataset.head(count)
        same(f"{name}: head({count})", self.values(f"{name}: head", table), self.keys[:count])

    def limit(self, name, dataset):
        offset, limit = self.rng.randrange(9), self.rng.randrange(9)
        table = dataset.to_table(offset=offset, limit=limit)
        same(
            f"{name}: offset {offset} limit {limit}",
            self.values(f"{name}: limit", table),
            self.keys[offset : offset + limit],
        )

    def filter(self, name, dataset):
        text, passes = self.condition()
        expected = [key for key in self.keys if passes(self.rows[key])]
        columns = self.projection()
        table = dataset.to_table(columns=columns, filter=text)
        same(
            f"{name}: filter {text}",
            self.values(f"{name}: filter {text}", table, columns),
            expected,
        )
        same(f"{name}: count_rows({text})", dataset.count_rows(filter=text), len(expected))

    def condition(self):
        if self.columns and self.rng.random() < 0.4:
            column, null = self.rng.choice(self.columns), self.rng.random() < 0.5
            return (
                f"{column} IS {'' if null else 'NOT '}NULL",
                lambda row: (row[column] is None) == null,
            )
        by, left = self.rng.choice([2, 3, 5]), self.rng.randrange(2)
        if self.rng.random() < 0.5:
            return f"id % {by} = {left}", lambda row: row["id"] % by == left
        low = self.rng.randrange(self.next_id + 1)
        return f"id >= {low}", lambda row: row["id"] >= low

    def fragments(self, name, dataset):
        keys = []
        for fragment in dataset.get_fragments():
            columns = self.projection()
            part = self.values(
                f"{name}: fragment {fragment.fragment_id}",
                fragment.to_table(columns=columns),
                columns,
            )
            same(
                f"{name}: count_rows of fragment {fragment.fragment_id}",
                fragment.count_rows(),
                len(part),
            )
            keys += part
        same(f"{name}: rows of fragments", keys, self.keys)

    def fragment_take(self, name, dataset):
        for fragment in dataset.get_fragments():
            count = fragment.count_rows()
            if count:
                picks = self.rng.choices(range(count), k=self.rng.choice([1, 4]))
                picks = sorted(set(picks))
                all_keys = fragment.to_table(columns=["id"])["id"].to_pylist()
                table = fragment.take(picks)
                found = self.values(f"{name}: take of fragment {fragment.fragment_id}", table)
                same(
                    f"{name}: take {picks} of fragment {fragment.fragment_id}",
                    found,
                    [all_keys[i] for i in picks],
                )

    def sample(self, name, dataset):
        if self.keys:
            count = self.rng.randint(1, min(5, len(self.keys)))
            table = dataset.sample(count)
            keys = self.values(f"{name}: sample", table)
            same(f"{name}: sample({count})", (len(keys), len(set(keys))), (count, count))

    def row_ids(self, name, dataset):
        table = dataset.to_table(columns=["id"], with_row_id=True)
        ids = table["_rowid"].to_pylist()
        same(f"{name}: distinct row ids", len(set(ids)), len(self.keys))
        if ids:
            picks = self.rng.choices(range(len(ids)), k=self.rng.choice([1, 3]))
            if name == "pylance":
                picks = sorted(set(picks))
            found = self.values(f"{name}: rows by id", dataset._take_rows([ids[i] for i in picks]))
            same(f"{name}: rows by id {picks}", found, [self.keys[i] for i in picks])


READS = [
    "scan",
    "take",
    "head",
    "limit",
    "filter",
    "fragments",
    "fragment_take",
    "sample",
    "row_ids",
]
VERBS = [
    *["append"] * 3,
    "overwrite",
    *["write_fragments"] * 2,
    *["delete"] * 2,
    *["update"] * 2,
    *["merge_insert"] * 3,
    *["add_columns"] * 2,
    "merge",
    *["update_columns"] * 2,
    *["compact"] * 3,
    "drop_columns",
]


def same(what, found, expected):
    if found != expected:
        raise Wrong(
            f"{what}\n  found    {shorten(found)}\n  expected {shorten(expected)}"
            f"{difference(found, expected)}"
        )


def difference(found, expected):
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for at, (a, b) in enumerate(zip(found, expected, strict=True)):
            if a != b:
                return f"\n  at {at}: {shorten(a)} instead of {shorten(b)}"
    return ""


def shorten(value):
    text = repr(value)
    return text if len(text) < 600 else text[:600] + "..."


def same_type(found, expected):
    """Names of list items and nullability aside."""
    if pa.types.is_nested(expected):
        if found.id != expected.id or found.num_fields != expected.num_fields:
            return False
        if pa.types.is_struct(expected):
            return all(
                found.field(i).name == expected.field(i).name for i in range(expected.num_fields)
            ) and all(
                same_type(found.field(i).type, expected.field(i).type)
                for i in range(expected.num_fields)
            )
        if pa.types.is_fixed_size_list(expected) and found.list_size != expected.list_size:
            return False
        return all(
            same_type(found.field(i).type, expected.field(i).type)
            for i in range(expected.num_fields)
        )
    return found == expected


def foreign_type(rng, version):
    """What is read and not written: a dictionary, a map, or nothing but nulls."""
    words = rng.choice([pa.utf8(), pa.large_utf8(), pa.binary(), pa.int64()])
    kinds = [pa.dictionary(rng.choice([pa.int8(), pa.uint16(), pa.int32()]), words), pa.null()]
    if version == "2.2":
        item = rng.choice(
            [pa.int32(), pa.utf8(), pa.list_(pa.int16()), pa.struct([("a", pa.int8())])]
        )
        kinds += [pa.map_(rng.choice([pa.utf8(), pa.int32()]), item)] * 2
    return rng.choice(kinds)


def other_form(rng, field):
    kind = field.type
    if kind in FORMS and rng.random() < 0.6:
        return field.with_type(rng.choice(FORMS[kind]))
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct([other_form(rng, child) for child in kind]))
    if pa.types.is_list(kind):
        return field.with_type(pa.list_(other_form(rng, kind.value_field)))
    if pa.types.is_large_list(kind):
        return field.with_type(pa.large_list(other_form(rng, kind.value_field)))
    return field


@contextlib.contextmanager
def peer_defects(case, name):
    """Turns an error or a difference that a row of peer.py explains into PeerDefect."""
    try:
        yield
    except PeerDefect:
        raise
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        text = f"{type(error).__name__}: {error}"
        for defect in PEER_DEFECTS:
            if defect.explains(case, name, text):
                raise PeerDefect(defect.name) from None
        raise Wrong(f"{name}: {text}\n{''.join(traceback.format_exc(limit=-4))}") from None


def attempt(seed, columns=None, steps=None):
    """What is wrong with one case ("" if nothing is), a peer's defect that ended it, the case."""
    folder = tempfile.mkdtemp(
        prefix=f"glaive-differential-{seed}-", dir=os.environ.get("GLAIVE_DIFFERENTIAL_FOLDER")
    )
    case = Case(seed, os.path.join(folder, "t.lance"), columns, steps)
    try:
        case.run()
        return "", None, case
    except PeerDefect as defect:
        return "", str(defect), case
    except Wrong as wrong:
        return str(wrong), None, case
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kind_of(text):
    return re.sub(r"\d+|`[^`]*`|\[.*?\]", "#", text.split("\n")[0])[:60]


def shrink(seed):
    """The fewest columns and steps of a seed that fail likewise."""
    text, _, case = attempt(seed)
    columns = [name for name in case.fields if name[0] in "cf"]
    steps = list(range(case.index + 1))
    for _ in range(2):
        for name in list(columns):
            fewer = [c for c in columns if c != name]
            if kind_of(attempt(seed, fewer, steps)[0]) == kind_of(text):
                columns = fewer
        for step in steps[1:-1]:
            fewer = [s for s in steps if s != step]
            if kind_of(attempt(seed, columns, fewer)[0]) == kind_of(text):
                steps = fewer
    text, _, case = attempt(seed, columns, steps)
    return columns, steps, text, case


def report(seed):
    columns, steps, text, case = shrink(seed)
    fields = "\n".join(f"  {field}" for field in case.schema())
    return (
        f"seed {seed}, version {case.version}, again by attempt({seed}, {columns}, {steps}):\n"
        f"{fields}\n" + "\n".join(f"  {line}" for line in case.log) + f"\n{text}"
    )


def main(first, last):
    began, failures, defects = time.time(), 0, {}
    for seed in range(first, last):
        text, defect, _ = attempt(seed)
        if defect:
            defects[defect] = defects.get(defect, 0) + 1
        if text:
            failures += 1
            print(json.dumps({"seed": seed, "report": report(seed)}), flush=True)
    print(
        json.dumps(
            {
                "tables": last - first,
                "failures": failures,
                "defects": defects,
                "seconds": time.time() - began,
            }
        ),
        flush=True,
    )
    os._exit(0)  # no teardown of native pools


if __name__ == "__main__":
    start = int(sys.argv[1])
    main(start, int(sys.argv[2]) if len(sys.argv) > 2 else start + 1)
