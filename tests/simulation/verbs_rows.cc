#include <fmt/format.h>

#include "glaive/commit.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "simulation/client.h"
#include "simulation/read_rows.h"

namespace glaive::simulation {
namespace {

WriteOptions OptionsOf(Client& client, WriteMode mode) {
  WriteOptions options = FirstOptions(client.world().scenario);
  options.mode = mode;
  options.version.durability = client.durability();
  options.session = client.session();
  return options;
}

std::string RangePredicate(const Intent& intent) {
  return fmt::format("v >= {} AND v < {}", intent.lower, intent.upper);
}

void ChooseRange(Random& random, Intent* intent) {
  intent->lower = random.Below(10);
  intent->upper = intent->lower + 1 + random.Below(4);
}

}  // namespace

WriteOptions FirstOptions(const Scenario& scenario) {
  WriteOptions options{.enable_v2_manifest_paths = scenario.v2_names,
                       .enable_stable_row_ids = scenario.stable_row_ids,
                       .session = std::make_shared<Session>()};
  if (scenario.cleans_up_always) {
    options.initial_config = {{"lance.auto_cleanup.interval", "1"},
                              {"lance.auto_cleanup.older_than", "0s"}};
  }
  return options;
}

VerbResult Create(Client& client, VerbRun& run, Random& random) {
  run.intent = {.kind = Intent::Kind::kPut, .rows = client.NewRows(run, random)};
  WriteOptions options = OptionsOf(client, WriteMode::kCreate);
  if (random.Chance(200)) options.enable_v2_manifest_paths = !options.enable_v2_manifest_paths;
  ARROW_ASSIGN_OR_RAISE(auto result,
                        WriteDataset(StreamOf(run.intent.rows), client.uri(), options));
  return result.dataset;
}

VerbResult Open(Client& client, VerbRun& /*run*/, Random& /*random*/) {
  ARROW_ASSIGN_OR_RAISE(auto dataset, Dataset::Open(client.uri(), {.session = client.session()}));
  client.Keep(std::move(dataset));
  return std::nullopt;
}

// By the table's path, or onto a handle.
VerbResult Append(Client& client, VerbRun& run, Random& random) {
  run.intent = {.kind = Intent::Kind::kAdd, .rows = client.NewRows(run, random)};
  const WriteOptions options = OptionsOf(client, WriteMode::kAppend);
  if (client.handles.empty() || random.Chance(500)) {
    run.is_by_path = true;
    ARROW_ASSIGN_OR_RAISE(auto result,
                          WriteDataset(StreamOf(run.intent.rows), client.uri(), options));
    return result.dataset;
  }
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(auto result, WriteDataset(StreamOf(run.intent.rows), dataset, options));
  return result.dataset;
}

// Under a token, again until it is known that it was made: of all attempts one counts.
VerbResult AppendOnce(Client& client, VerbRun& run, Random& random) {
  run.intent = {.kind = Intent::Kind::kAdd, .rows = client.NewRows(run, random)};
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(
      const Transaction transaction,
      WriteTransaction(StreamOf(run.intent.rows), dataset, OptionsOf(client, WriteMode::kAppend)));
  const CommitOptions options{.idempotency_token = fmt::format("{}-{}", client.number(), run.index),
                              .session = client.session(),
                              .version = {.durability = client.durability()}};
  arrow::Status unknown;  // whatever a later attempt says, this one may have made it
  for (int attempt = 0;; ++attempt) {
    auto made = Commit(client.uri(), transaction, options);
    if (made.ok()) return *std::move(made);
    const bool may_go_on = KindOf(made.status()) == ErrorKind::kCommitUnknown;
    if (may_go_on) unknown = made.status();
    if (attempt == 3 || !may_go_on) return unknown.ok() ? made.status() : unknown;
  }
}

VerbResult OverwriteTable(Client& client, VerbRun& run, Random& random) {
  run.intent = {.kind = Intent::Kind::kPut, .rows = client.NewRows(run, random)};
  ARROW_ASSIGN_OR_RAISE(auto result, WriteDataset(StreamOf(run.intent.rows), client.uri(),
                                                  OptionsOf(client, WriteMode::kOverwrite)));
  return result.dataset;
}

VerbResult DeleteRows(Client& client, VerbRun& run, Random& random) {
  run.intent.kind = Intent::Kind::kDelete;
  ChooseRange(random, &run.intent);
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  run.intent.since = dataset.version();
  ARROW_ASSIGN_OR_RAISE(auto result, Delete(dataset, Predicate::Sql(RangePredicate(run.intent)),
                                            {.version = {.durability = client.durability()}}));
  return result.dataset;
}

VerbResult UpdateRows(Client& client, VerbRun& run, Random& random) {
  run.intent.kind = Intent::Kind::kAssign;
  ChooseRange(random, &run.intent);
  run.intent.amount = 1 + random.Below(5);
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  run.intent.since = dataset.version();
  const ColumnUpdate update{"v", fmt::format("v + {}", run.intent.amount)};
  ARROW_ASSIGN_OR_RAISE(auto result, Update(dataset, std::span(&update, 1),
                                            Predicate::Sql(RangePredicate(run.intent)),
                                            {.version = {.durability = client.durability()}}));
  return result.dataset;
}

// Of keys that other merges use as well.
VerbResult Merge(Client& client, VerbRun& run, Random& random) {
  run.intent.kind = Intent::Kind::kMerge;
  const uint32_t count = 1 + random.Below(3);
  for (uint32_t i = 0; i < count; ++i) run.intent.rows[random.Below(6)] = random.Below(10);
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(auto result, MergeInsert(dataset, StreamOf(run.intent.rows),
                                                 {.on = {"k"},
                                                  .when_matched = WhenMatched::kUpdateAll,
                                                  .insert_not_matched = true,
                                                  .version = {.durability = client.durability()}}));
  return result.dataset;
}

// What a handle shows does not change, unless its files are gone.
VerbResult Read(Client& client, VerbRun& /*run*/, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_RETURN_NOT_OK(ReadRows(dataset).status());
  return std::nullopt;
}

VerbResult Drop(Client& client, VerbRun& run, Random& /*random*/) {
  run.drops = true;
  client.world().tags.clear();
  client.world().branches.clear();
  ARROW_RETURN_NOT_OK(DropDataset(client.uri(), /*ignore_not_found=*/true));
  return std::nullopt;
}

}  // namespace glaive::simulation
