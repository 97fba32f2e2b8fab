#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/too_large.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"
#include "query/values/letter_case.h"
#include "query/values/text_values.h"
#include "query/values/utf8.h"

namespace glaive::query {
namespace {

using Arguments = std::vector<BoundPtr>;
using TypePtr = std::shared_ptr<arrow::DataType>;

// No function makes more of a batch's rows: who asked asks for fewer (core/pieces.h).
constexpr size_t kMaxTextBytes = size_t{64} << 20;
// Nor of a single one: texts are for people.
constexpr size_t kMaxTextOfRow = size_t{1} << 30;

// int64 values of an array, or of a scalar that stands for all rows.
class Numbers {
 public:
  static arrow::Result<Numbers> Make(const arrow::Datum& value, int64_t num_rows) {
    ARROW_ASSIGN_OR_RAISE(auto array, ToArray(value, num_rows));
    return Numbers(std::static_pointer_cast<arrow::Int64Array>(std::move(array)));
  }
  bool IsNull(int64_t row) const { return array_->IsNull(row); }
  int64_t operator[](int64_t row) const { return array_->Value(row); }

 private:
  explicit Numbers(std::shared_ptr<arrow::Int64Array> array) : array_(std::move(array)) {}
  std::shared_ptr<arrow::Int64Array> array_;
};

template <typename Builder, typename Fill>
arrow::Result<arrow::Datum> BuildText(int64_t num_rows, const Fill& fill) {
  Builder builder;
  std::string text;
  size_t total = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    text.clear();
    ARROW_ASSIGN_OR_RAISE(const bool is_valid, fill(i, &text));
    total += text.size();
    if (text.size() > kMaxTextOfRow) {
      return InvalidInput("a function makes more than {} bytes of text of a row", kMaxTextOfRow);
    }
    if (total > kMaxTextBytes && num_rows > 1) {
      return TooLarge("a function makes more than {} bytes of text of {} rows", kMaxTextBytes,
                      i + 1);
    }
    ARROW_RETURN_NOT_OK(is_valid ? builder.Append(text) : builder.AppendNull());
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

// One text of each row: `fill` appends it and returns true, or false for null.
template <typename Fill>
arrow::Result<arrow::Datum> Texts(const TypePtr& type, int64_t num_rows, const Fill& fill) {
  if (type->id() == arrow::Type::LARGE_STRING) {
    return BuildText<arrow::LargeStringBuilder>(num_rows, fill);
  }
  return BuildText<arrow::StringBuilder>(num_rows, fill);
}

// A kernel of texts to texts; null where an argument is. `map` appends to its last argument.
template <typename Map>
BoundPtr MapTexts(Arguments arguments, const TypePtr& type, const Map& map) {
  const Kernel kernel = [type, map](std::span<const arrow::Datum> values, int64_t num_rows) {
    const std::vector<TextValues> texts(values.begin(), values.end());
    return Texts(type, num_rows, [&](int64_t row, std::string* out) -> arrow::Result<bool> {
      for (const TextValues& text : texts) {
        if (text.IsNull(row)) return false;
      }
      map(texts, row, out);
      return true;
    });
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

arrow::Status TakeTexts(std::string_view name, Arguments& arguments) {
  for (BoundPtr& argument : arguments) ARROW_RETURN_NOT_OK(TakeText(name, &argument));
  return arrow::Status::OK();
}

arrow::Result<BoundPtr> BindCase(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[0]));
  TypePtr type = arguments[0]->type();
  const auto append = name == "upper"   ? &AppendUpper
                      : name == "lower" ? &AppendLower
                                        : &AppendCapitalized;
  return MapTexts(
      std::move(arguments), type,
      [append](const auto& texts, int64_t row, std::string* out) { append(texts[0][row], out); });
}

arrow::Result<BoundPtr> BindReverse(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakePrinted(name, &arguments[0]));
  TypePtr type = arguments[0]->type();
  return MakeCall("utf8_reverse", std::move(arguments), std::move(type));
}

TypePtr OffsetType(const BoundPtr& text) {
  return text->type()->id() == arrow::Type::LARGE_STRING ? arrow::int64() : arrow::int32();
}

arrow::Result<BoundPtr> BindLength(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakePrinted(name, &arguments[0]));
  TypePtr type = OffsetType(arguments[0]);
  return MakeCall("utf8_length", std::move(arguments), std::move(type));
}

arrow::Result<BoundPtr> BindByteLength(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[0]));
  TypePtr type = OffsetType(arguments[0]);
  BoundPtr bytes = MakeCall("binary_length", std::move(arguments), type);
  if (name != "bit_length") return bytes;
  BoundPtr eight = MakeCast(MakeLiteral(arrow::MakeScalar(8)), type);
  return MakeCall("multiply", {std::move(bytes), std::move(eight)}, type);
}

