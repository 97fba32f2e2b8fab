#include "wire/fragment_scan.h"

#include <algorithm>
#include <cstring>

#include "wire/file_version.h"
#include "wire/message.h"

// Opening a table walks over every field of every fragment. protozero's reader reports bad bytes by
// exceptions and takes several times as long; it is asked only to say what is wrong.
namespace glaive::wire {
namespace {

constexpr uint64_t Tag(uint32_t number, WireType type) {
  return uint64_t{number} << 3 | static_cast<uint64_t>(type);
}

// Steps through a message. Bytes that are no message end it, and `ok` says so.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes)
      : Cursor(bytes.data(), bytes.data() + bytes.size()) {}

  bool done() const { return at_ == end_; }
  bool ok() const { return ok_; }
  const std::byte* at() const { return at_; }

  uint64_t Varint() {
    if (at_ != end_ && *at_ < kMore) [[likely]] {
      return static_cast<uint64_t>(*at_++);
    }
    return LongVarint();
  }

  std::span<const std::byte> Bytes() {
    const uint64_t size = Varint();
    if (size > static_cast<uint64_t>(end_ - at_)) {
      Fail();
      return {};
    }
    const std::byte* begin = at_;
    at_ += size;
    return {begin, at_};
  }

  // The value of a field with this tag. Fields are numbered from 1.
  void Skip(uint64_t tag) {
    if (tag < 8) return Fail();
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::varint: Varint(); return;
      case WireType::length_delimited: Bytes(); return;
      case WireType::fixed64: return SkipBytes(8);
      case WireType::fixed32: return SkipBytes(4);
      default: Fail();
    }
  }

  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  // Steps over a tag of one byte if that is what comes next.
  bool Match(uint64_t tag) {
    if (at_ == end_ || *at_ != static_cast<std::byte>(tag)) return false;
    ++at_;
    return true;
  }

