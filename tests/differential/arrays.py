"""Random types, their values as plain Python, and Arrow arrays of them in every form.

A value is None, an integer (numbers and times by their bits), a bool, a str, bytes, a list of
values (of lists, and of maps as lists of [key, value]) or a dict of them by name (of structs). `plain`
reads them back out of any array without Arrow's kernels.
"""

import numpy as np
import pyarrow as pa

INTEGERS = {
    **{pa.int8(): "i1", pa.int16(): "i2", pa.int32(): "i4", pa.int64(): "i8"},
    **{pa.uint8(): "u1", pa.uint16(): "u2", pa.uint32(): "u4", pa.uint64(): "u8"},
}
FLOATS = {pa.float16(): "u2", pa.float32(): "u4", pa.float64(): "u8"}
TIMES = {
    **{pa.date32(): "i4", pa.date64(): "i8", pa.time32("s"): "i4", pa.time32("ms"): "i4"},
    **{
        pa.time64("us"): "i8",
        pa.time64("ns"): "i8",
        pa.duration("s"): "i8",
        pa.duration("us"): "i8",
    },
    **{pa.timestamp("s"): "i8", pa.timestamp("ns"): "i8", pa.timestamp("us", "Europe/Paris"): "i8"},
}
WORDS = {**INTEGERS, **FLOATS, **TIMES}
TEXTS = [pa.utf8(), pa.large_utf8()]
BYTES = [pa.binary(), pa.large_binary()]
OTHERS = [
    pa.bool_(),
    pa.decimal128(12, 3),
    pa.decimal256(60, 5),
    pa.binary(1),
    pa.binary(7),
    pa.binary(16),
]
LEAVES = [*WORDS, *TEXTS, *BYTES, *OTHERS]
ALPHABET = "abcdefgh XYZ09_%'\"\\\x00\néß漢🦀"
SPECIAL_FLOATS = {  # the bits of 0, -0, 1, infinities, and NaNs of both signs
    "u2": [0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 0xFE01],
    "u4": [0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001],
    "u8": [0, 1 << 63, 0x3FF0 << 48, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 0xFFF8000000000001],
}


# --- types ----------------------------------------------------------------------------------------


def random_leaf(rng):
    return rng.choice(rng.choice([list(WORDS), TEXTS, BYTES, OTHERS]))


def random_type(rng, depth):
    """A type of at most `depth` levels."""
    shape = rng.random()
    if depth <= 1 or shape < 0.3:
        return random_leaf(rng)
    if shape < 0.55:
        return rng.choice([pa.list_, pa.large_list])(random_field(rng, "item", depth - 1))
    if shape < 0.8:
        count = rng.choice([1, 1, 2, 3])
        return pa.struct([random_field(rng, "abc"[i], depth - 1) for i in range(count)])
    return pa.list_(
        random_field_of(rng, "item", random_fixed(rng, depth - 1)), rng.choice([1, 2, 3])
    )


def random_fixed(rng, depth):
    """What a fixed-size list may hold."""
    if depth > 1 and rng.random() < 0.5:
        return pa.list_(
            random_field_of(rng, "item", random_fixed(rng, depth - 1)), rng.choice([1, 2, 3])
        )
    return rng.choice([*WORDS, pa.decimal128(12, 3)])


def random_field(rng, name, depth):
    return random_field_of(rng, name, random_type(rng, depth))


def random_field_of(rng, name, kind):
    return pa.field(name, kind, nullable=rng.random() < 0.8)


def contains(kind, test):
    return test(kind) or any(contains(kind.field(i).type, test) for i in range(kind.num_fields))


# --- values ---------------------------------------------------------------------------------------


def random_values(rng, field, count, nulls=0.2):
    kind = field.type
    draw = rng.random
    chance = nulls if field.nullable else 0
    return [None if draw() < chance else random_value(rng, kind, nulls) for _ in range(count)]


