#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/scan/array_bytes.h"
#include "dataset/scan/gather.h"
#include "dataset/scan/stable_rows.h"
#include "dataset/scan/take_by_address.h"
#include "glaive/scan.h"
#include "query/bind/filter.h"
#include "query/values/array_rows.h"
#include "read/fragment_reader.h"
#include "read/row_pieces.h"
#include "read/row_ranges.h"

namespace glaive {
namespace {

using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

using dataset::BatchBytes;
using dataset::CountGatherable;
using dataset::GatherRows;
using dataset::RowPlace;

constexpr uint64_t kTakeBudget = uint64_t{256} << 20;
// About what is decoded at a time of a fragment's rows.
constexpr uint64_t kPieceBytes = uint64_t{64} << 20;
// A result up to here is one batch.
constexpr uint64_t kJoinedBytes = uint64_t{256} << 20;

enum class Addressing : uint8_t { kLive, kPhysical };

// Rows of one fragment to take: live offsets or physical rows.
struct FragmentRows {
  uint64_t fragment_id = 0;
  uint64_t live_rows_before = 0;
  std::vector<uint64_t> rows;     // ascending, without repeats
  std::vector<uint32_t> wanted;   // for each row that was asked for: its index in `rows`
  std::vector<size_t> positions;  // and where it belongs in the result
};

// What came of one fragment.
struct TakenRows {
  arrow::RecordBatchVector batches;  // one behind the other
  std::vector<bool> deleted;         // of FragmentRows::rows; empty: none
};

class Taker {
 public:
  Taker(read::Snapshot snapshot, std::shared_ptr<const read::Projection> projection,
        Addressing addressing)
      : snapshot_(std::move(snapshot)),
        projection_(std::move(projection)),
        addressing_(addressing) {}

  // `num_rows` were asked for, in all fragments together.
  arrow::Result<std::shared_ptr<arrow::Table>> Take(std::vector<FragmentRows> fragments,
                                                    size_t num_rows) {
    ARROW_RETURN_NOT_OK(query::InitCompute());
    std::vector<TakenRows> taken(fragments.size());
    ARROW_RETURN_NOT_OK(ReadAll(fragments, taken));
    ARROW_ASSIGN_OR_RAISE(auto batches, Arrange(fragments, std::move(taken), num_rows));
    return arrow::Table::FromRecordBatches(projection_->schema, std::move(batches));
  }

 private:
  arrow::Status ReadAll(const std::vector<FragmentRows>& fragments, std::vector<TakenRows>& taken) {
    if (fragments.size() == 1) return Read(fragments[0]).Value(&taken[0]);
    MemoryBudget budget(kTakeBudget);
    size_t next = 0;
    return RunInOrder(IoExecutor(), budget, [&]() -> arrow::Result<std::optional<WorkUnit>> {
      if (next == fragments.size()) return std::nullopt;
      const size_t i = next++;
      return WorkUnit{BytesToRead(fragments[i]), [this, &fragments, &taken, i] {
                        return Read(fragments[i]).Value(&taken[i]);
                      }};
    });
  }

  // About what is in work while rows of a fragment are read: their part of its files, and of what
  // lies around them.
  uint64_t BytesToRead(const FragmentRows& asked) const {
    constexpr uint64_t kLeast = uint64_t{64} << 10;
    const auto fragment = snapshot_.manifest->fragments.Find(asked.fragment_id);
    if (!fragment) return kLeast;
    const auto parsed = fragment->Parse();
    if (!parsed.ok() || parsed->physical_rows == 0) return kLeast;
    double bytes = 0;
    for (const wire::DataFile& file : parsed->files) {
      bytes += static_cast<double>(file.file_size_bytes);
    }
    const double part =
        static_cast<double>(asked.rows.size()) / static_cast<double>(parsed->physical_rows);
    return std::max(kLeast, static_cast<uint64_t>(bytes * std::min(part, 1.0)));
  }

