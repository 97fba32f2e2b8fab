#include "wire/encodings_v2_1.h"

#include <string_view>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "core/write_once.h"
#include "wire/message.h"

namespace glaive::wire {
namespace {

// Deeper than any description that makes sense (a general wrap around fixed-size lists of
// fixed-size lists ...), and far from where recursion would end the stack.
constexpr int kMaxDepth = 32;

// Reads the messages that nest. What it cannot say by protozero's exceptions (depth, features that
// must not be skipped) is kept as the first such fault; parsing goes on to the end, harmlessly.
class EncodingParser {
 public:
  explicit EncodingParser(Location where) : where_(where) {}

  PageLayout ReadPageLayout(FieldReader& reader);
  void ReadKind(FieldReader& reader, CompressiveEncoding& encoding);
  const arrow::Status& fault() const { return fault_; }

 private:
  EncodingPtr ReadEncoding(FieldReader& reader);

  FlatEncoding ReadFlat(FieldReader fields);
  VariableEncoding ReadVariable(FieldReader fields);
  ConstantEncoding ReadConstant(FieldReader fields);
  OutOfLineBitpackingEncoding ReadOutOfLineBitpacking(FieldReader fields);
  InlineBitpackingEncoding ReadInlineBitpacking(FieldReader fields);
  FsstEncoding ReadFsst(FieldReader fields);
  DictionaryEncoding ReadDictionary(FieldReader fields);
  RleEncoding ReadRle(FieldReader fields);
  ByteStreamSplitEncoding ReadByteStreamSplit(FieldReader fields);
  GeneralEncoding ReadGeneral(FieldReader fields);
  FixedSizeListEncoding ReadFixedSizeList(FieldReader fields);
  PackedStructEncoding ReadPackedStruct(FieldReader fields);
  RangeEncoding ReadRange(FieldReader fields);
  DeltaEncoding ReadDelta(FieldReader fields);

  MiniBlockLayout ReadMiniBlock(FieldReader fields);
  ConstantLayout ReadConstantLayout(FieldReader fields);
  FullZipLayout ReadFullZip(FieldReader fields);

  // Flat, variable and inline bit-packing have a field for a compression of their buffer. No
  // writer sets it; to skip it would be to take compressed bytes for values.
  void RefuseBufferCompression(FieldReader& reader, std::string_view encoding) {
    reader.skip();
    Fail(Unsupported(where_, "{} encoding with a buffer compression of its own", encoding));
  }
  void Fail(arrow::Status fault) {
    if (fault_.ok()) fault_ = std::move(fault);
  }

  Location where_;
  int depth_ = 0;
  arrow::Status fault_;
};

const EncodingPtr& NoEncoding() {
  static constinit ProcessWide<const EncodingPtr> none;
  return none.Get(
      [] { return std::make_unique<const EncodingPtr>(MakeEncoding(UnknownEncoding{})); });
}

void ReadLayers(FieldReader& reader, std::vector<RepDefLayer>& layers) {
  const auto add = [&](auto value) { layers.push_back(static_cast<RepDefLayer>(value)); };
  if (reader.wire_type() == kVarint) return add(reader.get_uint32());
  for (const uint32_t value : reader.get_packed_uint32()) add(value);
}

EncodingPtr EncodingParser::ReadEncoding(FieldReader& reader) {
  const auto view = reader.get_view();
  if (depth_ == kMaxDepth) {
    Fail(Corrupt(where_, "encodings nest deeper than {} levels", kMaxDepth));
    return NoEncoding();
  }
  ++depth_;
  CompressiveEncoding encoding;
  FieldReader fields(view);
  while (fields.next()) ReadKind(fields, encoding);
  --depth_;
  return std::make_shared<const CompressiveEncoding>(std::move(encoding));
}

void EncodingParser::ReadKind(FieldReader& reader, CompressiveEncoding& encoding) {
  if (reader.wire_type() != kLengthDelimited) return reader.skip();
  const uint32_t number = reader.tag();
  const FieldReader fields(reader.get_view());
  switch (number) {
    case 1: encoding.kind = ReadFlat(fields); break;
    case 2: encoding.kind = ReadVariable(fields); break;
    case 3: encoding.kind = ReadConstant(fields); break;
    case 4: encoding.kind = ReadOutOfLineBitpacking(fields); break;
    case 5: encoding.kind = ReadInlineBitpacking(fields); break;
    case 6: encoding.kind = ReadFsst(fields); break;
    case 7: encoding.kind = ReadDictionary(fields); break;
    case 8: encoding.kind = ReadRle(fields); break;
    case 9: encoding.kind = ReadByteStreamSplit(fields); break;
    case 10: encoding.kind = ReadGeneral(fields); break;
    case 11: encoding.kind = ReadFixedSizeList(fields); break;
    case 12: encoding.kind = ReadPackedStruct(fields); break;
    case 14: encoding.kind = ReadRange(fields); break;
    case 15: encoding.kind = ReadDelta(fields); break;
    default: encoding.kind = UnknownEncoding{number};
  }
}

FlatEncoding EncodingParser::ReadFlat(FieldReader fields) {
  FlatEncoding flat;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): flat.bits_per_value = fields.get_uint64(); break;
      case tag_and_type(2, kLengthDelimited): RefuseBufferCompression(fields, "flat"); break;
      default: fields.skip();
    }
  }
  return flat;
}

