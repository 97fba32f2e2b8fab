#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/status.h>

#include "glaive/version_options.h"

namespace glaive::cli {

std::string FormatBytes(uint64_t bytes);                     // "240.0 MB", by thousands
std::string FormatCount(uint64_t count);                     // "1,048,576"
std::string Counted(uint64_t count, std::string_view noun);  // "1 page", "1,000 pages"
std::string FormatTime(int64_t timestamp_ns);                // "2026-03-01 12:00:00 UTC"

// Columns of the terminal behind standard output; 80 where it is none.
uint64_t TerminalWidth();

// From here on Ctrl-C is noticed by CheckInterrupt instead of ending the process; a second one ends
// it after all.
void WatchInterrupts();
// Cancelled once Ctrl-C was pressed.
arrow::Status CheckInterrupt();

// A line on standard error that shows how far a call is; nothing is drawn where that is no
// terminal. Erased when it ends.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // To be called from a ProgressCallback, whose result it is: also the place where Ctrl-C is seen.
  arrow::Status Update(const Progress& progress);

  // What the call is at, to stand before its progress, which begins anew.
  void BeginStep(std::string_view name);

 private:
  bool is_terminal_;
  bool drawn_ = false;
  std::string step_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace glaive::cli