arrow::Result<BoundPtr> BindTrim(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTexts(name, arguments));
  const bool left = name != "rtrim";
  const bool right = name != "ltrim";
  const TypePtr type = arguments[0]->type();
  return MapTexts(std::move(arguments), type,
                  [=](const auto& texts, int64_t row, std::string* out) {
                    std::string_view text = texts[0][row];
                    const std::string_view set = texts.size() > 1 ? texts[1][row] : " ";
                    const auto in_set = [&](std::string_view character) {
                      return set.find(character) != std::string_view::npos;
                    };
                    while (left && !text.empty() && in_set(text.substr(0, CharacterSize(text)))) {
                      text.remove_prefix(CharacterSize(text));
                    }
                    while (right && !text.empty()) {
                      size_t begin = text.size() - 1;
                      while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
                        --begin;
                      if (!in_set(text.substr(begin))) break;
                      text = text.substr(0, begin);
                    }
                    out->append(text);
                  });
}

arrow::Result<BoundPtr> BindReplace(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTexts(name, arguments));
  const TypePtr type = arguments[0]->type();
  return MapTexts(std::move(arguments), type, [](const auto& texts, int64_t row, std::string* out) {
    std::string_view text = texts[0][row];
    const std::string_view from = texts[1][row];
    const std::string_view to = texts[2][row];
    if (from.empty()) {  // between all characters
      out->append(to);
      while (!text.empty()) {
        out->append(text.substr(0, CharacterSize(text))).append(to);
        text.remove_prefix(CharacterSize(text));
      }
      return;
    }
    for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
      out->append(text.substr(0, at)).append(to);
      text.remove_prefix(at + from.size());
    }
    out->append(text);
  });
}

arrow::Result<BoundPtr> BindTranslate(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTexts(name, arguments));
  const TypePtr type = arguments[0]->type();
  return MapTexts(std::move(arguments), type, [](const auto& texts, int64_t row, std::string* out) {
    std::string_view text = texts[0][row];
    while (!text.empty()) {
      const std::string_view character = text.substr(0, CharacterSize(text));
      text.remove_prefix(character.size());
      const size_t found = texts[1][row].find(character);
      if (found == std::string_view::npos) {
        out->append(character);
        continue;
      }
      const std::string_view to = texts[2][row];
      const std::string_view rest =
          to.substr(CharacterOffset(to, CountCharacters(texts[1][row].substr(0, found))));
      if (!rest.empty()) out->append(rest.substr(0, CharacterSize(rest)));
    }
  });
}

