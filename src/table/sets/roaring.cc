#include "table/sets/roaring.h"

#include <algorithm>
#include <bit>

#include "core/byte_reader.h"

namespace glaive::table {
namespace {

constexpr uint32_t kCookie = 12346;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kMaxContainers = 1u << 16;
constexpr uint32_t kMaxArray = 4096;
constexpr uint32_t kWordsOfBitmap = 1024;
constexpr uint32_t kMinOffsetsBesideRuns = 4;

struct Container {
  uint16_t key;
  uint32_t cardinality;
  bool has_runs;
};

// Collects ascending ranges and joins those that touch.
class RangeList {
 public:
  void Add(uint64_t begin, uint64_t end) {
    if (!ranges_.empty() && ranges_.back().end == begin) {
      ranges_.back().end = end;
    } else {
      ranges_.push_back({begin, end});
    }
  }
  std::vector<RowRange> Take() && { return std::move(ranges_); }

 private:
  std::vector<RowRange> ranges_;
};

arrow::Result<std::vector<Container>> ReadHeader(ByteReader& reader) {
  const Location where = reader.location();
  ARROW_ASSIGN_OR_RAISE(const auto cookie, reader.Read<uint32_t>("Roaring cookie"));
  const bool with_runs = (cookie & 0xffff) == kCookieWithRuns;
  if (!with_runs && cookie != kCookie) {
    return Corrupt(where, "{} is not the cookie of a Roaring bitmap", cookie);
  }
  uint32_t count = (cookie >> 16) + 1;
  std::span<const std::byte> run_flags;
  if (with_runs) {
    ARROW_ASSIGN_OR_RAISE(run_flags, reader.ReadBytes((count + 7) / 8, "Roaring run flags"));
  } else {
    ARROW_ASSIGN_OR_RAISE(count, reader.Read<uint32_t>("number of Roaring containers"));
    if (count > kMaxContainers) return Corrupt(where, "{} Roaring containers", count);
  }
  const Location at = reader.location();
  ARROW_ASSIGN_OR_RAISE(const auto keys, reader.ReadBytes(uint64_t{count} * 4, "Roaring keys"));
  std::vector<Container> containers(count);
  for (uint32_t i = 0; i < count; ++i) {
    Container& container = containers[i];
    container.key = LoadLittleEndian<uint16_t>(keys.data() + i * 4);
    container.cardinality = uint32_t{LoadLittleEndian<uint16_t>(keys.data() + i * 4 + 2)} + 1;
    container.has_runs =
        with_runs && std::to_integer<int>(run_flags[i / 8] >> (i % 8) & std::byte{1});
    if (i > 0 && container.key <= containers[i - 1].key) {
      return Corrupt(at.Plus(uint64_t{i} * 4), "Roaring containers are not in order");
    }
  }
  // Containers lie back to back, so that their offsets say nothing new.
  if (!with_runs || count >= kMinOffsetsBesideRuns) {
    ARROW_RETURN_NOT_OK(reader.ReadBytes(uint64_t{count} * 4, "Roaring offsets").status());
  }
  return containers;
}

arrow::Status ReadRuns(ByteReader& reader, const Container& container, RangeList& ranges) {
  const Location where = reader.location();
  ARROW_ASSIGN_OR_RAISE(const auto count, reader.Read<uint16_t>("number of Roaring runs"));
  ARROW_ASSIGN_OR_RAISE(const auto runs, reader.ReadBytes(uint64_t{count} * 4, "Roaring runs"));
  const uint64_t base = uint64_t{container.key} << 16;
  uint32_t end = 0;
  uint32_t cardinality = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t begin = LoadLittleEndian<uint16_t>(runs.data() + i * 4);
    const uint32_t length = uint32_t{LoadLittleEndian<uint16_t>(runs.data() + i * 4 + 2)} + 1;
    if ((i > 0 && begin < end) || begin + length > kMaxContainers) {
      return Corrupt(where, "Roaring run {} is out of order", i);
    }
    end = begin + length;
    cardinality += length;
    ranges.Add(base + begin, base + end);
  }
  if (cardinality == container.cardinality) return arrow::Status::OK();
  return Corrupt(where, "Roaring runs hold {} numbers, expected {}", cardinality,
                 container.cardinality);
}

arrow::Status ReadArray(ByteReader& reader, const Container& container, RangeList& ranges) {
  const Location where = reader.location();
  ARROW_ASSIGN_OR_RAISE(const auto numbers,
                        reader.ReadBytes(uint64_t{container.cardinality} * 2, "Roaring array"));
  const uint64_t base = uint64_t{container.key} << 16;
  for (size_t i = 0; i < container.cardinality; ++i) {
    const uint32_t number = LoadLittleEndian<uint16_t>(numbers.data() + i * 2);
    if (i > 0 && number <= LoadLittleEndian<uint16_t>(numbers.data() + i * 2 - 2)) {
      return Corrupt(where, "number {} of a Roaring array is out of order", i);
    }
    ranges.Add(base + number, base + number + 1);
  }
  return arrow::Status::OK();
}

arrow::Status ReadBitmap(ByteReader& reader, const Container& container, RangeList& ranges) {
  const Location where = reader.location();
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader.ReadBytes(kWordsOfBitmap * 8, "Roaring bitmap"));
  const uint64_t base = uint64_t{container.key} << 16;
  uint32_t cardinality = 0;
  for (uint32_t word = 0; word < kWordsOfBitmap; ++word) {
    auto bits = LoadLittleEndian<uint64_t>(bytes.data() + word * 8);
    cardinality += static_cast<uint32_t>(std::popcount(bits));
    while (bits != 0) {
      const auto first = static_cast<uint32_t>(std::countr_zero(bits));
      const auto length = static_cast<uint32_t>(std::countr_one(bits >> first));
      const uint64_t begin = base + word * 64 + first;
      ranges.Add(begin, begin + length);
      if (first + length == 64) break;
      bits &= ~uint64_t{0} << (first + length);
    }
  }
  if (cardinality == container.cardinality) return arrow::Status::OK();
  return Corrupt(where, "a Roaring bitmap holds {} numbers, expected {}", cardinality,
                 container.cardinality);
}

