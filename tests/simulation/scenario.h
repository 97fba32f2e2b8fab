#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/scheduler.h"
#include "simulation/simulated_store.h"

namespace glaive::simulation {

// What clients do. Each is a function of client.h.
enum class Verb : uint8_t {
  kCreate,
  kOpen,
  kAppend,
  kAppendOnce,
  kOverwrite,
  kDelete,
  kUpdate,
  kMergeInsert,
  kStage,
  kCommitStaged,
  kOverlay,
  kAddColumn,
  kDropColumn,
  kCompact,
  kPlanTask,
  kCommitTask,
  kRestore,
  kTag,
  kDeleteTag,
  kBranch,
  kAppendToBranch,
  kDeleteBranch,
  kClone,
  kCleanUp,
  kSweep,
  kDrop,
  kRead,
  kDetach,
};
inline constexpr size_t kNumVerbs = 28;

std::string_view NameOf(Verb verb);

struct VerbPlan {
  Verb verb = Verb::kOpen;
  uint64_t seed = 0;  // of what it chooses
  size_t index = 0;   // which of the client's it is, also where others are left out
};

struct ClientPlan {
  bool shares_session = false;
  bool is_durable = true;
  bool uses_alias = false;  // of the table's URI
  std::vector<VerbPlan> verbs;
};

// All that a run does but for the order of requests.
struct Scenario {
  uint64_t seed = 0;
  std::vector<ClientPlan> clients;
  StoreOptions store;
  FaultRates rates;
  uint32_t stickiness = 0;
  std::string_view theme;         // what most verbs are of, or nothing
  bool begins_with_table = true;  // else the clients create it
  bool v2_names = true;
  bool stable_row_ids = false;
  bool cleans_up_always = false;  // lance.auto_cleanup at every version, of age 0
  bool loses_power = false;       // at the end
  uint64_t max_steps = 50'000;    // more are a fault
};

Scenario MakeScenario(uint64_t seed);

// One line.
std::string Describe(const Scenario& scenario);

}  // namespace glaive::simulation
