"""Asks pylance for every cast and stores the outcomes in golden.arrow, for cast_table_test.cc.

    python tests/casts/make_golden.py        # some minutes; needs pylance

cast_types.py lists the source types with their values, and the target types. The table has a row
for each value of each source type, and these columns:
  source   the type's name, as arrow_cast() takes it
  values   the value: one struct with a field for each source type, of which one is set
  outcome  a struct with a field for each target type: what CAST gives
  tried    likewise: what TRY_CAST gives, where that is another value than CAST's
  status   a struct with a field for each target: bits, see below
"""

import os
import shutil
import sys
import tempfile

import lance
import pyarrow as pa
from cast_types import sources, targets

CAST_FAILS = 1  # CAST of this value is an error
TRY_FAILS = 2  # so is TRY_CAST, which ought to be null
REFUSED = 4  # the pair of types is refused, whatever the value
TRY_DIFFERS = 8  # TRY_CAST's value is in `tried`
TRY_REFUSED = 16  # only TRY_CAST is refused


class Oracle:
    def __init__(self, folder, column, inner):
        shutil.rmtree(folder, ignore_errors=True)
        table = pa.table({"row": pa.array(range(len(column)), pa.int32()), "a": column})
        self.table = lance.write_dataset(table, folder, data_storage_version="2.1")
        self.inner = inner
        self.size = len(column)
        self.rows = []
        if pa.types.is_dictionary(column.type):
            for row in range(len(column)):
                one = column.slice(row, 1).dictionary_decode().dictionary_encode()
                shutil.rmtree(f"{folder}-{row}", ignore_errors=True)
                self.rows.append(lance.write_dataset(pa.table({"a": one}), f"{folder}-{row}"))

    def ask(self, expression, row=None):
        filter = None if row is None else f"row = {row}"
        table = self.table
        if (
            row is not None and self.rows
        ):  # a dictionary's values are cast for all rows that share it
            table, filter = self.rows[row], None
        try:
            found = table.scanner(columns={"x": expression}, filter=filter).to_table()["x"]
            return found.combine_chunks(), None
        except BaseException as problem:  # a panic is no Exception
            if isinstance(problem, KeyboardInterrupt):
                raise
            return None, f"{type(problem).__name__} {problem}"

    def outcomes(self, function, target, type):
        """What comes of every value, and where that is an error. None: the types are refused."""
        expression = f"{function}({self.inner}, '{target}')"
        whole, problem = self.ask(expression)
        if whole is not None:
            return plain(whole, type), [False] * self.size
        if refuses(problem):
            return None
        pieces, failed = [], []
        for row in range(self.size):
            one, problem = self.ask(expression, row)
            if problem and "Panic" in problem:
                print("a panic:", expression, row, problem[:100], file=sys.stderr)
            failed.append(one is None)
            pieces.append(pa.nulls(1, stored(type)) if one is None else plain(one, type))
        return pa.concat_arrays(pieces), failed


def plain(array, type):
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(type):
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    if not array.type.equals(type):
        print("another type:", array.type, "for", type, file=sys.stderr)
        return array.cast(type)
    return array


def refuses(problem):
    return (
        "Unsupported CAST" in problem
        or "Unsupported TRY_CAST" in problem
        or "Unsupported type" in problem
    )


def stored(type):
    return type.value_type if pa.types.is_dictionary(type) else type


def main():
    folder = tempfile.mkdtemp(prefix="casts-")
    all_targets = list(targets())
    all_sources = list(sources())
    wanted = sys.argv[1:]
    names, values = [], []
    outcome = {name: [] for name, _ in all_targets}
    tried = {name: [] for name, _ in all_targets}
    status = {name: [] for name, _ in all_targets}
    for source, column in all_sources:
        if wanted and source not in wanted:
            continue
        print(source, file=sys.stderr)
        inner = (
            "arrow_cast(a, 'Interval(MonthDayNano)')" if source.startswith("Interval") else "a"
        )
        oracle = Oracle(os.path.join(folder, "table"), column, inner)
        if inner != "a":
            column = oracle.ask(inner)[0]
        names += [source] * len(column)
        values.append((source, column))
        for target, type in all_targets:
            cast = oracle.outcomes("arrow_cast", target, type)
            attempt = oracle.outcomes("arrow_try_cast", target, type)
            nothing = pa.nulls(len(column), stored(type))
            if cast is None:
                outcome[target].append(nothing)
                tried[target].append(nothing)
                status[target] += [REFUSED] * len(column)
                continue
            refused = TRY_REFUSED * (attempt is None)
            attempt = attempt or (nothing, [False] * len(column))
            bits = []
            other = []
            for i in range(len(column)):
                differs = (
                    not refused
                    and not cast[1][i]
                    and not attempt[1][i]
                    and not same(cast[0].slice(i, 1), attempt[0].slice(i, 1))
                )
                odd = cast[1][i] and not attempt[1][i] and attempt[0][i].is_valid
                bits.append(
                    refused
                    + CAST_FAILS * cast[1][i]
                    + TRY_FAILS * attempt[1][i]
                    + TRY_DIFFERS * bool(differs or odd)
                )
                other.append(differs or odd)
            outcome[target].append(cast[0])
            pieces = [
                attempt[0].slice(i, 1) if other[i] else nothing.slice(i, 1)
                for i in range(len(column))
            ]
            tried[target].append(pa.concat_arrays(pieces))
            status[target] += bits
    rows = len(names)
    fields = []
    start = 0
    for source, column in values:
        kept = pa.dictionary if pa.types.is_dictionary(column.type) else None
        column = column.dictionary_decode() if kept else column
        pieces = [
            pa.nulls(start, column.type),
            column,
            pa.nulls(rows - start - len(column), column.type),
        ]
        fields.append(pa.concat_arrays(pieces))
        start += len(column)

    def structure(arrays, columns):
        return pa.StructArray.from_arrays(arrays, columns)

    table = pa.table(
        {
            "source": pa.array(names).dictionary_encode(),
            "values": structure(fields, [source for source, _ in values]),
            "outcome": structure(
                [pa.concat_arrays(outcome[name]) for name, _ in all_targets],
                [name for name, _ in all_targets],
            ),
            "tried": structure(
                [pa.concat_arrays(tried[name]) for name, _ in all_targets],
                [name for name, _ in all_targets],
            ),
            "status": structure(
                [pa.array(status[name], pa.uint8()) for name, _ in all_targets],
                [name for name, _ in all_targets],
            ),
        }
    )
    table = table.replace_schema_metadata({"pylance": lance.__version__})
    out = (
        os.path.join(os.path.dirname(__file__), "golden.arrow")
        if not wanted
        else "/tmp/ct/part.arrow"
    )
    with pa.ipc.new_file(
        out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table.combine_chunks())
    print(
        rows,
        "values,",
        len(all_targets),
        "targets,",
        os.path.getsize(out),
        "bytes",
        file=sys.stderr,
    )


def same(left, right):
    return left.equals(right) or repr(left) == repr(right)  # NaN is like itself here


if __name__ == "__main__":
    main()
