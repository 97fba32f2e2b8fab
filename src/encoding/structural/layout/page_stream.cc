#include "encoding/structural/layout/page_stream.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <utility>

#include <arrow/type.h>

#include "encoding/levels/level_scheme.h"
#include "encoding/levels/level_survey.h"
#include "encoding/levels/nest.h"
#include "encoding/structural/full_zip/encoder.h"
#include "encoding/structural/layout/fixed_size_list_values.h"
#include "encoding/structural/layout/value_plan.h"
#include "encoding/structural/mini_block/encoder.h"

namespace glaive::encoding {

// Some rows, and how they are nested.
struct PageStream::Rows {
  Pieces pieces;
  std::vector<Nest> nests;
  LevelSurvey survey;
};

namespace {

using Pieces = PageStream::Pieces;
using Parts = PageStream::Parts;
using Rows = PageStream::Rows;

// Values that wait for those behind them: twice what a chunk may hold.
constexpr uint64_t kValuesKept = 2 * 4096;

arrow::Result<std::shared_ptr<Rows>> LookAt(Pieces pieces, const LeafPath& path) {
  auto rows = std::make_shared<Rows>(Rows{.pieces = std::move(pieces), .nests = {}, .survey = {}});
  for (const auto& piece : rows->pieces) {
    if (piece->length == 0) continue;
    ARROW_ASSIGN_OR_RAISE(rows->nests.emplace_back(), ResolveNest(*piece, path));
  }
  rows->survey = SurveyLevels(rows->nests, path);
  return rows;
}

// Whether a scheme has a level for each kind of absence that another one knows.
bool Knows(const LevelScheme& scheme, const LevelScheme& other) {
  for (size_t i = 0; i < scheme.layers.size(); ++i) {
    if (other.layers[i].null != 0 && scheme.layers[i].null == 0) return false;
    if (other.layers[i].empty != 0 && scheme.layers[i].empty == 0) return false;
  }
  return true;
}

// What all pages have that come row by row.
class Stream : public PageStream {
 public:
  // `first` are the rows that scheme and plan were made for.
  Stream(const LeafPath& path, LevelScheme scheme, ValuePlan plan, FileVersion version,
         const Rows& first)
      : path_(path),
        scheme_(std::move(scheme)),
        plan_(std::move(plan)),
        version_(version),
        num_planned_rows_(first.survey.num_rows) {}

  arrow::Result<std::shared_ptr<Rows>> Add(Pieces pieces) final {
    ARROW_ASSIGN_OR_RAISE(auto rows, LookAt(std::move(pieces), path_));
    const LevelSurvey& survey = rows->survey;
    if (num_rows_ >= num_planned_rows_) {
      ARROW_ASSIGN_OR_RAISE(const bool fits, Fits(*rows));
      if (!fits) return nullptr;
    }
    num_rows_ += survey.num_rows;
    num_entries_ += survey.num_entries;
    num_values_ += survey.num_visible;
    last_gap_ = survey.max_gap + (survey.num_visible == 0 ? last_gap_ : 0);
    return rows;
  }

 protected:
  // Whether chunks can be made where so many entries in a row have no value.
  virtual bool FitsGap(uint64_t num_entries) const = 0;

  PageRows PageRowsOf(const Rows& rows) const {
    return {rows.nests, rows.survey, scheme_, version_};
  }
  uint64_t num_rows() const { return num_rows_; }
  uint64_t num_values() const { return num_values_; }

  const LeafPath& path_;
  const LevelScheme scheme_;
  const ValuePlan plan_;
  const FileVersion version_;

 private:
  arrow::Result<bool> Fits(const Rows& rows) const {
    if (!Knows(scheme_, MakeLevelScheme(path_, rows.survey.layers)) ||
        !FitsGap(last_gap_ + rows.survey.max_gap) ||
        num_entries_ + rows.survey.num_entries > kMaxFullZipEntries) {
      return false;
    }
    if (path_.type->id() == arrow::Type::FIXED_SIZE_LIST) {
      ARROW_ASSIGN_OR_RAISE(const auto shape, FixedSizeListShapeOf(*path_.type, rows.survey));
      if (shape.has_validity()) return false;
    }
    return Suits(plan_, ValueRanges(rows.survey, plan_), rows.survey.num_visible);
  }

  const uint64_t num_planned_rows_;
  uint64_t num_rows_ = 0;
  uint64_t num_entries_ = 0;
  uint64_t num_values_ = 0;
  uint64_t last_gap_ = 0;  // at the end of the rows so far, at most
};

// Rows are entries of their own.
class FullZipStream final : public Stream {
 public:
  using Stream::Stream;

  arrow::Result<EncodedPage> Finish() override {
    const ValueRanges none;
    return std::move(*writer_).Finish(*MakeZipped(plan_, none));
  }
  size_t buffer() const override { return 0; }

