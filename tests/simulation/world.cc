#include "simulation/world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/clock.h"
#include "core/random.h"
#include "dataset/handle/dataset_state.h"
#include "glaive/error.h"
#include "simulation/random.h"
#include "simulation/read_rows.h"
#include "table/versions/naming_schemes.h"

namespace glaive::simulation {
namespace {

World* the_world = nullptr;

// Files of writers that take so long are taken for orphans.
constexpr int64_t kSweepAgeNs = int64_t{7} * 24 * 3600 * 1'000'000'000;

bool HasVerb(const Scenario& scenario, Verb verb) {
  return std::ranges::any_of(scenario.clients, [&](const ClientPlan& client) {
    return std::ranges::find(client.verbs, verb, &VerbPlan::verb) != client.verbs.end();
  });
}

bool IsRefusal(const arrow::Status& status) { return KindOf(status) != ErrorKind::kCommitUnknown; }

}  // namespace

std::string RootOf(std::string_view uri) {
  const size_t scheme = uri.find("://");
  return "/" + std::string(uri.substr(scheme + 3));
}

World::World(const Scenario& its_scenario, std::unique_ptr<Chooser> chooser, bool keeps_log)
    : scenario(its_scenario),
      scheduler(std::move(chooser)),
      store(std::make_shared<SimulatedStore>(scheduler, its_scenario.store)),
      running_(its_scenario.clients.size()),
      keeps_log_(keeps_log) {
  for (size_t i = 0; i <= scenario.clients.size(); ++i)
    randoms_.emplace_back(scenario.seed, 100 + i);
  store->SetWatch([this](const StoreEvent& event) { See(event); }, keeps_log);
  history.SetLook([this](const Record& record) { return Look(record); });
  the_world = this;
  SetClock(&scheduler);
  SetRandomSource([](std::span<std::byte> bytes) { the_world->FillRandom(bytes); });
  io::RegisterStore(std::string(kScheme), store);
  io::RegisterStore(std::string(kAliasScheme), store);
}

World::~World() {
  scheduler.Disconnect();
  shared_session.reset();
  io::RegisterStore(std::string(kScheme), nullptr);
  io::RegisterStore(std::string(kAliasScheme), nullptr);
  SetRandomSource(nullptr);
  SetClock(nullptr);
  the_world = nullptr;
}

void World::FillRandom(std::span<std::byte> bytes) {
  Random& random = randoms_[scheduler.is_in_client() ? static_cast<size_t>(scheduler.current())
                                                     : randoms_.size() - 1];
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Next());
}

VerbRun& World::Begin(size_t client, size_t index, Verb verb) {
  // Names do not depend on what the client did before: leaving a verb out changes no other.
  randoms_[client] = Random(scenario.seed * 1000 + client, index);
  runs.push_back({.client = static_cast<uint8_t>(client),
                  .index = index,
                  .name = std::string(NameOf(verb)),
                  .root = std::string(kTableRoot),
                  .began_at = scheduler.num_steps(),
                  .began_ns = scheduler.UnixNanoseconds()});
  running_[client] = &runs.back();
  if (keeps_log_)
    log.push_back(
        fmt::format("{:>5}  client {}  begins: {}", scheduler.num_steps(), client, NameOf(verb)));
  return runs.back();
}

VerbRun& World::BeginOutside(Verb verb) {
  runs.push_back({.name = std::string(NameOf(verb)), .root = std::string(kTableRoot)});
  outside_ = &runs.back();
  return *outside_;
}