VariableEncoding EncodingParser::ReadVariable(FieldReader fields) {
  VariableEncoding variable{NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): variable.offsets = ReadEncoding(fields); break;
      case tag_and_type(2, kLengthDelimited): RefuseBufferCompression(fields, "variable"); break;
      default: fields.skip();
    }
  }
  return variable;
}

ConstantEncoding EncodingParser::ReadConstant(FieldReader fields) {
  ConstantEncoding constant;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): constant.value = fields.get_string(); break;
      default: fields.skip();
    }
  }
  return constant;
}

OutOfLineBitpackingEncoding EncodingParser::ReadOutOfLineBitpacking(FieldReader fields) {
  OutOfLineBitpackingEncoding packed{0, NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): packed.uncompressed_bits = fields.get_uint64(); break;
      case tag_and_type(3, kLengthDelimited): packed.values = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return packed;
}

InlineBitpackingEncoding EncodingParser::ReadInlineBitpacking(FieldReader fields) {
  InlineBitpackingEncoding packed;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): packed.uncompressed_bits = fields.get_uint64(); break;
      case tag_and_type(2, kLengthDelimited):
        RefuseBufferCompression(fields, "inline bit-packing");
        break;
      default: fields.skip();
    }
  }
  return packed;
}

FsstEncoding EncodingParser::ReadFsst(FieldReader fields) {
  FsstEncoding fsst{{}, NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): fsst.symbol_table = fields.get_string(); break;
      case tag_and_type(2, kLengthDelimited): fsst.values = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return fsst;
}

DictionaryEncoding EncodingParser::ReadDictionary(FieldReader fields) {
  DictionaryEncoding dictionary{NoEncoding(), NoEncoding(), 0};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): dictionary.indices = ReadEncoding(fields); break;
      case tag_and_type(2, kLengthDelimited): dictionary.items = ReadEncoding(fields); break;
      case tag_and_type(3, kVarint): dictionary.num_items = fields.get_uint32(); break;
      default: fields.skip();
    }
  }
  return dictionary;
}

RleEncoding EncodingParser::ReadRle(FieldReader fields) {
  RleEncoding rle{NoEncoding(), NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): rle.values = ReadEncoding(fields); break;
      case tag_and_type(2, kLengthDelimited): rle.run_lengths = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return rle;
}

ByteStreamSplitEncoding EncodingParser::ReadByteStreamSplit(FieldReader fields) {
  ByteStreamSplitEncoding split{NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): split.values = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return split;
}

GeneralEncoding EncodingParser::ReadGeneral(FieldReader fields) {
  GeneralEncoding general;
  general.values = NoEncoding();
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): {
        FieldReader compression(fields.get_view());
        while (compression.next()) {
          switch (compression.tag_and_type()) {
            case tag_and_type(1, kVarint):
              general.scheme = static_cast<CompressionScheme>(compression.get_uint32());
              break;
            case tag_and_type(2, kVarint): general.level = compression.get_int32(); break;
            default: compression.skip();
          }
        }
        break;
      }
      case tag_and_type(3, kLengthDelimited): general.values = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return general;
}

FixedSizeListEncoding EncodingParser::ReadFixedSizeList(FieldReader fields) {
  FixedSizeListEncoding list{0, NoEncoding(), false};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): list.items_per_value = fields.get_uint64(); break;
      case tag_and_type(2, kLengthDelimited): list.values = ReadEncoding(fields); break;
      case tag_and_type(3, kVarint): list.has_validity = fields.get_bool(); break;
      default: fields.skip();
    }
  }
  return list;
}

