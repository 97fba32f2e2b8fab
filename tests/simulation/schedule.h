#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glaive::simulation {

// What becomes of a request, besides being performed.
enum class Fault : uint8_t {
  kNone,
  kFails,       // an error, and nothing was done
  kAnswerLost,  // it was done, and an error is reported
  kStale,       // a listing of an earlier moment
  kPieces,      // a listing whose names are seen at different moments
  kStops,       // the client never goes on
  kPauses,      // the client goes on after `amount` steps of others
  kTimePasses,  // `amount` minutes, before it
};

// One decision of the scheduler: who goes on, and what happens to his request.
struct Step {
  uint8_t client = 0;
  Fault fault = Fault::kNone;
  uint32_t amount = 0;

  bool operator==(const Step&) const = default;
};
using Schedule = std::vector<Step>;

std::string_view NameOf(Fault fault);

// "0*5 1 2s3": client 0 five times, then 1, then 2 whose listing is stale by three changes.
std::string ToText(const Schedule& schedule);
bool ParseSchedule(std::string_view text, Schedule* schedule);

}  // namespace glaive::simulation
