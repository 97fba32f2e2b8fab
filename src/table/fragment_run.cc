#include "table/fragment_run.h"

#include <algorithm>
#include <limits>

#include "wire/fields.h"

namespace glaive::table {
namespace {

constexpr uint64_t kMaxManifestSize = std::numeric_limits<uint32_t>::max();  // its length is a u32

}  // namespace

uint64_t FragmentRun::memory_bytes() const {
  return packed_.bytes.capacity() + marks_.capacity() * sizeof(Mark) +
         packed_.shapes.memory_bytes() + sizeof(*this);
}

FragmentRun::Place FragmentRun::At(size_t index) const {
  const size_t block = index / kBlock;
  Place place = {block * kBlock, marks_[block].id, marks_[block].at};
  if (place.index == index) return place;
  const char* at = Unpack(place).end;
  while (true) {
    const PackedFragment packed(packed_.shapes, at);
    place.id += packed.id_step + 1;
    if (++place.index == index) break;
    at = packed.end;
  }
  place.at = static_cast<size_t>(at - packed_.bytes.data());
  return place;
}

FragmentRun::Place FragmentRun::Next(const Place& place) const {
  const char* const at = Unpack(place).end;
  const PackedFragment next(packed_.shapes, at);
  return {place.index + 1, place.id + next.id_step + 1,
          static_cast<size_t>(at - packed_.bytes.data())};
}

std::pair<size_t, bool> FragmentRun::LowerBound(uint64_t id) const {
  if (size_ == 0 || id > last_id_) return {size_, false};
  const auto above = std::ranges::upper_bound(marks_, id, {}, &Mark::id);
  if (above == marks_.begin()) return {0, false};
  Place place = At(static_cast<size_t>(above - marks_.begin() - 1) * kBlock);
  while (place.id < id) place = Next(place);
  return {place.index, place.id == id};
}

std::string FragmentRun::MessageOf(const Place& place) const {
  return table::MessageOf(Unpack(place), place.id);
}

Location FragmentRun::WhereIs(const Place& place) const {
  const uint64_t size = Unpack(place).SizesOf(place.id).message;
  return {path_, file_offset_ + BytesBefore(place.index) + RecordSize(size) - size};
}

// What was scanned once, when the run was made, is scanned again without an error.
uint64_t FragmentRun::RowsOf(const Place& place) const {
  const PackedFragment packed = Unpack(place);
  if (packed.shape != nullptr && !packed.shape->has_deletion_file) return packed.rows;
  const std::string message = MessageOf(place);
  return wire::KnownLiveRows(wire::ScanDataFragment(wire::AsBytes(message), {path_}).ValueOr({}));
}

uint64_t FragmentRun::RowsBefore(size_t index) const {
  if (index >= size_) return num_rows_;
  uint64_t rows = marks_[index / kBlock].rows_before;
  for (Place place = At(index - index % kBlock); place.index < index; place = Next(place)) {
    rows += RowsOf(place);
  }
  return rows;
}

FragmentRun::RowPlace FragmentRun::FindRow(uint64_t row) const {
  const auto above = std::ranges::upper_bound(marks_, row, {}, &Mark::rows_before);
  const auto block = static_cast<size_t>(above - marks_.begin() - 1);
  row -= marks_[block].rows_before;
  for (Place place = At(block * kBlock);; place = Next(place)) {
    const uint64_t rows = RowsOf(place);
    if (row < rows) return {place, row};
    row -= rows;
  }
}

uint64_t FragmentRun::BytesBefore(size_t index) const {
  if (index >= size_) return num_bytes_;
  uint64_t bytes = marks_[index / kBlock].bytes_before;
  for (Place place = At(index - index % kBlock); place.index < index; place = Next(place)) {
    bytes += RecordSize(Unpack(place).SizesOf(place.id).message);
  }
  return bytes;
}

uint64_t FragmentRun::NumBytes(size_t first, size_t last) const {
  return BytesBefore(last) - BytesBefore(first);
}

char* FragmentRun::Write(size_t first, size_t last, char* out) const {
  if (first == last) return out;
  const Place place = At(first);
  uint32_t id = place.id;
  const char* at = packed_.bytes.data() + place.at;
  for (size_t index = first; index < last; ++index) {
    const PackedFragment packed(packed_.shapes, at);
    if (index > first) id += packed.id_step + 1;
    out = packed.WriteRecord(id, out);
    at = packed.end;
  }
  return out;
}

FragmentRun::Builder::Builder() { run_.path_ = "(fragments in memory)"; }

FragmentRun::Builder::Builder(uint64_t message_size, Location where) : message_size_(message_size) {
  run_.path_ = where.path;
  run_.file_offset_ = where.offset.value_or(0);
}

uint32_t FragmentRun::Builder::Admit(uint32_t id, uint64_t message_size, uint64_t rows) {
  const uint64_t next_id = run_.size_ == 0 ? 0 : run_.last_id_ + 1;
  if (run_.size_ % kBlock == 0) {
    run_.marks_.push_back(
        {id, static_cast<uint32_t>(run_.num_bytes_), run_.packed_.bytes.size(), run_.num_rows_});
  }
  ++run_.size_;
  run_.last_id_ = id;
  run_.num_rows_ += rows;
  run_.num_bytes_ += RecordSize(message_size);
  return static_cast<uint32_t>(id - next_id);
}

// Fragments of a table resemble each other, so the first ones tell how much there will be.
void FragmentRun::Builder::Reserve() {
  constexpr size_t kSample = 1024;
  if (guessed_ || run_.size_ < kSample) return;
  guessed_ = true;
  const uint64_t times = message_size_ / run_.num_bytes_ + 1;
  run_.packed_.bytes.Reserve(run_.packed_.bytes.size() * times);
  run_.marks_.reserve(run_.marks_.size() * times);
}

void FragmentRun::Builder::Add(const wire::FragmentBatch& batch) {
  if (run_.size_ == 0) run_.file_offset_ += batch.offset;
  Reserve();
  if (batch.middle) alike_.SetMiddle(*batch.middle, run_.packed_);
  for (const wire::FoundFragment& found : batch.fragments) {
    const auto id = static_cast<uint32_t>(found.id);
    if (run_.size_ > 0 && id <= run_.last_id_) {
      stragglers_.push_back(
          {id,
           found.live_rows,
           {reinterpret_cast<const char*>(found.message.data()), found.message.size()}});
      continue;
    }
    const uint32_t id_step = Admit(id, found.message.size(), found.live_rows);
    if (batch.middle) {
      alike_.Pack(found, id_step, run_.packed_);
    } else {
      PackFragment(found.message, id_step, run_.packed_);
    }
  }
}

void FragmentRun::Builder::Append(const FragmentRun& run, size_t first, size_t last) {
  if (first == last) return;
  PackedCopier copier;
  Place place = run.At(first);
  while (true) {
    const PackedFragment packed = run.Unpack(place);
    const uint32_t id_step = Admit(place.id, packed.SizesOf(place.id).message, run.RowsOf(place));
    copier.Copy(packed, place.id, id_step, run_.packed_);
    if (place.index + 1 == last) return;
    place = run.Next(place);
  }
}

void FragmentRun::Builder::Append(const wire::DataFragment& fragment) {
  const std::string message = wire::Serialize(fragment);
  const uint64_t deleted = fragment.deletion_file ? fragment.deletion_file->num_deleted_rows : 0;
  const uint32_t id_step = Admit(
      static_cast<uint32_t>(fragment.id), message.size(),
      wire::KnownLiveRows({.physical_rows = fragment.physical_rows, .deleted_rows = deleted}));
  PackFragment(wire::AsBytes(message), id_step, run_.packed_);
}

arrow::Status FragmentRun::Builder::CheckSize() const {
  if (run_.num_bytes_ <= kMaxManifestSize) return arrow::Status::OK();
  return Unsupported("a manifest above 4 GiB, which the format's 32-bit length cannot say");
}

arrow::Result<std::shared_ptr<const FragmentRun>> FragmentRun::Builder::Finish() && {
  if (!stragglers_.empty()) return std::move(*this).Sorted();
  return std::make_shared<const FragmentRun>(std::move(run_));
}

arrow::Result<std::shared_ptr<const FragmentRun>> FragmentRun::Builder::Sorted() && {
  std::vector<Straggler> all = std::move(stragglers_);
  for (Place place = run_.At(0);; place = run_.Next(place)) {
    all.push_back({place.id, run_.RowsOf(place), run_.MessageOf(place)});
    if (place.index + 1 == run_.size_) break;
  }
  std::ranges::sort(all, {}, &Straggler::id);
  const auto twice = std::ranges::adjacent_find(all, {}, &Straggler::id);
  if (twice != all.end()) return Corrupt({run_.path_}, "fragment id {} occurs twice", twice->id);
  Builder sorted;
  sorted.run_.path_ = run_.path_;
  for (const Straggler& one : all) {
    const uint32_t id_step = sorted.Admit(one.id, one.message.size(), one.rows);
    PackFragment(wire::AsBytes(one.message), id_step, sorted.run_.packed_);
  }
  return std::make_shared<const FragmentRun>(std::move(sorted.run_));
}

// The place is only found out for an error: doing it for every fragment is seen.
arrow::Result<wire::FragmentFacts> Fragment::Scan() const {
  const std::string bytes = message();
  auto facts = wire::ScanDataFragment(wire::AsBytes(bytes), {});
  if (facts.ok()) return facts;
  return wire::ScanDataFragment(wire::AsBytes(bytes), run_->WhereIs(place_));
}

arrow::Result<wire::DataFragment> Fragment::Parse() const {
  const std::string bytes = message();
  auto fragment = wire::ParseDataFragment(wire::AsBytes(bytes), {});
  if (fragment.ok()) return fragment;
  return wire::ParseDataFragment(wire::AsBytes(bytes), run_->WhereIs(place_));
}

}  // namespace glaive::table
