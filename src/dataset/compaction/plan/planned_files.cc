#include "dataset/compaction/plan/planned_files.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "glaive/write.h"

namespace glaive::dataset {
namespace {

double AsDouble(uint64_t value) { return static_cast<double>(value); }

Amount Sum(std::span<const Amount> amounts) {
  Amount sum;
  for (const Amount& amount : amounts) sum += amount;
  return sum;
}

// Cuts the rows of some fragments into files of equal bytes, as near as whole rows come to it. Each
// has a row at least.
std::vector<uint64_t> EvenBytes(std::span<const Amount> sources, uint64_t num_files) {
  const Amount total = Sum(sources);
  const double share = total.bytes / AsDouble(num_files);
  std::vector<uint64_t> files;
  Amount before;
  size_t i = 0;
  uint64_t begin = 0;
  for (uint64_t file = 1; file < num_files; ++file) {
    const double target = share * AsDouble(file);
    while (i + 1 < sources.size() && before.bytes + sources[i].bytes <= target) {
      before += sources[i++];
    }
    const double row_bytes = sources[i].bytes / AsDouble(sources[i].rows);
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
      slice.push_back({to - from, source.bytes * AsDouble(to - from) / AsDouble(source.rows)});
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
std::vector<Amount> JoinSmall(std::vector<Amount> amounts, const FragmentTargets& targets) {
  for (size_t i = 0; i < amounts.size() && amounts.size() > 1;) {
    if (targets.IsFull(amounts[i])) {
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
  return amounts;
}

// Files of so many rows.
std::vector<Amount> FilesOf(std::span<const Amount> sources, const std::vector<uint64_t>& files) {
  std::vector<Amount> amounts;
  uint64_t begin = 0;
  for (const uint64_t rows : files) {
    amounts.push_back(Sum(SliceOf(sources, begin, rows)));
    begin += rows;
  }
  return amounts;
}

std::vector<Amount> AmountsOf(std::span<const SourceFragment> fragments) {
  std::vector<Amount> amounts;
  for (const SourceFragment& fragment : fragments) amounts.push_back(AmountOf(fragment));
  return amounts;
}

}  // namespace

Amount AmountOf(const SourceFragment& fragment) {
  if (fragment.physical_rows == 0) return {};
  const double live = AsDouble(fragment.live_rows) / AsDouble(fragment.physical_rows);
  return {fragment.live_rows, AsDouble(fragment.bytes) * live};
}

Amount AmountOf(std::span<const SourceFragment> fragments) {
  Amount sum;
  for (const SourceFragment& fragment : fragments) sum += AmountOf(fragment);
  return sum;
}

FragmentTargets::FragmentTargets(const CompactionOptions& options)
    : rows_(*options.target_rows_per_fragment),
      bytes_(AsDouble(options.target_bytes_per_fragment.value_or(UINT64_MAX))),
      max_bytes_(AsDouble(options.max_bytes_per_file.value_or(FileLimits().max_bytes_per_file))) {}

bool FragmentTargets::IsFull(const Amount& amount) const {
  return amount.rows >= rows_ || amount.bytes >= std::min(bytes_ / 2, max_bytes_ / 3);
}

double FragmentTargets::SizeOf(const Amount& amount) const {
  const double by_rows = rows_ == 0 ? 0 : AsDouble(amount.rows) / AsDouble(rows_);
  return std::max(by_rows, amount.bytes / bytes_);
}

uint64_t FragmentTargets::FilesByRows(const Amount& amount) const {
  return rows_ == 0 ? 1 : std::max<uint64_t>(1, amount.rows / rows_);
}

uint64_t FragmentTargets::FilesByBytes(const Amount& amount) const {
  const double files =
      std::max(std::floor(amount.bytes / bytes_), std::ceil(amount.bytes / max_bytes_));
  return static_cast<uint64_t>(std::clamp(files, 0.0, AsDouble(amount.rows)));
}

std::vector<Amount> PlanFiles(std::span<const SourceFragment> sources,
                              const CompactionOptions& options) {
  const FragmentTargets targets(options);
  const std::vector<Amount> amounts = AmountsOf(sources);
  const Amount total = Sum(amounts);
  if (total.rows == 0) return {};
  const uint64_t by_rows = targets.FilesByRows(total);
  const uint64_t by_bytes = targets.FilesByBytes(total);
  if (by_bytes > by_rows) {
    return JoinSmall(FilesOf(amounts, EvenBytes(amounts, by_bytes)), targets);
  }

  std::vector<uint64_t> files;
  uint64_t begin = 0;
  for (const uint64_t rows : EvenRows(total.rows, by_rows)) {
    const std::vector<Amount> part = SliceOf(amounts, begin, rows);
    const auto pieces = static_cast<uint64_t>(std::ceil(Sum(part).bytes / targets.max_bytes()));
    std::ranges::copy(EvenBytes(part, std::clamp<uint64_t>(pieces, 1, rows)),
                      std::back_inserter(files));
    begin += rows;
  }
  return JoinSmall(FilesOf(amounts, files), targets);
}

std::vector<Amount> ReplanFiles(std::span<const SourceFragment> written,
                                const CompactionOptions& options) {
  std::vector<Amount> joined = JoinSmall(AmountsOf(written), FragmentTargets(options));
  if (joined.size() == written.size()) return joined;
  std::vector<Amount> even = PlanFiles(written, options);
  return even.size() < written.size() ? even : joined;
}

}  // namespace glaive::dataset