def random_value(rng, kind, nulls):
    if pa.types.is_null(kind):
        return None
    if kind in WORDS:
        return random_word(rng, kind)
    if pa.types.is_struct(kind):
        return {field.name: random_values(rng, field, 1, nulls)[0] for field in kind}
    if pa.types.is_fixed_size_list(kind):
        return random_values(rng, kind.value_field, kind.list_size, nulls)
    if pa.types.is_map(kind):
        keys = sorted(
            {random_value(rng, kind.key_type, 0) for _ in range(rng.choice([0, 1, 1, 2, 3]))}
        )
        return [
            [key, value]
            for key, value in zip(
                keys, random_values(rng, kind.item_field, len(keys), nulls), strict=True
            )
        ]
    if is_list(kind):
        return random_values(rng, kind.value_field, rng.choice([0, 1, 1, 2, 3]), nulls)
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_decimal(kind):
        most = 10 ** (kind.precision if rng.random() < 0.2 else 4) - 1
        return rng.randint(-most, most)
    if pa.types.is_fixed_size_binary(kind):
        return rng.randbytes(kind.byte_width)
    length = rng.choice([0, 1, 2, 3, 5, 8, 13]) if rng.random() < 0.98 else 300
    if is_text(kind):
        return "".join(rng.choices(ALPHABET, k=length))
    return rng.randbytes(length)


def random_word(rng, kind):
    form = WORDS[kind]
    if kind in FLOATS:
        return (
            rng.choice(SPECIAL_FLOATS[form])
            if rng.random() < 0.5
            else rng.getrandbits(8 * int(form[1]))
        )
    if pa.types.is_date64(kind):
        return rng.randrange(-20_000, 40_000) * 86_400_000
    if pa.types.is_time(kind):
        return rng.randrange(86_400)
    limits = np.iinfo(form)
    if kind in TIMES:
        return rng.randrange(-(2**15), 2**20)
    return (
        rng.randint(int(limits.min), int(limits.max)) if rng.random() < 0.3 else rng.randrange(100)
    )


def is_text(kind):
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind)


# --- arrays ---------------------------------------------------------------------------------------


