#include "encoding/structural/page_encoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "encoding/codec/variable_block.h"
#include "encoding/plan/constant_value.h"
#include "encoding/plan/dictionary_builder.h"
#include "encoding/plan/fixed_codec.h"
#include "encoding/plan/row_segments.h"
#include "encoding/plan/variable_codec.h"
#include "encoding/structural/constant_encoder.h"
#include "encoding/structural/fixed_size_list_values.h"
#include "encoding/structural/full_zip_encoder.h"
#include "encoding/structural/mini_block_encoder.h"

namespace glaive::encoding {
namespace {

// Values this long are worth a place of their own in the page.
constexpr uint64_t kMinFullZipBytes = 256;
// Levels beside a constant are not compressed; up to so many that does no harm.
constexpr uint64_t kMaxConstantLevels = 4096;

enum class Layout : uint8_t { kMiniBlock, kFullZip };

wire::EncodingPtr Flat(uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); }

bool AllNull(const LevelSurvey& survey) {
  if (survey.num_nulls < survey.num_visible) return false;
  return std::all_of(survey.ranges.begin(), survey.ranges.end(), [](const LeafRange& range) {
    if (!range.has_nulls) return false;
    for (int64_t i = 0; i < range.length; ++i) {
      if (!IsNull(range, i)) return false;
    }
    return true;
  });
}

// One page out of rows of one leaf. The layout is the wanted one, unless values say otherwise.
class PageEncoding {
 public:
  PageEncoding(const PageRows& rows, const arrow::DataType& type, Layout wanted)
      : rows_(rows), survey_(rows.survey), type_(type), wanted_(wanted) {}

  arrow::Result<EncodedPage> Encode() {
    if (AllNull(survey_)) return EncodeNullPage(rows_);
    switch (type_.id()) {
      case arrow::Type::BOOL: return EncodeBooleans();
      case arrow::Type::STRING:
      case arrow::Type::BINARY: return EncodeVariable<int32_t>();
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY: return EncodeVariable<int64_t>();
      case arrow::Type::FIXED_SIZE_LIST: return EncodeFixedSizeLists();
      default: break;
    }
    if (!arrow::is_fixed_width(type_.id()) || type_.id() == arrow::Type::DICTIONARY) {
      return Unsupported("values of type {} are not written", type_.ToString());
    }
    return EncodeFixed(
        static_cast<size_t>(static_cast<const arrow::FixedWidthType&>(type_).bit_width() / 8));
  }

 private:
  bool has_levels() const { return rows_.scheme.has_rep() || rows_.scheme.has_def(); }

  // Whether a page of one value is best written as such.
  bool PrefersConstant(uint64_t value_bytes) const {
    return rows_.version >= FileVersion::k2_2 &&
           (!has_levels() || survey_.num_entries <= kMaxConstantLevels ||
            value_bytes >= kMinFullZipBytes);
  }

  arrow::Result<EncodedPage> EncodeBooleans() {
    if (PrefersConstant(1)) {
      if (const auto value = FindConstantBoolean(survey_)) {
        return EncodeConstantPage(rows_, *value, 0);
      }
    }
    if (wanted_ == Layout::kFullZip) return EncodeFullZipPage(rows_, *MakeZippedBooleans(survey_));
    return EncodeMiniBlockPage(rows_, *MakeBooleanChunks(survey_), std::nullopt);
  }

  arrow::Result<EncodedPage> EncodeFixed(size_t value_bytes) {
    const auto ranges = FixedRangesOf(survey_, static_cast<int64_t>(value_bytes));
    if (PrefersConstant(value_bytes)) {
      if (const auto value = FindConstant(ranges, value_bytes)) {
        return EncodeConstantPage(rows_, *value, 0);
      }
    }
    const auto description = Flat(8 * value_bytes);
    if (wanted_ == Layout::kFullZip || value_bytes >= kMinFullZipBytes) {
      return EncodeFullZipPage(rows_, *MakeZippedFixed(ranges, value_bytes, description));
    }
    FixedPlan plan = PlanFixed(ranges, survey_.num_visible, value_bytes);
    // Indices take up to 17 bits, so that packed values half as wide need no dictionary.
    const bool may_have_dictionary =
        value_bytes == 16 || (value_bytes == 8 && rows_.version >= FileVersion::k2_2 &&
                              plan.size_bytes > survey_.num_visible * value_bytes / 2);
    if (may_have_dictionary) {
      const auto dictionary = BuildDictionary(ranges, survey_.num_visible, value_bytes);
      if (dictionary)
        return EncodeIndices(*dictionary, EncodeFlatBlock(dictionary->items), description);
    }
    return EncodeMiniBlockPage(rows_, *ChunksOf(std::move(plan), ranges, value_bytes),
                               std::nullopt);
  }

