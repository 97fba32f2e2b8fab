#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "core/executor.h"
#include "dataset/write/crew.h"
#include "dataset/write/input_stream.h"
#include "dataset/write/stream.h"

namespace glaive::dataset {
namespace {

class OverlappedWrite {
 public:
  OverlappedWrite(const RowsTarget& target, size_t max_files)
      : target_(target),
        max_finishing_(max_files - 1),
        max_bytes_(2 * target.options.limits.data_cache_bytes),
        crew_(std::max<size_t>(CpuThreads() / 2, 1) + 1,
              [this](const Progress&) { return TellCaller(last_progress_); },
              {.begin = nullptr, .complete = ForCaller(target.options.events.complete)}) {}

  arrow::Result<WrittenFragments> Run(std::shared_ptr<arrow::RecordBatchReader> stream) && {
    auto written = Write(std::move(stream));
    crew_.Stop();
    if (written.ok() || is_callers_) return written;
    const auto failed = crew_.FirstFailed();
    if (failed && KindOf(crew_.results()[*failed]) != ErrorKind::kCancelled) {
      const Part& part = finishing_[*failed];
      return ErrorOfPartition(crew_.results()[*failed], *failed, part.first_row, part.num_rows);
    }
    return ErrorOfPartition(written.status(), finishing_.size(), open_.first_row, open_.num_rows);
  }

 private:
  struct Part {
    uint64_t first_row = 0;
    uint64_t num_rows = 0;
  };

  arrow::Result<WrittenFragments> Write(std::shared_ptr<arrow::RecordBatchReader> stream) {
    ARROW_ASSIGN_OR_RAISE(InputStream input,
                          OfCaller(InputStream::Make(std::move(stream), target_.fields)));
    ARROW_ASSIGN_OR_RAISE(
        FragmentWriter writer,
        OfCaller(FragmentWriter::Make(target_.table, target_.fields, MakeOptions())));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, OfCaller(input.Next()));
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(crew_.WaitForHeld(max_bytes_));
      const WriteCrew::Turn turn(crew_);
      open_.num_rows += static_cast<uint64_t>(batch->num_rows());
      ARROW_RETURN_NOT_OK(writer.Write(*batch));
    }
    {
      is_last_ = true;
      const WriteCrew::Turn turn(crew_);
      ARROW_RETURN_NOT_OK(writer.CloseFile());
    }
    ARROW_RETURN_NOT_OK(crew_.WaitForAtMost(0));
    return std::move(writer).Finish();
  }

  FragmentWriterOptions MakeOptions() {
    FragmentWriterOptions options = target_.options;
    options.progress = [this](const Progress& progress) {
      last_progress_ = progress;
      return TellCaller(progress);
    };
    options.events = {.begin = ForCaller(target_.options.events.begin),
                      .complete = crew_.JobEvents().complete};
    options.output = [this](auto out) { return crew_.TakingTurns(std::move(out)); };
    options.on_held = [this](int64_t bytes) { crew_.Hold(bytes); };
    options.finish = [this](FileToFinish file) { return Finish(std::move(file)); };
    return options;
  }

  arrow::Status Finish(FileToFinish file) {
    if (is_last_) return file.finish();
    open_.num_rows -= file.num_rows;
    finishing_.push_back({.first_row = open_.first_row, .num_rows = file.num_rows});
    open_.first_row += file.num_rows;
    const WriteCrew::Pause pause(crew_);
    ARROW_RETURN_NOT_OK(crew_.WaitForAtMost(max_finishing_ - 1));
    crew_.Start(std::move(file.finish));
    return arrow::Status::OK();
  }

  using Event = std::function<arrow::Status(const FragmentMetadata&)>;
  Event ForCaller(const Event& event) {
    if (!event) return nullptr;
    return [this, &event](const FragmentMetadata& fragment) { return OfCaller(event(fragment)); };
  }

  arrow::Status TellCaller(const Progress& progress) {
    if (!target_.options.progress) return arrow::Status::OK();
    return OfCaller(target_.options.progress(progress));
  }

  // Errors of what the caller brought are his as they are.
  template <typename Outcome>
  Outcome OfCaller(Outcome outcome) {
    is_callers_ = is_callers_ || !outcome.ok();
    return outcome;
  }

  const RowsTarget& target_;
  const size_t max_finishing_;
  const uint64_t max_bytes_;
  bool is_callers_ = false;
  bool is_last_ = false;  // of the files; there is nothing else to do for this thread
  Progress last_progress_;
  std::vector<Part> finishing_;  // of each job
  Part open_;                    // what was read behind those
  WriteCrew crew_;
};

}  // namespace

arrow::Result<WrittenFragments> WriteOverlapped(std::shared_ptr<arrow::RecordBatchReader> stream,
                                                const RowsTarget& target, size_t max_files) {
  return OverlappedWrite(target, max_files).Run(std::move(stream));
}

}  // namespace glaive::dataset
