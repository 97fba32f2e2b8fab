#include "file/page_description.h"

#include <span>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "wire/encodings_v2_1.h"

namespace glaive::file {
namespace {

std::string Describe(const wire::EncodingPtr& encoding);

std::string DescribeKind(const wire::UnknownEncoding& encoding) {
  return fmt::format("Unknown({})", encoding.number);
}
std::string DescribeKind(const wire::FlatEncoding& encoding) {
  return fmt::format("Flat({})", encoding.bits_per_value);
}
std::string DescribeKind(const wire::VariableEncoding& encoding) {
  return fmt::format("Variable({})", Describe(encoding.offsets));
}
std::string DescribeKind(const wire::ConstantEncoding& encoding) {
  return encoding.value ? fmt::format("Constant({} bytes)", encoding.value->size()) : "Constant";
}
std::string DescribeKind(const wire::OutOfLineBitpackingEncoding& encoding) {
  return fmt::format("OutOfLineBitpacking({}, {})", encoding.uncompressed_bits,
                     Describe(encoding.values));
}
std::string DescribeKind(const wire::InlineBitpackingEncoding& encoding) {
  return fmt::format("InlineBitpacking({})", encoding.uncompressed_bits);
}
std::string DescribeKind(const wire::FsstEncoding& encoding) {
  return fmt::format("Fsst({})", Describe(encoding.values));
}
std::string DescribeKind(const wire::DictionaryEncoding& encoding) {
  return fmt::format("Dictionary({}, {} of {})", Describe(encoding.indices), encoding.num_items,
                     Describe(encoding.items));
}
std::string DescribeKind(const wire::RleEncoding& encoding) {
  return fmt::format("Rle({}, {})", Describe(encoding.values), Describe(encoding.run_lengths));
}
std::string DescribeKind(const wire::ByteStreamSplitEncoding& encoding) {
  return fmt::format("ByteStreamSplit({})", Describe(encoding.values));
}
std::string DescribeKind(const wire::GeneralEncoding& encoding) {
  const auto scheme = [&]() -> std::string_view {
    switch (encoding.scheme) {
      case wire::CompressionScheme::kLz4: return "Lz4";
      case wire::CompressionScheme::kZstd: return "Zstd";
      default: return "General";
    }
  }();
  return fmt::format("{}({})", scheme, Describe(encoding.values));
}
std::string DescribeKind(const wire::FixedSizeListEncoding& encoding) {
  return fmt::format("FixedSizeList({} of {}{})", encoding.items_per_value,
                     Describe(encoding.values), encoding.has_validity ? ", validity" : "");
}
std::string DescribeKind(const wire::PackedStructEncoding& encoding) {
  return fmt::format("PackedStruct({} fields, {})", encoding.bits_per_value.size(),
                     Describe(encoding.values));
}

std::string Describe(const wire::EncodingPtr& encoding) {
  if (encoding == nullptr) return "nothing";
  return std::visit([](const auto& kind) { return DescribeKind(kind); }, encoding->kind);
}

std::string Levels(const wire::EncodingPtr& rep, const wire::EncodingPtr& def) {
  std::string text;
  if (rep != nullptr) text += ", rep " + Describe(rep);
  if (def != nullptr) text += ", def " + Describe(def);
  return text;
}

std::string DescribeLayout(const wire::UnknownLayout& layout, size_t /*num_buffers*/) {
  return fmt::format("UnknownLayout({})", layout.number);
}
std::string DescribeLayout(const wire::MiniBlockLayout& layout, size_t /*num_buffers*/) {
  std::string text = "MiniBlock(" + Describe(layout.value_compression);
  text += Levels(layout.rep_compression, layout.def_compression);
  if (layout.dictionary != nullptr) {
    text += fmt::format(", dictionary {} of {}", layout.num_dictionary_items,
                        Describe(layout.dictionary));
  }
  return text + ")";
}
// The value is in the layout, or in a buffer before or without the two buffers of levels.
std::string DescribeLayout(const wire::ConstantLayout& layout, size_t num_buffers) {
  std::string text = "Constant(";
  if (layout.inline_value) {
    text += fmt::format("{} bytes", layout.inline_value->size());
  } else {
    text += num_buffers % 2 == 1 ? "value in a buffer" : "null";
  }
  return text + (num_buffers >= 2 ? ", levels)" : ")");
}
std::string DescribeLayout(const wire::FullZipLayout& layout, size_t /*num_buffers*/) {
  std::string text = "FullZip(" + Describe(layout.value_compression);
  if (layout.bits_rep != 0) text += fmt::format(", rep {} bits", layout.bits_rep);
  if (layout.bits_def != 0) text += fmt::format(", def {} bits", layout.bits_def);
  return text + ")";
}

}  // namespace

std::string DescribePage(const wire::Page& page) {
  const auto layout = wire::ParsePageLayout(std::as_bytes(std::span(page.encoding.value)), {});
  if (!layout.ok()) return "Unreadable";
  return std::visit([&](const auto& kind) { return DescribeLayout(kind, page.buffers.size()); },
                    *layout);
}

}  // namespace glaive::file