  std::unique_ptr<ValueChunks> ChunksOf(FixedPlan plan, std::span<const FixedRange> ranges,
                                        size_t value_bytes) const {
    switch (plan.codec) {
      case FixedCodec::kBitpacked:
        return MakeBitpackedChunks(ranges, survey_.num_visible, value_bytes,
                                   std::move(plan.widths));
      case FixedCodec::kRuns: return MakeRunChunks(ranges, survey_.num_visible, value_bytes);
      case FixedCodec::kFlat: break;
    }
    return MakeFlatChunks(ranges, survey_.num_visible, value_bytes, Flat(8 * value_bytes));
  }

  template <typename Offset>
  arrow::Result<EncodedPage> EncodeVariable() {
    constexpr unsigned kOffsetBits = 8 * sizeof(Offset);
    const auto ranges = VariableRangesOf<Offset>(survey_);
    const uint64_t longest = LongestOf<Offset>(ranges);
    if (PrefersConstant(longest)) {
      if (const auto value = FindConstant<Offset>(ranges)) {
        return EncodeConstantPage(rows_, *value, kOffsetBits);
      }
    }
    if (wanted_ == Layout::kMiniBlock) {
      const auto dictionary = BuildDictionary<Offset>(ranges, survey_.num_visible);
      if (dictionary) {
        return EncodeIndices(*dictionary, EncodeVariableBlock(dictionary->items, kOffsetBits),
                             wire::MakeEncoding(wire::VariableEncoding{Flat(kOffsetBits)}));
      }
    }
    if (wanted_ == Layout::kFullZip || longest >= kMinFullZipBytes) {
      const auto scheme = ChooseCompression<Offset>(ranges, longest);
      return EncodeFullZipPage(rows_, scheme ? *MakeZippedCompressed<Offset>(ranges, *scheme)
                                             : *MakeZippedVariable<Offset>(ranges));
    }
    return EncodeMiniBlockPage(rows_, *MakeVariableChunks<Offset>(ranges, survey_.num_visible),
                               std::nullopt);
  }

  template <typename Offset>
  static uint64_t LongestOf(std::span<const VariableRange<Offset>> ranges) {
    Offset longest = 0;
    for (const VariableRange<Offset>& range : ranges) {
      for (int64_t i = 0; i < range.length; ++i) {
        const Offset length = range.offsets[i + 1] - range.offsets[i];
        if (length > longest && !(range.hidden_bytes && IsNull(*range.nulls, i))) longest = length;
      }
    }
    return static_cast<uint64_t>(longest);
  }

  arrow::Result<EncodedPage> EncodeIndices(const DictionaryValues& dictionary,
                                           std::shared_ptr<arrow::Buffer> payload,
                                           wire::EncodingPtr description) {
    const FixedRange indices{
        .values = reinterpret_cast<const std::byte*>(dictionary.indices.data()),
        .length = static_cast<int64_t>(dictionary.indices.size())};
    const std::span ranges(&indices, 1);
    FixedPlan plan = PlanFixed(ranges, survey_.num_visible, sizeof(uint32_t));
    return EncodeMiniBlockPage(rows_, *ChunksOf(std::move(plan), ranges, sizeof(uint32_t)),
                               EncodedDictionary{.payload = std::move(payload),
                                                 .description = std::move(description),
                                                 .num_items = dictionary.items.size()});
  }