void World::End(VerbRun& run, const arrow::Result<std::optional<Dataset>>& result,
                bool is_durable) {
  running_[run.client] = nullptr;
  if (scheduler.is_disconnected()) return;
  run.ended_at = scheduler.num_steps();
  run.outcome = result.ok() ? "ok" : result.status().message();
  if (result.ok() && *result) {
    run.outcome += fmt::format(", version {}", (*result)->version());
  }
  if (keeps_log_) {
    log.push_back(fmt::format("{:>5}  client {}  ends: {}: {}", scheduler.num_steps(), run.client,
                              run.name, run.outcome));
  }
  if (result.ok()) {
    if (*result) CheckReported(run, **result, is_durable);
    return;
  }
  const ErrorKind kind = KindOf(result.status());
  if (kind == ErrorKind::kInternal || kind == ErrorKind::kOutOfMemory) {
    Fail(fmt::format("{} of client {} failed: {}", run.name, run.client, run.outcome));
  }
  CheckRefusal(run, result.status());
  if (!IsRefusal(result.status())) return;
  const auto listed = Listed(run.root);
  const bool may_stay = scenario.rates.fails + scenario.rates.answer_lost > 0;
  for (Record* const record : listed) {
    const bool only_reserves =
        record->transaction && record->transaction->operation &&
        std::holds_alternative<table::ReserveFragments>(*record->transaction->operation);
    // What could not be taken back stays below versions that do not descend from it.
    const bool is_stray = may_stay && !history.Descends(*listed.back(), *record);
    if (record->verb == &run && !only_reserves && !record->was_reported && !is_stray) {
      Fail(fmt::format("{} of client {} was refused ({}), and left version {}", run.name,
                       run.client, run.outcome, record->version));
    }
  }
}

// Where no request fails and no table is removed, some verbs have no reason not to succeed.
void World::CheckRefusal(const VerbRun& run, const arrow::Status& status) {
  const FaultRates& rates = scenario.rates;
  const bool may_fail = rates.fails + rates.answer_lost > 0 || HasVerb(scenario, Verb::kDrop);
  if (may_fail) return;
  const bool loses_race =
      run.name == NameOf(Verb::kCreate) && KindOf(status) == ErrorKind::kAlreadyExists;
  // After an Overwrite or a Restore the rows may not be wanted any more: that is for good.
  if (KindOf(status) == ErrorKind::kCommitConflict && !IsRetryable(status)) return;
  // What is tried again is so for half a minute only.
  const bool has_time = rates.time_passes == 0 && !HasVerb(scenario, Verb::kSweep);
  const bool must_succeed = has_time && (run.name == NameOf(Verb::kCreate) || run.is_by_path);
  // Beside two creators of other naming schemes a table has both, until one of them yields.
  const auto& objects = store->objects();
  const bool is_unsettled = objects.contains("/table/_versions/1.manifest") &&
                            objects.contains("/table/_versions/18446744073709551614.manifest");
  if (is_unsettled || IsHeld()) return;
  if (KindOf(status) == ErrorKind::kCorrupt || (must_succeed && !loses_race)) {
    Fail(fmt::format("{} of client {} failed, and no request did: {}", run.name, run.client,
                     run.outcome));
  }
}

// A creator of V1 names keeps others out while it holds the name of its first version, and for ever
// if it dies then: nobody can tell.
bool World::IsHeld() const {
  const auto held = store->objects().find("/table/_versions/18446744073709551614.manifest");
  return held != store->objects().end() &&
         std::string_view(*held->second.bytes) == table::kHeldName;
}

void World::CheckReported(VerbRun& run, const Dataset& dataset, bool is_durable) {
  const dataset::DatasetState& state = *StateOf(dataset);
  Record* const record =
      history.Find(state.location.root, dataset.version(), UuidOf(*state.manifest));
  if (record == nullptr) {
    return Fail(fmt::format("{} of client {} reports version {}, which was never put", run.name,
                            run.client, dataset.version()));
  }
  if (record->verb != &run) return;  // it had nothing to do
  record->was_reported = true;
  record->is_durable = is_durable;
  if (MayBeDropped(*record)) return;
  // A creator that will yield may have put a version of the same number under the other name.
  const auto listed = Listed(record->root);
  const bool is_there = std::ranges::any_of(listed, [&](Record* newest) {
    return newest->version == listed.back()->version && history.Descends(*newest, *record);
  });
  if (!is_there && !MayBeReplaced(listed.empty() ? nullptr : listed.back(), *record)) {
    Fail(
        fmt::format("{} of client {} reports version {}, which is not in the history of the "
                    "newest one",
                    run.name, run.client, record->version));
  }
}