  arrow::Result<TakenRows> Read(const FragmentRows& asked) const {
    const auto fragment = snapshot_.manifest->fragments.Find(asked.fragment_id);
    if (!fragment) {
      return InvalidInput("version {} has no fragment {}", snapshot_.manifest->version,
                          asked.fragment_id);
    }
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment parsed, fragment->Parse());
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          read::FragmentReader::Open(snapshot_, std::move(parsed), projection_,
                                                     asked.live_rows_before));
    TakenRows taken;
    std::vector<uint64_t> rows;
    rows.reserve(asked.rows.size());
    if (addressing_ == Addressing::kLive) {
      const uint64_t live_rows = reader->physical_rows() - reader->deletions().size();
      if (asked.rows.back() >= live_rows) {
        return InvalidInput("row {} is beyond the {} rows of fragment {}", asked.rows.back(),
                            live_rows, asked.fragment_id);
      }
      for (const uint64_t row : asked.rows) rows.push_back(reader->deletions().PhysicalOffset(row));
    } else {
      if (asked.rows.back() >= reader->physical_rows()) {
        return InvalidInput("row {} is beyond the {} rows of fragment {}", asked.rows.back(),
                            reader->physical_rows(), asked.fragment_id);
      }
      for (const uint64_t row : asked.rows) {
        const bool deleted = reader->deletions().Contains(static_cast<uint32_t>(row));
        taken.deleted.push_back(deleted);
        if (!deleted) rows.push_back(row);
      }
    }
    read::RowPieces pieces(*reader, read::ToRanges(rows), {.bytes = kPieceBytes});
    do {
      ARROW_ASSIGN_OR_RAISE(
          taken.batches.emplace_back(),
          pieces.at_end() ? reader->Read({}, kPieceBytes) : pieces.Next([](RecordBatchPtr batch) {
            return arrow::Result(std::move(batch));
          }));
    } while (!pieces.at_end());
    return taken;
  }

  // The rows in the order that they were asked for, deleted ones left out: one batch, unless that
  // would take much.
  arrow::Result<arrow::RecordBatchVector> Arrange(const std::vector<FragmentRows>& fragments,
                                                  std::vector<TakenRows> taken, size_t num_rows) {
    constexpr RowPlace kNowhere = {UINT32_MAX, UINT32_MAX};
    std::vector<RowPlace> order(num_rows, kNowhere);
    arrow::RecordBatchVector batches;
    std::vector<RowPlace> place_of;
    for (size_t i = 0; i < fragments.size(); ++i) {
      place_of.assign(fragments[i].rows.size(), kNowhere);
      auto batch = static_cast<uint32_t>(batches.size());
      uint32_t row = 0;
      for (size_t j = 0; j < place_of.size(); ++j) {
        if (!taken[i].deleted.empty() && taken[i].deleted[j]) continue;
        while (row == RowsOf(taken[i], batch - batches.size())) {
          ++batch;
          row = 0;
        }
        place_of[j] = {batch, row++};
      }
      for (size_t k = 0; k < fragments[i].wanted.size(); ++k) {
        order[fragments[i].positions[k]] = place_of[fragments[i].wanted[k]];
      }
      for (auto& read : taken[i].batches) batches.push_back(std::move(read));
    }
    std::erase(order, kNowhere);
    if (batches.empty()) {
      ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(projection_->schema));
      return arrow::RecordBatchVector{std::move(empty)};
    }
    if (IsInOrder(order, batches)) return Join(std::move(batches));
    return Gather(batches, order);
  }

  static uint64_t RowsOf(const TakenRows& taken, size_t batch) {
    return static_cast<uint64_t>(taken.batches[batch]->num_rows());
  }

  // Whether these are all rows, one after the other.
  static bool IsInOrder(const std::vector<RowPlace>& order,
                        const arrow::RecordBatchVector& batches) {
    size_t next = 0;
    for (uint32_t batch = 0; batch < batches.size(); ++batch) {
      const auto rows = static_cast<uint32_t>(batches[batch]->num_rows());
      for (uint32_t row = 0; row < rows; ++row, ++next) {
        if (next == order.size() || order[next] != RowPlace{batch, row}) return false;
      }
    }
    return next == order.size();
  }

  // What is large stays as it is: joining it would hold it twice.
  arrow::Result<arrow::RecordBatchVector> Join(arrow::RecordBatchVector batches) {
    uint64_t bytes = 0;
    for (const auto& batch : batches) bytes += BatchBytes(*batch);
    if (bytes > kJoinedBytes) return batches;
    ARROW_ASSIGN_OR_RAISE(auto joined, query::JoinRows(projection_->schema, batches));
    return arrow::RecordBatchVector{std::move(joined)};
  }

  arrow::Result<arrow::RecordBatchVector> Gather(const arrow::RecordBatchVector& batches,
                                                 std::span<const RowPlace> order) {
    arrow::RecordBatchVector gathered;
    do {
      const size_t count = CountGatherable(batches, order, {.bytes = kJoinedBytes});
      ARROW_ASSIGN_OR_RAISE(gathered.emplace_back(),
                            GatherRows(projection_->schema, batches, order.first(count)));
      order = order.subspan(count);
    } while (!order.empty());
    return gathered;
  }

  read::Snapshot snapshot_;
  std::shared_ptr<const read::Projection> projection_;
  Addressing addressing_;
};

