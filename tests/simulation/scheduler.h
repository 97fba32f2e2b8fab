#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "simulation/fiber.h"
#include "simulation/random.h"
#include "simulation/schedule.h"

namespace glaive::simulation {

// What a client waits for leave to do.
enum class RequestKind : uint8_t {
  kBegin,  // its first verb
  kHead,
  kRead,
  kList,
  kPut,
  kPutIfAbsent,
  kDelete,
  kSync,
  kSleep,
};

std::string_view NameOf(RequestKind kind);

struct Request {
  RequestKind kind = RequestKind::kBegin;
  std::string path;
};

// Who may go on, and with what.
struct Candidate {
  uint8_t client = 0;
  const Request* request = nullptr;
};

// Decides each step of a run.
class Chooser {
 public:
  virtual ~Chooser() = default;
  // One of the candidates, of which there is at least one.
  virtual Step Choose(const std::vector<Candidate>& candidates) = 0;
};

// How likely each fault is, in steps of thousand.
struct FaultRates {
  uint32_t fails = 0;
  uint32_t fails_again = 0;  // the next request of a client whose last one failed
  uint32_t answer_lost = 0;
  uint32_t stale = 0;   // of listings
  uint32_t pieces = 0;  // of listings
  uint32_t stops = 0;
  uint32_t pauses = 0;
  uint32_t time_passes = 0;
  // Where most may go wrong: before a version, a tag or a branch is put or deleted, and behind it.
  uint32_t pauses_at_names = 0;
  uint32_t stops_at_names = 0;
};

// Decides by a seed. `stickiness`: in how many of thousand cases the same client goes on.
std::unique_ptr<Chooser> MakeRandomChooser(uint64_t seed, const FaultRates& rates,
                                           uint32_t stickiness);

// Decides as an earlier run did. A step that cannot be is passed over, and behind the last one each
// client goes on as long as it can.
std::unique_ptr<Chooser> MakeReplay(Schedule schedule);

// Runs clients, one at a time: each goes on from one request to the next when it is chosen. Time
// passes only here.
class Scheduler final : public Clock {
 public:
  explicit Scheduler(std::unique_ptr<Chooser> chooser);
  ~Scheduler() override;

  // The client's number is how many were added before.
  void AddClient(std::function<void()> body);

  // Until all clients have ended or stopped, or `max_steps` are over; then false.
  bool Run(uint64_t max_steps, const std::function<void()>& after_step);

  // Lets those that stopped unwind, without a store: every request fails from now on.
  void Disconnect();

  // Called by clients: waits until the request may be made, and says what is to happen to it.
  Step Wait(Request request);

  // While it lives, requests of the running client are not its own, and do not wait.
  class Outside {
   public:
    explicit Outside(Scheduler& scheduler)
        : scheduler_(scheduler), current_(std::exchange(scheduler.current_, -1)) {}
    ~Outside() { scheduler_.current_ = current_; }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    Scheduler& scheduler_;
    const int current_;
  };

  bool is_in_client() const { return current_ >= 0; }
  int current() const { return current_; }  // -1: outside of clients
  bool is_disconnected() const { return is_disconnected_; }
  bool has_stopped(size_t client) const { return clients_[client].has_stopped; }
  uint64_t num_steps() const { return schedule_.size(); }
  const Schedule& schedule() const { return schedule_; }

  int64_t UnixNanoseconds() override { return kEpochNs + now_.count(); }
  SteadyTime SteadyNow() override { return SteadyTime(now_); }
  void SleepFor(std::chrono::nanoseconds duration) override;
  void PassTime(std::chrono::nanoseconds duration) { now_ += duration; }

 private:
  static constexpr int64_t kEpochNs = 1'800'000'000'000'000'000;

  struct Client {
    std::unique_ptr<Fiber> fiber;
    Request request;
    std::chrono::nanoseconds wakes_at{};
    uint64_t paused_until = 0;  // step
    bool has_stopped = false;
    Step granted;
  };

  bool FindCandidates(std::vector<Candidate>* candidates);
  void Resume(uint8_t client);

  std::unique_ptr<Chooser> chooser_;
  std::vector<Client> clients_;
  Schedule schedule_;
  std::chrono::nanoseconds now_{};
  int current_ = -1;
  bool is_disconnected_ = false;
};

}  // namespace glaive::simulation
