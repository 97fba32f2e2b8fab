#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/error.h"
#include "glaive/progress.h"

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
  /// For that search alone, as in SurveyOptions. What is checked is read from the store: bytes that
  /// somebody read before prove nothing about it.
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
/// say. What is wrong, or cannot be read, is in the report; only what keeps the check itself from
/// being made is an error: NotFound for no such table or version, Cancelled, OutOfMemory.
arrow::Result<VerifyReport> Verify(std::string_view uri, const VerifyOptions& options = {});

}  // namespace glaive
