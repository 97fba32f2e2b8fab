#include "dataset/compaction/plan/tasks.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace glaive::dataset {
namespace {

// How a fragment takes part: not at all, beside others, or by itself if need be.
enum class Candidacy : uint8_t { kNone, kWithNeighbours, kAlone };

// The choice of pylance 14, so that the tasks of both are the same: deleted rows are reason enough
// by themselves, a small fragment only beside another that is rewritten.
Candidacy CandidacyOf(const SourceFragment& fragment, const CompactionOptions& options) {
  if (fragment.excluded) return Candidacy::kNone;
  const uint64_t max_overlays = *options.max_overlays_per_fragment;
  if (fragment.has_small_pages || fragment.num_overlays > max_overlays) return Candidacy::kAlone;
  const uint64_t num_deleted = fragment.physical_rows - fragment.live_rows;
  const auto deleted = static_cast<float>(num_deleted);  // floats, as pylance's are
  const auto threshold = static_cast<float>(*options.materialize_deletions_threshold);
  const bool materialize = *options.materialize_deletions && threshold < 1.0f;
  if (materialize && num_deleted > 0 &&
      deleted / static_cast<float>(fragment.physical_rows) > threshold) {
    return Candidacy::kAlone;
  }
  const Amount whole = {fragment.physical_rows, static_cast<double>(fragment.bytes)};
  return FragmentTargets(options).IsFull(whole) ? Candidacy::kNone : Candidacy::kWithNeighbours;
}

// Whether the work is to follow what was added; else the tasks are pylance's.
bool IsBySize(const CompactionOptions& options) {
  return options.target_bytes_per_fragment || options.memory_limit;
}

class TaskChoice {
 public:
  TaskChoice(std::span<const SourceFragment> fragments, const CompactionOptions& options)
      : fragments_(fragments), options_(options), targets_(options), by_size_(IsBySize(options)) {
    for (const SourceFragment& fragment : fragments) {
      candidacy_.push_back(CandidacyOf(fragment, options));
    }
  }

  std::vector<TaskRange> Choose() {
    for (const TaskRange& bin : FindBins()) {
      if (by_size_) {
        JoinBySize(bin);
      } else {
        Split(bin);
      }
    }
    return std::move(tasks_);
  }

  // Whether rewriting these changes anything for the better. It takes away what is deleted,
  // overlaid or cut into small pages, or it leaves fewer fragments.
  bool IsWorthwhile(const TaskRange& range) const {
    if (range.size() == 1) return candidacy_[range.begin] == Candidacy::kAlone;
    if (by_size_ && FindDominant(range)) return false;
    const auto sources = Sources(range);
    const bool has_reason = std::ranges::any_of(sources, [](const SourceFragment& fragment) {
      return fragment.live_rows < fragment.physical_rows || fragment.num_overlays > 0 ||
             fragment.has_small_pages;
    });
    return has_reason || PlanFiles(sources, options_).size() < range.size();
  }

 private:
  std::span<const SourceFragment> Sources(const TaskRange& range) const {
    return fragments_.subspan(range.begin, range.size());
  }

  // Runs of adjacent candidates. What is no candidate, or excluded, stands between two runs; so
  // does the border of what an index covers, that it may follow the rows whole.
  std::vector<TaskRange> FindBins() const {
    std::vector<TaskRange> bins;
    for (size_t i = 0; i < fragments_.size(); ++i) {
      if (candidacy_[i] == Candidacy::kNone) continue;
      if (!bins.empty() && bins.back().end == i &&
          fragments_[i - 1].coverage == fragments_[i].coverage) {
        bins.back().end = i + 1;
      } else {
        bins.push_back({i, i + 1});
      }
    }
    return bins;
  }

  // Cuts a bin wherever enough for a fragment lies on either side.
  void Split(const TaskRange& bin) {
    if (bin.size() == 1 && candidacy_[bin.begin] == Candidacy::kWithNeighbours) return;
    Amount after = AmountOf(Sources(bin));
    Amount here;
    TaskRange task = {bin.begin, bin.begin};
    for (size_t i = bin.begin; i < bin.end; ++i) {
      const Amount added = AmountOf(fragments_[i]);
      here += added;
      after = after - added;
      task.end = i + 1;
      if (task.end == bin.end || (IsEnough(here) && IsEnough(after) && after.rows > 0)) {
        Settle(task);
        task.begin = task.end;
        here = {};
      }
    }
  }

