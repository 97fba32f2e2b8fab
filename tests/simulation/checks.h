#pragma once

#include "simulation/world.h"

namespace glaive::simulation {

// What must hold when all clients have ended or stopped; the first fault is told to the world.
//
//   each reported version leads to the newest one of its table
//   each version that does and is still there, each tag and each branch reads as the model has it
//   after a last clean-up no file is there that no version refers to, and all still reads so
void CheckEnd(World& world);

}  // namespace glaive::simulation