PackedStructEncoding EncodingParser::ReadPackedStruct(FieldReader fields) {
  PackedStructEncoding packed{{}, NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): packed.bits_per_value.push_back(fields.get_uint64()); break;
      case tag_and_type(1, kLengthDelimited):
        for (const uint64_t bits : fields.get_packed_uint64())
          packed.bits_per_value.push_back(bits);
        break;
      case tag_and_type(2, kLengthDelimited): packed.values = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return packed;
}

RangeEncoding EncodingParser::ReadRange(FieldReader fields) {
  RangeEncoding range;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): range.uncompressed_bits = fields.get_uint64(); break;
      case tag_and_type(2, kVarint): range.start = fields.get_uint64(); break;
      case tag_and_type(3, kVarint): range.step = fields.get_uint64(); break;
      default: fields.skip();
    }
  }
  return range;
}

DeltaEncoding EncodingParser::ReadDelta(FieldReader fields) {
  DeltaEncoding delta{0, 0, NoEncoding()};
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): delta.uncompressed_bits = fields.get_uint64(); break;
      case tag_and_type(2, kVarint): delta.base = fields.get_uint64(); break;
      case tag_and_type(3, kLengthDelimited): delta.deltas = ReadEncoding(fields); break;
      default: fields.skip();
    }
  }
  return delta;
}

MiniBlockLayout EncodingParser::ReadMiniBlock(FieldReader fields) {
  MiniBlockLayout layout;
  layout.value_compression = NoEncoding();
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited): layout.rep_compression = ReadEncoding(fields); break;
      case tag_and_type(2, kLengthDelimited): layout.def_compression = ReadEncoding(fields); break;
      case tag_and_type(3, kLengthDelimited):
        layout.value_compression = ReadEncoding(fields);
        break;
      case tag_and_type(4, kLengthDelimited): layout.dictionary = ReadEncoding(fields); break;
      case tag_and_type(5, kVarint): layout.num_dictionary_items = fields.get_uint64(); break;
      case tag_and_type(6, kVarint):
      case tag_and_type(6, kLengthDelimited): ReadLayers(fields, layout.layers); break;
      case tag_and_type(7, kVarint): layout.num_buffers = fields.get_uint64(); break;
      case tag_and_type(8, kVarint): layout.repetition_index_depth = fields.get_uint32(); break;
      case tag_and_type(9, kVarint): layout.num_items = fields.get_uint64(); break;
      case tag_and_type(10, kVarint): layout.has_large_chunk = fields.get_bool(); break;
      default: fields.skip();
    }
  }
  return layout;
}

ConstantLayout EncodingParser::ReadConstantLayout(FieldReader fields) {
  ConstantLayout layout;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(5, kVarint):
      case tag_and_type(5, kLengthDelimited): ReadLayers(fields, layout.layers); break;
      case tag_and_type(6, kLengthDelimited): layout.inline_value = fields.get_string(); break;
      case tag_and_type(7, kLengthDelimited): layout.rep_compression = ReadEncoding(fields); break;
      case tag_and_type(8, kLengthDelimited): layout.def_compression = ReadEncoding(fields); break;
      case tag_and_type(9, kVarint): layout.num_rep_values = fields.get_uint64(); break;
      case tag_and_type(10, kVarint): layout.num_def_values = fields.get_uint64(); break;
      default: fields.skip();
    }
  }
  return layout;
}

FullZipLayout EncodingParser::ReadFullZip(FieldReader fields) {
  FullZipLayout layout;
  layout.value_compression = NoEncoding();
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case tag_and_type(1, kVarint): layout.bits_rep = fields.get_uint32(); break;
      case tag_and_type(2, kVarint): layout.bits_def = fields.get_uint32(); break;
      // 3 and 4 are one oneof: the later one counts.
      case tag_and_type(3, kVarint):
        layout.bits_per_value = fields.get_uint32();
        layout.bits_per_offset.reset();
        break;
      case tag_and_type(4, kVarint):
        layout.bits_per_offset = fields.get_uint32();
        layout.bits_per_value.reset();
        break;
      case tag_and_type(5, kVarint): layout.num_items = fields.get_uint32(); break;
      case tag_and_type(6, kVarint): layout.num_visible_items = fields.get_uint32(); break;
      case tag_and_type(7, kLengthDelimited):
        layout.value_compression = ReadEncoding(fields);
        break;
      case tag_and_type(8, kVarint):
      case tag_and_type(8, kLengthDelimited): ReadLayers(fields, layout.layers); break;
      default: fields.skip();
    }
  }
  return layout;
}