  arrow::Result<Parts> Encode(std::shared_ptr<Rows> rows) override {
    const ValueRanges ranges(rows->survey, plan_);
    const auto values = MakeZipped(plan_, ranges);
    if (!writer_) writer_.emplace(scheme_, *values, version_);
    ARROW_RETURN_NOT_OK(writer_->Write(PageRowsOf(*rows), *values));
    return writer_->TakeEntries();
  }

 private:
  bool FitsGap(uint64_t) const override { return true; }

  std::optional<FullZipWriter> writer_;
};

// The last values of some rows wait until those behind them are there, since where chunks end says
// nothing of how the rows came.
class MiniBlockStream final : public Stream {
 public:
  MiniBlockStream(const LeafPath& path, LevelScheme scheme, ValuePlan plan, FileVersion version,
                  const Rows& first)
      : Stream(path, std::move(scheme), std::move(plan), version, first),
        max_gap_(MaxMiniBlockGap(PageRowsOf(first))),
        writer_(PageRowsOf(first)) {}

  arrow::Result<EncodedPage> Finish() override {
    ARROW_RETURN_NOT_OK(WriteChunks({}, 0));
    const ValueRanges none;
    const auto values = MakeChunks(plan_, none, 0);
    return std::move(writer_).Finish({.description = values->Describe(),
                                      .num_buffers = values->num_buffers(),
                                      .num_values = num_values()},
                                     num_rows());
  }
  size_t buffer() const override { return 1; }

  arrow::Result<Parts> Encode(std::shared_ptr<Rows> rows) override {
    const LevelSurvey& survey = rows->survey;
    open_.ranges.insert(open_.ranges.end(), survey.ranges.begin(), survey.ranges.end());
    open_.num_visible += survey.num_visible;
    waiting_.push_back({rows, survey.num_visible});
    ARROW_RETURN_NOT_OK(WriteChunks(rows->nests, kValuesKept));
    return writer_.TakeChunks();
  }

 private:
  struct Waiting {
    std::shared_ptr<const Rows> rows;
    uint64_t num_values = 0;
  };

  bool FitsGap(uint64_t num_entries) const override { return num_entries <= max_gap_; }

  // Of all that wait, but for so many values.
  arrow::Status WriteChunks(std::span<const Nest> nests, uint64_t values_to_keep) {
    const ValueRanges ranges(open_, plan_);
    const auto values = MakeChunks(plan_, ranges, open_.num_visible);
    const bool all_visible = std::ranges::all_of(
        waiting_, [](const Waiting& waiting) { return waiting.rows->survey.all_visible(); });
    ARROW_RETURN_NOT_OK(writer_.Write(nests, all_visible, values_to_keep, *values));
    Drop(open_.num_visible - values->remaining());
    return arrow::Status::OK();
  }

  void Drop(uint64_t num_values) {
    open_.num_visible -= num_values;
    auto left = static_cast<int64_t>(num_values);
    auto range = open_.ranges.begin();
    for (; range != open_.ranges.end() && left >= range->length; ++range) left -= range->length;
    open_.ranges.erase(open_.ranges.begin(), range);
    if (left > 0) {
      open_.ranges.front().begin += left;
      open_.ranges.front().length -= left;
    }
    // Behind the last value of some rows there may be entries without one, which go with the next.
    while (waiting_.front().num_values < num_values) {
      num_values -= waiting_.front().num_values;
      waiting_.pop_front();
    }
    waiting_.front().num_values -= num_values;
  }

  const uint64_t max_gap_;
  std::deque<Waiting> waiting_;  // rows with values that are in no chunk yet
  LevelSurvey open_;             // of which the ranges of such values, and their number
  MiniBlockWriter writer_;
};

}  // namespace

arrow::Result<std::unique_ptr<PageStream>> PageStream::Begin(const Pieces& pieces,
                                                             const LeafPath& path,
                                                             const PageEncodeOptions& options) {
  if (path.type->id() == arrow::Type::STRUCT) return nullptr;
  ARROW_ASSIGN_OR_RAISE(const auto first, LookAt(pieces, path));
  LevelScheme scheme = MakeLevelScheme(path, first->survey.layers, options.elsewhere);
  const PageRows rows{first->nests, first->survey, scheme, options.version};
  if (first->survey.num_visible == 0 || first->survey.num_entries > kMaxFullZipEntries ||
      first->survey.max_gap > MaxMiniBlockGap(rows)) {
    return nullptr;
  }
  ARROW_ASSIGN_OR_RAISE(auto plan, PlanValues(rows, *path.type));
  if (!plan) return nullptr;
  plan->widths.clear();  // blocks begin elsewhere in rows that come later
  // Strings that come later may be longer, but for those that suit no chunks.
  if (plan->offsets != StringOffsets{}) {
    plan->offsets = {.length_bits = static_cast<unsigned>(std::bit_width(kMinFullZipBytes - 1))};
  }
  if (plan->is_zipped()) {
    return std::make_unique<FullZipStream>(path, std::move(scheme), std::move(*plan),
                                           options.version, *first);
  }
  return std::make_unique<MiniBlockStream>(path, std::move(scheme), std::move(*plan),
                                           options.version, *first);
}

}  // namespace glaive::encoding
