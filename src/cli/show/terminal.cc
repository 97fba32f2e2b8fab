#include "cli/show/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

namespace glaive::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

double Fraction(const Progress& progress) {
  const auto of = [](uint64_t part, uint64_t total) {
    return total == 0 ? 0.0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(total));
  };
  if (progress.total_bytes > 0) return of(progress.bytes, progress.total_bytes);
  if (progress.total_rows > 0) return of(progress.rows, progress.total_rows);
  return of(progress.tasks, progress.total_tasks);
}

}  // namespace

std::string FormatBytes(uint64_t bytes) {
  static constexpr std::array<std::string_view, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string Counted(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : "s");
}

std::string FormatTime(int64_t timestamp_ns) {
  const auto seconds = static_cast<std::time_t>(timestamp_ns / 1'000'000'000);
  std::tm parts = {};
  if (gmtime_r(&seconds, &parts) == nullptr) return "?";
  std::array<char, 64> text = {};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string(text.data(), size);
}

uint64_t TerminalWidth() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void WatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

arrow::Status CheckInterrupt() {
  if (interrupted != 0) return arrow::Status::Cancelled("stopped by Ctrl-C");
  return arrow::Status::OK();
}

ProgressBar::ProgressBar()
    : is_terminal_(isatty(STDERR_FILENO) != 0),
      started_(std::chrono::steady_clock::now()),
      last_drawn_(started_) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

arrow::Status ProgressBar::Update(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (is_terminal_ && now - last_drawn_ > std::chrono::milliseconds(100)) {
    constexpr size_t kWidth = 32;
    const double fraction = Fraction(progress);
    const auto filled = static_cast<size_t>(fraction * kWidth);
    const double seconds = std::chrono::duration<double>(now - started_).count();
    const auto rate = static_cast<uint64_t>(static_cast<double>(progress.bytes) / seconds);
    fmt::print(stderr, "\r{}[{}{}] {:3.0f}%", step_, std::string(filled, '#'),
               std::string(kWidth - filled, ' '), fraction * 100);
    // Not everything that takes long is about rows, and has bytes from its beginning.
    if (progress.rows > 0) fmt::print(stderr, "  {} rows", FormatCount(progress.rows));
    if (progress.bytes > 0) {
      fmt::print(stderr, "  {}  {}/s", FormatBytes(progress.bytes), FormatBytes(rate));
    }
    fmt::print(stderr, "\033[K");
    std::fflush(stderr);
    drawn_ = true;
    last_drawn_ = now;
  }
  return CheckInterrupt();
}

void ProgressBar::BeginStep(std::string_view name) {
  step_ = fmt::format("{:<11}", name);
  started_ = last_drawn_ = std::chrono::steady_clock::now();
}

}  // namespace glaive::cli