  // Steps over these bytes if they come next. There are 8 at least.
  bool Match(std::span<const std::byte> bytes) {
    if (bytes.size() > static_cast<size_t>(end_ - at_)) return false;
    const size_t last = bytes.size() - sizeof(uint64_t);
    bool same = Word(at_ + last) == Word(bytes.data() + last);
    for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
      same = same && Word(at_ + i) == Word(bytes.data() + i);
    }
    if (same) at_ += bytes.size();
    return same;
  }

 private:
  static constexpr std::byte kMore{0x80};

  Cursor(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}

  static uint64_t Word(const std::byte* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
  }

  uint64_t LongVarint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const std::byte byte = *at_++;
      value |= static_cast<uint64_t>(byte & ~kMore) << shift;
      if (byte < kMore) return value;
    }
    Fail();
    return 0;
  }

  void SkipBytes(ptrdiff_t size) {
    if (end_ - at_ < size) return Fail();
    at_ += size;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

// False where the bytes are no message.
bool ScanFields(std::span<const std::byte> packed, int32_t& max_field_id) {
  Cursor ids(packed);
  while (!ids.done()) {
    max_field_id = std::max(max_field_id, static_cast<int32_t>(ids.Varint()));
  }
  return ids.ok();
}

// The fields of a DataFile message up to one with the tag `end`, which is left out. The cursor is
// a value here, as its address would keep it out of the registers of who calls this now and then.
Cursor ScanFileFields(Cursor file, std::optional<uint64_t> end, FileFacts& facts) {
  while (!file.done()) {
    if (end && static_cast<uint64_t>(*file.at()) == *end) break;
    const uint64_t tag = file.Varint();
    switch (tag) {
      case Tag(2, kVarint):
        facts.max_field_id = std::max(facts.max_field_id, static_cast<int32_t>(file.Varint()));
        break;
      case Tag(2, kLengthDelimited):
        if (!ScanFields(file.Bytes(), facts.max_field_id)) file.Fail();
        break;
      case Tag(4, kVarint): facts.major_version = static_cast<uint32_t>(file.Varint()); break;
      case Tag(5, kVarint): facts.minor_version = static_cast<uint32_t>(file.Varint()); break;
      case Tag(6, kVarint): facts.size_bytes += file.Varint(); break;
      default: file.Skip(tag);
    }
  }
  return file;
}

void AddFile(const FileFacts& file, FragmentFacts& facts) {
  facts.max_field_id = std::max(facts.max_field_id, file.max_field_id);
  facts.data_file_bytes += file.size_bytes;
  if (const auto version = FileVersionOf(file.major_version, file.minor_version)) {
    ++facts.files_by_version[static_cast<size_t>(*version)];
  } else {
    ++facts.files_of_unknown_version;
  }
}

bool ScanDataFile(std::span<const std::byte> message, KnownMiddle& known, FragmentFacts& facts) {
  constexpr uint64_t kPath = Tag(1, kLengthDelimited);
  constexpr uint64_t kSize = Tag(6, kVarint);
  Cursor file(message);
  FileFacts of_file;
  if (file.Match(kPath)) file.Bytes();
  const std::byte* const middle = file.at();
  if (!known.bytes.empty() && file.Match(known.bytes)) {
    of_file = known.facts;
  } else {
    FileFacts of_middle;
    file = ScanFileFields(file, kSize, of_middle);
    if (!file.ok()) return false;
    if (file.at() - middle >= 8) known = {{middle, file.at()}, of_middle};
    of_file = of_middle;
  }
  if (file.Match(kSize)) of_file.size_bytes += file.Varint();
  if (!file.done()) {
    FileFacts of_rest = of_file;
    file = ScanFileFields(file, std::nullopt, of_rest);
    of_file = of_rest;
  }

  AddFile(of_file, facts);
  return file.ok();
}

bool ScanDeletionFile(std::span<const std::byte> message, FragmentFacts& facts) {
  Cursor file(message);
  while (!file.done()) {
    const uint64_t tag = file.Varint();
    if (tag == Tag(4, kVarint)) {
      facts.deleted_rows = file.Varint();
    } else {
      file.Skip(tag);
    }
  }
  return file.ok();
}

// A field's id is taken while an overlay supplies the field.
bool ScanOverlay(std::span<const std::byte> message, FragmentFacts& facts) {
  Cursor overlay(message);
  while (!overlay.done()) {
    const uint64_t tag = overlay.Varint();
    if (tag != Tag(1, kLengthDelimited)) {
      overlay.Skip(tag);
      continue;
    }
    FragmentFacts of_file;
    KnownMiddle none;
    if (!ScanDataFile(overlay.Bytes(), none, of_file)) return false;
    facts.max_field_id = std::max(facts.max_field_id, of_file.max_field_id);
  }
  return overlay.ok();
}

// False also where the numbers contradict each other.
bool ScanFragment(std::span<const std::byte> message, KnownMiddles& known, FragmentFacts& facts) {
  Cursor fragment(message);
  size_t num_files = 0;
  const auto scan_file = [&](std::span<const std::byte> file) {
    return ScanDataFile(file, known[num_files++ % known.size()], facts);
  };
  // Mostly that is all, in this order.
  if (fragment.Match(Tag(1, kVarint))) facts.id = fragment.Varint();
  while (fragment.Match(Tag(2, kLengthDelimited))) {
    if (!scan_file(fragment.Bytes())) return false;
  }
  if (fragment.Match(Tag(4, kVarint))) facts.physical_rows = fragment.Varint();
  while (!fragment.done()) {
    const uint64_t tag = fragment.Varint();
    switch (tag) {
      case Tag(1, kVarint): facts.id = fragment.Varint(); continue;
      case Tag(2, kLengthDelimited):
        if (!scan_file(fragment.Bytes())) return false;
        continue;
      case Tag(3, kLengthDelimited):
        facts.has_deletion_file = true;
        if (!ScanDeletionFile(fragment.Bytes(), facts)) return false;
        continue;
      case Tag(4, kVarint): facts.physical_rows = fragment.Varint(); continue;
      case Tag(5, kLengthDelimited): facts.has_row_ids = true; break;
      case Tag(11, kLengthDelimited):
        ++facts.num_overlays;
        if (!ScanOverlay(fragment.Bytes(), facts)) return false;
        continue;
      case Tag(12, kLengthDelimited):
        facts.has_row_ids = true;
        facts.has_spilled_lineage = true;
        break;
      case Tag(13, kLengthDelimited):
      case Tag(14, kLengthDelimited): facts.has_spilled_lineage = true; break;
      default: break;
    }
    fragment.Skip(tag);
  }
  return fragment.ok() && (facts.deleted_rows <= facts.physical_rows || facts.physical_rows == 0);
}

// REQUIRES: ScanFragment failed
arrow::Status WhatIsWrong(std::span<const std::byte> message, Location where,
                          const FragmentFacts& facts) {
  ARROW_RETURN_NOT_OK(ParseDataFragment(message, where));
  if (facts.deleted_rows > facts.physical_rows && facts.physical_rows != 0) {
    return Corrupt(where, "fragment {} has {} rows and {} deleted ones", facts.id,
                   facts.physical_rows, facts.deleted_rows);
  }
  return Corrupt(where, "DataFragment is not a valid message");
}

}  // namespace

