#include "simulation/scheduler.h"

#include <algorithm>
#include <array>
#include <utility>

namespace glaive::simulation {

std::string_view NameOf(RequestKind kind) {
  constexpr std::array<std::string_view, 9> kNames = {
      "begin", "HEAD", "GET", "LIST", "PUT", "PUT-IF-ABSENT", "DELETE", "SYNC", "sleep"};
  return kNames[static_cast<size_t>(kind)];
}

Scheduler::Scheduler(std::unique_ptr<Chooser> chooser) : chooser_(std::move(chooser)) {}

Scheduler::~Scheduler() { Disconnect(); }

void Scheduler::AddClient(std::function<void()> body) {
  clients_.push_back({.fiber = std::make_unique<Fiber>(std::move(body)), .request = {}});
}

Step Scheduler::Wait(Request request) {
  Client& self = clients_[static_cast<size_t>(current_)];
  if (is_disconnected_) return {.client = static_cast<uint8_t>(current_), .fault = Fault::kFails};
  self.request = std::move(request);
  self.fiber->Suspend();
  return self.granted;
}

void Scheduler::SleepFor(std::chrono::nanoseconds duration) {
  if (!is_in_client() || is_disconnected_) {
    now_ += duration;
    return;
  }
  clients_[static_cast<size_t>(current_)].wakes_at = now_ + duration;
  Wait({RequestKind::kSleep, ""});
}

void Scheduler::Resume(uint8_t client) {
  current_ = client;
  clients_[client].fiber->Resume();
  current_ = -1;
}

// False where all have ended or stopped. Where all sleep or pause, the first of them is woken.
bool Scheduler::FindCandidates(std::vector<Candidate>* candidates) {
  candidates->clear();
  Client* first = nullptr;
  const auto add = [&](const Client& client) {
    candidates->push_back({static_cast<uint8_t>(&client - clients_.data()), &client.request});
  };
  for (Client& client : clients_) {
    if (client.has_stopped || client.fiber->has_ended()) continue;
    if (client.wakes_at <= now_ && client.paused_until <= num_steps()) add(client);
    const auto order = [](const Client& one) { return std::pair(one.wakes_at, one.paused_until); };
    if (first == nullptr || order(client) < order(*first)) first = &client;
  }
  if (candidates->empty() && first != nullptr) {
    now_ = std::max(now_, first->wakes_at);
    first->paused_until = 0;
    add(*first);
  }
  return !candidates->empty();
}

bool Scheduler::Run(uint64_t max_steps, const std::function<void()>& after_step) {
  std::vector<Candidate> candidates;
  while (FindCandidates(&candidates)) {
    if (num_steps() >= max_steps) return false;
    const Step step = chooser_->Choose(candidates);
    schedule_.push_back(step);
    now_ += std::chrono::milliseconds(1);
    Client& client = clients_[step.client];
    if (step.fault == Fault::kStops) {
      client.has_stopped = true;
      continue;
    }
    if (step.fault == Fault::kPauses) {
      client.paused_until = num_steps() + step.amount;
      continue;
    }
    if (step.fault == Fault::kTimePasses) now_ += std::chrono::minutes(step.amount);
    client.granted = step;
    Resume(step.client);
    after_step();
  }
  return true;
}

void Scheduler::Disconnect() {
  is_disconnected_ = true;
  for (size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    client.granted = {.client = static_cast<uint8_t>(i), .fault = Fault::kFails};
    while (!client.fiber->has_ended()) Resume(static_cast<uint8_t>(i));
  }
}

}  // namespace glaive::simulation