bool World::IsThere(const Dataset& dataset) {
  const dataset::DatasetState& state = *StateOf(dataset);
  const auto& objects = store->objects();
  const auto lies_there = objects.find(state.manifest->path);
  if (lies_there == objects.end()) return false;
  Record* const record = history.Find(lies_there->first, lies_there->second.bytes);
  return record != nullptr && record->uuid == UuidOf(*state.manifest);
}

void World::Fail(std::string text) {
  if (!failure_.empty()) return;
  failure_ = std::move(text);
  if (keeps_log_) log.push_back(fmt::format("{:>5}  FAILED: {}", scheduler.num_steps(), failure_));
}

std::vector<Record*> World::Listed(std::string_view root) {
  std::vector<Record*> listed;
  const std::string prefix = std::string(root) + "/_versions/";
  const auto& objects = store->objects();
  for (auto entry = objects.lower_bound(prefix);
       entry != objects.end() && entry->first.starts_with(prefix); ++entry) {
    if (!IsManifestPath(entry->first)) continue;
    Record* const record = history.Find(entry->first, entry->second.bytes);
    if (record != nullptr) listed.push_back(record);
  }
  std::ranges::sort(listed, {}, &Record::version);
  return listed;
}

Record* World::Newest(std::string_view root) {
  const auto listed = Listed(root);
  return listed.empty() ? nullptr : listed.back();
}

bool World::MayBeDropped(const Record& record) const {
  return std::ranges::any_of(runs, [&](const VerbRun& run) {
    const bool takes_it = record.root.starts_with(run.root);
    return run.drops && takes_it && (!run.ended_at || record.put_at <= *run.ended_at);
  });
}

bool World::MayBeReplaced(Record* newest, const Record& record) {
  for (Record* at = newest; at != nullptr; at = history.Before(*at)) {
    const VerbRun* const verb = at->verb;
    if (verb == nullptr || at->was_reported || at->put_at < record.put_at) continue;
    const bool is_late = std::ranges::any_of(runs, [&](const VerbRun& run) {
      return run.drops && verb->began_at <= run.ended_at.value_or(UINT64_MAX);
    });
    if (is_late) return true;
  }
  return false;
}

void World::See(const StoreEvent& event) {
  if (keeps_log_) Log(event);
  const bool was_put = event.kind == RequestKind::kPutIfAbsent || event.kind == RequestKind::kPut;
  const bool is_detached = event.path.find("/_versions/d") != std::string::npos;
  if (!was_put || !event.outcome.empty()) return;
  if (!IsManifestPath(event.path) && !is_detached) return;
  VerbRun* const run = event.client >= 0 ? running_[static_cast<size_t>(event.client)] : outside_;
  const bool is_late = run != nullptr && scheduler.UnixNanoseconds() - run->began_ns > kSweepAgeNs;
  has_late_writer_ |= is_late && scheduler.is_in_client();
  if (is_detached) return;
  const auto added =
      history.Add(event.path, store->objects().at(event.path).bytes, run, event.step);
  if (!added.ok()) return Fail("a manifest that cannot be read: " + added.status().message());
  // Whatever is wrong with it shows when it is compared.
  if (*added != nullptr) static_cast<void>(history.RowsOf(**added));
}

arrow::Result<Rows> World::Look(const Record& record) {
  const Scheduler::Outside outside(scheduler);
  ARROW_ASSIGN_OR_RAISE(
      const Dataset dataset,
      Dataset::Open(fmt::format("{}:/{}", kScheme, record.root),
                    {.version = record.version, .session = std::make_shared<Session>()}));
  ARROW_ASSIGN_OR_RAISE(auto read, ReadRows(dataset));
  return std::move(read.rows);
}

void World::Log(const StoreEvent& event) {
  const auto client = event.client < 0 ? std::string("-") : std::to_string(event.client);
  std::string line =
      fmt::format("{:>5}  client {}    {} {}", event.step, client, NameOf(event.kind), event.path);
  if (event.fault != Fault::kNone) line += fmt::format(" [{}]", NameOf(event.fault));
  if (!event.outcome.empty()) line += ": " + event.outcome;
  log.push_back(std::move(line));
}

}  // namespace glaive::simulation
