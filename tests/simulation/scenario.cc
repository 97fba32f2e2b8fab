#include "simulation/scenario.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "simulation/random.h"

namespace glaive::simulation {
namespace {

struct VerbShare {
  Verb verb;
  uint32_t share;
};

// How often each verb is chosen.
constexpr std::array<VerbShare, kNumVerbs> kShares = {{
    {Verb::kCreate, 3},       {Verb::kOpen, 6},        {Verb::kAppend, 14},
    {Verb::kAppendOnce, 4},   {Verb::kOverwrite, 1},   {Verb::kDelete, 8},
    {Verb::kUpdate, 8},       {Verb::kMergeInsert, 8}, {Verb::kStage, 4},
    {Verb::kCommitStaged, 6}, {Verb::kOverlay, 3},     {Verb::kAddColumn, 2},
    {Verb::kDropColumn, 2},   {Verb::kCompact, 7},     {Verb::kPlanTask, 4},
    {Verb::kCommitTask, 4},   {Verb::kRestore, 4},     {Verb::kTag, 4},
    {Verb::kDeleteTag, 2},    {Verb::kBranch, 4},      {Verb::kAppendToBranch, 3},
    {Verb::kDeleteBranch, 1}, {Verb::kClone, 2},       {Verb::kCleanUp, 12},
    {Verb::kSweep, 2},        {Verb::kDrop, 1},        {Verb::kRead, 2},
    {Verb::kDetach, 1},
}};

// Some errors need a few verbs of a few kinds that meet at few of their requests, which most seeds
// are too varied for. A theme is what one of four seeds does mostly.
struct Theme {
  std::string_view name;
  std::span<const Verb> verbs;
  uint32_t cleans_up_always;  // of 1000
};

// A writer who puts below the newest version what clean-ups took from there, and one who follows.
constexpr Verb kStrayVerbs[] = {Verb::kMergeInsert, Verb::kUpdate, Verb::kDelete};
constexpr Verb kTagVerbs[] = {Verb::kTag, Verb::kAppend, Verb::kCleanUp};
// Versions whose files no newer one has are restored.
constexpr Verb kRestoreVerbs[] = {Verb::kRestore, Verb::kOverwrite, Verb::kCompact, Verb::kAppend,
                                  Verb::kCleanUp};
// A table in place of another one, to which some still have handles.
constexpr Verb kAnewVerbs[] = {Verb::kDrop, Verb::kCreate, Verb::kAppend, Verb::kDelete,
                               Verb::kCleanUp};
constexpr Theme kThemes[] = {{"strays", kStrayVerbs, 900},
                             {"moved tags", kTagVerbs, 500},
                             {"restores", kRestoreVerbs, 500},
                             {"made anew", kAnewVerbs, 300}};

std::optional<Theme> ThemeOf(uint64_t seed) {
  if (seed % 4 != 3) return std::nullopt;
  return kThemes[seed / 4 % std::size(kThemes)];
}

// Some seeds do without some verbs, so that the others meet more often.
class VerbChooser {
 public:
  explicit VerbChooser(Random& random, const Theme& theme) : random_(random) {
    for (const VerbShare& share : kShares) {
      const bool is_of_theme = std::ranges::find(theme.verbs, share.verb) != theme.verbs.end();
      shares_.push_back({share.verb, is_of_theme ? 8u : share.share / 4});
      sum_ += shares_.back().share;
    }
  }
  explicit VerbChooser(Random& random) : random_(random) {
    const uint32_t left_out = random.Below(4) * 250;
    const bool is_often_dropped = random.Chance(80);
    for (const VerbShare& share : kShares) {
      const bool stays =
          share.verb == Verb::kAppend || share.verb == Verb::kCleanUp || !random.Chance(left_out);
      // Dropping a table ends most of what may go wrong in it.
      const bool is_rare = share.verb == Verb::kDrop && !is_often_dropped && !random.Chance(200);
      const bool is_often =
          is_often_dropped && (share.verb == Verb::kDrop || share.verb == Verb::kCreate);
      const uint32_t weight = is_often ? 4 * share.share + 4 : share.share;
      shares_.push_back({share.verb, is_often || (stays && !is_rare) ? weight : 0});
      sum_ += shares_.back().share;
    }
  }

  Verb Choose() {
    uint32_t at = random_.Below(sum_);
    for (const VerbShare& share : shares_) {
      if (at < share.share) return share.verb;
      at -= share.share;
    }
    return Verb::kAppend;
  }

