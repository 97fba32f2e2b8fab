#include "dataset/compaction_tasks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "glaive/write.h"

namespace glaive::dataset {
namespace {

constexpr size_t kMaxOverlays = 10;  // pylance's: more are reason enough to rewrite a fragment

// How a fragment takes part: not at all, beside others, or by itself if need be.
enum class Candidacy : uint8_t { kNone, kWithNeighbours, kAlone };

// Live rows, and the bytes that fall to them.
struct Amount {
  uint64_t rows = 0;
  double bytes = 0;

  Amount& operator+=(const Amount& other) {
    rows += other.rows;
    bytes += other.bytes;
    return *this;
  }
  Amount operator-(const Amount& other) const { return {rows - other.rows, bytes - other.bytes}; }
};

Amount AmountOf(const SourceFragment& fragment) {
  if (fragment.physical_rows == 0) return {};
  const double live =
      static_cast<double>(fragment.live_rows) / static_cast<double>(fragment.physical_rows);
  return {fragment.live_rows, static_cast<double>(fragment.bytes) * live};
}

Amount AmountOf(std::span<const SourceFragment> fragments) {
  Amount sum;
  for (const SourceFragment& fragment : fragments) sum += AmountOf(fragment);
  return sum;
}

// When a fragment is large enough.
class Targets {
 public:
  explicit Targets(const CompactionOptions& options)
      : rows_(*options.target_rows_per_fragment),
        bytes_(static_cast<double>(options.target_bytes_per_fragment.value_or(UINT64_MAX))),
        max_bytes_(static_cast<double>(
            options.max_bytes_per_file.value_or(FileLimits().max_bytes_per_file))) {}

  // New files have at least the target of one or the other, and those that max_bytes_per_file cuts
  // more than a third of that. What is above both halves stays so when it is encoded a little
  // better the second time.
  bool IsFull(uint64_t rows, double bytes) const {
    return rows >= rows_ || bytes >= std::min(bytes_ / 2, max_bytes_ / 3);
  }

  // In fragments of the target's size.
  double SizeOf(const Amount& amount) const {
    const double by_rows = rows_ == 0 ? 0 : static_cast<double>(amount.rows) / AsDouble(rows_);
    return std::max(by_rows, amount.bytes / bytes_);
  }

  uint64_t FilesByRows(const Amount& amount) const {
    return rows_ == 0 ? 1 : std::max<uint64_t>(1, amount.rows / rows_);
  }

  uint64_t FilesByBytes(const Amount& amount) const {
    const double files =
        std::max(std::floor(amount.bytes / bytes_), std::ceil(amount.bytes / max_bytes_));
    return static_cast<uint64_t>(std::clamp(files, 0.0, AsDouble(amount.rows)));
  }

  double max_bytes() const { return max_bytes_; }

 private:
  static double AsDouble(uint64_t value) { return static_cast<double>(value); }

