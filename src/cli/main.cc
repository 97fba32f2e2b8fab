#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/exit_code.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"

namespace glaive::cli {
namespace {

constexpr char kJson[] = "print JSON instead of text";

// A number of bytes, as 2GB or 32MiB.
template <typename Value>
CLI::Option* AddSize(CLI::App& verb, const std::string& name, Value& value,
                     const std::string& text) {
  CLI::AsSizeValue size(/*kb_is_1000=*/true);
  size.description("");
  return verb.add_option(name, value, text)->transform(size)->type_name("SIZE");
}

// A length of time, as 30s, 90m, 8h or 14d.
template <typename Value>
void AddDuration(CLI::App& verb, const std::string& name, Value& nanos, const std::string& text) {
  const std::map<std::string, uint64_t> units = {{"s", 1'000'000'000},
                                                 {"m", 60'000'000'000},
                                                 {"h", 3'600'000'000'000},
                                                 {"d", 86'400'000'000'000}};
  CLI::AsNumberWithUnit duration(units, CLI::AsNumberWithUnit::UNIT_REQUIRED);
  duration.description("");
  verb.add_option(name, nanos, text)->transform(duration)->type_name("TIME");
}

// One of several words.
template <typename Choice, typename Value>
void AddChoice(CLI::App& verb, const std::string& name, Value& value, const std::string& text,
               const std::map<std::string, Choice>& choices) {
  const auto choose = [&value, name, choices](const std::string& word) {
    const auto chosen = choices.find(word);
    if (chosen == choices.end()) {
      throw CLI::ValidationError(
          name, fmt::format("'{}', expected {}", word, fmt::join(std::views::keys(choices), ", ")));
    }
    value = chosen->second;
  };
  verb.add_option_function<std::string>(name, choose, text)->type_name("WORD");
}

// Each verb is a subcommand that runs with the options it has parsed.
using Verbs = std::map<const CLI::App*, std::function<arrow::Status()>>;

// In place of CLI11's own, which tells how large a double may be.
CLI::Validator IsCount() {
  return {[](const std::string& text) {
            const bool is_number = !text.empty() && std::ranges::all_of(text, [](char c) {
              return c >= '0' && c <= '9';
            });
            return is_number ? std::string() : fmt::format("'{}' is no number of rows", text);
          },
          "ROWS"};
}

template <typename Options>
CLI::App& AddVerb(CLI::App& app, Verbs& verbs, const std::string& name, const std::string& text,
                  Options& options, arrow::Status (*run)(const Options&)) {
  CLI::App* verb = app.add_subcommand(name, text);
  verbs[verb] = [&options, run] { return run(options); };
  return *verb;
}

// Usage errors that name both: beside `flag` the others would have no effect.
void Exclude(CLI::App& verb, const std::string& flag, const std::vector<std::string>& others) {
  for (const std::string& other : others) verb.get_option(other)->excludes(verb.get_option(flag));
}

template <typename Options>
void AddTable(CLI::App& verb, Options& options) {
  verb.add_option("uri", options.uri, "the table")->required();
}

template <typename Options>
void AddVersion(CLI::App& verb, Options& options) {
  verb.add_option("--version", options.version, "the newest when not given");
}

void AddInfo(CLI::App& app, Verbs& verbs, InfoOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "info", "What a table holds, from its manifest alone", options, Info);
  AddTable(verb, options);
  AddVersion(verb, options);
  verb.add_flag("--json", options.json, kJson);
}

void AddVersions(CLI::App& app, Verbs& verbs, VersionsOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "versions", "The versions of a table, newest first", options, Versions);
  AddTable(verb, options);
  verb.add_option("--limit", options.limit, "versions shown; 0 is all")->capture_default_str();
  verb.add_flag("--json", options.json, kJson);
}

void AddLog(CLI::App& app, Verbs& verbs, LogOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "log", "What each version did to rows and fragments", options, Log);
  AddTable(verb, options);
  verb.add_option("--limit", options.limit, "versions shown; 0 is all")->capture_default_str();
  verb.add_flag("--json", options.json, kJson);
}

void AddDiff(CLI::App& app, Verbs& verbs, DiffOptions& options) {
  CLI::App& verb = AddVerb(app, verbs, "diff",
                           "What is different between two versions: schema, fragments, files, rows",
                           options, Diff);
  AddTable(verb, options);
  verb.add_option("before", options.before, "a version")->required();
  verb.add_option("after", options.after, "another")->required();
  verb.add_flag("--json", options.json, kJson);
}

void AddScan(CLI::App& app, Verbs& verbs, ScanVerbOptions& options) {
  CLI::App& verb = AddVerb(app, verbs, "scan", "Rows, on standard output", options, ScanRows);
  AddTable(verb, options);
  AddVersion(verb, options);
  verb.add_option("--columns", options.columns, "names, by commas; all when not given")
      ->delimiter(',');
  verb.add_option("--filter", options.filter, "a predicate in SQL");
  verb.add_option("--limit", options.limit, "rows")->check(IsCount());
  verb.add_option("--offset", options.offset, "rows left out before")->check(IsCount());
  AddChoice<RowFormat>(
      verb, "--format", options.format, "json (a line for each row), csv or arrow",
      {{"json", RowFormat::kJsonLines}, {"csv", RowFormat::kCsv}, {"arrow", RowFormat::kArrow}});
}

void AddVerify(CLI::App& app, Verbs& verbs, VerifyVerbOptions& options) {
  CLI::App& verb = AddVerb(app, verbs, "verify", "Check manifests, files, row counts and values",
                           options, VerifyTable);
  AddTable(verb, options);
  AddVersion(verb, options.verify);
  verb.add_flag("--quick", options.quick, "sizes and the ends of files; no values");
  verb.add_option("--sample", options.verify.sample,
                  "share of the fragments whose values are read; 1");
  verb.add_option("--jobs", options.verify.jobs, "threads");
  Exclude(verb, "--quick", {"--sample"});
  verb.add_flag("--json", options.json, kJson);
}

void AddRepair(CLI::App& app, Verbs& verbs, RepairVerbOptions& options) {
  CLI::App& verb = AddVerb(app, verbs, "repair",
                           "Make the newest version readable again; only shows how without --yes",
                           options, RepairTable);
  AddTable(verb, options);
  verb.add_flag("--quick", options.quick, "look for missing and cut files only");
  verb.add_flag("--yes", options.yes, "do it");
  verb.add_flag("--json", options.json, kJson);
}

void AddOrphans(CLI::App& app, Verbs& verbs, OrphansOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "orphans", "Files that no version refers to", options, Orphans);
  AddTable(verb, options);
  verb.add_flag("--json", options.json, kJson);
}

