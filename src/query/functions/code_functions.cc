#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"
#include "query/values/text_values.h"

// Numbers and bytes as texts of other digits, and back.
namespace glaive::query {
namespace {

using Arguments = std::vector<BoundPtr>;

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum class Encoding { kHex, kBase64, kBase64Padded };

arrow::Result<Encoding> TakeEncoding(std::string_view name, const BoundPtr& argument) {
  ARROW_ASSIGN_OR_RAISE(const std::string encoding, TakeLiteral(name, argument));
  if (encoding == "hex") return Encoding::kHex;
  if (encoding == "base64") return Encoding::kBase64;
  if (encoding == "base64pad") return Encoding::kBase64Padded;
  return InvalidInput("{}() knows the encodings 'hex', 'base64' and 'base64pad', not '{}'", name,
                      encoding);
}

// Texts or bytes.
arrow::Status TakeBytes(std::string_view name, BoundPtr* argument) {
  if (IsNull(*argument)) *argument = MakeCast(std::move(*argument), arrow::utf8());
  if ((*argument)->type()->id() == arrow::Type::FIXED_SIZE_BINARY) {
    *argument = MakeCast(std::move(*argument), arrow::binary());
  }
  if (arrow::is_base_binary_like((*argument)->type()->id())) return arrow::Status::OK();
  return InvalidInput("Function '{}' requires String or Binary, but received {}", name,
                      TypeName(*(*argument)->type()));
}

void AppendEncoded(std::string_view bytes, Encoding encoding, std::string* out) {
  if (encoding == Encoding::kHex) {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      out->push_back(kHexDigits[byte >> 4]);
      out->push_back(kHexDigits[byte & 0xF]);
    }
    return;
  }
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), 3))) {
    const size_t count = std::min<size_t>(bytes.size(), 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[i]) : 0u);
    }
    for (size_t i = 0; i < 4; ++i) {
      if (i <= count) {
        out->push_back(kBase64Digits[bits >> (18 - 6 * i) & 0x3F]);
      } else if (encoding == Encoding::kBase64Padded) {
        out->push_back('=');
      }
    }
  }
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool AppendHexDecoded(std::string_view text, std::string* out) {
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<char>(high << 4 | low));
  }
  return true;
}

// With all of the padding, some of it or none. Bits behind the last byte are zeros.
bool AppendBase64Decoded(std::string_view text, std::string* out) {
  const size_t size = text.size();
  while (text.ends_with('=') && size - text.size() < 2) text.remove_suffix(1);
  const size_t padding = size - text.size();
  if (text.size() % 4 == 1 || (padding > 0 && padding > (4 - text.size() % 4) % 4)) return false;
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    const size_t digit = kBase64Digits.find(c);
    if (digit == std::string_view::npos) return false;
    bits = (bits << 6 | static_cast<uint32_t>(digit)) & 0xFFFFFF;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    out->push_back(static_cast<char>(bits >> num_bits & 0xFF));
  }
  return (bits & ((1u << num_bits) - 1)) == 0;
}

arrow::Result<BoundPtr> BindEncode(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeBytes(name, &arguments[0]));
  ARROW_ASSIGN_OR_RAISE(const Encoding encoding, TakeEncoding(name, arguments[1]));
  const Kernel kernel = [encoding](std::span<const arrow::Datum> values,
                                   int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const TextValues bytes(values[0]);
    arrow::LargeStringBuilder builder;
    std::string text;
    for (int64_t i = 0; i < num_rows; ++i) {
      if (bytes.IsNull(i)) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
        continue;
      }
      text.clear();
      AppendEncoded(bytes[i], encoding, &text);
      ARROW_RETURN_NOT_OK(builder.Append(text));
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  const arrow::Type::type id = arguments[0]->type()->id();
  const bool is_large = id == arrow::Type::LARGE_STRING || id == arrow::Type::LARGE_BINARY;
  BoundPtr encoded = MakeKernel(kernel, {std::move(arguments[0])}, arrow::large_utf8());
  return is_large ? encoded : MakeCast(std::move(encoded), arrow::utf8());
}

arrow::Result<BoundPtr> BindDecode(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeBytes(name, &arguments[0]));
  ARROW_ASSIGN_OR_RAISE(const Encoding encoding, TakeEncoding(name, arguments[1]));
  const Kernel kernel = [encoding](std::span<const arrow::Datum> values,
                                   int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const TextValues texts(values[0]);
    arrow::LargeBinaryBuilder builder;
    std::string bytes;
    for (int64_t i = 0; i < num_rows; ++i) {
      if (texts.IsNull(i)) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
        continue;
      }
      bytes.clear();
      const bool is_hex = encoding == Encoding::kHex;
      if (!(is_hex ? AppendHexDecoded(texts[i], &bytes) : AppendBase64Decoded(texts[i], &bytes))) {
        return InvalidInput("decode(): '{}' is not {}", texts[i].substr(0, 100),
                            is_hex ? "hex" : "base64");
      }
      ARROW_RETURN_NOT_OK(builder.Append(bytes));
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  const arrow::Type::type id = arguments[0]->type()->id();
  const bool is_large = id == arrow::Type::LARGE_STRING || id == arrow::Type::LARGE_BINARY;
  BoundPtr decoded = MakeKernel(kernel, {std::move(arguments[0])}, arrow::large_binary());
  return is_large ? decoded : MakeCast(std::move(decoded), arrow::binary());
}

// Negative numbers are in two's complement of 64 bits.
arrow::Result<BoundPtr> BindToHex(std::string_view name, Arguments arguments) {
  const arrow::Type::type id = arguments[0]->type()->id();
  const bool is_unsigned = id == arrow::Type::UINT64;
  if (!is_unsigned) ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[0]));
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(values[0], num_rows));
    const auto* numbers = array->data()->GetValues<uint64_t>(1);
    arrow::StringBuilder builder;
    for (int64_t i = 0; i < num_rows; ++i) {
      if (array->IsNull(i)) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
      } else {
        ARROW_RETURN_NOT_OK(builder.Append(fmt::format("{:x}", numbers[i])));
      }
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  return MakeKernel(kernel, std::move(arguments), arrow::utf8());
}

constexpr std::array<Function, 3> kFunctions = {{
    {"encode", 2, 2, &BindEncode},
    {"decode", 2, 2, &BindDecode},
    {"to_hex", 1, 1, &BindToHex},
}};

}  // namespace

std::span<const Function> CodeFunctions() { return kFunctions; }

}  // namespace glaive::query
