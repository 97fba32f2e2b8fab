#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/util/logging.h>
#include <fmt/format.h>

#include "dataset/handle/dataset_state.h"
#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/files.h"
#include "glaive/scan.h"
#include "glaive/staged_columns.h"
#include "simulation/client.h"

namespace glaive::simulation {
namespace {

struct LiveRow {
  int64_t key = 0;
  uint32_t offset = 0;  // in the fragment
};

arrow::Result<std::vector<LiveRow>> LiveRows(const Dataset& dataset, uint64_t fragment_id) {
  const std::vector<std::string> columns = {"k"};
  const std::vector<uint64_t> fragments = {fragment_id};
  ARROW_ASSIGN_OR_RAISE(
      const auto stream,
      Scan(dataset, {.columns = columns, .with_row_address = true, .fragment_ids = fragments}));
  std::vector<LiveRow> rows;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) return rows;
    const auto& keys = static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("k"));
    const auto& addresses =
        static_cast<const arrow::UInt64Array&>(*batch->GetColumnByName("_rowaddr"));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      rows.push_back({keys.Value(i), static_cast<uint32_t>(addresses.Value(i))});
    }
  }
}

std::shared_ptr<arrow::RecordBatch> BatchOf(const std::string& column,
                                            const std::vector<int64_t>& values) {
  arrow::Int64Builder builder;
  ARROW_CHECK_OK(builder.AppendValues(values));
  const auto schema = arrow::schema({arrow::field(column, arrow::int64())});
  return arrow::RecordBatch::Make(schema, static_cast<int64_t>(values.size()),
                                  arrow::ArrayVector{builder.Finish().ValueOrDie()});
}

std::string TransactionOfHandle(const Dataset& dataset) {
  return UuidOf(*StateOf(dataset)->manifest);
}

arrow::Result<std::optional<uint64_t>> AnyFragment(const Dataset& dataset, Random& random) {
  const auto ids = FragmentIds(dataset);
  if (ids.empty()) return std::nullopt;
  return ids[random.Below(ids.size())];
}

}  // namespace

VerbResult Stage(Client& client, VerbRun& run, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(const auto fragment, AnyFragment(dataset, random));
  if (!fragment) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto rows, LiveRows(dataset, *fragment));
  StagedWork work{
      .dataset = dataset, .column = random.Below(kNumColumns), .began_ns = run.began_ns};
  std::vector<int64_t> values;
  for (const LiveRow& row : rows) {
    work.values[row.key] = random.Below(10);
    values.push_back(work.values[row.key]);
  }
  const std::string name = kColumns[work.column];
  const auto batch = BatchOf(name, values);
  const bool is_new = dataset.schema()->GetFieldIndex(name) < 0;
  ARROW_ASSIGN_OR_RAISE(const auto schema, is_new ? NewColumnSchema(dataset, *batch->schema())
                                                  : ColumnSchema(dataset, *batch->schema()));
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::RecordBatchReader::Make({batch}, batch->schema()));
  ARROW_ASSIGN_OR_RAISE(auto staged,
                        StageColumns(dataset, *fragment, std::move(stream), schema,
                                     {.live_rows_only = true, .durability = client.durability()}));
  work.columns.push_back(std::move(staged));
  client.staged.push_back(std::move(work));
  return std::nullopt;
}

// Of what was staged last; sometimes it is discarded instead.
VerbResult CommitStaged(Client& client, VerbRun& run, Random& random) {
  if (client.staged.empty()) {
    ARROW_RETURN_NOT_OK(Stage(client, run, random).status());
    if (client.staged.empty()) return std::nullopt;
  }
  const StagedWork work = client.staged.back();
  run.began_ns = work.began_ns;
  client.staged.pop_back();
  if (random.Chance(100)) {
    ARROW_RETURN_NOT_OK(Discard(work.dataset, work.columns));
    return std::nullopt;
  }
  run.intent = {.kind = Intent::Kind::kSetColumn,
                .rows = work.values,
                .column = work.column,
                .from = TransactionOfHandle(work.dataset)};
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(auto made, CommitColumns(dataset, work.columns,
                                                 {.version = {.durability = client.durability()}}));
  return made;
}

// Values for some rows of a fragment, in a file that is laid over it.
VerbResult Overlay(Client& client, VerbRun& run, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(const auto fragment, AnyFragment(dataset, random));
  if (!fragment) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto rows, LiveRows(dataset, *fragment));
  run.intent = {.kind = Intent::Kind::kSetColumn, .from = TransactionOfHandle(dataset)};
  std::vector<uint32_t> offsets;
  std::vector<int64_t> values;
  for (const LiveRow& row : rows) {
    if (!random.Chance(500)) continue;
    offsets.push_back(row.offset);
    values.push_back(random.Below(10));
    run.intent.rows[row.key] = values.back();
  }
  if (values.empty()) return std::nullopt;
  const auto batch = BatchOf(kColumns[0], values);
  const std::string name =
      fmt::format("overlay{:08x}{:08x}.lance", random.Below(UINT32_MAX), random.Below(UINT32_MAX));
  ARROW_ASSIGN_OR_RAISE(
      const auto file, DataFileWriter::Create(client.uri() + "/data/" + name, batch->schema(), {}));
  ARROW_RETURN_NOT_OK(file->Write(batch));
  ARROW_RETURN_NOT_OK(file->Finish().status());
  ARROW_ASSIGN_OR_RAISE(auto described, DescribeDataFile(dataset, name));
  operation::DataOverlay overlay;
  ARROW_ASSIGN_OR_RAISE(auto bitmap, MakeBitmap(offsets));
  overlay.groups.push_back(
      {*fragment, {{.data_file = std::move(described), .offset_bitmaps = {std::move(bitmap)}}}});
  ARROW_ASSIGN_OR_RAISE(
      auto made,
      Commit(dataset, Transaction{.read_version = dataset.version(), .operation = overlay},
             {.version = {.durability = client.durability()}}));
  return made;
}

// Of the values that the rows have.
VerbResult AddColumn(Client& client, VerbRun& run, Random& random) {
  run.intent = {.kind = Intent::Kind::kCompute,
                .amount = random.Below(10),
                .column = 1 + random.Below(kNumColumns - 1)};
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  const ComputedColumn column{kColumns[run.intent.column],
                              fmt::format("v + {}", run.intent.amount)};
  if (dataset.schema()->GetFieldIndex(column.name) >= 0) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(
      auto made, AddColumns(dataset, std::vector{column}, {.durability = client.durability()}));
  return made;
}

VerbResult DropColumn(Client& client, VerbRun& run, Random& random) {
  run.intent = {.kind = Intent::Kind::kDropColumn, .column = 1 + random.Below(kNumColumns - 1)};
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  const std::vector<std::string> columns = {kColumns[run.intent.column]};
  if (dataset.schema()->GetFieldIndex(columns.front()) < 0) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto made,
                        DropColumns(dataset, columns, {.durability = client.durability()}));
  return made;
}

}  // namespace glaive::simulation
