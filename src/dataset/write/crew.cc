#include "dataset/write/crew.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <arrow/memory_pool.h>

#include "core/attempt.h"
#include "core/error.h"
#include "glaive/fragment.h"

namespace glaive::dataset {
namespace {

// How often the caller's callbacks are asked whether to go on.
constexpr std::chrono::milliseconds kProgressInterval{20};
// What a store takes in without being asked for long.
constexpr size_t kSmallWriteBytes = size_t{64} << 10;

}  // namespace

class WriteCrew::TurnTakingWriter final : public io::ObjectWriter {
 public:
  TurnTakingWriter(WriteCrew& crew, std::unique_ptr<io::ObjectWriter> out)
      : crew_(crew), out_(std::move(out)) {}

  arrow::Status Write(std::span<const std::byte> bytes) override {
    if (bytes.size() < kSmallWriteBytes) return out_->Write(bytes);
    return WithoutTurn([&] { return out_->Write(bytes); });
  }

  uint64_t position() const override { return out_->position(); }

  arrow::Status Finish() override {
    return WithoutTurn([&] { return out_->Finish(); });
  }

 private:
  template <typename Request>
  arrow::Status WithoutTurn(const Request& request) {
    ARROW_RETURN_NOT_OK(crew_.Checked());
    const Pause pause(crew_);
    return request();
  }

  WriteCrew& crew_;
  std::unique_ptr<io::ObjectWriter> out_;
};

WriteCrew::WriteCrew(size_t max_computing, ProgressCallback progress, FragmentEvents events)
    : progress_(std::move(progress)),
      events_(std::move(events)),
      turns_(static_cast<std::ptrdiff_t>(max_computing)) {}

WriteCrew::~WriteCrew() { Stop(); }

void WriteCrew::Start(std::function<arrow::Status()> job) {
  size_t index = 0;
  {
    const std::lock_guard lock(mutex_);
    index = results_.size();
    results_.push_back(Cancelled("not begun"));
    ++num_running_;
  }
  auto work = [this, index, job = std::move(job)] { Run(index, job); };
  try {
    threads_.emplace_back(work);
  } catch (const std::system_error&) {
    work();  // the machine has no more threads
  }
}

void WriteCrew::Run(size_t index, const std::function<arrow::Status()>& job) {
  turns_.acquire();
  arrow::Status result = stopping_ ? Cancelled("another partition failed") : Attempt(job);
  // Each thread has a part of the allocator to itself, which would keep what the job has freed.
  arrow::default_memory_pool()->ReleaseUnused();
  turns_.release();
  const std::lock_guard lock(mutex_);
  failed_ = failed_ || !result.ok();
  results_[index] = std::move(result);
  --num_running_;
  news_.notify_all();
}

template <typename IsDone>
arrow::Status WriteCrew::WaitUntil(const IsDone& is_done) {
  while (true) {
    std::deque<Message> messages;
    bool is_over = false;
    {
      std::unique_lock lock(mutex_);
      news_.wait_for(lock, kProgressInterval,
                     [&] { return failed_ || !messages_.empty() || is_done(); });
      messages.swap(messages_);
      is_over = failed_ || is_done();
    }
    for (const Message& message : messages) ARROW_RETURN_NOT_OK(message());
    if (progress_) ARROW_RETURN_NOT_OK(progress_({.rows = rows_, .bytes = bytes_}));
    if (is_over) return arrow::Status::OK();
  }
}

arrow::Status WriteCrew::WaitForAtMost(size_t max_running) {
  ARROW_RETURN_NOT_OK(WaitUntil([&] { return num_running_ <= max_running; }));
  return Checked();
}

arrow::Status WriteCrew::WaitForHeld(uint64_t max_bytes) {
  const auto limit = static_cast<int64_t>(std::min<uint64_t>(max_bytes, INT64_MAX));
  ARROW_RETURN_NOT_OK(WaitUntil([&] { return num_running_ == 0 || held_bytes_ <= limit; }));
  return Checked();
}

void WriteCrew::Hold(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  held_bytes_ += bytes;
  if (bytes < 0) news_.notify_all();
}

std::optional<size_t> WriteCrew::FirstFailed() const {
  std::optional<size_t> failed;
  for (size_t i = results_.size(); i > 0; --i) {
    const arrow::Status& result = results_[i - 1];
    if (!result.ok() && (!failed || KindOf(result) != ErrorKind::kCancelled)) failed = i - 1;
  }
  return failed;
}

void WriteCrew::Stop() {
  stopping_ = true;
  for (std::jthread& thread : threads_) thread.join();
  threads_.clear();
}

arrow::Status WriteCrew::Checked() const {
  return stopping_ || failed_ ? Cancelled("another partition failed") : arrow::Status::OK();
}

ProgressCallback WriteCrew::JobProgress() {
  return [this, before = Progress{}](const Progress& now) mutable {
    rows_ += now.rows - before.rows;
    bytes_ += now.bytes - before.bytes;
    before = now;
    return Checked();
  };
}

FragmentEvents WriteCrew::JobEvents() {
  const auto pass_on = [this](const std::function<arrow::Status(const FragmentMetadata&)>& event) {
    std::function<arrow::Status(const FragmentMetadata&)> passed;
    if (!event) return passed;
    passed = [this, &event](const FragmentMetadata& fragment) {
      const std::lock_guard lock(mutex_);
      messages_.push_back([&event, fragment] { return event(fragment); });
      news_.notify_all();
      return Checked();
    };
    return passed;
  };
  return {.begin = pass_on(events_.begin), .complete = pass_on(events_.complete)};
}

std::unique_ptr<io::ObjectWriter> WriteCrew::TakingTurns(std::unique_ptr<io::ObjectWriter> out) {
  return std::make_unique<TurnTakingWriter>(*this, std::move(out));
}

}  // namespace glaive::dataset
