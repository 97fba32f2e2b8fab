#include <fmt/format.h>

#include "glaive/commit.h"
#include "glaive/compaction.h"
#include "glaive/repair.h"
#include "glaive/retention.h"
#include "simulation/client.h"
#include "simulation/read_rows.h"

namespace glaive::simulation {
namespace {

constexpr uint64_t kMinute = uint64_t{60} * 1'000'000'000;

CompactionOptions OptionsOf(Client& client, Random& random) {
  CompactionOptions options{.target_rows_per_fragment = 3 + random.Below(30),
                            .partial = random.Chance(300),
                            .version = {.durability = client.durability()}};
  options.materialize_deletions_threshold = 0.0;
  if (random.Chance(300)) options.max_source_fragments = 2;
  return options;
}

}  // namespace

VerbResult Compact(Client& client, VerbRun& /*run*/, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(auto result, CompactFiles(dataset, OptionsOf(client, random)));
  return result.dataset;
}

// What any other client may do and commit.
VerbResult PlanTask(Client& client, VerbRun& run, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(const auto plan, PlanCompaction(dataset, OptionsOf(client, random)));
  for (const CompactionTask& task : plan.tasks) {
    ARROW_ASSIGN_OR_RAISE(auto result, ExecuteCompaction(dataset, task, task.options));
    client.world().rewrites.push_back({dataset, {std::move(result)}, run.began_ns});
  }
  return std::nullopt;
}

VerbResult CommitTask(Client& client, VerbRun& run, Random& random) {
  auto& rewrites = client.world().rewrites;
  if (rewrites.empty()) return std::nullopt;
  const size_t chosen = random.Below(rewrites.size());
  const RewriteWork work = rewrites[chosen];
  run.began_ns = work.began_ns;
  if (random.Chance(800)) rewrites.erase(rewrites.begin() + static_cast<ptrdiff_t>(chosen));
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(
      auto result,
      CommitCompaction(dataset, work.results, {.version = {.durability = client.durability()}}));
  return result.dataset;
}

// The version of the handle and all after it are to stay, so that the handle has to mean one.
VerbResult Clean(Client& client, VerbRun& run, Random& random) {
  World& world = client.world();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  const bool was_there = world.IsThere(dataset);
  CleanupOptions options{.error_if_tagged_old_versions = random.Chance(200)};
  const uint32_t kind = random.Below(4);
  if (kind == 0) options.older_than_ns = 0;
  if (kind == 1) options.retain_versions = 1 + random.Below(3);
  if (kind == 2) options.older_than_ns = kMinute << random.Below(15);
  ARROW_ASSIGN_OR_RAISE(const RemovalStats removed, CleanUp(dataset, options));
  if (!was_there && !world.IsThere(dataset) && removed.old_versions > 0) {
    world.Fail(fmt::format("{} of client {} took versions from a handle whose own is gone",
                           run.name, run.client));
  }
  return std::nullopt;
}

// A version beside the others, which stays until the table is removed. No clean-up may start there.
VerbResult Detach(Client& client, VerbRun& run, Random& random) {
  World& world = client.world();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(const Transaction transaction,
                        WriteTransaction(StreamOf(client.NewRows(run, random)), dataset,
                                         {.mode = WriteMode::kAppend,
                                          .session = {},
                                          .version = {.durability = client.durability()}}));
  ARROW_ASSIGN_OR_RAISE(const Dataset made,
                        Commit(dataset, transaction,
                               {.detached = true, .version = {.durability = client.durability()}}));
  {
    const Scheduler::Outside outside(world.scheduler);
    ARROW_ASSIGN_OR_RAISE(auto read, ReadRows(made));
    world.detached.push_back({made, std::move(read.rows), client.plan().is_durable});
  }
  if (random.Chance(500)) return std::nullopt;
  const auto removed = CleanUp(made, {.older_than_ns = 0, .error_if_tagged_old_versions = false});
  if (removed.ok()) {
    world.Fail(
        fmt::format("{} of client {} cleaned up from a detached version", run.name, run.client));
  }
  return std::nullopt;
}

// Files that nobody refers to, and that are seven days old.
VerbResult Sweep(Client& client, VerbRun& /*run*/, Random& random) {
  if (random.Chance(500)) {
    client.world().scheduler.PassTime(std::chrono::hours(24 * (1 + random.Below(8))));
  }
  if (random.Chance(300)) {
    ARROW_RETURN_NOT_OK(SurveyFiles(client.uri(), {.session = client.session()}).status());
    return std::nullopt;
  }
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_RETURN_NOT_OK(
      CleanUp(dataset, {.older_than_ns = uint64_t{1} << 60, .error_if_tagged_old_versions = false})
          .status());
  return std::nullopt;
}

}  // namespace glaive::simulation