class Builder:
    """Arrays of given values. `dirty` ones are slices at every level, with other values around
    them and behind nulls, bitmaps without nulls, and null counts that are not known."""

    def __init__(self, rng, dirty):
        self.rng, self.dirty = rng, dirty

    def array(self, field, values):
        """`field` may be of a form of the values: a dictionary, a view, an extension."""
        if not self.dirty or self.rng.random() < 0.3:
            return self.whole(field, values)
        before, after = self.junk(field, self.rng.choice([0, 1, 2, 3, 7, 9])), self.junk(
            field, self.rng.randrange(3)
        )
        array = self.whole(field, before + values + after)
        cut = self.rng.randint(0, len(before))  # slices of slices
        return array.slice(cut).slice(len(before) - cut, len(values))

    def junk(self, field, count):
        return random_values(self.rng, plain_field(field), count)

    def whole(self, field, values):
        kind, count = field.type, len(values)
        if isinstance(kind, pa.BaseExtensionType):
            return pa.ExtensionArray.from_storage(
                kind, self.array(field.with_type(kind.storage_type), values)
            )
        if pa.types.is_null(kind):
            return pa.nulls(count)
        if pa.types.is_dictionary(kind):
            return self.dictionary(kind, values)
        if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            return pa.array(values, kind)
        if pa.types.is_run_end_encoded(kind):
            ends = pa.array(range(1, count + 1), kind.run_end_type)
            return pa.RunEndEncodedArray.from_arrays(
                ends, self.array(pa.field("", kind.value_type), values), type=kind
            )
        nulls = [value is None for value in values]
        mask = (
            pa.array(nulls, pa.bool_())
            if any(nulls) or (self.dirty and self.rng.random() < 0.4)
            else None
        )
        if pa.types.is_struct(kind):
            children = [self.array(child, self.child_values(child, values)) for child in kind]
            return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
        if pa.types.is_fixed_size_list(kind):
            items = []
            for value in values:
                items += self.junk(kind.value_field, kind.list_size) if value is None else value
            return pa.FixedSizeListArray.from_arrays(
                self.array(kind.value_field, items), type=kind, mask=mask
            )
        if is_list(kind) or pa.types.is_map(kind):
            return self.list(kind, values, mask)
        if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
            return self.list_view(kind, values, mask)
        return self.leaf(kind, values, mask)

    def child_values(self, child, values):
        hidden = lambda: self.junk(child, 1)[0]  # noqa: E731
        return [hidden() if value is None else value[child.name] for value in values]

    def list(self, kind, values, mask):
        item = (
            pa.field("", pa.struct([kind.key_field, kind.item_field]))
            if pa.types.is_map(kind)
            else kind.value_field
        )
        junk = (
            (lambda n: [random_value(self.rng, item.type, 0.2) for _ in range(n)])
            if pa.types.is_map(kind)
            else (lambda n: self.junk(item, n))
        )
        pair = (lambda v: {"key": v[0], "value": v[1]}) if pa.types.is_map(kind) else (lambda v: v)
        items = junk(self.rng.randrange(3)) if self.dirty else []
        offsets = [len(items)]
        for value in values:
            if value is not None:
                items += [pair(v) for v in value]
            elif self.dirty and self.rng.random() < 0.5:
                items += junk(self.rng.randrange(3))
            offsets.append(len(items))
        if self.dirty:
            items += junk(self.rng.randrange(2))
        if pa.types.is_map(kind):
            keys = self.array(kind.key_field, [entry["key"] for entry in items])
            values = self.array(kind.item_field, [entry["value"] for entry in items])
            return pa.MapArray.from_arrays(
                pa.array(offsets, pa.int32()), keys, values, type=kind, mask=mask
            )
        cls, width = (
            (pa.ListArray, pa.int32())
            if pa.types.is_list(kind)
            else (pa.LargeListArray, pa.int64())
        )
        return cls.from_arrays(
            pa.array(offsets, width), self.array(item, items), type=kind, mask=mask
        )

    def list_view(self, kind, values, mask):
        pieces, items = list(enumerate(values)), []
        self.rng.shuffle(pieces)
        places = [0] * len(values)
        for index, value in pieces:
            places[index] = len(items)
            items += value or []
        large = pa.types.is_large_list_view(kind)
        cls, width = (
            (pa.LargeListViewArray, pa.int64()) if large else (pa.ListViewArray, pa.int32())
        )
        sizes = pa.array([len(value or []) for value in values], width)
        return cls.from_arrays(
            pa.array(places, width),
            sizes,
            self.array(kind.value_field, items),
            type=kind,
            mask=mask,
        )

    def dictionary(self, kind, values):
        seen = list(dict.fromkeys(value for value in values if value is not None))
        words = (
            seen + self.junk(pa.field("", kind.value_type), self.rng.randrange(3))
            if self.dirty
            else seen
        )
        if self.dirty:
            words += self.rng.choices(words, k=min(len(words), self.rng.randrange(3))) + [None]
            self.rng.shuffle(words)
        places = {}
        for at, word in enumerate(words):
            places.setdefault(word, []).append(at)
        none = places.pop(None, [])
        pick = lambda v: self.rng.choice([None, *none] if v is None else places[v])  # noqa: E731
        indices = self.array(pa.field("", kind.index_type), [pick(value) for value in values])
        words = self.array(pa.field("", kind.value_type), words)
        return pa.DictionaryArray.from_arrays(indices, words, ordered=kind.ordered, safe=False)

    def leaf(self, kind, values, mask):
        filled = [random_value(self.rng, kind, 0) if value is None else value for value in values]
        if not self.dirty:
            filled = [zero(kind) if value is None else value for value in values]
        buffers = leaf_buffers(kind, filled)
        if mask is None:
            return pa.Array.from_buffers(kind, len(values), [None, *buffers])
        valid = pa.array([value is not None for value in values], pa.bool_()).buffers()[1]
        unknown = self.dirty and self.rng.random() < 0.5
        return pa.Array.from_buffers(
            kind, len(values), [valid, *buffers], -1 if unknown else values.count(None)
        )


