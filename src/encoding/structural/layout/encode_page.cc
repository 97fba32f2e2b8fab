#include "encoding/structural/layout/encode_page.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "encoding/codec/variable_block.h"
#include "encoding/plan/constant_value.h"
#include "encoding/plan/dictionary_builder.h"
#include "encoding/plan/fixed_codec.h"
#include "encoding/plan/row_segments.h"
#include "encoding/plan/variable_codec.h"
#include "encoding/structural/constant/encoder.h"
#include "encoding/structural/full_zip/encoder.h"
#include "encoding/structural/layout/fixed_size_list_values.h"
#include "encoding/structural/layout/value_plan.h"
#include "encoding/structural/mini_block/encoder.h"
#include "encoding/structural/sparse/encoder.h"

namespace glaive::encoding {
namespace {

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

template <typename Offset>
bool AreAllAsLong(std::span<const VariableRange<Offset>> ranges, uint64_t length) {
  return std::ranges::all_of(ranges, [&](const VariableRange<Offset>& range) {
    if (range.nulls != nullptr) return false;
    for (int64_t i = 0; i < range.length; ++i) {
      if (static_cast<uint64_t>(range.offsets[i + 1] - range.offsets[i]) != length) return false;
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
    ARROW_ASSIGN_OR_RAISE(const PagePlan plan, Plan());
    if (const auto* encode = std::get_if<EncodeWhole>(&plan)) return (*encode)();
    const auto& values = std::get<ValuePlan>(plan);
    const ValueRanges ranges(survey_, values);
    if (values.is_zipped()) return EncodeFullZipPage(rows_, *MakeZipped(values, ranges));
    return EncodeMiniBlockPage(rows_, *MakeChunks(values, ranges, survey_.num_visible),
                               std::nullopt);
  }

  // How values are said one by one; nothing where all of them have to be at hand.
  arrow::Result<std::optional<ValuePlan>> PlanValues() {
    ARROW_ASSIGN_OR_RAISE(PagePlan plan, Plan());
    if (auto* values = std::get_if<ValuePlan>(&plan)) return std::move(*values);
    return std::nullopt;
  }

 private:
  using EncodeWhole = std::function<arrow::Result<EncodedPage>()>;
  using PagePlan = std::variant<ValuePlan, EncodeWhole>;
  using Kind = ValuePlan::Kind;

  arrow::Result<PagePlan> Plan() {
    if (AllNull(survey_)) {
      return EncodeWhole([this] {
        return has_levels_of_2_3() ? EncodeSparsePage(rows_, std::nullopt) : EncodeNullPage(rows_);
      });
    }
    switch (type_.id()) {
      case arrow::Type::BOOL: return EncodeWhole([this] { return EncodeBooleans(); });
      case arrow::Type::STRING:
      case arrow::Type::BINARY: return PlanVariable<int32_t>();
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY: return PlanVariable<int64_t>();
      case arrow::Type::FIXED_SIZE_LIST: return PlanFixedSizeLists();
      default: break;
    }
    if (!arrow::is_fixed_width(type_.id()) || type_.id() == arrow::Type::DICTIONARY) {
      return Unsupported("values of type {} are not written", type_.ToString());
    }
    return PlanFixedWidth(
        static_cast<size_t>(static_cast<const arrow::FixedWidthType&>(type_).bit_width() / 8));
  }

  // From 2.3 on, levels go with values; of pages without any, positions say the structure.
  bool has_levels_of_2_3() const {
    return rows_.version >= FileVersion::k2_3 && rows_.scheme.types.size() > 1;
  }

  bool has_levels() const { return rows_.scheme.has_rep() || rows_.scheme.has_def(); }

  // Whether a page of one value is best written as such.
  bool PrefersConstant(uint64_t value_bytes, bool is_fixed = true) const {
    if (rows_.version >= FileVersion::k2_3) {
      return is_fixed && value_bytes <= kMaxInlineValue;
    }
    return rows_.version >= FileVersion::k2_2 &&
           (!has_levels() || survey_.num_entries <= kMaxConstantLevels ||
            value_bytes >= kMinFullZipBytes);
  }

  template <typename Value>
  EncodeWhole Constant(Value value, unsigned offset_bits) const {
    return [this, value = std::move(value), offset_bits] {
      return rows_.version >= FileVersion::k2_3 && has_levels()
                 ? EncodeSparsePage(rows_, value)
                 : EncodeConstantPage(rows_, value, offset_bits);
    };
  }

  arrow::Result<EncodedPage> EncodeBooleans() {
    if (PrefersConstant(1)) {
      if (const auto value = FindConstantBoolean(survey_)) {
        return Constant(*value, 0)();
      }
    }
    if (wanted_ == Layout::kFullZip) return EncodeFullZipPage(rows_, *MakeZippedBooleans(survey_));
    return EncodeMiniBlockPage(rows_, *MakeBooleanChunks(survey_), std::nullopt);
  }

  PagePlan PlanFixedWidth(size_t value_bytes) {
    const auto ranges = FixedRangesOf(survey_, static_cast<int64_t>(value_bytes));
    if (PrefersConstant(value_bytes)) {
      if (const auto value = FindConstant(ranges, value_bytes)) return Constant(*value, 0);
    }
    ValuePlan values = {.value_bytes = value_bytes, .description = Flat(8 * value_bytes)};
    if (wanted_ == Layout::kFullZip || value_bytes >= kMinFullZipBytes) {
      values.kind = Kind::kZippedFixed;
      return values;
    }
    FixedPlan plan = PlanFixed(ranges, survey_.num_visible, value_bytes);
    // Indices take up to 17 bits, so that packed values half as wide need no dictionary.
    const bool may_have_dictionary =
        value_bytes == 16 || (value_bytes == 8 && rows_.version >= FileVersion::k2_2 &&
                              plan.size_bytes > survey_.num_visible * value_bytes / 2);
    if (may_have_dictionary) {
      auto dictionary = BuildDictionary(ranges, survey_.num_visible, value_bytes);
      if (dictionary) {
        return EncodeWhole([this, description = std::move(values.description),
                            dictionary = std::move(*dictionary)] {
          return EncodeIndices(dictionary, EncodeFlatBlock(dictionary.items), description);
        });
      }
    }
    SetCodec(std::move(plan), values);
    return values;
  }

  static void SetCodec(FixedPlan plan, ValuePlan& values) {
    values.may_be_packed = std::has_single_bit(values.value_bytes) && values.value_bytes <= 8;
    values.kind = plan.codec == FixedCodec::kBitpacked ? Kind::kPackedChunks
                  : plan.codec == FixedCodec::kRuns    ? Kind::kRunChunks
                                                       : Kind::kFlatChunks;
    values.widths = std::move(plan.widths);
  }

  template <typename Offset>
  PagePlan PlanVariable() {
    constexpr unsigned kOffsetBits = 8 * sizeof(Offset);
    const auto ranges = VariableRangesOf<Offset>(survey_);
    const uint64_t longest = LongestOf<Offset>(ranges);
    if (PrefersConstant(longest, false)) {
      if (const auto value = FindConstant<Offset>(ranges)) return Constant(*value, kOffsetBits);
    }
    if (wanted_ == Layout::kMiniBlock) {
      auto dictionary = BuildDictionary<Offset>(ranges, survey_.num_visible);
      if (dictionary) {
        return EncodeWhole([this, dictionary = std::move(*dictionary)] {
          return EncodeIndices(dictionary, EncodeVariableBlock(dictionary.items, kOffsetBits),
                               wire::MakeEncoding(wire::VariableEncoding{Flat(kOffsetBits)}));
        });
      }
    }
    ValuePlan values = {.kind = Kind::kStringChunks, .large_offsets = sizeof(Offset) == 8};
    if (rows_.version >= FileVersion::k2_3 && longest > 0) {
      if (AreAllAsLong<Offset>(ranges, longest)) {
        values.offsets.equal_length = longest;
      } else if (longest < kMinFullZipBytes) {
        values.offsets.length_bits = static_cast<unsigned>(std::bit_width(longest));
      }
    }
    if (wanted_ == Layout::kFullZip || longest >= kMinFullZipBytes) {
      const auto scheme = ChooseCompression<Offset>(ranges, longest);
      values.kind = scheme ? Kind::kZippedCompressed : Kind::kZippedStrings;
      if (scheme) values.scheme = *scheme;
    }
    return values;
  }

  arrow::Result<EncodedPage> EncodeIndices(const DictionaryValues& dictionary,
                                           std::shared_ptr<arrow::Buffer> payload,
                                           wire::EncodingPtr description) const {
    const FixedRange indices{
        .values = reinterpret_cast<const std::byte*>(dictionary.indices.data()),
        .length = static_cast<int64_t>(dictionary.indices.size())};
    ValuePlan values = {.value_bytes = sizeof(uint32_t), .description = Flat(8 * sizeof(uint32_t))};
    SetCodec(PlanFixed({&indices, 1}, survey_.num_visible, sizeof(uint32_t)), values);
    ValueRanges ranges;
    ranges.fixed.push_back(indices);
    return EncodeMiniBlockPage(rows_, *MakeChunks(values, ranges, survey_.num_visible),
                               EncodedDictionary{.payload = std::move(payload),
                                                 .description = std::move(description),
                                                 .num_items = dictionary.items.size()});
  }

  arrow::Result<PagePlan> PlanFixedSizeLists() {
    ARROW_ASSIGN_OR_RAISE(FixedSizeListShape shape, FixedSizeListShapeOf(type_, survey_));
    const auto value_bytes = static_cast<size_t>(shape.value_bytes());
    const bool zipped = wanted_ == Layout::kFullZip || value_bytes >= kMinFullZipBytes;
    if (!shape.has_validity()) {
      return ValuePlan{.kind = zipped ? Kind::kZippedFixed : Kind::kFlatChunks,
                       .value_bytes = value_bytes,
                       .description = shape.Describe()};
    }
    return EncodeWhole([this, zipped, shape = std::move(shape)] {
      const auto ranges = FixedRangesOf(survey_, shape.value_bytes());
      if (zipped) {
        return EncodeFullZipPage(rows_, *MakeZippedFixedSizeLists(survey_, ranges, shape));
      }
      return EncodeMiniBlockPage(rows_, *MakeFixedSizeListChunks(survey_, ranges, shape),
                                 std::nullopt);
    });
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

arrow::Result<std::optional<ValuePlan>> PlanValues(const PageRows& rows,
                                                   const arrow::DataType& type) {
  return PageEncoding(rows, type, Layout::kMiniBlock).PlanValues();
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
  const LevelScheme scheme = MakeLevelScheme(path, survey.layers, options.elsewhere);
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