template <typename T>
void Append(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// The part of `ranges` in one container, from `position` on, which moves to the next one's.
struct Slice {
  uint16_t key;
  uint32_t cardinality = 0;
  std::vector<RowRange> ranges;  // within the container
};

std::vector<Slice> Slices(std::span<const RowRange> ranges) {
  std::vector<Slice> slices;
  for (RowRange range : ranges) {
    while (range.begin < range.end) {
      const uint64_t base = range.begin & ~uint64_t{0xffff};
      const uint64_t end = std::min(range.end, base + kMaxContainers);
      const auto key = static_cast<uint16_t>(base >> 16);
      if (slices.empty() || slices.back().key != key) slices.push_back({key, 0, {}});
      slices.back().ranges.push_back({range.begin - base, end - base});
      slices.back().cardinality += static_cast<uint32_t>(end - range.begin);
      range.begin = end;
    }
  }
  return slices;
}

size_t PlainSizeOf(const Slice& slice) {
  return slice.cardinality <= kMaxArray ? size_t{slice.cardinality} * 2 : kWordsOfBitmap * 8;
}

bool IsShorterAsRuns(const Slice& slice) {
  return 2 + slice.ranges.size() * 4 < PlainSizeOf(slice);
}

void WriteRuns(const Slice& slice, std::string& out) {
  Append(static_cast<uint16_t>(slice.ranges.size()), out);
  for (const RowRange& range : slice.ranges) {
    Append(static_cast<uint16_t>(range.begin), out);
    Append(static_cast<uint16_t>(range.size() - 1), out);
  }
}

void WriteContainer(const Slice& slice, std::string& out) {
  if (slice.cardinality <= kMaxArray) {
    for (const RowRange& range : slice.ranges) {
      for (uint64_t i = range.begin; i < range.end; ++i) Append(static_cast<uint16_t>(i), out);
    }
    return;
  }
  std::vector<uint64_t> words(kWordsOfBitmap);
  for (const RowRange& range : slice.ranges) {
    for (uint64_t i = range.begin; i < range.end; ++i) words[i / 64] |= uint64_t{1} << i % 64;
  }
  out.append(reinterpret_cast<const char*>(words.data()), kWordsOfBitmap * 8);
}

}  // namespace

arrow::Result<std::vector<RowRange>> ParseRoaring(std::span<const std::byte> bytes,
                                                  Location where) {
  ByteReader reader(bytes, where);
  ARROW_ASSIGN_OR_RAISE(const auto containers, ReadHeader(reader));
  RangeList ranges;
  for (const Container& container : containers) {
    if (container.has_runs) {
      ARROW_RETURN_NOT_OK(ReadRuns(reader, container, ranges));
    } else if (container.cardinality <= kMaxArray) {
      ARROW_RETURN_NOT_OK(ReadArray(reader, container, ranges));
    } else {
      ARROW_RETURN_NOT_OK(ReadBitmap(reader, container, ranges));
    }
  }
  ARROW_RETURN_NOT_OK(reader.ExpectEnd("a Roaring bitmap"));
  return std::move(ranges).Take();
}

std::string SerializeRoaring(std::span<const RowRange> ranges) {
  const std::vector<Slice> slices = Slices(ranges);
  std::string header;
  Append(kCookie, header);
  Append(static_cast<uint32_t>(slices.size()), header);
  for (const Slice& slice : slices) {
    Append(slice.key, header);
    Append(static_cast<uint16_t>(slice.cardinality - 1), header);
  }
  std::string containers;
  const size_t begin = header.size() + slices.size() * 4;
  for (const Slice& slice : slices) {
    Append(static_cast<uint32_t>(begin + containers.size()), header);
    WriteContainer(slice, containers);
  }
  return header + containers;
}

std::string SerializeRoaringWithRuns(std::span<const RowRange> ranges) {
  const std::vector<Slice> slices = Slices(ranges);
  if (std::ranges::none_of(slices, IsShorterAsRuns)) return SerializeRoaring(ranges);
  std::string header;
  Append(static_cast<uint16_t>(kCookieWithRuns), header);
  Append(static_cast<uint16_t>(slices.size() - 1), header);
  std::string flags((slices.size() + 7) / 8, '\0');
  for (size_t i = 0; i < slices.size(); ++i) {
    if (IsShorterAsRuns(slices[i])) flags[i / 8] = static_cast<char>(flags[i / 8] | 1 << (i % 8));
  }
  header += flags;
  for (const Slice& slice : slices) {
    Append(slice.key, header);
    Append(static_cast<uint16_t>(slice.cardinality - 1), header);
  }
  const bool has_offsets = slices.size() >= kMinOffsetsBesideRuns;
  const size_t begin = header.size() + (has_offsets ? slices.size() * 4 : 0);
  std::string containers;
  for (const Slice& slice : slices) {
    if (has_offsets) Append(static_cast<uint32_t>(begin + containers.size()), header);
    IsShorterAsRuns(slice) ? WriteRuns(slice, containers) : WriteContainer(slice, containers);
  }
  return header + containers;
}

std::vector<RowRange> RangesOf(std::span<const uint32_t> numbers) {
  RangeList ranges;
  for (const uint32_t number : numbers) ranges.Add(number, uint64_t{number} + 1);
  return std::move(ranges).Take();
}

}  // namespace glaive::table
