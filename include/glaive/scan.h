#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(auto stream, Scan(dataset, {.columns = {{"id", "label"}},
//                                                   .filter = Predicate::Sql("label = 'cat'"),
//                                                   .limit = 100}));
//     ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());  // null at the end
//     ARROW_ASSIGN_OR_RAISE(const auto table, Take(dataset, std::vector<uint64_t>{7, 3}));
namespace glaive {

/// A predicate as users write it. The call that uses it binds it to a schema.
struct Predicate {
  /// SQL: comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS [NOT] NULL, nested fields by dot.
  static Predicate Sql(std::string text) { return {std::move(text), false}; }
  /// A serialized Substrait ExtendedExpression, as pyarrow's Expression.to_substrait makes.
  static Predicate Substrait(std::string message) { return {std::move(message), true}; }

  std::string text;
  bool is_substrait = false;
};

/// A column that is computed from other columns, row by row.
struct ComputedColumn {
  std::string name;
  std::string sql;  ///< an expression over the table's columns, as in Predicate::Sql
};

struct SortKey {
  std::string column;
  bool ascending = true;
  bool nulls_first = false;
};

enum class DistanceMetric : uint8_t {
  kDefault,  ///< kHamming for vectors of bytes, else kL2
  kL2,       ///< the squared Euclidean distance
  kCosine,   ///< 1 - cos
  kDot,      ///< 1 - the dot product
  kHamming,  ///< bits that differ
};

/// The rows with the vectors nearest to a given one. The search is exact: it reads every row.
struct NearestQuery {
  std::string column;                    ///< of fixed-size lists of floats or bytes
  std::shared_ptr<arrow::Array> vector;  ///< numbers; several vectors stand one behind the other
  uint64_t k = 10;
  DistanceMetric metric = DistanceMetric::kDefault;
  std::optional<float> min_distance;  ///< at least
  std::optional<float> max_distance;  ///< below
  /// Applies the filter before the k nearest rows are chosen; else after.
  bool prefilter = false;
  /// Adds _distance to the result even if `columns` does not name it.
  bool add_distance = true;
  /// Allows the use of an index. Glaive reads no index yet: Unsupported if the column has one.
  bool use_index = true;
};

struct ScanOptions {
  /// Top-level names, dotted paths below structs, and _rowid, _rowaddr, _rowoffset,
  /// _row_created_at_version, _row_last_updated_at_version; in this order
  /// in the result. All columns when absent.
  std::optional<std::vector<std::string>> columns;
  /// Instead of `columns`: the columns of the result as expressions.
  std::optional<std::vector<ComputedColumn>> computed;
  std::optional<Predicate> filter;
  std::optional<uint64_t> limit;
  uint64_t offset = 0;
  /// Rows per batch. Given: every batch but the last has exactly so many, across fragment borders.
  /// Absent: at most 8192, never across fragments.
  std::optional<uint64_t> batch_size;
  bool with_row_id = false;
  bool with_row_address = false;
  bool include_deleted_rows = false;
  /// In order of fragments and rows; false lets batches come as they are ready.
  bool ordered = true;
  /// Only these fragments, in this order. Errors: InvalidInput for one the version does not have.
  std::optional<std::vector<uint64_t>> fragment_ids;
  /// Sorts the rows that pass the filter, before `offset` and `limit`. NaN is greater than all
  /// numbers.
  std::vector<SortKey> order_by;
  /// Returns rows in order of their _distance, a float column. With several vectors, returns the k
  /// nearest rows of each, and the column query_index comes first.
  std::optional<NearestQuery> nearest;
  /// Bytes of decoded batches that may wait for the caller.
  uint64_t read_ahead_bytes = uint64_t{64} << 20;
};

/// The batches of a scan, with bounded read-ahead. Reads one version, also after other versions
/// were committed. Not thread safe.
class ScanStream {
 public:
  virtual ~ScanStream() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  /// The next batch; null at the end.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

/// Starts a scan. Errors: InvalidInput for invalid columns, filters or windows; while reading, the
/// typed errors of damaged files.
arrow::Result<std::unique_ptr<ScanStream>> Scan(const Dataset& dataset, const ScanOptions& options);

/// The schema that a scan with these options returns, without reading.
arrow::Result<std::shared_ptr<arrow::Schema>> ScanSchema(const Dataset& dataset,
                                                         const ScanOptions& options);

/// A scan as an Arrow reader, for engines that take one.
std::shared_ptr<arrow::RecordBatchReader> ToReader(std::unique_ptr<ScanStream> stream);

/// The number of rows that a scan with these options returns.
arrow::Result<uint64_t> CountRows(const Dataset& dataset, const ScanOptions& options);

/// The plan of a scan, for people: one line for each step, the last step first.
arrow::Result<std::string> ExplainScan(const Dataset& dataset, const ScanOptions& options);

/// Runs the scan, and returns the plan with rows, batches and time of each step.
arrow::Result<std::string> AnalyzeScan(const Dataset& dataset, const ScanOptions& options);

struct TakeOptions {
  std::optional<std::vector<std::string>> columns;  ///< as in ScanOptions
  bool with_row_id = false;
  bool with_row_address = false;
};

/// Rows by their position among the live rows of the version, in the given order. Positions may
/// repeat. Errors: InvalidInput for a position beyond the last row.
arrow::Result<std::shared_ptr<arrow::Table>> Take(const Dataset& dataset,
                                                  std::span<const uint64_t> offsets,
                                                  const TakeOptions& options = {});

/// Rows by row id: the row address on tables without stable row ids.
arrow::Result<std::shared_ptr<arrow::Table>> TakeRows(const Dataset& dataset,
                                                      std::span<const uint64_t> row_ids,
                                                      const TakeOptions& options = {});

/// Rows of one fragment by their position among its live rows.
arrow::Result<std::shared_ptr<arrow::Table>> TakeFromFragment(const Dataset& dataset,
                                                              uint64_t fragment_id,
                                                              std::span<const uint64_t> offsets,
                                                              const TakeOptions& options = {});

/// The versions after `begin` up to and including `end`.
struct VersionSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// The span from the older to the newer of the two versions.
VersionSpan SpanBetween(const Dataset& dataset, uint64_t version);

/// The versions of the span, ascending. Errors: NotFound for a version that does not exist.
arrow::Result<std::vector<uint64_t>> VersionsIn(const Dataset& dataset, const VersionSpan& span);

/// Scan options for the rows that were inserted in the span: all columns, then _rowid,
/// _row_created_at_version and _row_last_updated_at_version. Tables without stable row ids do not
/// record these versions: their rows count as created in version 1.
ScanOptions InsertedRows(const Dataset& dataset, const VersionSpan& span);

/// Scan options for the rows that existed before the span and were updated in it.
ScanOptions UpdatedRows(const Dataset& dataset, const VersionSpan& span);

/// The ids of the rows that exist in the first version of the span and not in its last, ascending.
///
/// Errors: InvalidInput for tables without stable row ids, and for spans that run backwards.
arrow::Result<std::vector<uint64_t>> DeletedRowIds(const Dataset& dataset, const VersionSpan& span);

}  // namespace glaive
