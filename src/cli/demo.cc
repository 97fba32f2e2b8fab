#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/demo_table.h"
#include "cli/measure.h"
#include "cli/show/page_layout.h"
#include "cli/show/page_picture.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/refs.h"
#include "glaive/session.h"

namespace glaive::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = ".glaive-demo";
constexpr uint64_t kDefaultLimit = 2'000'000'000;

// An empty folder for the scratch table. An older demo's is emptied; anybody else's is refused.
arrow::Result<fs::path> MakeFolder(const std::string& into) {
  const fs::path folder = into.empty() ? fs::path("glaive-demo") : fs::path(into);
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    if (!fs::exists(folder / kMarker, error)) {
      return arrow::Status::Invalid(folder.string(), " is in use; choose another folder by --into");
    }
    fs::remove_all(folder, error);
  }
  if (!error) fs::create_directories(folder, error);
  if (error) return arrow::Status::IOError(folder.string(), ": ", error.message());
  std::ofstream(folder / kMarker) << "Made by `glaive demo`, which empties it on the next run.\n";
  return fs::absolute(folder);
}

arrow::Result<Dataset> MakeTable(const DemoOptions& options, const std::string& uri) {
  const DemoTable table = {.num_fragments = options.num_fragments,
                           .rows_per_fragment = options.rows_per_fragment,
                           .values_per_row = options.values_per_row};
  ProgressBar bar;
  WriteOptions write;
  write.limits.max_rows_per_file = options.rows_per_fragment;
  write.version.progress = [&bar](const Progress& progress) { return bar.Update(progress); };
  ARROW_ASSIGN_OR_RAISE(const WriteResult result, WriteDataset(DemoRows(table), uri, write));
  return result.dataset;
}

// Says what is taken from the user's table and where to, then links it.
arrow::Result<Dataset> LinkTheirs(const DemoOptions& options, const fs::path& folder) {
  ARROW_ASSIGN_OR_RAISE(const Dataset theirs, Dataset::Open(options.path));
  std::error_code error;
  const fs::path relative = fs::relative(folder, theirs.uri(), error);
  if (!error && !relative.empty() && *relative.begin() != "..") {
    return arrow::Status::Invalid("--into ", folder.string(), " lies in the table itself");
  }
  const LinkOptions limit = {.max_bytes =
                                 options.limit_bytes > 0 ? options.limit_bytes : kDefaultLimit};
  ARROW_ASSIGN_OR_RAISE(const LinkPlan plan, PlanLink(theirs, limit));
  if (!options.json) {
    fmt::print("{} version {} is only read.\n", theirs.uri(), theirs.version());
    fmt::print("Its first {} ({}, {}) are linked, or else copied, into {}.\n",
               Counted(plan.num_fragments, "fragment"), Counted(plan.num_rows, "row"),
               FormatBytes(plan.size_bytes), (folder / "table").string());
    if (plan.fragments_left_out > 0) {
      fmt::print("{} more are left out by --limit {}.\n", FormatCount(plan.fragments_left_out),
                 FormatBytes(limit.max_bytes));
    }
    fmt::print("Compacting them writes about {} there.\n", FormatBytes(plan.size_bytes));
    std::fflush(stdout);
  }
  ARROW_ASSIGN_OR_RAISE(LinkResult result, LinkTable(theirs, (folder / "table").string(), limit));
  if (!options.json) {
    fmt::print("{} linked, {} copied.\n", Counted(result.files_linked, "file"),
               FormatCount(result.files_copied));
  }
  return std::move(result.dataset);
}

// One column of the report.
struct State {
  PageLayout layout;
  TakeCost take;

  double ObjectStoreMs() const { return take.distant_seconds * 1000; }
};

arrow::Result<State> Look(const Dataset& dataset, const std::vector<uint64_t>& rows) {
  State state;
  ARROW_ASSIGN_OR_RAISE(state.layout, ReadPageLayout(dataset, 0));
  ARROW_ASSIGN_OR_RAISE(state.take, ColdTake(dataset, rows));
  return state;
}

Panel MakePanel(const std::string& title, const State& state, size_t num_rows) {
  const IoStats& io = state.take.io;
  return {.title = fmt::format("{}: {}, {}", title, Counted(state.layout.num_fragments, "fragment"),
                               Counted(state.layout.num_pages(), "page")),
          .captions = {fmt::format(
              "a cold take of {}: {}, {}, {}; {:.0f} ms at {} ms a request",
              Counted(num_rows, "row"), Counted(io.get_requests + io.head_requests, "request"),
              FormatBytes(io.bytes_read), Counted(io.dependent_rounds, "dependent round"),
              state.ObjectStoreMs(), kRoundTrip.count())},
          .layout = state.layout};
}

