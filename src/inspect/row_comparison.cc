#include "inspect/row_comparison.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/compare.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include "inspect/row_hasher.h"

namespace glaive::inspect {
namespace {

constexpr size_t kMostText = 60;  // of a value in a message

// A stream, batch after batch, and how far it was compared.
class Cursor {
 public:
  explicit Cursor(ScanStream& stream) : stream_(stream) {}

  // Goes on to a batch that has rows left, if there is one.
  arrow::Status Fill() {
    while (batch_ == nullptr || row_ == batch_->num_rows()) {
      ARROW_ASSIGN_OR_RAISE(batch_, stream_.Next());
      row_ = 0;
      if (batch_ == nullptr) break;
    }
    return arrow::Status::OK();
  }

  bool has_ended() const { return batch_ == nullptr; }
  int64_t num_left() const { return batch_->num_rows() - row_; }
  int64_t row() const { return row_; }
  const arrow::RecordBatch& batch() const { return *batch_; }
  void Skip(int64_t num_rows) { row_ += num_rows; }

  std::optional<uint64_t> Address(int64_t row) const {
    if (has_ended()) return std::nullopt;
    const auto& last = *batch_->column(batch_->num_columns() - 1);
    return static_cast<const arrow::UInt64Array&>(last).Value(row_ + row);
  }

 private:
  ScanStream& stream_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t row_ = 0;
};

std::string TextOf(const arrow::Array& array, int64_t row) {
  const auto scalar = array.GetScalar(row);
  if (!scalar.ok()) return "?";
  std::string text = (*scalar)->is_valid ? (*scalar)->ToString() : "null";
  if (text.size() > kMostText) text = text.substr(0, kMostText) + "...";
  return text;
}

// Where Arrow finds a range unequal, the hashes tell: NaN is equal to itself there, and codes of
// two dictionaries are what they stand for.
arrow::Result<std::optional<int64_t>> FirstUnequal(const Cursor& a, const Cursor& b, int column,
                                                   int64_t num_rows) {
  const auto options = arrow::EqualOptions::Defaults().signed_zeros_equal(false);
  const auto& array_a = a.batch().column(column);
  const auto& array_b = b.batch().column(column);
  if (array_a->RangeEquals(*array_b, a.row(), a.row() + num_rows, b.row(), options)) {
    return std::nullopt;
  }
  const auto hashes = [&](const Cursor& cursor) {
    const auto rows = cursor.batch().Slice(cursor.row(), num_rows);
    const auto field = rows->schema()->field(column);
    return HashRows(
        *arrow::RecordBatch::Make(arrow::schema({field}), num_rows, {rows->column(column)}), 1);
  };
  ARROW_ASSIGN_OR_RAISE(const auto hashes_a, hashes(a));
  ARROW_ASSIGN_OR_RAISE(const auto hashes_b, hashes(b));
  const auto [first, other] = std::ranges::mismatch(hashes_a, hashes_b);
  if (first == hashes_a.end()) return std::nullopt;
  return first - hashes_a.begin();
}

// Within the next rows of both.
arrow::Result<std::optional<RowDifference>> CompareNext(const Cursor& a, const Cursor& b,
                                                        int64_t num_rows) {
  std::optional<RowDifference> first;
  for (int column = 0; column + 1 < a.batch().num_columns(); ++column) {
    ARROW_ASSIGN_OR_RAISE(const auto row, FirstUnequal(a, b, column, num_rows));
    if (!row || (first && first->row <= static_cast<uint64_t>(*row))) continue;
    first = {.row = static_cast<uint64_t>(*row),
             .address_a = a.Address(*row),
             .address_b = b.Address(*row),
             .what = fmt::format("column {}: {} | {}", a.batch().column_name(column),
                                 TextOf(*a.batch().column(column), a.row() + *row),
                                 TextOf(*b.batch().column(column), b.row() + *row))};
  }
  return first;
}

}  // namespace

arrow::Result<std::optional<RowDifference>> FirstDifference(ScanStream& a, ScanStream& b,
                                                            const ProgressCallback& progress) {
  Cursor in_a(a);
  Cursor in_b(b);
  for (uint64_t row = 0;;) {
    ARROW_RETURN_NOT_OK(in_a.Fill());
    ARROW_RETURN_NOT_OK(in_b.Fill());
    if (in_a.has_ended() && in_b.has_ended()) return std::nullopt;
    if (in_a.has_ended() || in_b.has_ended()) {
      return RowDifference{.row = row,
                           .address_a = in_a.Address(0),
                           .address_b = in_b.Address(0),
                           .what = in_a.has_ended() ? "none | a row" : "a row | none"};
    }
    const int64_t num_rows = std::min(in_a.num_left(), in_b.num_left());
    ARROW_ASSIGN_OR_RAISE(auto difference, CompareNext(in_a, in_b, num_rows));
    if (difference) {
      difference->row += row;
      return difference;
    }
    in_a.Skip(num_rows);
    in_b.Skip(num_rows);
    row += static_cast<uint64_t>(num_rows);
    if (progress) ARROW_RETURN_NOT_OK(progress({.rows = row}));
  }
}

}  // namespace glaive::inspect
