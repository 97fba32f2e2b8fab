#include "table/rows/row_ids.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "core/byte_reader.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using wire::Bytes;
using wire::FieldView;
using wire::Varint;
using Run = RowIdSequence::Run;

// Collects ids in order of the rows. Refuses more than `limit` of them before they cost anything.
class RunList {
 public:
  RunList(uint64_t limit, Location where) : limit_(limit), where_(where) {}

  arrow::Status Add(uint64_t first, uint64_t length) {
    if (length > limit_ - size_) {
      return Corrupt(where_, "row ids of more than {} rows", limit_);
    }
    if (!runs_.empty() && runs_.back().first + runs_.back().length == first) {
      runs_.back().length += length;
    } else if (length > 0) {
      runs_.push_back({size_, first, length});
    }
    size_ += length;
    return arrow::Status::OK();
  }

  uint64_t size() const { return size_; }
  Location where() const { return where_; }
  std::vector<Run> Take() && { return std::move(runs_); }

 private:
  uint64_t limit_;
  Location where_;
  uint64_t size_ = 0;
  std::vector<Run> runs_;
};

template <typename T>
arrow::Status AppendNumbers(std::span<const std::byte> bytes, uint64_t base, Location where,
                            std::vector<uint64_t>& values) {
  if (bytes.size() % sizeof(T) != 0) {
    return Corrupt(where, "{} bytes of {}-byte numbers", bytes.size(), sizeof(T));
  }
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    values.push_back(base + LoadLittleEndian<T>(bytes.data() + i));
  }
  return arrow::Status::OK();
}

// EncodedU64Array: {1 u16 | 2 u32 {1 base, 2 offsets}} or {3 u64 {2 values}}.
arrow::Result<std::vector<uint64_t>> ReadArray(const FieldView& field) {
  std::vector<uint64_t> values;
  const auto read = [&](const FieldView& width) -> arrow::Status {
    uint64_t base = 0;
    std::span<const std::byte> bytes;
    ARROW_RETURN_NOT_OK(
        wire::VisitFields(width.payload, width.where, "an array", [&](const FieldView& part) {
          if (part.key() == Varint(1)) base = part.value;
          if (part.key() == Bytes(2)) bytes = part.payload;
          return arrow::Status::OK();
        }));
    switch (width.key()) {
      case Bytes(1): return AppendNumbers<uint16_t>(bytes, base, width.where, values);
      case Bytes(2): return AppendNumbers<uint32_t>(bytes, base, width.where, values);
      case Bytes(3): return AppendNumbers<uint64_t>(bytes, 0, width.where, values);
      default: return Corrupt(width.where, "an array of kind {}", width.number);
    }
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(field.payload, field.where, "EncodedU64Array", read));
  return values;
}

bool StrictlyAscends(const std::vector<uint64_t>& values) {
  return std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
}

// A U64Segment that begins with a range: {1 start, 2 end, 3 holes or bitmap}.
struct RangeFields {
  uint64_t start = 0;
  uint64_t end = 0;
  std::optional<FieldView> exceptions;
};

arrow::Result<RangeFields> ReadRange(const FieldView& field) {
  RangeFields range;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(field.payload, field.where, "a range", [&](const FieldView& part) {
        if (part.key() == Varint(1)) range.start = part.value;
        if (part.key() == Varint(2)) range.end = part.value;
        if (part.key() == Bytes(3)) range.exceptions = part;
        return arrow::Status::OK();
      }));
  if (range.start > range.end) {
    return Corrupt(field.where, "row ids from {} to {}", range.start, range.end);
  }
  return range;
}

arrow::Status AddWithHoles(const FieldView& field, RunList& runs) {
  ARROW_ASSIGN_OR_RAISE(const RangeFields range, ReadRange(field));
  std::vector<uint64_t> holes;
  if (range.exceptions) {
    ARROW_ASSIGN_OR_RAISE(holes, ReadArray(*range.exceptions));
  }
  const bool inside = holes.empty() || (holes.front() >= range.start && holes.back() < range.end);
  if (!StrictlyAscends(holes) || !inside) {
    return Corrupt(field.where, "holes that are not ascending ids of {} to {}", range.start,
                   range.end);
  }
  uint64_t begin = range.start;
  for (const uint64_t hole : holes) {
    ARROW_RETURN_NOT_OK(runs.Add(begin, hole - begin));
    begin = hole + 1;
  }
  return runs.Add(begin, range.end - begin);
}