  uint64_t rows_;
  double bytes_;
  double max_bytes_;
};

// The choice of pylance 14, so that the tasks of both are the same: deleted rows are reason enough
// by themselves, a small fragment only beside another that is rewritten.
Candidacy CandidacyOf(const SourceFragment& fragment, const CompactionOptions& options) {
  if (fragment.excluded) return Candidacy::kNone;
  if (fragment.has_small_pages || fragment.num_overlays > kMaxOverlays) return Candidacy::kAlone;
  const uint64_t num_deleted = fragment.physical_rows - fragment.live_rows;
  const auto deleted = static_cast<float>(num_deleted);  // floats, as pylance's are
  const auto threshold = static_cast<float>(*options.materialize_deletions_threshold);
  const bool materialize = *options.materialize_deletions && threshold < 1.0f;
  if (materialize && num_deleted > 0 &&
      deleted / static_cast<float>(fragment.physical_rows) > threshold) {
    return Candidacy::kAlone;
  }
  return Targets(options).IsFull(fragment.physical_rows, static_cast<double>(fragment.bytes))
             ? Candidacy::kNone
             : Candidacy::kWithNeighbours;
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
  Targets targets_;
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

Amount Sum(std::span<const Amount> amounts) {
  Amount sum;
  for (const Amount& amount : amounts) sum += amount;
  return sum;
}

// Cuts the rows of some fragments into files of equal bytes, as near as whole rows come to it. Each
// has a row at least.
std::vector<uint64_t> EvenBytes(std::span<const Amount> sources, uint64_t num_files) {
  const Amount total = Sum(sources);
  const double share = total.bytes / static_cast<double>(num_files);
  std::vector<uint64_t> files;
  Amount before;
  size_t i = 0;
  uint64_t begin = 0;
  for (uint64_t file = 1; file < num_files; ++file) {
    const double target = share * static_cast<double>(file);
    while (i + 1 < sources.size() && before.bytes + sources[i].bytes <= target) {
      before += sources[i++];
    }
    const double row_bytes = sources[i].bytes / static_cast<double>(sources[i].rows);
    const double rows = row_bytes > 0 ? std::max(0.0, (target - before.bytes) / row_bytes) : 0;
    const uint64_t wanted = before.rows + static_cast<uint64_t>(std::llround(rows));
    const uint64_t end = std::clamp(wanted, begin + 1, total.rows - (num_files - file));
    files.push_back(end - begin);
    begin = end;
  }
  files.push_back(total.rows - begin);
  return files;
}

// Rows [begin, begin + rows) of some fragments that lie one behind the other.
std::vector<Amount> SliceOf(std::span<const Amount> sources, uint64_t begin, uint64_t rows) {
  std::vector<Amount> slice;
  uint64_t first = 0;
  for (const Amount& source : sources) {
    const uint64_t from = std::max(begin, first);
    const uint64_t to = std::min(begin + rows, first + source.rows);
    if (from < to) {
      const double share = static_cast<double>(to - from) / static_cast<double>(source.rows);
      slice.push_back({to - from, source.bytes * share});
    }
    first += source.rows;
  }
  return slice;
}

std::vector<uint64_t> EvenRows(uint64_t num_rows, uint64_t num_files) {
  std::vector<uint64_t> rows(num_files, num_rows / num_files);
  for (uint64_t i = 0; i < num_rows % num_files; ++i) ++rows[i];
  return rows;
}

// A file that large rows left small goes to the smaller of its neighbours.
std::vector<uint64_t> JoinSmall(std::span<const Amount> sources, std::vector<uint64_t> files,
                                const Targets& targets) {
  std::vector<Amount> amounts;
  uint64_t begin = 0;
  for (const uint64_t rows : files) {
    amounts.push_back(Sum(SliceOf(sources, begin, rows)));
    begin += rows;
  }
  for (size_t i = 0; i < amounts.size() && amounts.size() > 1;) {
    if (targets.IsFull(amounts[i].rows, amounts[i].bytes)) {
      ++i;
      continue;
    }
    const bool goes_back =
        i > 0 && (i + 1 == amounts.size() || amounts[i - 1].bytes <= amounts[i + 1].bytes);
    const size_t left = goes_back ? i - 1 : i;
    amounts[left] += amounts[left + 1];
    amounts.erase(amounts.begin() + static_cast<ptrdiff_t>(left) + 1);
    i = left;
  }
  for (size_t i = 0; i < amounts.size(); ++i) files[i] = amounts[i].rows;
  files.resize(amounts.size());
  return files;
}

}  // namespace

std::vector<TaskRange> ChooseTasks(std::span<const SourceFragment> fragments,
                                   const CompactionOptions& options) {
  return TaskChoice(fragments, options).Choose();
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

std::vector<uint64_t> PlanFiles(std::span<const SourceFragment> sources,
                                const CompactionOptions& options) {
  const Targets targets(options);
  std::vector<Amount> amounts;
  for (const SourceFragment& source : sources) amounts.push_back(AmountOf(source));
  const Amount total = Sum(amounts);
  if (total.rows == 0) return {};
  const uint64_t by_rows = targets.FilesByRows(total);
  const uint64_t by_bytes = targets.FilesByBytes(total);
  if (by_bytes > by_rows) return JoinSmall(amounts, EvenBytes(amounts, by_bytes), targets);

  std::vector<uint64_t> files;
  uint64_t begin = 0;
  for (const uint64_t rows : EvenRows(total.rows, by_rows)) {
    const std::vector<Amount> part = SliceOf(amounts, begin, rows);
    const auto pieces = static_cast<uint64_t>(std::ceil(Sum(part).bytes / targets.max_bytes()));
    std::ranges::copy(EvenBytes(part, std::clamp<uint64_t>(pieces, 1, rows)),
                      std::back_inserter(files));
    begin += rows;
  }
  return JoinSmall(amounts, std::move(files), targets);
}

}  // namespace glaive::dataset