struct AskedRow {
  size_t fragment;  // any number that orders and tells apart the fragments
  uint64_t row;
  size_t position;
};

// `describe` fills in what a fragment's number stands for.
template <typename Describe>
std::vector<FragmentRows> GroupByFragment(std::vector<AskedRow> asked, Describe describe) {
  std::ranges::sort(asked, [](const AskedRow& a, const AskedRow& b) {
    return std::tie(a.fragment, a.row) < std::tie(b.fragment, b.row);
  });
  std::vector<FragmentRows> groups;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (i == 0 || asked[i].fragment != asked[i - 1].fragment) {
      describe(asked[i].fragment, groups.emplace_back());
    }
    FragmentRows& group = groups.back();
    if (group.rows.empty() || group.rows.back() != asked[i].row) group.rows.push_back(asked[i].row);
    group.wanted.push_back(static_cast<uint32_t>(group.rows.size() - 1));
    group.positions.push_back(asked[i].position);
  }
  return groups;
}

arrow::Result<std::shared_ptr<const read::Projection>> ProjectionOf(const Dataset& dataset,
                                                                    const TakeOptions& options) {
  return read::Projection::Make(
      StateOf(dataset)->manifest->schema,
      {options.columns, options.with_row_id, options.with_row_address, read::NestedPaths::kPruned});
}

// Rows whose fragments are told apart by their ids.
arrow::Result<std::shared_ptr<arrow::Table>> TakeGroups(
    const Dataset& dataset, std::shared_ptr<const read::Projection> projection,
    std::vector<AskedRow> asked, size_t num_rows) {
  auto groups = GroupByFragment(
      std::move(asked), [](size_t fragment, FragmentRows& group) { group.fragment_id = fragment; });
  if (projection->Has(read::SystemColumn::kRowOffset)) {
    ARROW_ASSIGN_OR_RAISE(const dataset::RowIndex* index, dataset::RowIndexOf(dataset));
    for (FragmentRows& group : groups) {
      group.live_rows_before = index->RowsBefore(group.fragment_id);
    }
  }
  return Taker(dataset::SnapshotOf(dataset), std::move(projection), Addressing::kPhysical)
      .Take(std::move(groups), num_rows);
}