// Bit i % 8 of byte i / 8, from the lowest, says whether id start + i is there.
arrow::Status AddBitmap(const FieldView& field, RunList& runs) {
  ARROW_ASSIGN_OR_RAISE(const RangeFields range, ReadRange(field));
  std::span<const std::byte> bits;
  if (range.exceptions) bits = range.exceptions->payload;
  const uint64_t span = range.end - range.start;
  if (bits.size() != span / 8 + (span % 8 != 0)) {
    return Corrupt(field.where, "a bitmap of {} bytes for {} row ids", bits.size(), span);
  }
  for (size_t i = 0; i < bits.size(); ++i) {
    auto byte = std::to_integer<uint8_t>(bits[i]);
    while (byte != 0) {
      const auto bit = static_cast<uint64_t>(std::countr_zero(byte));
      if (i * 8 + bit >= span) return Corrupt(field.where, "a bitmap with bits behind its end");
      ARROW_RETURN_NOT_OK(runs.Add(range.start + i * 8 + bit, 1));
      byte = static_cast<uint8_t>(byte & (byte - 1));
    }
  }
  return arrow::Status::OK();
}

arrow::Status AddArray(const FieldView& field, bool sorted, RunList& runs) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<uint64_t> ids, ReadArray(field));
  if (sorted && !StrictlyAscends(ids)) {
    return Corrupt(field.where, "a sorted array of row ids is not ascending");
  }
  for (const uint64_t id : ids) ARROW_RETURN_NOT_OK(runs.Add(id, 1));
  return arrow::Status::OK();
}

// U64Segment: 1 range, 2 with holes, 3 with a bitmap, 4 ascending array, 5 array.
arrow::Status AddSegment(const FieldView& segment, RunList& runs) {
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): {
        ARROW_ASSIGN_OR_RAISE(const RangeFields range, ReadRange(field));
        return runs.Add(range.start, range.end - range.start);
      }
      case Bytes(2): return AddWithHoles(field, runs);
      case Bytes(3): return AddBitmap(field, runs);
      case Bytes(4): return AddArray(field, true, runs);
      case Bytes(5): return AddArray(field, false, runs);
      default: return Corrupt(field.where, "a segment of row ids of kind {}", field.number);
    }
  };
  return wire::VisitFields(segment.payload, segment.where, "U64Segment", read);
}

arrow::Status ExpectRows(uint64_t found, uint64_t expected, Location where) {
  if (found == expected) return arrow::Status::OK();
  return Corrupt(where, "row lineage of {} rows in a fragment of {}", found, expected);
}

// What stands for numbers, and about how many bytes it takes: {1 base, 2 offsets} of 16 or 32 bits,
// or whole ones.
struct ArrayWidth {
  uint32_t number;  // of the EncodedU64Array's field
  uint64_t bytes;
};

ArrayWidth WidthOf(uint64_t lowest, uint64_t highest) {
  if (highest - lowest <= UINT16_MAX) return {1, 2};
  if (highest - lowest <= UINT32_MAX) return {2, 4};
  return {3, 8};
}

// EncodedU64Array of the numbers of `ranges`, in their order.
std::string EncodeArray(std::span<const RowRange> ranges) {
  uint64_t lowest = UINT64_MAX;
  uint64_t highest = 0;
  for (const RowRange& range : ranges) {
    lowest = std::min(lowest, range.begin);
    highest = std::max(highest, range.end - 1);
  }
  const ArrayWidth width = WidthOf(lowest, highest);
  const uint64_t base = width.number == 3 ? 0 : lowest;
  std::string values;
  values.reserve(CountRows(ranges) * width.bytes);
  for (const RowRange& range : ranges) {
    for (uint64_t id = range.begin; id < range.end; ++id) {
      for (uint64_t i = 0; i < width.bytes; ++i) {
        values.push_back(static_cast<char>((id - base) >> (8 * i)));
      }
    }
  }
  std::string numbers;
  wire::AppendUnlessZero(1, base, &numbers);
  wire::AppendBytes(2, values, &numbers);
  std::string array;
  wire::AppendBytes(width.number, numbers, &array);
  return array;
}

