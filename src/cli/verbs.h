#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/status.h>

#include "glaive/compaction.h"
#include "glaive/maintain.h"
#include "glaive/staged_columns.h"
#include "glaive/verify.h"

// What the command does, one function per verb, each in the file of its name.
namespace glaive::cli {

struct InfoOptions {
  std::string uri;
  std::optional<uint64_t> version;
  bool json = false;
};
// What the manifest says of a table. Reads no data file.
arrow::Status Info(const InfoOptions& options);

struct VersionsOptions {
  std::string uri;
  uint64_t limit = 20;  // newest first; 0 is all
  bool json = false;
};
arrow::Status Versions(const VersionsOptions& options);

struct LogOptions {
  std::string uri;
  uint64_t limit = 20;  // newest first; 0 is all
  bool json = false;
};
// The history of a table: what each version did to rows and fragments.
arrow::Status Log(const LogOptions& options);

struct DiffOptions {
  std::string uri;
  uint64_t before = 0;
  uint64_t after = 0;
  bool json = false;
};
arrow::Status Diff(const DiffOptions& options);

enum class RowFormat : uint8_t { kJsonLines, kCsv, kArrow };

struct ScanVerbOptions {
  std::string uri;
  std::optional<uint64_t> version;
  std::vector<std::string> columns;  // all when empty
  std::string filter;
  std::optional<uint64_t> limit;
  uint64_t offset = 0;
  RowFormat format = RowFormat::kJsonLines;
};
// Rows on standard output.
arrow::Status ScanRows(const ScanVerbOptions& options);

struct PagesOptions {
  std::string uri;
  std::optional<uint64_t> version;
  uint64_t limit = 1000;  // fragments looked at; 0 is all
  std::string svg_path;   // empty: no picture file
  bool json = false;
};
// How the columns of a table are cut into pages, by the footers of its data files.
arrow::Status Pages(const PagesOptions& options);

struct CompactOptions {
  std::string uri;
  CompactionOptions compaction;
  bool dry_run = false;
  bool canary = false;  // compare before the version is made
  bool json = false;
};
arrow::Status Compact(const CompactOptions& options);

struct MaintainOptions {
  std::string uri;
  std::string branch;  // the table's own line of versions when empty
  MaintenanceOptions maintenance;
  bool json = false;
};
arrow::Status MaintainTable(const MaintainOptions& options);

struct BackfillVerbOptions {
  std::string uri;
  std::vector<std::string> columns;  // NAME=EXPRESSION
  BackfillOptions backfill;
  bool json = false;
};
// Gives columns values in every fragment.
arrow::Status BackfillTable(const BackfillVerbOptions& options);

struct VerifyVerbOptions {
  std::string uri;
  VerifyOptions verify;
  bool quick = false;
  bool json = false;
};
// Fails as for a damaged file if an error was found.
arrow::Status VerifyTable(const VerifyVerbOptions& options);

struct RepairVerbOptions {
  std::string uri;
  bool quick = false;
  bool yes = false;  // do it; else it is only shown
  bool json = false;
};
arrow::Status RepairTable(const RepairVerbOptions& options);

struct OrphansOptions {
  std::string uri;
  bool json = false;
};
arrow::Status Orphans(const OrphansOptions& options);

enum class Engine : uint8_t { kGlaive, kPylance };

struct CompareOptions {
  std::string uri_a;
  std::string uri_b;  // the same table when empty
  std::optional<uint64_t> version_a;
  std::optional<uint64_t> version_b;
  Engine engine_b = Engine::kGlaive;
  std::string python = "python3";  // that has pylance
  bool json = false;
};
// Fails with kDifferent if the two are not equal.
arrow::Status CompareTables(const CompareOptions& options);

struct ConflictsOptions {
  bool json = false;
};
arrow::Status PrintConflicts(const ConflictsOptions& options);

struct DemoOptions {
  std::string path;          // of a table that is to be looked at; empty: one is made
  uint64_t limit_bytes = 0;  // of its leading fragments
  std::string into;          // folder for the scratch table and the pictures
  std::string make;          // only make the table of small fragments, here
  uint64_t num_fragments = 20;
  uint64_t rows_per_fragment = 300;
  uint64_t values_per_row = 20'000;
  uint64_t take_rows = 8;
  bool json = false;
};
// Compacts a table of small fragments and measures a cold take before and after.
arrow::Status Demo(const DemoOptions& options);

}  // namespace glaive::cli