void PrintTable(const State& before, const State& after, size_t num_rows) {
  const auto row = [](const std::string& name, const std::string& left, const std::string& right) {
    fmt::print("  {:<26}{:>14}{:>14}\n", name, left, right);
  };
  const auto counts = [&](const char* name, uint64_t left, uint64_t right) {
    row(name, FormatCount(left), FormatCount(right));
  };
  const IoStats& old_io = before.take.io;
  const IoStats& new_io = after.take.io;
  row("", "before", "after");
  counts("fragments", before.layout.num_fragments, after.layout.num_fragments);
  counts("pages", before.layout.num_pages(), after.layout.num_pages());
  row("bytes", FormatBytes(before.layout.file_bytes), FormatBytes(after.layout.file_bytes));
  fmt::print("  a cold take of {}\n", Counted(num_rows, "row"));
  counts("  read requests", old_io.get_requests + old_io.head_requests,
         new_io.get_requests + new_io.head_requests);
  row("  bytes read", FormatBytes(old_io.bytes_read), FormatBytes(new_io.bytes_read));
  counts("  dependent rounds", old_io.dependent_rounds, new_io.dependent_rounds);
  row("  time here", fmt::format("{:.1f} ms", before.take.seconds * 1000),
      fmt::format("{:.1f} ms", after.take.seconds * 1000));
  row("  at 30 ms a request", fmt::format("{:.0f} ms", before.ObjectStoreMs()),
      fmt::format("{:.0f} ms", after.ObjectStoreMs()));
  fmt::print(
      "\n  (measured with {} ms added to each round trip; requests that do not wait for each\n"
      "  other go out together. Ranges that lie close together are read as one, which may\n"
      "  make the bytes more where pages are large)\n\n",
      kRoundTrip.count());
}

nlohmann::ordered_json ToJson(const State& state) {
  return {{"fragments", state.layout.num_fragments},
          {"pages", state.layout.num_pages()},
          {"bytes", state.layout.file_bytes},
          {"take",
           {{"requests", state.take.io.get_requests + state.take.io.head_requests},
            {"bytes", state.take.io.bytes_read},
            {"dependent_rounds", state.take.io.dependent_rounds},
            {"seconds", state.take.seconds},
            {"object_store_ms", state.ObjectStoreMs()}}}};
}

arrow::Status WritePictures(const Panel& before, const Panel& after, const fs::path& folder) {
  ARROW_RETURN_NOT_OK(WriteSvg({before}, (folder / "before.svg").string()));
  ARROW_RETURN_NOT_OK(WriteSvg({after}, (folder / "after.svg").string()));
  return WriteSvg({before, after}, (folder / "before-after.svg").string());
}

}  // namespace

arrow::Status Demo(const DemoOptions& options) {
  if (!options.make.empty()) return MakeTable(options, options.make).status();
  ARROW_ASSIGN_OR_RAISE(const fs::path folder, MakeFolder(options.into));
  const std::string uri = (folder / "table").string();
  if (options.path.empty() && !options.json) {
    fmt::print("A table of {}, each of {} of {} int16 values, is made at {}.\n",
               Counted(options.num_fragments, "fragment"),
               Counted(options.rows_per_fragment, "row"), FormatCount(options.values_per_row), uri);
    std::fflush(stdout);
  }
  ARROW_ASSIGN_OR_RAISE(const Dataset small, options.path.empty() ? MakeTable(options, uri)
                                                                  : LinkTheirs(options, folder));
  ARROW_ASSIGN_OR_RAISE(const uint64_t num_rows, small.CountRows());
  const std::vector<uint64_t> rows = SpreadRows(num_rows, options.take_rows);
  ARROW_ASSIGN_OR_RAISE(const State before, Look(small, rows));

  ARROW_ASSIGN_OR_RAISE(const Dataset compacted, [&]() -> arrow::Result<Dataset> {
    ProgressBar bar;
    CompactionOptions compaction;
    compaction.version.progress = [&bar](const Progress& progress) { return bar.Update(progress); };
    ARROW_ASSIGN_OR_RAISE(CompactionResult result, CompactFiles(small, compaction));
    return std::move(result.dataset);
  }());
  ARROW_ASSIGN_OR_RAISE(const State after, Look(compacted, rows));
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows_compared, CheckSameRows(small, compacted));

  const Panel before_panel = MakePanel("Before", before, rows.size());
  const Panel after_panel = MakePanel("After", after, rows.size());
  ARROW_RETURN_NOT_OK(WritePictures(before_panel, after_panel, folder));
  if (options.json) {
    const nlohmann::ordered_json report = {{"table", uri},
                                           {"rows_compared", rows_compared},
                                           {"before", ToJson(before)},
                                           {"after", ToJson(after)}};
    fmt::print("{}\n", report.dump(2));
    return arrow::Status::OK();
  }
  fmt::print("\n");
  PrintTable(before, after, rows.size());
  fmt::print("before\n{}after\n{}\n", DrawBlocks(before.layout, TerminalWidth()),
             DrawBlocks(after.layout, TerminalWidth()));
  fmt::print("content   {} compared, all equal\n", Counted(rows_compared, "row"));
  fmt::print("pictures  {}\n", (folder / "before-after.svg").string());
  return arrow::Status::OK();
}

}  // namespace glaive::cli