constexpr uint32_t kWithHoles = 2;
constexpr uint32_t kWithBitmap = 3;
constexpr uint32_t kSorted = 4;
constexpr uint32_t kAnyOrder = 5;

std::string ArraySegment(std::span<const RowRange> ranges, uint32_t kind) {
  std::string segment;
  wire::AppendBytes(kind, EncodeArray(ranges), &segment);
  return segment;
}

// The interval around `ranges`, and in `exceptions` which of its numbers are there.
std::string IntervalSegment(std::span<const RowRange> ranges, uint32_t kind,
                            std::string_view exceptions) {
  std::string interval;
  wire::AppendUnlessZero(1, ranges.front().begin, &interval);
  wire::AppendUnlessZero(2, ranges.back().end, &interval);
  wire::AppendBytes(3, exceptions, &interval);
  std::string segment;
  wire::AppendBytes(kind, interval, &segment);
  return segment;
}

std::string HolesSegment(std::span<const RowRange> ranges) {
  std::vector<RowRange> holes;
  for (size_t i = 1; i < ranges.size(); ++i) holes.push_back({ranges[i - 1].end, ranges[i].begin});
  return IntervalSegment(ranges, kWithHoles, EncodeArray(holes));
}

std::string BitmapSegment(std::span<const RowRange> ranges) {
  const uint64_t first = ranges.front().begin;
  std::string bits((ranges.back().end - first + 7) / 8, '\0');
  for (const RowRange& range : ranges) {
    for (uint64_t bit = range.begin - first; bit < range.end - first; ++bit) {
      bits[bit / 8] = static_cast<char>(bits[bit / 8] | 1 << (bit % 8));
    }
  }
  return IntervalSegment(ranges, kWithBitmap, bits);
}

std::string RangeSegment(uint64_t begin, uint64_t end) {
  std::string range;
  wire::AppendUnlessZero(1, begin, &range);
  wire::AppendUnlessZero(2, end, &range);
  std::string segment;
  wire::AppendBytes(1, range, &segment);
  return segment;
}

// Ranges that ascend and do not touch: in the form that takes the fewest bytes.
void AppendAscending(std::span<const RowRange> ranges, std::string* out) {
  constexpr uint64_t kRangeBytes = 14;    // with its tags
  constexpr uint64_t kSegmentBytes = 24;  // of the other forms, besides their numbers
  const uint64_t count = CountRows(ranges);
  const uint64_t lowest = ranges.front().begin;
  const uint64_t span = ranges.back().end - lowest;
  const uint64_t width = WidthOf(lowest, ranges.back().end - 1).bytes;
  const uint64_t as_ranges = ranges.size() * kRangeBytes;
  const uint64_t with_holes = kSegmentBytes + width * (span - count);
  const uint64_t with_bitmap = kSegmentBytes + span / 8;
  const uint64_t as_array = kSegmentBytes + width * count;
  const uint64_t least = std::min({as_ranges, with_holes, with_bitmap, as_array});
  if (as_ranges == least || ranges.size() == 1) {
    for (const RowRange& range : ranges) {
      wire::AppendBytes(1, RangeSegment(range.begin, range.end), out);
    }
  } else if (with_bitmap == least) {
    wire::AppendBytes(1, BitmapSegment(ranges), out);
  } else if (with_holes == least) {
    wire::AppendBytes(1, HolesSegment(ranges), out);
  } else {
    wire::AppendBytes(1, ArraySegment(ranges, kSorted), out);
  }
}

}  // namespace

arrow::Result<RowIdSequence> RowIdSequence::Parse(std::span<const std::byte> message,
                                                  uint64_t num_rows, Location where) {
  ARROW_ASSIGN_OR_RAISE(RowIdSequence sequence, ParseFirst(message, num_rows, where));
  ARROW_RETURN_NOT_OK(ExpectRows(sequence.size(), num_rows, where));
  return sequence;
}

arrow::Result<RowIdSequence> RowIdSequence::ParseFirst(std::span<const std::byte> message,
                                                       uint64_t num_rows, Location where) {
  RunList runs(num_rows, where);
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(message, where, "RowIdSequence", [&](const FieldView& field) {
        return field.key() == Bytes(1) ? AddSegment(field, runs) : arrow::Status::OK();
      }));
  RowIdSequence sequence;
  sequence.runs_ = std::move(runs).Take();
  return sequence;
}

