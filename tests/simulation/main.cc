// Runs seeds of the simulation: docs/simulation.md.

#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "simulation/shrink.h"
#include "simulation/simulation.h"

namespace glaive::simulation {
namespace {

struct Arguments {
  uint64_t first = 1;
  uint64_t last = 2000;
  bool is_single = false;  // one seed, told in full
  bool shrinks = false;
  uint64_t max_failures = 5;
  uint64_t jobs = 1;
  uint64_t max_steps = 50'000;
  std::string schedule;  // instead of the seed's own
  std::string kept;      // verbs that stay
};

constexpr const char* kUsage =
    "glaive_simulation [--seeds A..B] [--seed N] [--shrink] [--jobs N] [--max-failures N]\n"
    "                  [--steps N]                        (more than these are a failure)\n"
    "                  [--schedule TEXT] [--verbs TEXT]   (with --seed: a shrunk run)\n";

bool Parse(std::string_view text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseRange(std::string_view text, Arguments* arguments) {
  const size_t dots = text.find("..");
  return dots != std::string_view::npos && Parse(text.substr(0, dots), &arguments->first) &&
         Parse(text.substr(dots + 2), &arguments->last);
}

std::optional<Arguments> ParseArguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--shrink") {
      arguments.shrinks = true;
      continue;
    }
    if (i + 1 == argc) return std::nullopt;
    const std::string_view value = argv[++i];
    bool is_ok = true;
    if (name == "--seeds") {
      is_ok = ParseRange(value, &arguments);
    } else if (name == "--seed") {
      arguments.is_single = true;
      is_ok = Parse(value, &arguments.first);
      arguments.last = arguments.first;
    } else if (name == "--jobs") {
      is_ok = Parse(value, &arguments.jobs) && arguments.jobs > 0;
    } else if (name == "--max-failures") {
      is_ok = Parse(value, &arguments.max_failures);
    } else if (name == "--steps") {
      is_ok = Parse(value, &arguments.max_steps);
    } else if (name == "--schedule") {
      arguments.schedule = value;
    } else if (name == "--verbs") {
      arguments.kept = value;
    } else {
      return std::nullopt;
    }
    if (!is_ok) return std::nullopt;
  }
  return arguments;
}

void Print(const Scenario& scenario, const RunResult& result) {
  fmt::print("seed {}: {}\n", scenario.seed, Describe(scenario));
  for (const std::string& line : result.log) fmt::print("{}\n", line);
  fmt::print("{} steps, {} versions, {} reported: {}\n", result.schedule.size(),
             result.num_versions, result.num_reported,
             result.failure.empty() ? "all is well" : result.failure);
}

// A failing seed: what fails, and the same with as little as it takes.
void Report(const Scenario& scenario, const RunResult& result, bool shrinks) {
  fmt::print("seed {} failed: {}\n", scenario.seed, result.failure);
  if (!shrinks) return;
  const Shrunk shrunk = Shrink(scenario, result);
  Print(shrunk.scenario, shrunk.result);
  fmt::print("again: glaive_simulation --seed {} --verbs '{}' --schedule '{}'\n", scenario.seed,
             VerbsText(scenario, shrunk.scenario), ToText(shrunk.result.schedule));
}

int RunSingle(const Arguments& arguments) {
  Scenario scenario = MakeScenario(arguments.first);
  scenario.max_steps = arguments.max_steps;
  std::optional<Schedule> schedule;
  if (!arguments.kept.empty() && !KeepVerbs(arguments.kept, &scenario)) return 2;
  if (!arguments.schedule.empty()) {
    schedule.emplace();
    if (!ParseSchedule(arguments.schedule, &*schedule)) return 2;
  }
  const RunResult result = Simulate(scenario, schedule, /*keeps_log=*/true);
  Print(scenario, result);
  if (!result.failure.empty() && arguments.shrinks) Report(scenario, result, true);
  return result.failure.empty() ? 0 : 1;
}

// Every `jobs`-th seed from `first` on.
int RunSeeds(const Arguments& arguments, uint64_t first) {
  uint64_t failures = 0;
  uint64_t versions = 0;
  uint64_t steps = 0;
  for (uint64_t seed = first; seed <= arguments.last; seed += arguments.jobs) {
    Scenario scenario = MakeScenario(seed);
    scenario.max_steps = arguments.max_steps;
    const RunResult result = Simulate(scenario, std::nullopt, /*keeps_log=*/false);
    versions += result.num_versions;
    steps += result.schedule.size();
    if (result.failure.empty()) continue;
    Report(scenario, result, arguments.shrinks);
    std::fflush(stdout);
    if (++failures == arguments.max_failures) break;
  }
  fmt::print("{} steps, {} versions, {} seeds failed\n", steps, versions, failures);
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

int RunJobs(const Arguments& arguments) {
  std::vector<pid_t> children;
  for (uint64_t job = 0; job < arguments.jobs; ++job) {
    const pid_t child = fork();
    if (child == 0) std::_Exit(RunSeeds(arguments, arguments.first + job));
    if (child < 0) return 2;
    children.push_back(child);
  }
  bool is_ok = true;
  for (const pid_t child : children) {
    int status = 0;
    is_ok &= waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return is_ok ? 0 : 1;
}

int Main(int argc, char** argv) {
  // Clients run one at a time, on one thread.
  setenv("GLAIVE_CPU_THREADS", "1", 1);
  setenv("GLAIVE_IO_THREADS", "1", 1);
  setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1", 1);
  const auto arguments = ParseArguments(argc, argv);
  if (!arguments) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (arguments->is_single) return RunSingle(*arguments);
  return arguments->jobs == 1 ? RunSeeds(*arguments, arguments->first) : RunJobs(*arguments);
}

}  // namespace
}  // namespace glaive::simulation

int main(int argc, char** argv) { return glaive::simulation::Main(argc, argv); }
