#include "file/page_description.h"

#include <span>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "wire/encodings_v2_0.h"
#include "wire/encodings_v2_1.h"
#include "wire/encodings_v2_3.h"

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

std::string DescribeKind(const wire::RangeEncoding& encoding) {
  return fmt::format("Range({} + {} i)", encoding.start, encoding.step);
}
std::string DescribeKind(const wire::DeltaEncoding& encoding) {
  return fmt::format("Delta({})", Describe(encoding.deltas));
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

std::string Describe(const wire::ArrayPtr& encoding);

std::string DescribeArray(const wire::UnknownArray& array) {
  return fmt::format("Unknown({})", array.number);
}
std::string DescribeArray(const wire::FlatArray& array) {
  const std::string scheme = array.scheme.empty() ? "" : ", " + array.scheme;
  return fmt::format("Flat({}{})", array.bits_per_value, scheme);
}
std::string DescribeArray(const wire::NoNullsArray& array) { return Describe(array.values); }
std::string DescribeArray(const wire::SomeNullsArray& array) {
  return fmt::format("Nullable({})", Describe(array.values));
}
std::string DescribeArray(const wire::AllNullsArray&) { return "Nulls"; }
std::string DescribeArray(const wire::FixedSizeListArray& array) {
  return fmt::format("FixedSizeList({} of {})", array.dimension, Describe(array.items));
}
std::string DescribeArray(const wire::ListArray& array) {
  return fmt::format("List({}, {} items)", Describe(array.offsets), array.num_items);
}
std::string DescribeArray(const wire::StructArray&) { return "Struct"; }
std::string DescribeArray(const wire::BinaryArray& array) {
  return fmt::format("Binary({}, {})", Describe(array.indices), Describe(array.bytes));
}
std::string DescribeArray(const wire::DictionaryArray& array) {
  return fmt::format("Dictionary({}, {} of {})", Describe(array.indices), array.num_items,
                     Describe(array.items));
}
std::string DescribeArray(const wire::FsstArray& array) {
  return fmt::format("Fsst({})", Describe(array.binary));
}
std::string DescribeArray(const wire::PackedStructArray& array) {
  return fmt::format("PackedStruct({} fields)", array.inner.size());
}
std::string DescribeArray(const wire::BitpackedArray& array) {
  return fmt::format("Bitpacked({} of {})", array.compressed_bits, array.uncompressed_bits);
}
std::string DescribeArray(const wire::BitpackedForNonNegArray& array) {
  return fmt::format("BitpackedForNonNeg({} of {})", array.compressed_bits,
                     array.uncompressed_bits);
}
std::string DescribeArray(const wire::FixedSizeBinaryArray& array) {
  return fmt::format("FixedSizeBinary({}, {})", array.byte_width, Describe(array.bytes));
}
std::string DescribeArray(const wire::ConstantArray& array) {
  return fmt::format("Constant({} bytes)", array.value.size());
}

std::string Describe(const wire::ArrayPtr& encoding) {
  return std::visit([](const auto& kind) { return DescribeArray(kind); }, encoding->kind);
}

std::string DescribePlanar(const wire::PlanarLayout& layout, size_t num_buffers) {
  const auto dense = wire::ToPageLayout(layout, {});
  if (dense.ok()) {
    return std::visit([&](const auto& kind) { return DescribeLayout(kind, num_buffers); }, *dense);
  }
  if (!std::holds_alternative<wire::SparseStructure>(layout.structure)) return "Unreadable";
  if (const auto* chunked = std::get_if<wire::ChunkedValues>(&layout.values)) {
    return "Sparse(MiniBlock(" + Describe(chunked->compression) + "))";
  }
  if (const auto* zipped = std::get_if<wire::ZippedValues>(&layout.values)) {
    return "Sparse(FullZip(" + Describe(zipped->compression) + "))";
  }
  if (const auto* constant = std::get_if<wire::ConstantValue>(&layout.values)) {
    return fmt::format("Sparse(Constant({} bytes))", constant->scalar.size());
  }
  if (const auto* indexed = std::get_if<wire::IndexedValues>(&layout.values)) {
    return fmt::format("Sparse(Indexed({} of {}))", indexed->items.num_items,
                       Describe(indexed->items.compression));
  }
  return "Sparse(Constant(null))";
}

}  // namespace

std::string DescribePage(const wire::Page& page) {
  const auto message = std::as_bytes(std::span(page.encoding.value));
  if (page.encoding.type_url.ends_with(".ArrayEncoding")) {  // of 2.0
    const auto array = wire::ParseArrayEncoding(message, {});
    return array.ok() ? Describe(*array) : "Unreadable";
  }
  if (page.encoding.type_url == wire::PageTypeUrl(FileVersion::k2_3)) {
    const auto planar = wire::ParsePlanarLayout(message, {});
    return planar.ok() ? DescribePlanar(*planar, page.buffers.size()) : "Unreadable";
  }
  const auto layout = wire::ParsePageLayout(message, {});
  if (!layout.ok()) return "Unreadable";
  return std::visit([&](const auto& kind) { return DescribeLayout(kind, page.buffers.size()); },
                    *layout);
}

}  // namespace glaive::file
