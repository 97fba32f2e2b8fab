#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "simulation/scheduler.h"

namespace glaive::simulation {
namespace {

bool IsStoreRequest(RequestKind kind) {
  return kind != RequestKind::kBegin && kind != RequestKind::kSleep;
}

bool IsChange(RequestKind kind) {
  return kind == RequestKind::kPut || kind == RequestKind::kPutIfAbsent ||
         kind == RequestKind::kDelete;
}

// Whether it changes what others look for.
bool IsOfName(const Request& request) {
  const bool is_name = request.path.find("/_versions/") != std::string::npos ||
                       request.path.find("/_refs/") != std::string::npos;
  return IsChange(request.kind) && is_name && !request.path.ends_with("_hint.json");
}

bool CanHappen(Fault fault, RequestKind kind) {
  switch (fault) {
    case Fault::kFails: return IsStoreRequest(kind);
    case Fault::kAnswerLost: return IsChange(kind);
    case Fault::kStale:
    case Fault::kPieces: return kind == RequestKind::kList;
    default: return true;
  }
}

class RandomChooser final : public Chooser {
 public:
  RandomChooser(uint64_t seed, const FaultRates& rates, uint32_t stickiness)
      : random_(seed, 1), faults_(seed, 2), rates_(rates), stickiness_(stickiness) {}

  Step Choose(const std::vector<Candidate>& candidates) override {
    const Candidate& chosen = ChooseClient(candidates);
    last_ = chosen.client;
    Step step = {.client = chosen.client};
    step.fault = ChooseFault(chosen);
    has_failed_[chosen.client] = step.fault == Fault::kFails || step.fault == Fault::kAnswerLost;
    const bool goes_on = step.fault != Fault::kPauses;
    if (goes_on) is_behind_name_[chosen.client] = IsOfName(*chosen.request);
    if (step.fault == Fault::kStale) step.amount = 1 + faults_.Below(faults_.Chance(500) ? 3 : 30);
    if (step.fault == Fault::kPieces) step.amount = 2 + faults_.Below(3);
    if (step.fault == Fault::kPauses)
      step.amount = 1 + faults_.Below(faults_.Chance(500) ? 30 : 400);
    if (step.fault == Fault::kTimePasses) step.amount = 1u << faults_.Below(15);
    return step;
  }

 private:
  const Candidate& ChooseClient(const std::vector<Candidate>& candidates) {
    if (random_.Chance(stickiness_)) {
      const auto same = std::ranges::find(candidates, last_, &Candidate::client);
      if (same != candidates.end()) return *same;
    }
    return candidates[random_.Below(candidates.size())];
  }

  Fault ChooseFault(const Candidate& candidate) {
    const RequestKind kind = candidate.request->kind;
    if (IsOfName(*candidate.request) || is_behind_name_[candidate.client]) {
      if (HitsRate(rates_.stops_at_names)) return Fault::kStops;
      if (HitsRate(rates_.pauses_at_names)) return Fault::kPauses;
    }
    const bool may_fail = CanHappen(Fault::kFails, kind) && has_failed_[candidate.client];
    if (may_fail && HitsRate(rates_.fails_again)) return Fault::kFails;
    const std::pair<Fault, uint32_t> rates[] = {
        {Fault::kFails, rates_.fails},           {Fault::kAnswerLost, rates_.answer_lost},
        {Fault::kStale, rates_.stale},           {Fault::kPieces, rates_.pieces},
        {Fault::kStops, rates_.stops},           {Fault::kPauses, rates_.pauses},
        {Fault::kTimePasses, rates_.time_passes}};
    for (const auto& [fault, rate] : rates) {
      if (CanHappen(fault, kind) && HitsRate(rate)) return fault;
    }
    return Fault::kNone;
  }

  bool HitsRate(uint32_t rate) { return rate != 0 && faults_.Chance(rate); }

  Random random_;
  Random faults_;
  const FaultRates rates_;
  const uint32_t stickiness_;
  uint8_t last_ = 0;
  std::array<bool, 256> has_failed_ = {};  // by client: its last request
  std::array<bool, 256> is_behind_name_ = {};
};

class Replay final : public Chooser {
 public:
  explicit Replay(Schedule schedule) : schedule_(std::move(schedule)) {}

  Step Choose(const std::vector<Candidate>& candidates) override {
    for (; next_ < schedule_.size(); ++next_) {
      const Step& step = schedule_[next_];
      const auto found = std::ranges::find(candidates, step.client, &Candidate::client);
      if (found == candidates.end()) continue;
      last_ = step.client;
      ++next_;
      if (CanHappen(step.fault, found->request->kind)) return step;
      return {.client = step.client};
    }
    const auto same = std::ranges::find(candidates, last_, &Candidate::client);
    last_ = same != candidates.end() ? last_ : candidates.front().client;
    return {.client = last_};
  }

 private:
  const Schedule schedule_;
  size_t next_ = 0;
  uint8_t last_ = 0;
};

}  // namespace

std::unique_ptr<Chooser> MakeRandomChooser(uint64_t seed, const FaultRates& rates,
                                           uint32_t stickiness) {
  return std::make_unique<RandomChooser>(seed, rates, stickiness);
}

std::unique_ptr<Chooser> MakeReplay(Schedule schedule) {
  return std::make_unique<Replay>(std::move(schedule));
}

}  // namespace glaive::simulation
