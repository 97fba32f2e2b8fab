#pragma once

#include <string>
#include <string_view>

#include "simulation/simulation.h"

namespace glaive::simulation {

struct Shrunk {
  Scenario scenario;
  RunResult result;
};

// The same failure with fewer clients, verbs, faults and changes of client.
Shrunk Shrink(const Scenario& scenario, const RunResult& failed);

// Which verbs of `whole` are left, as "0:0,2;1:3", and a scenario cut down to such a text.
std::string VerbsText(const Scenario& whole, const Scenario& left);
bool KeepVerbs(std::string_view text, Scenario* scenario);

}  // namespace glaive::simulation