uint64_t KnownLiveRows(const FragmentFacts& facts) {
  return facts.physical_rows - std::min(facts.physical_rows, facts.deleted_rows);
}

arrow::Result<FragmentFacts> ScanDataFragment(std::span<const std::byte> message, Location where) {
  FragmentFacts facts;
  KnownMiddles none;
  if (!ScanFragment(message, none, facts)) return WhatIsWrong(message, where, facts);
  return facts;
}

bool FragmentScanner::Next(size_t arrived) {
  num_found_ = 0;
  facts_ = {};
  return ScanAlike(arrived) || ScanOne(arrived);
}

// Fragments of one file, of a known shape, without deletions: what most tables have most of. Stops
// before anything else, be it another kind of fragment or damage.
bool FragmentScanner::ScanAlike(size_t arrived) {
  const KnownMiddle& known = known_.front();
  if (known.bytes.empty()) return false;
  uint64_t num_rows = 0;
  uint64_t num_bytes = 0;
  while (num_found_ < found_.size()) {
    // That the parts end where their lengths say is seen behind them.
    Cursor at(manifest_.subspan(next_, arrived - next_));
    if (!at.Match(Tag(2, kLengthDelimited))) break;
    const uint64_t size = at.Varint();
    const std::byte* const message = at.at();
    if (!at.Match(Tag(1, kVarint))) break;
    const uint64_t id = at.Varint();
    if (!at.Match(Tag(2, kLengthDelimited))) break;
    const uint64_t file_size = at.Varint();
    const std::byte* const file = at.at();
    if (!at.Match(Tag(1, kLengthDelimited))) break;
    at.Bytes();
    if (!at.Match(known.bytes) || !at.Match(Tag(6, kVarint))) break;
    const uint64_t file_bytes = at.Varint();
    if (static_cast<uint64_t>(at.at() - file) != file_size || !at.Match(Tag(4, kVarint))) break;
    const uint64_t rows = at.Varint();
    if (!at.ok() || static_cast<uint64_t>(at.at() - message) != size || rows == 0) break;

    const auto end = static_cast<size_t>(at.at() - manifest_.data());
    found_[num_found_++] = {id, rows, {next_, end - next_}};
    next_ = end;
    num_rows += rows;
    num_bytes += file_bytes;
  }
  if (num_found_ == 0) return false;
  AddFile(known.facts, facts_);
  facts_.physical_rows = num_rows;
  facts_.data_file_bytes = num_bytes;
  return true;
}

bool FragmentScanner::ScanOne(size_t arrived) {
  constexpr uint64_t kFragments = Tag(2, kLengthDelimited);
  while (next_ < arrived) {
    Cursor field(manifest_.subspan(next_, arrived - next_));
    const uint64_t tag = field.Varint();
    std::span<const std::byte> message;
    if (tag == kFragments) {
      message = field.Bytes();
    } else {
      field.Skip(tag);
    }
    if (!field.ok()) {
      if (arrived == manifest_.size()) status_ = NotAManifest();
      return false;
    }
    const size_t begin = next_;
    next_ = static_cast<size_t>(field.at() - manifest_.data());
    if (tag != kFragments) continue;
    if (!ScanFragment(message, known_, facts_)) {
      status_ = WhatIsWrong(message, where_.Plus(next_ - message.size()), facts_);
      next_ = manifest_.size();
      return false;
    }
    found_[num_found_++] = {facts_.id, KnownLiveRows(facts_), {begin, next_ - begin}};
    return true;
  }
  return false;
}

arrow::Status FragmentScanner::NotAManifest() const {
  const auto skip = [](FieldReader& reader) { reader.skip(); };
  ARROW_RETURN_NOT_OK(ReadMessage(manifest_, where_, "Manifest", skip));
  return Corrupt(where_, "Manifest is not a valid message");
}

}  // namespace glaive::wire