void RowIdSequence::Get(std::span<const RowRange> rows, uint64_t* ids) const {
  if (rows.empty()) return;
  auto run = std::ranges::upper_bound(runs_, rows.front().begin, {}, &Run::offset);
  if (run != runs_.begin()) --run;
  for (const RowRange& range : rows) {
    for (uint64_t offset = range.begin; offset < range.end; ++offset) {
      while (run->offset + run->length <= offset) ++run;
      *ids++ = run->first + (offset - run->offset);
    }
  }
}

void RowIdSequence::AppendTo(RowRange rows, std::vector<RowRange>* ids) const {
  if (rows.begin >= rows.end) return;
  auto run = std::prev(std::ranges::upper_bound(runs_, rows.begin, {}, &Run::offset));
  for (uint64_t offset = rows.begin; offset < rows.end; ++run) {
    const uint64_t end = std::min(rows.end, run->offset + run->length);
    const uint64_t first = run->first + (offset - run->offset);
    if (!ids->empty() && ids->back().end == first) {
      ids->back().end += end - offset;
    } else {
      ids->push_back({first, first + (end - offset)});
    }
    offset = end;
  }
}

// Appends one U64Segment for each stretch of ranges that ascend. Where they hardly do, as after a
// sort by something else, one array holds them all.
std::string SerializeRowIds(std::span<const RowRange> ids) {
  std::vector<RowRange> ranges;
  size_t descents = 0;
  for (const RowRange& range : ids) {
    if (range.begin == range.end) continue;
    if (!ranges.empty() && ranges.back().end == range.begin) {
      ranges.back().end = range.end;
      continue;
    }
    if (!ranges.empty() && range.begin < ranges.back().end) ++descents;
    ranges.push_back(range);
  }
  std::string out;
  if (descents * 2 > ranges.size() && CountRows(ranges) < 4 * ranges.size()) {
    wire::AppendBytes(1, ArraySegment(ranges, kAnyOrder), &out);
    return out;
  }
  for (auto begin = ranges.begin(); begin != ranges.end();) {
    auto end = begin + 1;
    while (end != ranges.end() && std::prev(end)->end <= end->begin) ++end;
    AppendAscending({begin, end}, &out);
    begin = end;
  }
  return out;
}

// RowDatasetVersionSequence: {1 runs {1 span U64Segment, 2 version}}. Of a span only the number of
// its values counts: after a compaction it still holds the offsets of older fragments.
arrow::Result<std::vector<VersionRun>> ParseRowVersions(std::span<const std::byte> message,
                                                        uint64_t num_rows, Location where) {
  std::vector<VersionRun> versions;
  uint64_t found = 0;
  const auto read_run = [&](const FieldView& field) -> arrow::Status {
    if (field.key() != Bytes(1)) return arrow::Status::OK();
    RunList span(num_rows - found, field.where);
    uint64_t version = 0;
    ARROW_RETURN_NOT_OK(wire::VisitFields(field.payload, field.where, "a run of versions",
                                          [&](const FieldView& part) {
                                            if (part.key() == Bytes(1))
                                              return AddSegment(part, span);
                                            if (part.key() == Varint(2)) version = part.value;
                                            return arrow::Status::OK();
                                          }));
    found += span.size();
    if (span.size() > 0) versions.push_back({span.size(), version});
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(message, where, "RowDatasetVersionSequence", read_run));
  ARROW_RETURN_NOT_OK(ExpectRows(found, num_rows, where));
  return versions;
}

std::string SerializeRowVersions(std::span<const VersionRun> runs) {
  std::string out;
  uint64_t offset = 0;
  for (auto run = runs.begin(); run != runs.end();) {
    const uint64_t version = run->version;
    const uint64_t begin = offset;
    for (; run != runs.end() && run->version == version; ++run) offset += run->num_rows;
    if (offset == begin) continue;
    std::string message;
    wire::AppendBytes(1, RangeSegment(begin, offset), &message);
    wire::AppendUnlessZero(2, version, &message);
    wire::AppendBytes(1, message, &out);
  }
  return out;
}

}  // namespace glaive::table