  arrow::Result<EncodedPage> EncodeFixedSizeLists() {
    ARROW_ASSIGN_OR_RAISE(FixedSizeListShape shape, FixedSizeListShapeOf(type_, survey_));
    const auto value_bytes = static_cast<size_t>(shape.value_bytes());
    const auto ranges = FixedRangesOf(survey_, shape.value_bytes());
    if (wanted_ == Layout::kFullZip || value_bytes >= kMinFullZipBytes) {
      if (shape.has_validity()) {
        return EncodeFullZipPage(rows_, *MakeZippedFixedSizeLists(survey_, ranges, shape));
      }
      return EncodeFullZipPage(rows_, *MakeZippedFixed(ranges, value_bytes, shape.Describe()));
    }
    if (shape.has_validity()) {
      return EncodeMiniBlockPage(rows_, *MakeFixedSizeListChunks(survey_, ranges, shape),
                                 std::nullopt);
    }
    return EncodeMiniBlockPage(
        rows_, *MakeFlatChunks(ranges, survey_.num_visible, value_bytes, shape.Describe()),
        std::nullopt);
  }

  const PageRows& rows_;
  const LevelSurvey& survey_;
  const arrow::DataType& type_;
  Layout wanted_;
};

// Empty structs hold nothing that levels could tell of.
arrow::Result<EncodedPage> EncodeEmptyStructs(const PageRows& rows, const LeafPath& path,
                                              const PageEncodeOptions& options) {
  if (path.layers.size() > 1) {
    return Unsupported("column '{}': a struct without fields inside of another field",
                       options.column_name);
  }
  return EncodeNullPage(rows);
}

}  // namespace

uint64_t EncodedPage::size_bytes() const {
  uint64_t size = 0;
  for (const auto& parts : buffers) {
    for (const auto& part : parts) size += static_cast<uint64_t>(part->size());
  }
  return size;
}

arrow::Result<std::vector<EncodedPage>> EncodePages(
    std::span<const std::shared_ptr<arrow::ArrayData>> pieces, const LeafPath& path,
    const PageEncodeOptions& options) {
  std::vector<Nest> nests;
  for (const auto& piece : pieces) {
    if (piece->length == 0) continue;
    ARROW_ASSIGN_OR_RAISE(Nest nest, ResolveNest(*piece, path));
    nests.push_back(std::move(nest));
  }
  std::vector<EncodedPage> pages;
  if (nests.empty()) return pages;

  const LevelSurvey survey = SurveyLevels(nests, path);
  const LevelScheme scheme = MakeLevelScheme(path, survey.layers);
  const PageRows all{nests, survey, scheme, options.version};
  if (path.type->id() == arrow::Type::STRUCT) {
    ARROW_ASSIGN_OR_RAISE(pages.emplace_back(), EncodeEmptyStructs(all, path, options));
    return pages;
  }
  const SegmentLimits limits{.max_gap = MaxMiniBlockGap(all),
                             .max_sparse = MaxMiniBlockLevels(all),
                             .max_entries = kMaxFullZipEntries};
  const auto keeps = [&](const LevelSurvey& found) {
    return found.num_visible == 0 || found.max_gap <= limits.max_gap ||
           found.num_entries <= limits.max_sparse;
  };
  if (keeps(survey) && survey.num_entries <= limits.max_entries) {
    ARROW_ASSIGN_OR_RAISE(pages.emplace_back(),
                          PageEncoding(all, *path.type, Layout::kMiniBlock).Encode());
    return pages;
  }
  uint64_t begin = 0;
  for (const uint64_t num_rows : CutRows(nests, scheme, limits)) {
    const std::vector<Nest> slices = SliceNests(nests, begin, num_rows);
    const LevelSurvey found = SurveyLevels(slices, path);
    if (found.num_entries > limits.max_entries) {
      return InvalidInput("column '{}': row {} has {} entries, a page holds {}",
                          options.column_name, begin, found.num_entries, limits.max_entries);
    }
    const PageRows rows{slices, found, scheme, options.version};
    const Layout wanted = keeps(found) ? Layout::kMiniBlock : Layout::kFullZip;
    ARROW_ASSIGN_OR_RAISE(pages.emplace_back(), PageEncoding(rows, *path.type, wanted).Encode());
    begin += num_rows;
  }
  return pages;
}

}  // namespace glaive::encoding
