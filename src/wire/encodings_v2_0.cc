#include "wire/encodings_v2_0.h"

#include <string_view>

#include "wire/fields.h"

namespace glaive::wire {
namespace {

// Deeper than any description that makes sense, and far from where recursion would end the stack.
constexpr int kMaxDepth = 32;
constexpr std::string_view kName = "ArrayEncoding";

enum Number : uint32_t {
  kFlat = 1,
  kNullable = 2,
  kFixedSizeList = 3,
  kList = 4,
  kStruct = 5,
  kBinary = 6,
  kDictionary = 7,
  kFsst = 8,
  kPackedStruct = 9,
  kBitpacked = 10,
  kFixedSizeBinary = 11,
  kBitpackedForNonNeg = 12,
  kConstant = 13,
};

arrow::Status ReadBuffer(const FieldView& message, BufferRef& buffer) {
  return VisitFields(message.payload, message.where, "Buffer", [&](const FieldView& field) {
    switch (field.key()) {
      case Varint(1): buffer.index = field.uint32(); break;
      case Varint(2): buffer.kind = static_cast<BufferKind>(field.uint32()); break;
      default: break;
    }
    return arrow::Status::OK();
  });
}

class Parser {
 public:
  explicit Parser(int depth) : depth_(depth) {}

  arrow::Result<ArrayPtr> Read(std::span<const std::byte> message, Location where) const {
    if (depth_ == kMaxDepth) {
      return Corrupt(where, "encodings nest deeper than {} levels", kMaxDepth);
    }
    ArrayEncoding encoding;
    const Parser inner(depth_ + 1);
    ARROW_RETURN_NOT_OK(VisitFields(message, where, kName, [&](const FieldView& field) {
      return field.kind == FieldKind::kBytes ? inner.ReadKind(field, encoding)
                                             : arrow::Status::OK();
    }));
    return std::make_shared<const ArrayEncoding>(std::move(encoding));
  }

 private:
  arrow::Status ReadKind(const FieldView& message, ArrayEncoding& encoding) const {
    switch (message.number) {
      case kFlat: return ReadFlat(message, encoding.kind.emplace<FlatArray>());
      case kNullable: return ReadNullable(message, encoding);
      case kFixedSizeList:
        return ReadFixedSizeList(message, encoding.kind.emplace<FixedSizeListArray>());
      case kList: return ReadList(message, encoding.kind.emplace<ListArray>());
      case kStruct: encoding.kind = StructArray{}; return arrow::Status::OK();
      case kBinary: return ReadBinary(message, encoding.kind.emplace<BinaryArray>());
      case kDictionary: return ReadDictionary(message, encoding.kind.emplace<DictionaryArray>());
      case kFsst: return ReadFsst(message, encoding.kind.emplace<FsstArray>());
      case kPackedStruct: return ReadPacked(message, encoding.kind.emplace<PackedStructArray>());
      case kBitpacked: {
        auto& packed = encoding.kind.emplace<BitpackedArray>();
        return ReadBits(message, packed, &packed.is_signed);
      }
      case kFixedSizeBinary:
        return ReadFixedSizeBinary(message, encoding.kind.emplace<FixedSizeBinaryArray>());
      case kBitpackedForNonNeg:
        return ReadBits(message, encoding.kind.emplace<BitpackedForNonNegArray>(), nullptr);
      case kConstant: return ReadConstant(message, encoding.kind.emplace<ConstantArray>());
      default: encoding.kind = UnknownArray{message.number}; return arrow::Status::OK();
    }
  }

  // A message of which each field is looked at by `read`, and those it leaves are skipped.
  template <typename Read>
  static arrow::Status Fields(const FieldView& message, const Read& read) {
    return VisitFields(message.payload, message.where, kName,
                       [&](const FieldView& field) { return read(field); });
  }

  arrow::Status ReadChild(const FieldView& field, ArrayPtr& child) const {
    ARROW_ASSIGN_OR_RAISE(child, Read(field.payload, field.where));
    return arrow::Status::OK();
  }

  static ArrayPtr Missing() { return MakeArrayEncoding(UnknownArray{}); }

