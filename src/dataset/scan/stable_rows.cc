#include "dataset/scan/stable_rows.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dataset/handle/session_state.h"

namespace glaive::dataset {
namespace {

// Of the fragments that hold an id, the one whose row of it is live.
class LiveRows {
 public:
  explicit LiveRows(const read::Snapshot& snapshot) : snapshot_(snapshot) {}

  arrow::Result<bool> IsLive(const RowIdPlaces::Place& place) {
    auto known = deletions_.find(place.fragment_id);
    if (known == deletions_.end()) {
      ARROW_ASSIGN_OR_RAISE(auto deletions, Load(place.fragment_id));
      known = deletions_.emplace(place.fragment_id, std::move(deletions)).first;
    }
    return known->second != nullptr && !known->second->Contains(static_cast<uint32_t>(place.row));
  }

 private:
  // Null where the version does not have the fragment.
  arrow::Result<table::DeletionVectorPtr> Load(uint64_t fragment_id) const {
    const auto view = snapshot_.manifest->fragments.Find(fragment_id);
    if (!view) return nullptr;
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view->Parse());
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot_, fragment));
    return read::Deletions(snapshot_, fragment, rows);
  }

  const read::Snapshot& snapshot_;
  std::map<uint64_t, table::DeletionVectorPtr> deletions_;
};

struct CachedPlaces {
  std::shared_ptr<const RowIdPlaces> places;
  uint64_t memory_bytes() const { return places->memory_bytes(); }
};

}  // namespace

RowIdPlaces::LayerPtr RowIdPlaces::MakeLayer(std::vector<Run> runs) {
  auto layer = std::make_shared<Layer>();
  std::ranges::sort(runs, {}, &Run::first);
  layer->ends.reserve(runs.size());
  uint64_t end = 0;
  for (const Run& run : runs) {
    end = std::max(end, run.first + run.length);
    layer->ends.push_back(end);
  }
  layer->runs = std::move(runs);
  return layer;
}

arrow::Status RowIdPlaces::AddRuns(const read::Snapshot& snapshot, const table::Fragment& view,
                                   std::vector<Run>* runs) {
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view.Parse());
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot, fragment));
  ARROW_ASSIGN_OR_RAISE(const auto ids, read::StableRowIds(snapshot, fragment, rows));
  for (const table::RowIdSequence::Run& run : ids->runs()) {
    runs->push_back({run.first, run.length, fragment.id, run.offset});
  }
  return arrow::Status::OK();
}

// As in a binary counter, so that n additions of one run each cost O(n log n) in all.
void RowIdPlaces::Push(LayerPtr layer) {
  while (!layers_.empty() && layers_.back()->runs.size() < 2 * layer->runs.size()) {
    std::vector<Run> runs = layers_.back()->runs;
    runs.insert(runs.end(), layer->runs.begin(), layer->runs.end());
    layer = MakeLayer(std::move(runs));
    layers_.pop_back();
  }
  layers_.push_back(std::move(layer));
}

// Fragment ids are counted from 0 in every table, names of files are not.
arrow::Result<bool> RowIdPlaces::IsOfSameTable(const table::Manifest& manifest) const {
  const auto witness = manifest.fragments.Find(witness_id_);
  if (!witness) return false;
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, witness->Parse());
  return std::ranges::count(fragment.files, witness_file_, &wire::DataFile::path) > 0;
}

arrow::Result<std::shared_ptr<const RowIdPlaces>> RowIdPlaces::Advance(
    std::shared_ptr<const RowIdPlaces> known, const read::Snapshot& snapshot) {
  if (known != nullptr && known->last_.lock() == snapshot.manifest) return known;
  auto places = std::make_shared<RowIdPlaces>();
  if (known != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const bool same, known->IsOfSameTable(*snapshot.manifest));
    if (same) *places = *known;
  }
  const table::FragmentTable& fragments = snapshot.manifest->fragments;
  const std::vector<uint64_t> added = fragments.IdsBeside(places->known_.ranges());
  std::vector<Run> runs;
  for (const uint64_t id : added) {
    ARROW_RETURN_NOT_OK(AddRuns(snapshot, *fragments.Find(id), &runs));
  }
  if (!runs.empty()) places->Push(MakeLayer(std::move(runs)));
  if (!added.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto newest, fragments.Find(added.back())->Parse());
    places->witness_id_ = newest.id;
    places->witness_file_ = newest.files.empty() ? "" : newest.files.front().path;
    places->known_.Add(added);
  }
  places->last_ = snapshot.manifest;
  return places;
}

void RowIdPlaces::Find(uint64_t row_id, std::vector<Place>* places) const {
  for (const LayerPtr& layer : layers_) {
    auto run = std::ranges::upper_bound(layer->runs, row_id, {}, &Run::first);
    while (run != layer->runs.begin()) {
      --run;
      if (layer->ends[static_cast<size_t>(run - layer->runs.begin())] <= row_id) break;
      if (row_id - run->first < run->length) {
        places->push_back({run->fragment_id, run->row + (row_id - run->first)});
      }
    }
  }
}

uint64_t RowIdPlaces::memory_bytes() const {
  uint64_t bytes = sizeof(*this);
  for (const LayerPtr& layer : layers_) {
    bytes += layer->runs.size() * (sizeof(Run) + sizeof(uint64_t));
  }
  return bytes;
}

arrow::Result<std::vector<std::optional<uint64_t>>> FindStableRows(
    const Dataset& dataset, std::span<const uint64_t> row_ids) {
  const read::Snapshot snapshot = SnapshotOf(dataset);
  ByteCache& cache = StateOf(*StateOf(dataset)->session)->cache;
  const std::string key = fmt::format(
      "r{}:{}", static_cast<const void*>(snapshot.location.store.get()), snapshot.location.root);
  const auto cached = cache.Get<CachedPlaces>(key);
  const auto known = cached != nullptr ? cached->places : nullptr;
  ARROW_ASSIGN_OR_RAISE(const auto places, RowIdPlaces::Advance(known, snapshot));
  if (places != known) {
    cache.Put(key, std::make_shared<CachedPlaces>(places), /*holds_file_open=*/false);
  }

  LiveRows live(snapshot);
  std::vector<std::optional<uint64_t>> found(row_ids.size());
  std::vector<RowIdPlaces::Place> candidates;
  for (size_t i = 0; i < row_ids.size(); ++i) {
    candidates.clear();
    places->Find(row_ids[i], &candidates);
    for (const RowIdPlaces::Place& place : candidates) {
      ARROW_ASSIGN_OR_RAISE(const bool is_live, live.IsLive(place));
      if (is_live) found[i] = place.fragment_id << 32 | place.row;
    }
  }
  return found;
}

}  // namespace glaive::dataset