void AddCompare(CLI::App& app, Verbs& verbs, CompareOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "compare", "Compare two tables, or one as two engines read it", options,
              CompareTables);
  verb.add_option("a", options.uri_a, "a table")->required();
  verb.add_option("b", options.uri_b, "another; the same one when not given");
  verb.add_option("--version-a", options.version_a, "the newest when not given");
  verb.add_option("--version-b", options.version_b,
                  "the newest when not given; of one table as two engines read it, that of a");
  AddChoice<Engine>(verb, "--engine-b", options.engine_b, "what reads b: glaive or pylance",
                    {{"glaive", Engine::kGlaive}, {"pylance", Engine::kPylance}});
  verb.add_option("--python", options.python, "a Python that has pylance")
      ->capture_default_str()
      ->needs(verb.get_option("--engine-b"));
  verb.add_flag("--json", options.json, kJson);
}

void AddConflicts(CLI::App& app, Verbs& verbs, ConflictsOptions& options) {
  CLI::App& verb = AddVerb(app, verbs, "conflicts", "Which commits stand in each other's way",
                           options, PrintConflicts);
  verb.add_flag("--json", options.json, kJson);
}

void AddPages(CLI::App& app, Verbs& verbs, PagesOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "pages", "How the columns of a table are cut into pages", options, Pages);
  AddTable(verb, options);
  AddVersion(verb, options);
  verb.add_option("--limit", options.limit, "fragments shown; 0 is all")->capture_default_str();
  verb.add_option("--svg", options.svg_path, "also write a picture to this file");
  verb.add_flag("--json", options.json, kJson);
}