def zero(kind):
    if kind in WORDS or pa.types.is_decimal(kind):
        return 0
    if pa.types.is_boolean(kind):
        return False
    if is_text(kind):
        return ""
    return bytes(kind.byte_width) if pa.types.is_fixed_size_binary(kind) else b""


def leaf_buffers(kind, values):
    if kind in WORDS:
        return [pa.py_buffer(np.array(values, WORDS[kind]).tobytes())]
    if pa.types.is_decimal(kind):
        return [
            pa.py_buffer(
                b"".join(v.to_bytes(kind.byte_width, "little", signed=True) for v in values)
            )
        ]
    if pa.types.is_fixed_size_binary(kind):
        return [pa.py_buffer(b"".join(values))]
    array = pa.array(values, kind)
    return [buffer if buffer is not None else pa.py_buffer(b"") for buffer in array.buffers()[1:]]


# --- back to values -------------------------------------------------------------------------------


def plain_field(field):
    """The field of the values that `field` stands for."""
    return field.with_type(plain_type(field.type))


def plain_type(kind):
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.utf8()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list_view(kind):
        return pa.list_(plain_field(kind.value_field))
    if pa.types.is_large_list_view(kind):
        return pa.large_list(plain_field(kind.value_field))
    if pa.types.is_struct(kind):
        return pa.struct([plain_field(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(plain_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(plain_field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain_field(kind.value_field), kind.list_size)
    return kind


def plain(array):
    """The values of an array or chunked array."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in plain(chunk)]
    kind, count = array.type, len(array)
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_null(kind):
        return [None] * count
    if pa.types.is_dictionary(kind):
        words = plain(array.dictionary)
        return [None if index is None else words[index] for index in plain(array.indices)]
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return array.to_pylist()
    return masked(validity(array), values_of(array, kind, count))


def values_of(array, kind, count):
    if kind in WORDS:
        width = np.dtype(WORDS[kind]).itemsize
        words = (
            np.frombuffer(array.buffers()[1] or b"", WORDS[kind], count, array.offset * width)
            if count
            else np.array([])
        )
        return words.tolist()
    if pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind):
        width = kind.byte_width
        data = array.buffers()[1].to_pybytes() if count else b""
        pieces = [
            data[i * width : (i + 1) * width] for i in range(array.offset, array.offset + count)
        ]
        if pa.types.is_decimal(kind):
            return [int.from_bytes(piece, "little", signed=True) for piece in pieces]
        return pieces
    if pa.types.is_struct(kind):
        columns = {field.name: plain(array.field(i)) for i, field in enumerate(kind)}
        return [{name: column[i] for name, column in columns.items()} for i in range(count)]
    if pa.types.is_fixed_size_list(kind):
        width = kind.list_size
        items = plain(array.values.slice(array.offset * width, count * width))
        return [items[i * width : (i + 1) * width] for i in range(count)]
    if is_list(kind) or pa.types.is_map(kind):
        width = np.int64 if pa.types.is_large_list(kind) else np.int32
        buffer = array.buffers()[1]
        offsets = (
            np.frombuffer(buffer, width)[array.offset : array.offset + count + 1].tolist()
            if count
            else [0]
        )
        first = offsets[0]
        if pa.types.is_map(kind):
            keys, items = (
                plain(part.slice(first, offsets[-1] - first)) for part in (array.keys, array.items)
            )
            items = [[key, item] for key, item in zip(keys, items, strict=True)]
        else:
            items = plain(array.values.slice(first, offsets[-1] - first))
        return [items[a - first : b - first] for a, b in zip(offsets, offsets[1:], strict=False)]
    return array.to_pylist()  # booleans, texts and bytes


def validity(array):
    bitmap = array.buffers()[0]
    if bitmap is None:
        return None
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].tolist()


def masked(valid, values):
    if valid is None:
        return values
    return [value if bit else None for bit, value in zip(valid, values, strict=True)]
