#include "simulation/schedule.h"

#include <array>
#include <charconv>

namespace glaive::simulation {
namespace {

constexpr std::string_view kLetters = "-fasixpt";  // in order of Fault

bool TakeNumber(std::string_view* text, uint32_t* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

}  // namespace

std::string_view NameOf(Fault fault) {
  constexpr std::array<std::string_view, 8> kNames = {
      "", "fails", "answer lost", "stale", "in pieces", "stops for ever", "pauses", "time passes"};
  return kNames[static_cast<size_t>(fault)];
}

std::string ToText(const Schedule& schedule) {
  std::string text;
  for (size_t i = 0; i < schedule.size();) {
    const Step& step = schedule[i];
    size_t end = i + 1;
    if (step.fault == Fault::kNone) {
      while (end < schedule.size() && schedule[end] == step) ++end;
    }
    if (!text.empty()) text += ' ';
    text += std::to_string(step.client);
    if (step.fault != Fault::kNone) {
      text += kLetters[static_cast<size_t>(step.fault)];
      if (step.amount != 0) text += std::to_string(step.amount);
    } else if (end - i > 1) {
      text += '*' + std::to_string(end - i);
    }
    i = end;
  }
  return text;
}

bool ParseSchedule(std::string_view text, Schedule* schedule) {
  schedule->clear();
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    uint32_t client = 0;
    if (!TakeNumber(&text, &client)) return false;
    Step step{.client = static_cast<uint8_t>(client)};
    uint32_t count = 1;
    if (!text.empty() && text.front() == '*') {
      text.remove_prefix(1);
      if (!TakeNumber(&text, &count)) return false;
    } else if (!text.empty() && text.front() != ' ') {
      const size_t fault = kLetters.find(text.front());
      if (fault == std::string_view::npos) return false;
      step.fault = static_cast<Fault>(fault);
      text.remove_prefix(1);
      if (!text.empty() && text.front() != ' ' && !TakeNumber(&text, &step.amount)) return false;
    }
    schedule->insert(schedule->end(), count, step);
  }
  return true;
}

}  // namespace glaive::simulation
