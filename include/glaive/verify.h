#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/error.h"
#include "glaive/version_options.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const VerifyReport report,
//                           Verify("/data/images.lance", {.sample = 0.1}));
//     for (const Finding& finding : report.findings) std::cout << finding.message << "\n";
//     ARROW_ASSIGN_OR_RAISE(const TableContent content, ContentOf(dataset));
namespace glaive {

class Session;

enum class VerifyDepth : uint8_t {
  /// Manifests, the size and the end of every file, deletion files, row ids. No value is read.
  kFooters,
  /// All of that, and every value of the sampled fragments is decoded.
  kRows,
};

struct VerifyOptions {
  std::optional<uint64_t> version;  ///< the newest readable one when absent
  VerifyDepth depth = VerifyDepth::kRows;
  /// Share of the fragments whose values are decoded, spread evenly over the table. In (0, 1].
  double sample = 1;
  std::optional<uint32_t> jobs;  ///< threads; GLAIVE_CPU_THREADS when absent
  bool survey_files = true;      ///< look for files that are missing or that nothing refers to
  /// For that search alone, as in SurveyOptions. The check itself reads everything from the store.
  std::shared_ptr<Session> session;
  ProgressCallback progress;
};

enum class Severity : uint8_t {
  /// Some version cannot be read, or would be read wrong. Where the kind is kIO, the store failed,
  /// and what lies there is not known.
  kError,
  kWarning,  ///< nothing is lost, but something is not as it should be, or could not be checked
};

struct Finding {
  Severity severity = Severity::kError;
  ErrorKind kind = ErrorKind::kCorrupt;
  std::string path;                     ///< empty when it is about no file
  std::optional<uint64_t> fragment_id;  ///< of the version that was verified
  std::string message;                  ///< for people; names path and place
};

struct VerifyReport {
  uint64_t version = 0;
  VerifyDepth depth = VerifyDepth::kRows;
  uint64_t num_versions = 0;  ///< manifests that were read
  uint64_t num_fragments = 0;
  uint64_t num_fragments_sampled = 0;  ///< that were to be decoded
  uint64_t num_fragments_decoded = 0;  ///< every value of them
  uint64_t num_data_files = 0;
  uint64_t num_deletion_files = 0;
  uint64_t num_rows = 0;  ///< live ones
  uint64_t num_rows_decoded = 0;
  uint64_t num_orphans = 0;
  uint64_t orphan_bytes = 0;
  std::vector<Finding> findings;  ///< errors first, each kind in order of discovery

  bool ok() const;          ///< no error among the findings, and nothing that is not understood
  bool understood() const;  ///< nothing among them that this build does not read
  bool damaged() const;     ///< an error among them that no second try would read
  /// What this run shows, and what it does not, in a few sentences.
  std::string Statement() const;
};

/// Checks a version of a table, and the manifests and files of all of them, as far as `options`
/// say. Faults, and files that cannot be read, are in the report; only what keeps the check itself
/// from being made is an error: NotFound for no such table or version, Cancelled, OutOfMemory.
arrow::Result<VerifyReport> Verify(std::string_view uri, const VerifyOptions& options = {});

/// A hash of rows that does not depend on their order, nor on how they are cut into batches: equal
/// rows give equal hashes, other rows other ones but for a chance of about 2^-64. Values count, in
/// order of the columns; of types only what the values show, so that a string is a string whatever
/// the width of its offsets.
struct RowHash {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const RowHash&) const = default;
  std::string ToString() const;  ///< 32 hex digits
};

/// The rows of a fragment.
struct FragmentContent {
  uint64_t id = 0;
  uint64_t num_rows = 0;
  RowHash rows;     ///< of the values of all columns
  RowHash row_ids;  ///< of the values and the row ids
};

/// A version as a reader sees it.
struct TableContent {
  uint64_t version = 0;
  std::shared_ptr<arrow::Schema> schema;
  uint64_t num_rows = 0;
  RowHash rows;
  std::vector<FragmentContent> fragments;  ///< ascending by id; those without rows are left out
};

/// Reads all of a version.
arrow::Result<TableContent> ContentOf(const Dataset& dataset,
                                      const ProgressCallback& progress = {});

/// The same of rows that come from elsewhere, such as another engine. The last two columns have to
/// be _rowid and _rowaddr.
arrow::Result<TableContent> ContentOf(arrow::RecordBatchReader& rows, uint64_t version,
                                      const ProgressCallback& progress = {});

/// What is different, a line for each; empty where nothing is. With `by_fragment`, fragments and
/// row ids have to be the same ones too, as for one table read by two engines.
std::vector<std::string> Compare(const TableContent& a, const TableContent& b, bool by_fragment);

/// What happens when a commit meets another one that was made after the version it was read from:
/// the whole policy, as the engine follows it.
struct ConflictMatrix {
  std::vector<std::string> operations;  ///< "Append", ...
  /// One string for each operation of ours, with a letter for each of theirs.
  std::vector<std::string> rules;
  std::map<char, std::string> meanings;  ///< of the letters
};

ConflictMatrix Conflicts();

}  // namespace glaive