void AddCompactionLimits(CLI::App& verb, CompactionOptions& options) {
  verb.add_option("--target-rows-per-fragment", options.target_rows_per_fragment,
                  "fragments below this are joined; 1048576");
  AddSize(verb, "--target-bytes-per-fragment", options.target_bytes_per_fragment,
          "a fragment of so many bytes is large enough too; no such limit");
  verb.add_flag_callback(
      "--rewrite-small-pages", [&options] { options.rewrite_small_pages = true; },
      "also rewrite fragments that are cut into needlessly small pages; reads footers");
  AddSize(verb, "--memory-limit", options.memory_limit,
          "all tasks together hold at most so much; as --data-cache-bytes gives");
  AddSize(verb, "--max-page-bytes", options.max_page_bytes, "a page stays below this; 256MiB");
  AddSize(verb, "--data-cache-bytes", options.data_cache_bytes,
          "all open pages together stay below this; 256MiB");
  AddSize(verb, "--max-bytes-per-file", options.max_bytes_per_file, "a file ends here; 90GiB");
  verb.add_option("--max-rows-per-group", options.max_rows_per_group,
                  "a page of 8 MiB or more ends after so many rows; no limit");
  verb.add_option("--max-source-fragments", options.max_source_fragments,
                  "rewrite at most so many");
  verb.add_option("--max-source-rows", options.max_source_rows, "rewrite at most so many");
  AddSize(verb, "--max-source-bytes", options.max_source_bytes, "rewrite at most so many");
  verb.add_option("--exclude-fragment", options.excluded_fragment_ids,
                  "leave these fragments as they are");
}

// All of how fragments are chosen and rewritten. The names of the options.
std::vector<std::string> AddCompaction(CLI::App& verb, CompactionOptions& compaction) {
  const size_t num_before = verb.get_options().size();
  AddCompactionLimits(verb, compaction);
  verb.add_option("--batch-size", compaction.batch_size, "rows decoded at a time");
  verb.add_option("--num-threads", compaction.num_threads, "tasks that run at once");
  verb.add_flag_callback(
      "--keep-deletions", [&compaction] { compaction.materialize_deletions = false; },
      "do not rewrite a fragment only to drop its deleted rows");
  verb.add_option("--deletion-threshold", compaction.materialize_deletions_threshold,
                  "share of deleted rows above which a fragment is rewritten; 0.1");
  verb.add_option("--max-overlays-per-fragment", compaction.max_overlays_per_fragment,
                  "overlays above which a fragment is rewritten; 10");
  verb.add_option("--data-storage-version", compaction.data_storage_version,
                  "of the new files; the table's own when not given");
  AddChoice<CompactionMode>(verb, "--mode", compaction.mode,
                            "reencode, try_binary_copy or force_binary_copy",
                            {{"reencode", CompactionMode::kReencode},
                             {"try_binary_copy", CompactionMode::kTryBinaryCopy},
                             {"force_binary_copy", CompactionMode::kForceBinaryCopy}});
  AddChoice<Durability>(verb, "--durability", compaction.version.durability,
                        "commit (what is reported is on stable storage) or none",
                        {{"none", Durability::kNone}, {"commit", Durability::kCommit}});
  Exclude(verb, "--keep-deletions", {"--deletion-threshold"});
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options() | std::views::drop(num_before)) {
    names.push_back(option->get_name());
  }
  return names;
}