  // A part may have a dominant member though the whole has none.
  void Settle(const TaskRange& task) {
    if (by_size_ && FindDominant(task)) {
      JoinBySize(task);
    } else if (IsWorthwhile(task)) {
      tasks_.push_back(task);
    }
  }

  bool IsEnough(const Amount& amount) const {
    if (by_size_) return targets_.SizeOf(amount) >= 1;
    return amount.rows >= *options_.target_rows_per_fragment;
  }

  // Leaves out who holds more than the others together, and then looks at both sides of it. What
  // is left out now would be so the next time: its neighbours are joined, not grown.
  void JoinBySize(TaskRange range) {
    while (range.size() > 0) {
      const auto dominant = FindDominant(range);
      if (!dominant) {
        Split(range);
        return;
      }
      JoinBySize({range.begin, *dominant});
      range.begin = *dominant + 1;
    }
  }

  // A fragment that need not be rewritten and is larger than all others of the range together.
  std::optional<size_t> FindDominant(const TaskRange& range) const {
    std::optional<size_t> largest;
    double largest_size = 0;
    for (size_t i = range.begin; i < range.end; ++i) {
      const double size = targets_.SizeOf(AmountOf(fragments_[i]));
      if (candidacy_[i] == Candidacy::kAlone || (largest && size <= largest_size)) continue;
      largest = i;
      largest_size = size;
    }
    if (!largest) return std::nullopt;
    Amount others;
    for (size_t i = range.begin; i < range.end; ++i) {
      if (i != *largest) others += AmountOf(fragments_[i]);
    }
    return largest_size > targets_.SizeOf(others) ? largest : std::nullopt;
  }

  std::span<const SourceFragment> fragments_;
  const CompactionOptions& options_;
  FragmentTargets targets_;
  bool by_size_;
  std::vector<Candidacy> candidacy_;
  std::vector<TaskRange> tasks_;
};

// What is left of the limits on one run.
class Budget {
 public:
  explicit Budget(const CompactionOptions& options)
      : fragments_(options.max_source_fragments.value_or(UINT64_MAX)),
        rows_(options.max_source_rows.value_or(UINT64_MAX)),
        bytes_(options.max_source_bytes.value_or(UINT64_MAX)) {}

  // Takes the fragments out of it, if they fit.
  bool Spend(std::span<const SourceFragment> fragments) {
    uint64_t rows = 0;
    uint64_t bytes = 0;
    for (const SourceFragment& fragment : fragments) {
      rows += fragment.live_rows;
      bytes += fragment.bytes + fragment.overlay_bytes;
    }
    if (fragments.size() > fragments_ || rows > rows_ || bytes > bytes_) return false;
    fragments_ -= fragments.size();
    rows_ -= rows;
    bytes_ -= bytes;
    return true;
  }

 private:
  uint64_t fragments_;
  uint64_t rows_;
  uint64_t bytes_;
};

}  // namespace

std::vector<TaskRange> ChooseTasks(std::span<const SourceFragment> fragments,
                                   const CompactionOptions& options) {
  return TaskChoice(fragments, options).Choose();
}

bool AreWithinLimits(std::span<const SourceFragment> fragments, const CompactionOptions& options) {
  return Budget(options).Spend(fragments);
}

std::vector<TaskRange> LimitTasks(std::span<const SourceFragment> fragments,
                                  const std::vector<TaskRange>& tasks,
                                  const CompactionOptions& options) {
  const auto of = [&](const TaskRange& range) {
    return fragments.subspan(range.begin, range.size());
  };
  Budget budget(options);
  std::vector<TaskRange> limited;
  for (const TaskRange& task : tasks) {
    if (!budget.Spend(of(task))) break;
    limited.push_back(task);
  }
  if (!limited.empty() || tasks.empty() || !IsBySize(options)) return limited;

  const TaskChoice choice(fragments, options);
  for (size_t begin = tasks[0].begin; begin < tasks[0].end; ++begin) {
    Budget whole(options);
    TaskRange part = {begin, begin};
    while (part.end < tasks[0].end && whole.Spend(of({part.end, part.end + 1}))) ++part.end;
    if (part.size() > 0 && choice.IsWorthwhile(part)) return {part};
  }
  return {};
}

}  // namespace glaive::dataset
