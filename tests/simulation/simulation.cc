#include "simulation/simulation.h"

#include <memory>

#include "simulation/checks.h"
#include "simulation/client.h"
#include "simulation/world.h"

namespace glaive::simulation {
namespace {

// The table that clients find: two versions with a few rows, made by a client that is alone.
void MakeTable(World& world) {
  VerbRun& run = world.BeginOutside(Verb::kCreate);
  const Scenario& scenario = world.scenario;
  for (uint64_t key = 100; key < 104; ++key) {
    run.intent.rows[static_cast<int64_t>(key)] = static_cast<int64_t>(key - 100) * 2;
  }
  run.intent.kind = Intent::Kind::kPut;
  const auto made = WriteDataset(StreamOf(run.intent.rows), kTableUri, FirstOptions(scenario));
  if (!made.ok()) return world.Fail("making the table failed: " + made.status().message());
  world.EndOutside();
}

}  // namespace

RunResult Simulate(const Scenario& scenario, const std::optional<Schedule>& schedule,
                   bool keeps_log) {
  auto chooser = schedule ? MakeReplay(*schedule)
                          : MakeRandomChooser(scenario.seed, scenario.rates, scenario.stickiness);
  World world(scenario, std::move(chooser), keeps_log);
  std::vector<std::unique_ptr<Client>> clients;
  if (scenario.begins_with_table) MakeTable(world);
  for (size_t i = 0; i < scenario.clients.size(); ++i) {
    clients.push_back(std::make_unique<Client>(world, i));
    world.scheduler.AddClient([client = clients.back().get()] { client->Run(); });
  }
  const bool has_ended = world.scheduler.Run(scenario.max_steps, [] {});
  if (!has_ended) world.Fail("the clients do not come to an end");
  if (world.failure().empty()) CheckEnd(world);
  RunResult result{.failure = world.failure(),
                   .schedule = world.scheduler.schedule(),
                   .log = std::move(world.log),
                   .num_versions = world.history.records().size()};
  for (const Record& record : world.history.records()) result.num_reported += record.was_reported;
  world.scheduler.Disconnect();
  clients.clear();
  return result;
}

}  // namespace glaive::simulation