// Nulls are nothing, so that only NULLs alone are empty.
arrow::Result<BoundPtr> BindConcat(std::string_view name, Arguments arguments) {
  TypePtr type = arrow::utf8();
  for (BoundPtr& argument : arguments) {
    ARROW_RETURN_NOT_OK(TakePrinted(name, &argument));
    if (argument->type()->id() == arrow::Type::LARGE_STRING) type = argument->type();
  }
  const bool has_separator = name == "concat_ws";
  const Kernel kernel = [type, has_separator](std::span<const arrow::Datum> values,
                                              int64_t num_rows) {
    const std::vector<TextValues> texts(values.begin(), values.end());
    return Texts(type, num_rows, [&](int64_t row, std::string* out) -> arrow::Result<bool> {
      if (has_separator && texts[0].IsNull(row)) return false;
      bool first = true;
      for (size_t i = has_separator ? 1 : 0; i < texts.size(); ++i) {
        if (texts[i].IsNull(row)) continue;
        if (has_separator && !std::exchange(first, false)) out->append(texts[0][row]);
        out->append(texts[i][row]);
      }
      return true;
    });
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

arrow::Result<BoundPtr> BindTest(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTexts(name, arguments));
  const Kernel kernel = [name = std::string(name)](
                            std::span<const arrow::Datum> values,
                            int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const TextValues texts(values[0]);
    const TextValues parts(values[1]);
    arrow::BooleanBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
    for (int64_t i = 0; i < num_rows; ++i) {
      if (texts.IsNull(i) || parts.IsNull(i)) {
        builder.UnsafeAppendNull();
      } else if (name == "contains") {
        builder.UnsafeAppend(texts[i].find(parts[i]) != std::string_view::npos);
      } else {
        builder.UnsafeAppend(name == "starts_with" ? texts[i].starts_with(parts[i])
                                                   : texts[i].ends_with(parts[i]));
      }
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  return MakeKernel(kernel, std::move(arguments), arrow::boolean());
}

// A number of each row.
template <typename Count>
BoundPtr CountRows(Arguments arguments, const TypePtr& type, const Count& count) {
  const Kernel kernel = [type, count](std::span<const arrow::Datum> values,
                                      int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const std::vector<TextValues> texts(values.begin(), values.end());
    arrow::Int64Builder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
    for (int64_t i = 0; i < num_rows; ++i) {
      if (std::ranges::any_of(texts, [i](const TextValues& text) { return text.IsNull(i); })) {
        builder.UnsafeAppendNull();
      } else {
        builder.UnsafeAppend(count(texts, i));
      }
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::compute::Cast(arrow::Datum(std::move(result)), type);
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

arrow::Result<BoundPtr> BindPosition(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTexts(name, arguments));
  const TypePtr type = OffsetType(arguments[0]);
  return CountRows(std::move(arguments), type, [](const auto& texts, int64_t row) -> int64_t {
    const size_t found = texts[0][row].find(texts[1][row]);
    if (found == std::string_view::npos) return 0;
    return static_cast<int64_t>(CountCharacters(texts[0][row].substr(0, found))) + 1;
  });
}

arrow::Result<BoundPtr> BindAscii(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTexts(name, arguments));
  return CountRows(std::move(arguments), arrow::int32(), [](const auto& texts, int64_t row) {
    const std::string_view text = texts[0][row];
    if (text.empty()) return int64_t{0};
    const size_t size = CharacterSize(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    int64_t code = size == 1 ? lead : lead & (0xFF >> (size + 1));
    for (size_t i = 1; i < size; ++i) code = code << 6 | (text[i] & 0x3F);
    return code;
  });
}

// The characters [from, from + length) of a text; what lies outside is not there.
std::string_view Characters(std::string_view text, int64_t from, int64_t length) {
  const int64_t begin = std::max<int64_t>(from, 0);
  int64_t end = 0;
  if (length <= 0 || __builtin_add_overflow(from, length, &end)) end = length <= 0 ? 0 : INT64_MAX;
  if (end <= begin) return {};
  const std::string_view rest = text.substr(CharacterOffset(text, static_cast<size_t>(begin)));
  return rest.substr(0, CharacterOffset(rest, static_cast<size_t>(end - begin)));
}

// A text and one or two numbers, or another text last.
struct Cut {
  const TextValues& text;
  const std::vector<Numbers>& numbers;
  const TextValues* fill;
};
using CutRow = arrow::Result<bool> (*)(const Cut& cut, int64_t row, std::string* out);

arrow::Result<BoundPtr> BindCut(std::string_view name, Arguments arguments, CutRow cut_row,
                                size_t num_numbers) {
  const bool prints = name == "left" || name == "right" || name == "lpad" || name == "rpad";
  ARROW_RETURN_NOT_OK(prints ? TakePrinted(name, &arguments[0]) : TakeText(name, &arguments[0]));
  num_numbers = std::min(num_numbers, arguments.size() - 1);
  for (size_t i = 1; i <= num_numbers; ++i) {
    ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[i]));
  }
  const bool has_fill = arguments.size() > num_numbers + 1;
  if (has_fill) ARROW_RETURN_NOT_OK(TakeText(name, &arguments.back()));
  const TypePtr type = arguments[0]->type();
  const Kernel kernel = [type, cut_row, num_numbers, has_fill](
                            std::span<const arrow::Datum> values,
                            int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const TextValues text(values[0]);
    std::vector<Numbers> numbers;
    for (size_t i = 1; i <= num_numbers; ++i) {
      ARROW_ASSIGN_OR_RAISE(auto made, Numbers::Make(values[i], num_rows));
      numbers.push_back(std::move(made));
    }
    const std::optional<TextValues> fill =
        has_fill ? std::optional<TextValues>(values.back()) : std::nullopt;
    const Cut cut{text, numbers, fill ? &*fill : nullptr};
    return Texts(type, num_rows, [&](int64_t row, std::string* out) -> arrow::Result<bool> {
      if (text.IsNull(row) || (fill && fill->IsNull(row))) return false;
      for (const Numbers& number : numbers) {
        if (number.IsNull(row)) return false;
      }
      return cut_row(cut, row, out);
    });
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

arrow::Result<BoundPtr> BindSubstring(std::string_view name, Arguments arguments) {
  return BindCut(
      name, std::move(arguments),
      [](const Cut& cut, int64_t row, std::string* out) -> arrow::Result<bool> {
        const int64_t from = std::max(cut.numbers[0][row], -INT64_MAX) - 1;
        const int64_t length = cut.numbers.size() > 1 ? cut.numbers[1][row] : INT64_MAX;
        if (length < 0) return InvalidInput("negative substring length not allowed: {}", length);
        out->append(Characters(cut.text[row], from, length));
        return true;
      },
      2);
}

arrow::Result<BoundPtr> BindLeft(std::string_view name, Arguments arguments) {
  return BindCut(
      name, std::move(arguments),
      [](const Cut& cut, int64_t row, std::string* out) -> arrow::Result<bool> {
        const std::string_view text = cut.text[row];
        int64_t count = cut.numbers[0][row];
        if (count < 0) count = static_cast<int64_t>(CountCharacters(text)) + count;
        out->append(Characters(text, 0, count));
        return true;
      },
      1);
}

arrow::Result<BoundPtr> BindRight(std::string_view name, Arguments arguments) {
  return BindCut(
      name, std::move(arguments),
      [](const Cut& cut, int64_t row, std::string* out) -> arrow::Result<bool> {
        const std::string_view text = cut.text[row];
        const auto size = static_cast<int64_t>(CountCharacters(text));
        const int64_t count = cut.numbers[0][row];
        const int64_t from =
            count < 0 ? (count < -size ? size : -count) : size - std::min(count, size);
        out->append(Characters(text, from, INT64_MAX));
        return true;
      },
      1);
}

arrow::Result<bool> PadRow(const Cut& cut, int64_t row, bool left, std::string* out) {
  const std::string_view text = cut.text[row];
  const int64_t length = cut.numbers[0][row];
  const std::string_view fill = cut.fill != nullptr ? (*cut.fill)[row] : " ";
  if (length > static_cast<int64_t>(kMaxTextOfRow)) {
    return InvalidInput("padding to {} characters is too much", length);
  }
  const auto size = static_cast<int64_t>(CountCharacters(text));
  if (length <= size || fill.empty()) {
    out->append(Characters(text, 0, std::min(length, size)));
    return true;
  }
  if (!left) out->append(text);
  std::string_view rest = fill;
  for (int64_t i = size; i < length; ++i) {
    if (rest.empty()) rest = fill;
    out->append(rest.substr(0, CharacterSize(rest)));
    rest.remove_prefix(CharacterSize(rest));
  }
  if (left) out->append(text);
  return true;
}

arrow::Result<BoundPtr> BindPad(std::string_view name, Arguments arguments) {
  if (name == "lpad") {
    return BindCut(
        name, std::move(arguments),
        [](const Cut& cut, int64_t row, std::string* out) { return PadRow(cut, row, true, out); },
        1);
  }
  return BindCut(
      name, std::move(arguments),
      [](const Cut& cut, int64_t row, std::string* out) { return PadRow(cut, row, false, out); },
      1);
}

arrow::Result<BoundPtr> BindRepeat(std::string_view name, Arguments arguments) {
  return BindCut(
      name, std::move(arguments),
      [](const Cut& cut, int64_t row, std::string* out) -> arrow::Result<bool> {
        const std::string_view text = cut.text[row];
        const auto count = static_cast<uint64_t>(std::max<int64_t>(cut.numbers[0][row], 0));
        if (!text.empty() && count > kMaxTextOfRow / text.size()) {
          return InvalidInput("repeating a text of {} bytes {} times is too much", text.size(),
                              count);
        }
        if (text.empty()) return true;
        for (uint64_t i = 0; i < count; ++i) out->append(text);
        return true;
      },
      1);
}

arrow::Result<BoundPtr> BindSplitPart(std::string_view name, Arguments arguments) {
  std::swap(arguments[1], arguments[2]);
  return BindCut(
      name, std::move(arguments),
      [](const Cut& cut, int64_t row, std::string* out) -> arrow::Result<bool> {
        const std::string_view text = cut.text[row];
        const std::string_view mark = (*cut.fill)[row];
        int64_t part = cut.numbers[0][row];
        if (part == 0) return InvalidInput("field position must not be zero");
        std::vector<std::string_view> parts;
        size_t begin = 0;
        while (!mark.empty()) {
          const size_t end = text.find(mark, begin);
          if (end == std::string_view::npos) break;
          parts.push_back(text.substr(begin, end - begin));
          begin = end + mark.size();
        }
        parts.push_back(text.substr(begin));
        const auto count = static_cast<int64_t>(parts.size());
        if (part < 0) part = count + 1 + std::max(part, -count - 1);
        if (part >= 1 && part <= count) out->append(parts[static_cast<size_t>(part - 1)]);
        return true;
      },
      1);
}

constexpr std::array<Function, 32> kFunctions = {{
    {"initcap", 1, 1, &BindCase},
    {"lower", 1, 1, &BindCase},
    {"upper", 1, 1, &BindCase},
    {"reverse", 1, 1, &BindReverse},
    {"length", 1, 1, &BindLength},
    {"char_length", 1, 1, &BindLength},
    {"character_length", 1, 1, &BindLength},
    {"octet_length", 1, 1, &BindByteLength},
    {"bit_length", 1, 1, &BindByteLength},
    {"btrim", 1, 2, &BindTrim},
    {"trim", 1, 2, &BindTrim},
    {"ltrim", 1, 2, &BindTrim},
    {"rtrim", 1, 2, &BindTrim},
    {"replace", 3, 3, &BindReplace},
    {"translate", 3, 3, &BindTranslate},
    {"concat", 1, -1, &BindConcat},
    {"concat_ws", 2, -1, &BindConcat},
    {"starts_with", 2, 2, &BindTest},
    {"ends_with", 2, 2, &BindTest},
    {"contains", 2, 2, &BindTest},
    {"strpos", 2, 2, &BindPosition},
    {"instr", 2, 2, &BindPosition},
    {"position", 2, 2, &BindPosition},
    {"ascii", 1, 1, &BindAscii},
    {"substr", 2, 3, &BindSubstring},
    {"substring", 2, 3, &BindSubstring},
    {"left", 2, 2, &BindLeft},
    {"right", 2, 2, &BindRight},
    {"lpad", 2, 3, &BindPad},
    {"rpad", 2, 3, &BindPad},
    {"repeat", 2, 2, &BindRepeat},
    {"split_part", 3, 3, &BindSplitPart},
}};

}  // namespace

std::span<const Function> TextFunctions() { return kFunctions; }

}  // namespace glaive::query
