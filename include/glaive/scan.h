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
#include "glaive/progress.h"

namespace glaive {

/// A predicate as users write it; bound to a schema where it is used.
struct Predicate {
  /// SQL: comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS [NOT] NULL, nested fields by dot.
  static Predicate Sql(std::string text) { return {std::move(text), false}; }
  /// A serialized Substrait ExtendedExpression, as pyarrow's Expression.to_substrait makes.
  static Predicate Substrait(std::string message) { return {std::move(message), true}; }

  std::string text;
  bool is_substrait = false;
};

/// A column to be computed of others, row by row.
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

/// The rows whose vectors are nearest to one, exactly: every row is looked at.
struct NearestQuery {
  std::string column;                    ///< of fixed-size lists of floats or bytes
  std::shared_ptr<arrow::Array> vector;  ///< numbers; several vectors stand one behind the other
  uint64_t k = 10;
  DistanceMetric metric = DistanceMetric::kDefault;
  std::optional<float> min_distance;  ///< at least
  std::optional<float> max_distance;  ///< below
  /// The filter applies before the k nearest are chosen; else to them.
  bool prefilter = false;
  /// _distance is part of the result even where `columns` does not name it.
  bool add_distance = true;
  /// May be answered by an index, if the column has one: then Unsupported, for none is read.
  bool use_index = true;
};

struct ScanOptions {
  /// Top-level names, dotted paths below structs, and _rowid, _rowaddr, _rowoffset,
  /// _row_created_at_version, _row_last_updated_at_version; in this order
  /// in the result. All columns when absent.
  std::optional<std::vector<std::string>> columns;
  /// In the place of `columns`: the result's columns as expressions.
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
  /// Sorts the rows that pass; the window applies behind it. NaN is above all numbers.
  std::vector<SortKey> order_by;
  /// Rows come in order of their _distance, a float column. Several vectors: the k nearest of each,
  /// told apart by the column query_index, which comes first.
  std::optional<NearestQuery> nearest;
  /// Bytes of decoded batches that may wait for the caller.
  uint64_t read_ahead_bytes = uint64_t{64} << 20;
};

/// Batches of a scan as they are asked for, read ahead in a bounded way. Not thread safe. Keeps its
/// snapshot, whatever is committed meanwhile.
class ScanStream {
 public:
  virtual ~ScanStream() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  /// The next batch; null at the end.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

/// Errors: InvalidInput for columns, filters or windows that cannot be; while reading, the typed
/// errors of damaged files.
arrow::Result<std::unique_ptr<ScanStream>> Scan(const Dataset& dataset, const ScanOptions& options);

/// The schema that a scan with these options returns, without reading.
arrow::Result<std::shared_ptr<arrow::Schema>> ScanSchema(const Dataset& dataset,
                                                         const ScanOptions& options);

/// A scan as an Arrow reader, for engines that take one.
std::shared_ptr<arrow::RecordBatchReader> ToReader(std::unique_ptr<ScanStream> stream);

/// Rows that a scan with these options returns; columns, batch size and order do not matter.
arrow::Result<uint64_t> CountRows(const Dataset& dataset, const ScanOptions& options);

/// How a scan with these options would be run, for people: one line for each step, the last first.
arrow::Result<std::string> ExplainScan(const Dataset& dataset, const ScanOptions& options);

/// The same of a scan that is run for it, with the rows, batches and time that it took.
arrow::Result<std::string> AnalyzeScan(const Dataset& dataset, const ScanOptions& options);

struct TakeOptions {
  std::optional<std::vector<std::string>> columns;  ///< as in ScanOptions
  bool with_row_id = false;
  bool with_row_address = false;
};

/// Rows by their position among the live rows of the version, in the order asked, repeats allowed.
/// Errors: InvalidInput for a position beyond the last row.
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

}  // namespace glaive
