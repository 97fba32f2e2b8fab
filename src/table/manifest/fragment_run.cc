#include "table/manifest/fragment_run.h"

#include <algorithm>
#include <limits>

namespace glaive::table {
namespace {

constexpr uint32_t kFragmentsField = 2;                                      // Manifest.fragments
constexpr uint64_t kMaxManifestSize = std::numeric_limits<uint32_t>::max();  // its length is a u32

// Behind a varint that is known to be whole.
const std::byte* SkipVarint(const std::byte* at) {
  while ((*at & std::byte{0x80}) != std::byte{0}) ++at;
  return at + 1;
}

// REQUIRES: as above
uint64_t LoadVarint(const std::byte* at) {
  uint64_t value = 0;
  for (uint32_t shift = 0;; shift += 7, ++at) {
    value |= static_cast<uint64_t>(*at & std::byte{0x7f}) << shift;
    if ((*at & std::byte{0x80}) == std::byte{0}) return value;
  }
}

}  // namespace

std::span<const std::byte> FragmentRun::message(size_t index) const {
  const auto* data = reinterpret_cast<const std::byte*>(buffer_->data());
  return {SkipVarint(SkipVarint(data + entries_[index].begin)), data + end_of(index)};
}

Location FragmentRun::where(size_t index) const {
  const auto* data = reinterpret_cast<const std::byte*>(buffer_->data());
  return {path_, file_offset_ + static_cast<uint64_t>(message(index).data() - data)};
}

size_t FragmentRun::LowerBound(uint64_t id) const {
  const auto found = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
  return static_cast<size_t>(found - entries_.begin());
}

// What was scanned once, when the run was made, is scanned again without an error.
uint64_t FragmentRun::RowsOf(size_t index) const {
  return wire::KnownLiveRows(wire::ScanDataFragment(message(index), {path_}).ValueOr({}));
}

uint64_t FragmentRun::RowsBefore(size_t index) const {
  if (index >= entries_.size()) return num_rows_;
  uint64_t rows = rows_before_[index / kBlock];
  for (size_t i = index - index % kBlock; i < index; ++i) rows += RowsOf(i);
  return rows;
}

FragmentRun::RowPlace FragmentRun::FindRow(uint64_t row) const {
  const auto block =
      static_cast<size_t>(std::ranges::upper_bound(rows_before_, row) - rows_before_.begin() - 1);
  row -= rows_before_[block];
  for (size_t index = block * kBlock;; ++index) {
    const uint64_t rows = RowsOf(index);
    if (row < rows) return {index, row};
    row -= rows;
  }
}

std::shared_ptr<arrow::Buffer> FragmentRun::Slice(size_t first, size_t last) const {
  const uint32_t begin = entries_[first].begin;
  return arrow::SliceBuffer(buffer_, begin, end_of(last - 1) - begin);
}

FragmentRun::Builder::Builder() { run_.path_ = "(fragments in memory)"; }

FragmentRun::Builder::Builder(std::shared_ptr<arrow::Buffer> manifest, Location where) {
  run_.buffer_ = std::move(manifest);
  run_.path_ = where.path;
  run_.file_offset_ = where.offset.value_or(0);
}

void FragmentRun::Builder::AddEntry(uint32_t id, uint64_t begin, uint64_t end, uint64_t rows) {
  auto& entries = run_.entries_;
  if (entries.size() % kBlock == 0) run_.rows_before_.push_back(run_.num_rows_);
  in_place_ = in_place_ && (entries.empty() || (id > entries.back().id && begin == run_.end_));
  entries.push_back({id, static_cast<uint32_t>(begin)});
  run_.end_ = static_cast<uint32_t>(end);
  run_.num_rows_ += rows;
}

void FragmentRun::Builder::Add(std::span<const wire::FoundFragment> fragments) {
  constexpr size_t kSample = 1024;
  constexpr uint64_t kSmallestRecord = 32;  // that is worth a guess
  auto& entries = run_.entries_;
  if (entries.size() >= kSample && !guessed_) {
    // Fragments of a table resemble each other, so the first ones tell how many there are.
    const uint64_t sampled = run_.end_ - entries.front().begin;
    const uint64_t each = std::max(sampled / entries.size(), kSmallestRecord);
    entries.reserve(static_cast<size_t>(static_cast<uint64_t>(run_.buffer_->size()) / each) +
                    kSample);
    guessed_ = true;
  }
  for (const wire::FoundFragment& found : fragments) {
    AddEntry(static_cast<uint32_t>(found.id), found.record.offset, found.record.end(),
             found.live_rows);
  }
}

void FragmentRun::Builder::Append(const FragmentRun& run, size_t first, size_t last) {
  if (first == last) return;
  const uint64_t moved_by = bytes_.size() - run.entries_[first].begin;  // wraps, and back again
  const auto* data = reinterpret_cast<const char*>(run.buffer_->data());
  const uint32_t begin = run.entries_[first].begin;
  bytes_.append(data + begin, run.end_of(last - 1) - begin);
  for (size_t i = first; i < last; ++i) {
    const Entry& entry = run.entries_[i];
    AddEntry(entry.id, entry.begin + moved_by, run.end_of(i) + moved_by, run.RowsOf(i));
  }
}

void FragmentRun::Builder::Append(const wire::DataFragment& fragment) {
  const uint64_t begin = bytes_.size();
  const std::string message = wire::Serialize(fragment);
  wire::AppendRecord(kFragmentsField, message, &bytes_);
  const uint64_t deleted = fragment.deletion_file ? fragment.deletion_file->num_deleted_rows : 0;
  AddEntry(static_cast<uint32_t>(fragment.id), begin, bytes_.size(),
           wire::KnownLiveRows({.physical_rows = fragment.physical_rows, .deleted_rows = deleted}));
}

void FragmentRun::Builder::Reserve(size_t num_fragments, uint64_t num_bytes) {
  run_.entries_.reserve(num_fragments);
  bytes_.reserve(num_bytes);
}

arrow::Status FragmentRun::Builder::CheckSize() const {
  if (bytes_.size() <= kMaxManifestSize) return arrow::Status::OK();
  return Unsupported("a manifest above 4 GiB, which the format's 32-bit length cannot say");
}

arrow::Result<std::shared_ptr<const FragmentRun>> FragmentRun::Builder::Finish() && {
  if (!in_place_) return std::move(*this).Sorted();
  if (run_.buffer_ == nullptr) run_.buffer_ = arrow::Buffer::FromString(std::move(bytes_));
  return std::make_shared<const FragmentRun>(std::move(run_));
}

arrow::Result<std::shared_ptr<const FragmentRun>> FragmentRun::Builder::Sorted() && {
  std::vector<Entry> entries = std::move(run_.entries_);
  std::ranges::sort(entries, {}, &Entry::id);
  const auto* data = reinterpret_cast<const std::byte*>(run_.buffer_->data());
  Builder sorted;
  sorted.Reserve(entries.size(), static_cast<uint64_t>(run_.buffer_->size()));
  for (const Entry& entry : entries) {
    const std::byte* const length = SkipVarint(data + entry.begin);
    const std::span message(SkipVarint(length), LoadVarint(length));
    const Location where = {run_.path_,
                            run_.file_offset_ + static_cast<uint64_t>(message.data() - data)};
    if (!sorted.run_.entries_.empty() && sorted.run_.entries_.back().id == entry.id) {
      return Corrupt(where, "fragment id {} occurs twice", entry.id);
    }
    ARROW_ASSIGN_OR_RAISE(const auto facts, wire::ScanDataFragment(message, where));
    const uint64_t begin = sorted.bytes_.size();
    sorted.bytes_.append(reinterpret_cast<const char*>(data + entry.begin),
                         reinterpret_cast<const char*>(message.data() + message.size()));
    sorted.AddEntry(entry.id, begin, sorted.bytes_.size(), wire::KnownLiveRows(facts));
  }
  return std::move(sorted).Finish();
}

arrow::Result<wire::FragmentFacts> Fragment::Scan() const {
  return wire::ScanDataFragment(message(), run_->where(index_));
}

arrow::Result<wire::DataFragment> Fragment::Parse() const {
  return wire::ParseDataFragment(message(), run_->where(index_));
}

}  // namespace glaive::table
