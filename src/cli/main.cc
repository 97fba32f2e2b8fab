#include <cstdio>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"
#include "cli/terminal.h"
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

// One of several words.
template <typename Choice, typename Value>
void AddChoice(CLI::App& verb, const std::string& name, Value& value, const std::string& text,
               const std::map<std::string, Choice>& choices) {
  CLI::CheckedTransformer one_of(choices);
  one_of.description("");
  verb.add_option(name, value, text)->transform(one_of)->type_name("WORD");
}

void AddInfo(CLI::App& app, InfoOptions& options) {
  auto* verb = app.add_subcommand("info", "What a table holds, from its manifest alone");
  verb->add_option("uri", options.uri, "the table")->required();
  verb->add_option("--version", options.version, "the newest when not given");
  verb->add_flag("--json", options.json, kJson);
}

void AddVersions(CLI::App& app, VersionsOptions& options) {
  auto* verb = app.add_subcommand("versions", "The history of a table, newest first");
  verb->add_option("uri", options.uri, "the table")->required();
  verb->add_option("--limit", options.limit, "versions shown; 0 is all")->capture_default_str();
  verb->add_flag("--json", options.json, kJson);
}

void AddPages(CLI::App& app, PagesOptions& options) {
  auto* verb = app.add_subcommand("pages", "How the columns of a table are cut into pages");
  verb->add_option("uri", options.uri, "the table")->required();
  verb->add_option("--version", options.version, "the newest when not given");
  verb->add_option("--limit", options.limit, "fragments shown; 0 is all")->capture_default_str();
  verb->add_option("--svg", options.svg_path, "also write a picture to this file");
  verb->add_flag("--json", options.json, kJson);
}

void AddCompactionLimits(CLI::App& verb, CompactionOptions& options) {
  verb.add_option("--target-rows-per-fragment", options.target_rows_per_fragment,
                  "fragments below this are joined; 1048576");
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

void AddCompact(CLI::App& app, CompactOptions& options) {
  CompactionOptions& compaction = options.compaction;
  auto* verb = app.add_subcommand("compact", "Join small fragments and pages, drop deleted rows");
  verb->add_option("uri", options.uri, "the table")->required();
  verb->add_flag("--dry-run", options.dry_run,
                 "print the plan, its bytes and memory; change nothing");
  verb->add_flag("--json", options.json, kJson);
  AddCompactionLimits(*verb, compaction);
  verb->add_option("--batch-size", compaction.batch_size, "rows decoded at a time");
  verb->add_option("--num-threads", compaction.num_threads, "tasks that run at once");
  verb->add_flag_callback(
      "--keep-deletions", [&compaction] { compaction.materialize_deletions = false; },
      "do not rewrite a fragment only to drop its deleted rows");
  verb->add_option("--deletion-threshold", compaction.materialize_deletions_threshold,
                   "share of deleted rows above which a fragment is rewritten; 0.1");
  verb->add_option("--data-storage-version", compaction.data_storage_version,
                   "of the new files; the table's own when not given");
  AddChoice<CompactionMode>(*verb, "--mode", compaction.mode,
                            "reencode, try_binary_copy or force_binary_copy",
                            {{"reencode", CompactionMode::kReencode},
                             {"try_binary_copy", CompactionMode::kTryBinaryCopy},
                             {"force_binary_copy", CompactionMode::kForceBinaryCopy}});
  AddChoice<Durability>(*verb, "--durability", compaction.durability,
                        "commit (what is reported is on stable storage) or none",
                        {{"none", Durability::kNone}, {"commit", Durability::kCommit}});
}

void AddDemo(CLI::App& app, DemoOptions& options) {
  auto* verb =
      app.add_subcommand("demo", "Compact a table of small fragments and show what it gives");
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
  verb->add_flag("--json", options.json, kJson);
}

int Main(int argc, char** argv) {
  CLI::App app{"Looks at Lance tables and compacts them", "glaive"};
  app.set_version_flag("--version", GLAIVE_VERSION);
  app.footer(kExitCodesHelp);
  app.require_subcommand(1);
  InfoOptions info;
  VersionsOptions versions;
  PagesOptions pages;
  CompactOptions compact;
  DemoOptions demo;
  AddInfo(app, info);
  AddVersions(app, versions);
  AddPages(app, pages);
  AddCompact(app, compact);
  AddDemo(app, demo);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kUsage;
  }

  WatchInterrupts();
  const std::string verb = app.get_subcommands().front()->get_name();
  const arrow::Status status = verb == "info"       ? Info(info)
                               : verb == "versions" ? Versions(versions)
                               : verb == "pages"    ? Pages(pages)
                               : verb == "compact"  ? Compact(compact)
                                                    : Demo(demo);
  if (!status.ok()) std::fprintf(stderr, "glaive: %s\n", ErrorLine(status).c_str());
  return ExitCodeFor(status);
}

}  // namespace
}  // namespace glaive::cli

int main(int argc, char** argv) { return glaive::cli::Main(argc, argv); }