void AddCompact(CLI::App& app, Verbs& verbs, CompactOptions& options) {
  CLI::App& verb = AddVerb(app, verbs, "compact",
                           "Join small fragments and pages, drop deleted rows", options, Compact);
  AddTable(verb, options);
  verb.add_flag("--dry-run", options.dry_run,
                "print the plan, its bytes and memory; change nothing");
  verb.add_flag("--canary", options.canary,
                "compare all rows with those of before ahead of the commit");
  verb.add_flag("--partial", options.compaction.partial,
                "commit the tasks that can be where others fail, and tell those");
  verb.add_flag("--json", options.json, kJson);
  AddCompaction(verb, options.compaction);
  Exclude(verb, "--dry-run", {"--canary", "--partial"});
}

void AddMaintain(CLI::App& app, Verbs& verbs, MaintainOptions& options) {
  MaintenanceOptions& maintenance = options.maintenance;
  CLI::App& verb = AddVerb(app, verbs, "maintain",
                           "Compact, clean up old versions, sweep up files nobody refers to",
                           options, MaintainTable);
  AddTable(verb, options);
  verb.add_option("--branch", options.branch, "this one alone; main when not given");
  verb.add_flag("--dry-run", maintenance.dry_run, "say what would be done; change nothing");
  verb.add_flag("--json", options.json, kJson);
  verb.add_flag_callback(
      "--no-compact", [&maintenance] { maintenance.compact = false; },
      "leave fragments as they are");
  verb.add_flag_callback(
      "--no-cleanup", [&maintenance] { maintenance.clean_up = false; }, "leave old versions");
  verb.add_flag_callback(
      "--no-sweep", [&maintenance] { maintenance.sweep = false; },
      "leave files that no version refers to");
  verb.add_flag("--canary", maintenance.canary,
                "compare all rows with those of before ahead of each commit");
  AddDuration(verb, "--time-limit", maintenance.time_limit_ns, "begin nothing after so long");
  AddDuration(verb, "--commit-interval", maintenance.commit_interval_ns,
              "commit what is compacted at least so often; 1m");
  AddDuration(verb, "--older-than", maintenance.older_than_ns,
              "versions go that are so old; the table's config, or 14d");
  verb.add_option("--retain-versions", maintenance.retain_versions, "newest versions that stay");
  AddDuration(verb, "--orphan-age", maintenance.orphan_age_ns,
              "files that no version refers to go when so old; 7d");
  verb.add_option("--delete-rate-limit", maintenance.delete_rate_limit, "files a second");
  std::vector<std::string> of_compaction = AddCompaction(verb, maintenance.compaction);
  of_compaction.insert(of_compaction.end(), {"--canary", "--commit-interval"});
  Exclude(verb, "--no-compact", of_compaction);
  Exclude(verb, "--no-cleanup", {"--older-than", "--retain-versions"});
  Exclude(verb, "--no-sweep", {"--orphan-age"});
  Exclude(verb, "--dry-run", {"--canary"});
}

void AddBackfill(CLI::App& app, Verbs& verbs, BackfillVerbOptions& options) {
  CLI::App& verb =
      AddVerb(app, verbs, "backfill", "Give columns values in every fragment, beside other writers",
              options, BackfillTable);
  AddTable(verb, options);
  verb.add_option("columns", options.columns, "NAME=EXPRESSION, as in 'total=price * amount'")
      ->required();
  BackfillOptions& backfill = options.backfill;
  verb.add_option("--checkpoint", backfill.checkpoint,
                  "a folder that keeps what is computed; the same command goes on from there");
  verb.add_option("--commit-every", backfill.commit_every,
                  "fragments in one version; 0: all in one, at the end")
      ->capture_default_str();
  verb.add_flag("--overwrite", backfill.overwrite, "compute columns that are there anew");
  verb.add_option("--num-threads", backfill.num_threads, "fragments that are computed at a time");
  verb.add_option("--message", backfill.version.commit_message, "of the versions that are made");
  AddChoice<Durability>(verb, "--durability", backfill.version.durability,
                        "commit (what is reported is on stable storage) or none",
                        {{"none", Durability::kNone}, {"commit", Durability::kCommit}});
  verb.add_flag("--json", options.json, kJson);
}