PageLayout EncodingParser::ReadPageLayout(FieldReader& reader) {
  const uint32_t number = reader.tag();
  const FieldReader fields(reader.get_view());
  switch (number) {
    case 1: return ReadMiniBlock(fields);
    case 2: return ReadConstantLayout(fields);
    case 3: return ReadFullZip(fields);
    default: return UnknownLayout{number};
  }
}

// --- Writing -------------------------------------------------------------------------------------

// A nested message. protozero's own nested writers take an empty one back, which would lose the
// flat encoding of 0 bits.
template <typename Write>
void AddMessage(protozero::pbf_writer& writer, uint32_t number, Write&& write) {
  std::string message;
  protozero::pbf_writer fields(message);
  write(fields);
  writer.add_message(number, message);
}

// proto3 writes no scalar that has its default.
void AddUint64(protozero::pbf_writer& writer, uint32_t number, uint64_t value) {
  if (value != 0) writer.add_uint64(number, value);
}

void AddLayers(protozero::pbf_writer& writer, uint32_t number,
               const std::vector<RepDefLayer>& layers) {
  if (layers.empty()) return;
  protozero::packed_field_enum packed(writer, number);
  for (const RepDefLayer layer : layers) packed.add_element(static_cast<int32_t>(layer));
}

void AddEncoding(protozero::pbf_writer& writer, uint32_t number, const EncodingPtr& encoding);

// Adds the one field of a CompressiveEncoding message.
class KindWriter {
 public:
  explicit KindWriter(protozero::pbf_writer& out) : out_(out) {}

  // Its content is not known: the message stays empty.
  void operator()(const UnknownEncoding&) const {}
  void operator()(const FlatEncoding& flat) const {
    AddMessage(out_, 1,
               [&](protozero::pbf_writer& fields) { AddUint64(fields, 1, flat.bits_per_value); });
  }
  void operator()(const VariableEncoding& variable) const {
    AddMessage(out_, 2,
               [&](protozero::pbf_writer& fields) { AddEncoding(fields, 1, variable.offsets); });
  }
  void operator()(const ConstantEncoding& constant) const {
    AddMessage(out_, 3, [&](protozero::pbf_writer& fields) {
      if (constant.value) fields.add_bytes(1, *constant.value);
    });
  }
  void operator()(const OutOfLineBitpackingEncoding& packed) const {
    AddMessage(out_, 4, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, packed.uncompressed_bits);
      AddEncoding(fields, 3, packed.values);
    });
  }
  void operator()(const InlineBitpackingEncoding& packed) const {
    AddMessage(out_, 5, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, packed.uncompressed_bits);
    });
  }
  void operator()(const FsstEncoding& fsst) const {
    AddMessage(out_, 6, [&](protozero::pbf_writer& fields) {
      if (!fsst.symbol_table.empty()) fields.add_bytes(1, fsst.symbol_table);
      AddEncoding(fields, 2, fsst.values);
    });
  }
  void operator()(const DictionaryEncoding& dictionary) const {
    AddMessage(out_, 7, [&](protozero::pbf_writer& fields) {
      AddEncoding(fields, 1, dictionary.indices);
      AddEncoding(fields, 2, dictionary.items);
      AddUint64(fields, 3, dictionary.num_items);
    });
  }
  void operator()(const RleEncoding& rle) const {
    AddMessage(out_, 8, [&](protozero::pbf_writer& fields) {
      AddEncoding(fields, 1, rle.values);
      AddEncoding(fields, 2, rle.run_lengths);
    });
  }
  void operator()(const ByteStreamSplitEncoding& split) const {
    AddMessage(out_, 9,
               [&](protozero::pbf_writer& fields) { AddEncoding(fields, 1, split.values); });
  }
  void operator()(const GeneralEncoding& general) const {
    AddMessage(out_, 10, [&](protozero::pbf_writer& fields) {
      AddMessage(fields, 1, [&](protozero::pbf_writer& compression) {
        AddUint64(compression, 1, static_cast<uint32_t>(general.scheme));
        if (general.level) compression.add_int32(2, *general.level);
      });
      AddEncoding(fields, 3, general.values);
    });
  }
  void operator()(const FixedSizeListEncoding& list) const {
    AddMessage(out_, 11, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, list.items_per_value);
      AddEncoding(fields, 2, list.values);
      if (list.has_validity) fields.add_bool(3, true);
    });
  }
  void operator()(const PackedStructEncoding& packed) const {
    AddMessage(out_, 12, [&](protozero::pbf_writer& fields) {
      fields.add_packed_uint64(1, packed.bits_per_value.begin(), packed.bits_per_value.end());
      AddEncoding(fields, 2, packed.values);
    });
  }
  void operator()(const RangeEncoding& range) const {
    AddMessage(out_, 14, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, range.uncompressed_bits);
      AddUint64(fields, 2, range.start);
      AddUint64(fields, 3, range.step);
    });
  }
  void operator()(const DeltaEncoding& delta) const {
    AddMessage(out_, 15, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, delta.uncompressed_bits);
      AddUint64(fields, 2, delta.base);
      AddEncoding(fields, 3, delta.deltas);
    });
  }

 private:
  protozero::pbf_writer& out_;
};

