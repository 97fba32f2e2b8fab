#include "glaive/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include "core/error.h"
#include "glaive/scan.h"
#include "inspect/row_hasher.h"

namespace glaive {
namespace {

using inspect::AddTo;
using inspect::HashWith;

constexpr int kSystemColumns = 2;  // _rowid and _rowaddr, behind the others

// Sums hashes as the batches come.
class ContentBuilder {
 public:
  arrow::Status Add(const arrow::RecordBatch& batch) {
    const int num_columns = batch.num_columns() - kSystemColumns;
    ARROW_ASSIGN_OR_RAISE(const auto hashes, inspect::HashRows(batch, num_columns));
    const auto& ids = static_cast<const arrow::UInt64Array&>(*batch.column(num_columns));
    const auto& addresses = static_cast<const arrow::UInt64Array&>(*batch.column(num_columns + 1));
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      const RowHash& hash = hashes[static_cast<size_t>(i)];
      FragmentContent& fragment = fragments_[addresses.Value(i) >> 32];
      ++fragment.num_rows;
      AddTo(&fragment.rows, hash);
      AddTo(&fragment.row_ids, HashWith(hash, ids.Value(i)));
    }
    num_rows_ += static_cast<uint64_t>(batch.num_rows());
    return arrow::Status::OK();
  }

  uint64_t num_rows() const { return num_rows_; }

  TableContent Finish(uint64_t version, const arrow::Schema& read) && {
    arrow::FieldVector fields = read.fields();
    fields.resize(fields.size() - kSystemColumns);
    TableContent content = {.version = version,
                            .schema = arrow::schema(std::move(fields), read.metadata()),
                            .num_rows = num_rows_};
    for (auto& [id, fragment] : fragments_) {
      fragment.id = id;
      AddTo(&content.rows, fragment.rows);
      content.fragments.push_back(fragment);
    }
    return content;
  }

 private:
  std::map<uint64_t, FragmentContent> fragments_;
  uint64_t num_rows_ = 0;
};

arrow::Status CheckSystemColumns(const arrow::Schema& schema) {
  const int count = schema.num_fields();
  const auto is = [&](int i, std::string_view name) {
    return schema.field(i)->name() == name && schema.field(i)->type()->Equals(arrow::uint64());
  };
  if (count >= kSystemColumns && is(count - 2, "_rowid") && is(count - 1, "_rowaddr")) {
    return arrow::Status::OK();
  }
  return InvalidInput("rows to compare end with the columns _rowid and _rowaddr, of type uint64");
}

void CompareSchemas(const arrow::Schema& a, const arrow::Schema& b,
                    std::vector<std::string>* lines) {
  std::set<std::string> names;
  for (const auto& field : a.fields()) names.insert(field->name());
  for (const auto& field : b.fields()) names.insert(field->name());
  for (const std::string& name : names) {
    const auto in_a = a.GetFieldByName(name);
    const auto in_b = b.GetFieldByName(name);
    if (in_a != nullptr && in_b != nullptr && in_a->Equals(*in_b)) continue;
    lines->push_back(fmt::format("column {}: {} | {}", name,
                                 in_a == nullptr ? "not there" : in_a->ToString(),
                                 in_b == nullptr ? "not there" : in_b->ToString()));
  }
  if (lines->empty() && a.field_names() != b.field_names()) {
    lines->emplace_back("columns: the same, in another order");
  }
}

void CompareFragments(const TableContent& a, const TableContent& b,
                      std::vector<std::string>* lines) {
  std::map<uint64_t, std::pair<const FragmentContent*, const FragmentContent*>> pairs;
  for (const FragmentContent& fragment : a.fragments) pairs[fragment.id].first = &fragment;
  for (const FragmentContent& fragment : b.fragments) pairs[fragment.id].second = &fragment;
  for (const auto& [id, pair] : pairs) {
    const auto& [in_a, in_b] = pair;
    if (in_a == nullptr || in_b == nullptr) {
      lines->push_back(
          fmt::format("fragment {}: rows only in {}", id, in_a == nullptr ? "b" : "a"));
    } else if (in_a->num_rows != in_b->num_rows) {
      lines->push_back(
          fmt::format("fragment {}: {} rows | {} rows", id, in_a->num_rows, in_b->num_rows));
    } else if (in_a->rows != in_b->rows) {
      lines->push_back(fmt::format("fragment {}: other values", id));
    } else if (in_a->row_ids != in_b->row_ids) {
      lines->push_back(fmt::format("fragment {}: the same values, other row ids", id));
    }
  }
}

}  // namespace

std::string RowHash::ToString() const { return fmt::format("{:016x}{:016x}", high, low); }

arrow::Result<TableContent> ContentOf(const Dataset& dataset, const ProgressCallback& progress) {
  ScanOptions options;
  options.with_row_id = true;
  options.with_row_address = true;
  ARROW_ASSIGN_OR_RAISE(const auto scan, Scan(dataset, options));
  ARROW_ASSIGN_OR_RAISE(const uint64_t total_rows, dataset.CountRows());
  ContentBuilder builder;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, scan->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(builder.Add(*batch));
    if (!progress) continue;
    ARROW_RETURN_NOT_OK(progress({.rows = builder.num_rows(), .total_rows = total_rows}));
  }
  return std::move(builder).Finish(dataset.version(), *scan->schema());
}

arrow::Result<TableContent> ContentOf(arrow::RecordBatchReader& rows, uint64_t version,
                                      const ProgressCallback& progress) {
  ARROW_RETURN_NOT_OK(CheckSystemColumns(*rows.schema()));
  ContentBuilder builder;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows.Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(builder.Add(*batch));
    if (progress) ARROW_RETURN_NOT_OK(progress({.rows = builder.num_rows()}));
  }
  return std::move(builder).Finish(version, *rows.schema());
}

std::vector<std::string> Compare(const TableContent& a, const TableContent& b, bool by_fragment) {
  std::vector<std::string> lines;
  CompareSchemas(*a.schema, *b.schema, &lines);
  if (a.num_rows != b.num_rows)
    lines.push_back(fmt::format("rows: {} | {}", a.num_rows, b.num_rows));
  if (by_fragment) {
    CompareFragments(a, b, &lines);
  } else if (lines.empty() && a.rows != b.rows) {
    lines.emplace_back("rows: as many, with other values");
  }
  return lines;
}

}  // namespace glaive
