#include "simulation/shrink.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace glaive::simulation {
namespace {

constexpr int kMaxRuns = 600;

// What went wrong, without names and numbers: words that have neither '/' nor a digit.
std::string KindOfFailure(std::string_view failure) {
  std::string kind;
  while (!failure.empty()) {
    const size_t end = std::min(failure.find(' '), failure.size());
    const std::string_view word = failure.substr(0, end);
    if (word.find_first_of("/0123456789") == std::string_view::npos) kind += word;
    failure.remove_prefix(std::min(end + 1, failure.size()));
  }
  return kind;
}

class Shrinker {
 public:
  Shrinker(const Scenario& scenario, const RunResult& failed)
      : kind_(KindOfFailure(failed.failure)), scenario_(scenario), schedule_(failed.schedule) {}

  Shrunk Run() {
    for (size_t before = 0; before != Size() && runs_ < kMaxRuns;) {
      before = Size();
      RemoveVerbs();
      RemoveSteps();
      RemoveFaults();
    }
    return {scenario_, Simulate(scenario_, schedule_, /*keeps_log=*/true)};
  }

 private:
  size_t Size() const {
    size_t size = schedule_.size();
    for (const ClientPlan& client : scenario_.clients) size += 1000 * client.verbs.size();
    return size;
  }

  bool Try(const Scenario& scenario, const Schedule& schedule) {
    if (++runs_ > kMaxRuns) return false;
    const RunResult result = Simulate(scenario, schedule, /*keeps_log=*/false);
    if (result.failure.empty() || KindOfFailure(result.failure) != kind_) return false;
    scenario_ = scenario;
    schedule_ = schedule;
    return true;
  }

  void RemoveVerbs() {
    for (size_t i = 0; i < scenario_.clients.size(); ++i) {
      if (scenario_.clients[i].verbs.empty()) continue;
      Scenario fewer = scenario_;
      fewer.clients[i].verbs.clear();
      if (Try(fewer, schedule_)) continue;
      for (size_t left = scenario_.clients[i].verbs.size(); left > 0; --left) {
        fewer = scenario_;
        auto& verbs = fewer.clients[i].verbs;
        verbs.erase(verbs.begin() + static_cast<ptrdiff_t>(left - 1));
        Try(fewer, schedule_);
      }
    }
  }

  // Pieces of the schedule, large ones first: what is left decides less.
  void RemoveSteps() {
    for (size_t size = std::max<size_t>(schedule_.size() / 2, 1);; size /= 2) {
      for (size_t end = schedule_.size(); end > 0 && runs_ < kMaxRuns;) {
        const size_t begin = end > size ? end - size : 0;
        Schedule fewer = schedule_;
        fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(begin),
                    fewer.begin() + static_cast<ptrdiff_t>(end));
        Try(scenario_, fewer);
        end = begin;
      }
      if (size <= 1) return;
    }
  }

  void RemoveFaults() {
    for (size_t i = 0; i < schedule_.size(); ++i) {
      if (schedule_[i].fault == Fault::kNone) continue;
      Schedule fewer = schedule_;
      fewer[i] = {.client = fewer[i].client};
      Try(scenario_, fewer);
    }
  }

  const std::string kind_;
  Scenario scenario_;
  Schedule schedule_;
  int runs_ = 0;
};

}  // namespace

Shrunk Shrink(const Scenario& scenario, const RunResult& failed) {
  const RunResult again = Simulate(scenario, failed.schedule, /*keeps_log=*/true);
  if (again.failure.empty()) {
    return {scenario,
            {.failure = "it does not fail again: the run depends on something else than its seed",
             .schedule = failed.schedule}};
  }
  return Shrinker(scenario, failed).Run();
}

std::string VerbsText(const Scenario& whole, const Scenario& left) {
  std::string text;
  for (size_t i = 0; i < whole.clients.size(); ++i) {
    text += fmt::format("{}{}:", i == 0 ? "" : ";", i);
    for (size_t j = 0; j < left.clients[i].verbs.size(); ++j) {
      text += fmt::format("{}{}", j == 0 ? "" : ",", left.clients[i].verbs[j].index);
    }
  }
  return text;
}

bool KeepVerbs(std::string_view text, Scenario* scenario) {
  std::vector<std::vector<VerbPlan>> kept(scenario->clients.size());
  size_t client = 0;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    size_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    at = parsed.ptr;
    const char next = at < end ? *at : ';';
    if (next == ':' && parsed.ec == std::errc()) {
      client = number;
      if (client >= kept.size()) return false;
    } else if (parsed.ec == std::errc()) {
      const auto& verbs = scenario->clients[client].verbs;
      const auto found = std::ranges::find(verbs, number, &VerbPlan::index);
      if (found == verbs.end()) return false;
      kept[client].push_back(*found);
    }
    if (at < end) ++at;
  }
  for (size_t i = 0; i < kept.size(); ++i) scenario->clients[i].verbs = std::move(kept[i]);
  return true;
}

}  // namespace glaive::simulation