void AddDemo(CLI::App& app, Verbs& verbs, DemoOptions& options) {
  CLI::App* verb =
      &AddVerb(app, verbs, "demo", "Compact a table of small fragments and show what it gives",
               options, Demo);
  verb->add_option("path", options.path,
                   "your table; it is only read, its files are linked into a scratch table");
  AddSize(*verb, "--limit", options.limit_bytes, "take at most so much of your table; 2GB");
  verb->add_option("--into", options.into, "folder of the scratch table and the pictures")
      ->take_last();
  verb->add_option("--make", options.make, "only make the table of small fragments, here");
  verb->add_option("--fragments", options.num_fragments, "of the table made")
      ->capture_default_str();
  verb->add_option("--rows", options.rows_per_fragment, "of each of its fragments")
      ->capture_default_str();
  verb->add_option("--list", options.values_per_row, "int16 values in each row")
      ->capture_default_str();
  verb->add_option("--take", options.take_rows, "rows of the measured take")->capture_default_str();
  Exclude(*verb, "--make", {"path", "--limit", "--take"});
  Exclude(*verb, "path", {"--fragments", "--rows", "--list"});
  verb->get_option("--limit")->needs(verb->get_option("path"));
  verb->add_flag("--json", options.json, kJson);
}

struct AllOptions {
  InfoOptions info;
  VersionsOptions versions;
  LogOptions log;
  DiffOptions diff;
  ScanVerbOptions scan;
  PagesOptions pages;
  VerifyVerbOptions verify;
  RepairVerbOptions repair;
  OrphansOptions orphans;
  CompareOptions compare;
  ConflictsOptions conflicts;
  CompactOptions compact;
  MaintainOptions maintain;
  BackfillVerbOptions backfill;
  DemoOptions demo;
};

// Names all verbs where the first word is none of them.
std::optional<std::string> UnknownVerb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  std::string names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() == argv[1]) return std::nullopt;
    names += (names.empty() ? "" : ", ") + verb->get_name();
  }
  return fmt::format("no verb {}: there are {}", argv[1], names);
}

int Main(int argc, char** argv) {
  CLI::App app{"Looks at Lance tables, checks, repairs and compacts them", "glaive"};
  app.set_version_flag("--version", GLAIVE_VERSION);
  app.footer(kExitCodesHelp);
  app.require_subcommand(1);
  AllOptions options;
  Verbs verbs;
  AddInfo(app, verbs, options.info);
  AddVersions(app, verbs, options.versions);
  AddLog(app, verbs, options.log);
  AddDiff(app, verbs, options.diff);
  AddScan(app, verbs, options.scan);
  AddPages(app, verbs, options.pages);
  AddVerify(app, verbs, options.verify);
  AddRepair(app, verbs, options.repair);
  AddOrphans(app, verbs, options.orphans);
  AddCompare(app, verbs, options.compare);
  AddConflicts(app, verbs, options.conflicts);
  AddCompact(app, verbs, options.compact);
  AddMaintain(app, verbs, options.maintain);
  AddBackfill(app, verbs, options.backfill);
  AddDemo(app, verbs, options.demo);
  if (const auto text = UnknownVerb(app, argc, argv)) {
    std::fprintf(stderr, "glaive: %s\n", text->c_str());
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kUsage;
  }

  WatchInterrupts();
  const arrow::Status status = verbs.at(app.get_subcommands().front())();
  if (!status.ok()) std::fprintf(stderr, "glaive: %s\n", ErrorLine(status).c_str());
  return ExitCodeFor(status);
}

}  // namespace
}  // namespace glaive::cli

int main(int argc, char** argv) { return glaive::cli::Main(argc, argv); }