arrow::Status CheckCount(size_t rows) {
  if (rows < UINT32_MAX) return arrow::Status::OK();
  return InvalidInput("{} rows are too many to be taken at once", rows);
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> Take(const Dataset& dataset,
                                                  std::span<const uint64_t> offsets,
                                                  const TakeOptions& options) {
  ARROW_RETURN_NOT_OK(CheckCount(offsets.size()));
  ARROW_ASSIGN_OR_RAISE(auto projection, ProjectionOf(dataset, options));
  ARROW_ASSIGN_OR_RAISE(const dataset::RowIndex* index, dataset::RowIndexOf(dataset));
  std::vector<AskedRow> asked;
  asked.reserve(offsets.size());
  for (const uint64_t offset : offsets) {
    if (offset >= index->num_rows()) {
      return InvalidInput("row {} is beyond the {} rows of version {}", offset, index->num_rows(),
                          dataset.version());
    }
    const auto place = index->Find(offset);
    asked.push_back({place.fragment_id, place.live_offset, asked.size()});
  }
  const bool counts_rows = projection->Has(read::SystemColumn::kRowOffset);
  auto groups = GroupByFragment(std::move(asked), [&](size_t fragment, FragmentRows& group) {
    group.fragment_id = fragment;
    if (counts_rows) group.live_rows_before = index->RowsBefore(fragment);
  });
  return Taker(dataset::SnapshotOf(dataset), std::move(projection), Addressing::kLive)
      .Take(std::move(groups), offsets.size());
}

arrow::Result<std::shared_ptr<arrow::Table>> TakeRows(const Dataset& dataset,
                                                      std::span<const uint64_t> row_ids,
                                                      const TakeOptions& options) {
  ARROW_RETURN_NOT_OK(CheckCount(row_ids.size()));
  ARROW_ASSIGN_OR_RAISE(auto projection, ProjectionOf(dataset, options));
  std::vector<AskedRow> asked;
  asked.reserve(row_ids.size());
  if (dataset.has_stable_row_ids()) {
    ARROW_ASSIGN_OR_RAISE(const auto addresses, dataset::FindStableRows(dataset, row_ids));
    for (size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i]) asked.push_back({*addresses[i] >> 32, *addresses[i] & UINT32_MAX, i});
    }
  } else {
    for (const uint64_t id : row_ids) {
      asked.push_back({id >> 32, id & UINT32_MAX, asked.size()});
      if (!StateOf(dataset)->manifest->fragments.Find(id >> 32)) {
        return InvalidInput("rowaddr {} belongs to non-existent fragment: {}", id, id >> 32);
      }
    }
  }
  return TakeGroups(dataset, std::move(projection), std::move(asked), row_ids.size());
}

arrow::Result<std::shared_ptr<arrow::Table>> dataset::TakeByAddress(
    const Dataset& dataset, std::span<const uint64_t> addresses,
    const read::ProjectionRequest& request) {
  ARROW_RETURN_NOT_OK(CheckCount(addresses.size()));
  ARROW_ASSIGN_OR_RAISE(auto projection,
                        read::Projection::Make(StateOf(dataset)->manifest->schema, request));
  std::vector<AskedRow> asked;
  asked.reserve(addresses.size());
  for (const uint64_t address : addresses) {
    asked.push_back({address >> 32, address & UINT32_MAX, asked.size()});
  }
  return TakeGroups(dataset, std::move(projection), std::move(asked), addresses.size());
}

arrow::Result<std::shared_ptr<arrow::Table>> TakeFromFragment(const Dataset& dataset,
                                                              uint64_t fragment_id,
                                                              std::span<const uint64_t> offsets,
                                                              const TakeOptions& options) {
  ARROW_RETURN_NOT_OK(CheckCount(offsets.size()));
  ARROW_ASSIGN_OR_RAISE(auto projection, ProjectionOf(dataset, options));
  std::vector<AskedRow> asked;
  asked.reserve(offsets.size());
  for (const uint64_t offset : offsets) asked.push_back({0, offset, asked.size()});
  uint64_t live_rows_before = 0;
  if (projection->Has(read::SystemColumn::kRowOffset)) {
    ARROW_ASSIGN_OR_RAISE(const dataset::RowIndex* index, dataset::RowIndexOf(dataset));
    live_rows_before = index->RowsBefore(fragment_id);
  }
  auto groups = GroupByFragment(std::move(asked), [&](size_t, FragmentRows& group) {
    group.fragment_id = fragment_id;
    group.live_rows_before = live_rows_before;
  });
  return Taker(dataset::SnapshotOf(dataset), std::move(projection), Addressing::kLive)
      .Take(std::move(groups), offsets.size());
}

}  // namespace glaive