 private:
  Random& random_;
  std::vector<VerbShare> shares_;
  uint32_t sum_ = 0;
};

FaultRates MakeRates(Random& random) {
  FaultRates rates;
  if (random.Chance(300)) return rates;  // none at all
  if (random.Chance(400)) rates.pauses_at_names = 50 + random.Below(300);
  if (random.Chance(200)) rates.stops_at_names = random.Below(30);
  if (random.Chance(400)) rates.fails = random.Below(25);
  if (random.Chance(500)) rates.fails_again = random.Below(700);
  if (random.Chance(400)) rates.answer_lost = random.Below(60);
  if (random.Chance(400)) rates.stale = random.Below(300);
  if (random.Chance(400)) rates.pieces = random.Below(400);
  if (random.Chance(300)) rates.stops = random.Below(8);
  if (random.Chance(600)) rates.pauses = random.Below(20);
  if (random.Chance(300)) rates.time_passes = random.Below(20);
  return rates;
}

// Without faults but those of the order: what is shown then has no other cause.
void Apply(const Theme& theme, Random& random, Scenario* scenario) {
  scenario->theme = theme.name;
  scenario->rates = {};
  scenario->rates.pauses_at_names = 200 + random.Below(500);
  if (random.Chance(500)) scenario->rates.stops_at_names = random.Below(60);
  if (random.Chance(500)) scenario->rates.stale = random.Below(100);
  scenario->begins_with_table = true;
  scenario->cleans_up_always = random.Chance(theme.cleans_up_always);
  scenario->loses_power = false;
}

}  // namespace

std::string_view NameOf(Verb verb) {
  constexpr std::array<std::string_view, kNumVerbs> kNames = {
      "create",        "open",      "append",
      "append once",   "overwrite", "delete",
      "update",        "merge",     "stage",
      "commit staged", "overlay",   "add column",
      "drop column",   "compact",   "plan task",
      "commit task",   "restore",   "tag",
      "delete tag",    "branch",    "append to branch",
      "delete branch", "clone",     "clean up",
      "sweep",         "drop",      "read",
      "detach"};
  return kNames[static_cast<size_t>(verb)];
}

Scenario MakeScenario(uint64_t seed) {
  Random random(seed, 0);
  Scenario scenario{.seed = seed};
  scenario.store = {.lists_cheaply = random.Chance(600),
                    .keeps_open_files = random.Chance(500),
                    .is_durable_at_once = random.Chance(300)};
  scenario.rates = MakeRates(random);
  scenario.stickiness = std::array<uint32_t, 4>{0, 500, 800, 950}[random.Below(4)];
  scenario.begins_with_table = random.Chance(800);
  scenario.v2_names = random.Chance(700);
  scenario.stable_row_ids = random.Chance(400);
  scenario.cleans_up_always = random.Chance(250);
  scenario.loses_power = random.Chance(300);
  const std::optional<Theme> theme = ThemeOf(seed);
  if (theme) Apply(*theme, random, &scenario);
  VerbChooser verbs = theme ? VerbChooser(random, *theme) : VerbChooser(random);
  const bool shares_session = random.Chance(300);
  const uint32_t num_clients = 2 + random.Below(random.Chance(700) ? 2 : 5);
  for (uint32_t i = 0; i < num_clients; ++i) {
    ClientPlan client{.shares_session = shares_session && random.Chance(700),
                      // What rests on a version that may be lost may be lost as well.
                      .is_durable = random.Chance(700) || scenario.loses_power,
                      .uses_alias = random.Chance(100)};
    if (!scenario.begins_with_table) {
      client.verbs.push_back({random.Chance(500) ? Verb::kCreate : Verb::kAppend, random.Next()});
    }
    for (uint32_t left = 2 + random.Below(6); left > 0; --left) {
      client.verbs.push_back({verbs.Choose(), random.Next()});
    }
    for (size_t j = 0; j < client.verbs.size(); ++j) client.verbs[j].index = j;
    scenario.clients.push_back(std::move(client));
  }
  return scenario;
}

std::string Describe(const Scenario& scenario) {
  const FaultRates& rates = scenario.rates;
  std::string text = fmt::format(
      "{} clients, {}, {} names{}{}{}{}{}{}{}; faults of 1000: fails {}, answer lost {}, stale {}, "
      "pieces {}, stops {}, pauses {}, time {}, at names: stops {}, pauses {}",
      scenario.clients.size(), scenario.store.lists_cheaply ? "cheap listings" : "a hint",
      scenario.v2_names ? "v2" : "v1", scenario.stable_row_ids ? ", stable row ids" : "",
      scenario.theme.empty() ? "" : ", above all ", scenario.theme,
      scenario.cleans_up_always ? ", cleaned at each version" : "",
      scenario.begins_with_table ? "" : ", no table yet",
      scenario.store.keeps_open_files ? ", open files stay" : "",
      scenario.loses_power ? ", power is lost" : "", rates.fails, rates.answer_lost, rates.stale,
      rates.pieces, rates.stops, rates.pauses, rates.time_passes, rates.stops_at_names,
      rates.pauses_at_names);
  return text;
}

}  // namespace glaive::simulation