void AddEncoding(protozero::pbf_writer& writer, uint32_t number, const EncodingPtr& encoding) {
  if (encoding == nullptr) return;
  AddMessage(writer, number, [&](protozero::pbf_writer& message) {
    std::visit(KindWriter(message), encoding->kind);
  });
}

// Adds the one field of a PageLayout message.
class LayoutWriter {
 public:
  explicit LayoutWriter(protozero::pbf_writer& out) : out_(out) {}

  void operator()(const UnknownLayout&) const {}
  void operator()(const MiniBlockLayout& layout) const {
    AddMessage(out_, 1, [&](protozero::pbf_writer& fields) {
      AddEncoding(fields, 1, layout.rep_compression);
      AddEncoding(fields, 2, layout.def_compression);
      AddEncoding(fields, 3, layout.value_compression);
      AddEncoding(fields, 4, layout.dictionary);
      AddUint64(fields, 5, layout.num_dictionary_items);
      AddLayers(fields, 6, layout.layers);
      AddUint64(fields, 7, layout.num_buffers);
      AddUint64(fields, 8, layout.repetition_index_depth);
      AddUint64(fields, 9, layout.num_items);
      if (layout.has_large_chunk) fields.add_bool(10, true);
    });
  }
  void operator()(const ConstantLayout& layout) const {
    AddMessage(out_, 2, [&](protozero::pbf_writer& fields) {
      AddLayers(fields, 5, layout.layers);
      if (layout.inline_value) fields.add_bytes(6, *layout.inline_value);
      AddEncoding(fields, 7, layout.rep_compression);
      AddEncoding(fields, 8, layout.def_compression);
      AddUint64(fields, 9, layout.num_rep_values);
      AddUint64(fields, 10, layout.num_def_values);
    });
  }
  void operator()(const FullZipLayout& layout) const {
    AddMessage(out_, 3, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, layout.bits_rep);
      AddUint64(fields, 2, layout.bits_def);
      if (layout.bits_per_value) fields.add_uint32(3, *layout.bits_per_value);
      if (layout.bits_per_offset) fields.add_uint32(4, *layout.bits_per_offset);
      AddUint64(fields, 5, layout.num_items);
      AddUint64(fields, 6, layout.num_visible_items);
      AddEncoding(fields, 7, layout.value_compression);
      AddLayers(fields, 8, layout.layers);
    });
  }

 private:
  protozero::pbf_writer& out_;
};

}  // namespace

arrow::Result<PageLayout> ParsePageLayout(std::span<const std::byte> message, Location where) {
  PageLayout layout;
  EncodingParser parser(where);
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "PageLayout", [&](FieldReader& reader) {
    if (reader.wire_type() != kLengthDelimited) return reader.skip();
    layout = parser.ReadPageLayout(reader);
  }));
  ARROW_RETURN_NOT_OK(parser.fault());
  return layout;
}

arrow::Result<EncodingPtr> ParseEncoding(std::span<const std::byte> message, Location where) {
  CompressiveEncoding encoding;
  EncodingParser parser(where);
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "CompressiveEncoding",
                                  [&](FieldReader& reader) { parser.ReadKind(reader, encoding); }));
  ARROW_RETURN_NOT_OK(parser.fault());
  return std::make_shared<const CompressiveEncoding>(std::move(encoding));
}

std::string Serialize(const CompressiveEncoding& encoding) {
  std::string out;
  protozero::pbf_writer writer(out);
  std::visit(KindWriter(writer), encoding.kind);
  return out;
}

std::string Serialize(const PageLayout& layout) {
  std::string out;
  protozero::pbf_writer writer(out);
  std::visit(LayoutWriter(writer), layout);
  return out;
}

}  // namespace glaive::wire
