#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "glaive/retention.h"
#include "read/snapshot.h"
#include "table/manifest/index_files.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive {
namespace {

using wire::DataFile;
using wire::DataFragment;

// Ids of live rows: `length` ascending ones from `first` on.
struct LiveRun {
  uint64_t first;
  uint64_t length;
  uint64_t fragment_id;
};

class Validator {
 public:
  explicit Validator(const Dataset& dataset) : snapshot_(dataset::SnapshotOf(dataset)) {}

  arrow::Status Run() {
    ARROW_RETURN_NOT_OK(
        manifest().fragments.Visit([&](const table::Fragment& view) -> arrow::Status {
          ARROW_ASSIGN_OR_RAISE(const DataFragment fragment, view.Parse());
          return CheckFragment(fragment);
        }));
    ARROW_RETURN_NOT_OK(CheckRowIds());
    return CheckIndices();
  }

 private:
  const table::Manifest& manifest() const { return *snapshot_.manifest; }
  Location Where() const { return {manifest().path}; }

  arrow::Status CheckFragment(const DataFragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot_, fragment));
    std::set<int32_t> fields;
    for (const DataFile& file : fragment.files) {
      for (const int32_t id : file.fields) {
        if (id < 0 || fields.insert(id).second) continue;
        return Corrupt(Where(), "two files of fragment {} hold field {}", fragment.id, id);
      }
      ARROW_RETURN_NOT_OK(CheckFile(fragment, file, rows));
    }
    ARROW_ASSIGN_OR_RAISE(const auto deletions, read::Deletions(snapshot_, fragment, rows));
    const bool is_counted = fragment.deletion_file && fragment.deletion_file->num_deleted_rows != 0;
    if (is_counted && fragment.deletion_file->num_deleted_rows != deletions->size()) {
      return Corrupt(Where(), "fragment {} has {} deleted rows, its deletion file has {}",
                     fragment.id, fragment.deletion_file->num_deleted_rows, deletions->size());
    }
    return AddRowIds(fragment, rows, *deletions);
  }

  arrow::Status CheckFile(const DataFragment& fragment, const DataFile& file, uint64_t rows) {
    ARROW_ASSIGN_OR_RAISE(const auto reader, read::OpenDataFile(snapshot_, file));
    const auto& metadata = reader->metadata();
    if (metadata.num_rows != rows) {
      return Corrupt({reader->path()}, "the file has {} rows, fragment {} has {}",
                     metadata.num_rows, fragment.id, rows);
    }
    if (file.column_indices.size() != file.fields.size()) {
      return Corrupt(Where(), "data file {} has {} fields in {} columns", file.path,
                     file.fields.size(), file.column_indices.size());
    }
    for (const int32_t column : file.column_indices) {
      if (column < static_cast<int64_t>(metadata.columns.size())) continue;
      return Corrupt({reader->path()}, "the file has {} columns, fragment {} names the one at {}",
                     metadata.columns.size(), fragment.id, column);
    }
    return arrow::Status::OK();
  }

  arrow::Status AddRowIds(const DataFragment& fragment, uint64_t rows,
                          const table::DeletionVector& deletions) {
    ARROW_ASSIGN_OR_RAISE(const auto ids, read::StableRowIds(snapshot_, fragment, rows));
    if (!ids) return arrow::Status::OK();
    for (const auto& run : ids->runs()) {
      for (const RowRange& live : deletions.LiveRanges({run.offset, run.offset + run.length})) {
        live_.push_back({run.first + live.begin - run.offset, live.end - live.begin, fragment.id});
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckRowIds() {
    std::ranges::sort(live_, {}, &LiveRun::first);
    for (size_t i = 1; i < live_.size(); ++i) {
      const LiveRun& before = live_[i - 1];
      if (live_[i].first >= before.first + before.length) continue;
      return Corrupt(Where(), "row id {} is in fragment {} and in fragment {}", live_[i].first,
                     before.fragment_id, live_[i].fragment_id);
    }
    return arrow::Status::OK();
  }

  // Segments of one index cover different fragments.
  arrow::Status CheckIndices() {
    std::set<std::string> uuids;
    std::map<std::string, std::vector<RowRange>> covered;  // by index name
    constexpr uint32_t kIndices = 1;
    return wire::VisitFields(
        wire::AsBytes(manifest().index_section), Where(), "IndexSection",
        [&](const wire::FieldView& field) -> arrow::Status {
          if (field.key() != wire::Bytes(kIndices)) return arrow::Status::OK();
          ARROW_ASSIGN_OR_RAISE(const auto entry, wire::ParseIndex(field.payload, field.where));
          if (!uuids.insert(entry.uuid).second) {
            return Corrupt(Where(), "index '{}' is listed twice with one id", entry.name);
          }
          if (entry.fragment_bitmap.empty()) return arrow::Status::OK();
          ARROW_ASSIGN_OR_RAISE(
              const auto ranges,
              table::ParseRoaring(wire::AsBytes(entry.fragment_bitmap), field.where));
          auto& all = covered[entry.name];
          const auto middle = all.insert(all.end(), ranges.begin(), ranges.end());
          std::ranges::inplace_merge(all, middle, {}, &RowRange::begin);
          const auto twice = std::ranges::adjacent_find(
              all,
              [](const RowRange& left, const RowRange& right) { return right.begin < left.end; });
          if (twice == all.end()) return arrow::Status::OK();
          return Corrupt(Where(), "two segments of index '{}' cover fragment {}", entry.name,
                         std::next(twice)->begin);
        });
  }

  const read::Snapshot snapshot_;
  std::vector<LiveRun> live_;
};

}  // namespace

arrow::Status Validate(const Dataset& dataset) { return Validator(dataset).Run(); }

}  // namespace glaive
