#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulation/scenario.h"
#include "simulation/schedule.h"

namespace glaive::simulation {

struct RunResult {
  std::string failure;  // empty: none
  Schedule schedule;
  std::vector<std::string> log;
  uint64_t num_versions = 0;
  uint64_t num_reported = 0;
};

// Runs a scenario in the order of its seed, or of a schedule.
RunResult Simulate(const Scenario& scenario, const std::optional<Schedule>& schedule,
                   bool keeps_log);

}  // namespace glaive::simulation