  static arrow::Status ReadFlat(const FieldView& message, FlatArray& flat) {
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Varint(1): flat.bits_per_value = field.value; break;
        case Bytes(2): return ReadBuffer(field, flat.buffer);
        case Bytes(3):
          return Fields(field, [&](const FieldView& compression) {
            switch (compression.key()) {
              case Bytes(1): flat.scheme = compression.text(); break;
              case Varint(2): flat.level = compression.int32(); break;
              default: break;
            }
            return arrow::Status::OK();
          });
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadNullable(const FieldView& message, ArrayEncoding& encoding) const {
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): {
          auto& no_nulls = encoding.kind.emplace<NoNullsArray>();
          no_nulls.values = Missing();
          return Fields(field, [&](const FieldView& child) {
            return child.key() == Bytes(1) ? ReadChild(child, no_nulls.values)
                                           : arrow::Status::OK();
          });
        }
        case Bytes(2): {
          auto& some_nulls = encoding.kind.emplace<SomeNullsArray>();
          some_nulls.validity = some_nulls.values = Missing();
          return Fields(field, [&](const FieldView& child) {
            if (child.key() == Bytes(1)) return ReadChild(child, some_nulls.validity);
            if (child.key() == Bytes(2)) return ReadChild(child, some_nulls.values);
            return arrow::Status::OK();
          });
        }
        case Bytes(3): encoding.kind = AllNullsArray{}; break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadFixedSizeList(const FieldView& message, FixedSizeListArray& list) const {
    list.items = Missing();
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Varint(1): list.dimension = field.uint32(); break;
        case Bytes(2): return ReadChild(field, list.items);
        case Varint(3): list.has_validity = field.value != 0; break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadList(const FieldView& message, ListArray& list) const {
    list.offsets = Missing();
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): return ReadChild(field, list.offsets);
        case Varint(2): list.null_adjustment = field.value; break;
        case Varint(3): list.num_items = field.value; break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadBinary(const FieldView& message, BinaryArray& binary) const {
    binary.indices = binary.bytes = Missing();
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): return ReadChild(field, binary.indices);
        case Bytes(2): return ReadChild(field, binary.bytes);
        case Varint(3): binary.null_adjustment = field.value; break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadDictionary(const FieldView& message, DictionaryArray& dictionary) const {
    dictionary.indices = dictionary.items = Missing();
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): return ReadChild(field, dictionary.indices);
        case Bytes(2): return ReadChild(field, dictionary.items);
        case Varint(3): dictionary.num_items = field.uint32(); break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadFsst(const FieldView& message, FsstArray& fsst) const {
    fsst.binary = Missing();
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): return ReadChild(field, fsst.binary);
        case Bytes(2): fsst.symbol_table = field.text(); break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadPacked(const FieldView& message, PackedStructArray& packed) const {
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): return ReadChild(field, packed.inner.emplace_back());
        case Bytes(2): return ReadBuffer(field, packed.buffer);
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  template <typename Packed>
  static arrow::Status ReadBits(const FieldView& message, Packed& packed, bool* is_signed) {
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Varint(1): packed.compressed_bits = field.value; break;
        case Varint(2): packed.uncompressed_bits = field.value; break;
        case Bytes(3): return ReadBuffer(field, packed.buffer);
        case Varint(4):
          if (is_signed != nullptr) *is_signed = field.value != 0;
          break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  arrow::Status ReadFixedSizeBinary(const FieldView& message, FixedSizeBinaryArray& binary) const {
    binary.bytes = Missing();
    return Fields(message, [&](const FieldView& field) -> arrow::Status {
      switch (field.key()) {
        case Bytes(1): return ReadChild(field, binary.bytes);
        case Varint(2): binary.byte_width = field.uint32(); break;
        default: break;
      }
      return arrow::Status::OK();
    });
  }

  static arrow::Status ReadConstant(const FieldView& message, ConstantArray& constant) {
    return Fields(message, [&](const FieldView& field) {
      if (field.key() == Bytes(1)) constant.value = field.text();
      return arrow::Status::OK();
    });
  }

  int depth_;
};

// A sub-message is written even where it is empty: it says that it is there.
void AppendBuffer(uint32_t number, const BufferRef& buffer, std::string* out) {
  std::string message;
  AppendUnlessZero(1, buffer.index, &message);
  AppendUnlessZero(2, static_cast<uint32_t>(buffer.kind), &message);
  AppendBytes(number, message, out);
}

void AppendChild(uint32_t number, const ArrayPtr& child, std::string* out) {
  if (child != nullptr) AppendBytes(number, Serialize(*child), out);
}

// The content of the message of each kind, and the number it has.
struct Body {
  uint32_t number = 0;
  std::string bytes;
};

Body BodyOf(const UnknownArray&) { return {}; }
Body BodyOf(const FlatArray& flat) {
  Body body{kFlat, {}};
  AppendUnlessZero(1, flat.bits_per_value, &body.bytes);
  AppendBuffer(2, flat.buffer, &body.bytes);
  if (!flat.scheme.empty()) {
    std::string compression;
    AppendBytes(1, flat.scheme, &compression);
    if (flat.level) {
      AppendVarint(2, static_cast<uint64_t>(static_cast<int64_t>(*flat.level)), &compression);
    }
    AppendBytes(3, compression, &body.bytes);
  }
  return body;
}
Body BodyOf(const NoNullsArray& nullable) {
  Body body{kNullable, {}};
  std::string no_nulls;
  AppendChild(1, nullable.values, &no_nulls);
  AppendBytes(1, no_nulls, &body.bytes);
  return body;
}
Body BodyOf(const SomeNullsArray& nullable) {
  Body body{kNullable, {}};
  std::string some_nulls;
  AppendChild(1, nullable.validity, &some_nulls);
  AppendChild(2, nullable.values, &some_nulls);
  AppendBytes(2, some_nulls, &body.bytes);
  return body;
}
Body BodyOf(const AllNullsArray&) {
  Body body{kNullable, {}};
  AppendBytes(3, {}, &body.bytes);
  return body;
}
Body BodyOf(const FixedSizeListArray& list) {
  Body body{kFixedSizeList, {}};
  AppendUnlessZero(1, list.dimension, &body.bytes);
  AppendChild(2, list.items, &body.bytes);
  AppendUnlessZero(3, list.has_validity ? 1 : 0, &body.bytes);
  return body;
}
Body BodyOf(const ListArray& list) {
  Body body{kList, {}};
  AppendChild(1, list.offsets, &body.bytes);
  AppendUnlessZero(2, list.null_adjustment, &body.bytes);
  AppendUnlessZero(3, list.num_items, &body.bytes);
  return body;
}
Body BodyOf(const StructArray&) { return {kStruct, {}}; }
Body BodyOf(const BinaryArray& binary) {
  Body body{kBinary, {}};
  AppendChild(1, binary.indices, &body.bytes);
  AppendChild(2, binary.bytes, &body.bytes);
  AppendUnlessZero(3, binary.null_adjustment, &body.bytes);
  return body;
}
Body BodyOf(const DictionaryArray& dictionary) {
  Body body{kDictionary, {}};
  AppendChild(1, dictionary.indices, &body.bytes);
  AppendChild(2, dictionary.items, &body.bytes);
  AppendUnlessZero(3, dictionary.num_items, &body.bytes);
  return body;
}
Body BodyOf(const FsstArray& fsst) {
  Body body{kFsst, {}};
  AppendChild(1, fsst.binary, &body.bytes);
  AppendUnlessEmpty(2, fsst.symbol_table, &body.bytes);
  return body;
}
Body BodyOf(const PackedStructArray& packed) {
  Body body{kPackedStruct, {}};
  for (const ArrayPtr& inner : packed.inner) AppendChild(1, inner, &body.bytes);
  AppendBuffer(2, packed.buffer, &body.bytes);
  return body;
}
template <typename Packed>
std::string Bits(const Packed& packed) {
  std::string bytes;
  AppendUnlessZero(1, packed.compressed_bits, &bytes);
  AppendUnlessZero(2, packed.uncompressed_bits, &bytes);
  AppendBuffer(3, packed.buffer, &bytes);
  return bytes;
}
Body BodyOf(const BitpackedArray& packed) {
  Body body{kBitpacked, Bits(packed)};
  AppendUnlessZero(4, packed.is_signed ? 1 : 0, &body.bytes);
  return body;
}
Body BodyOf(const BitpackedForNonNegArray& packed) { return {kBitpackedForNonNeg, Bits(packed)}; }
Body BodyOf(const FixedSizeBinaryArray& binary) {
  Body body{kFixedSizeBinary, {}};
  AppendChild(1, binary.bytes, &body.bytes);
  AppendUnlessZero(2, binary.byte_width, &body.bytes);
  return body;
}
Body BodyOf(const ConstantArray& constant) {
  Body body{kConstant, {}};
  AppendUnlessEmpty(1, constant.value, &body.bytes);
  return body;
}

}  // namespace

arrow::Result<ArrayPtr> ParseArrayEncoding(std::span<const std::byte> message, Location where) {
  return Parser(0).Read(message, where);
}

std::string Serialize(const ArrayEncoding& encoding) {
  const Body body = std::visit([](const auto& kind) { return BodyOf(kind); }, encoding.kind);
  std::string out;
  if (body.number != 0) AppendBytes(body.number, body.bytes, &out);
  return out;
}

}  // namespace glaive::wire
