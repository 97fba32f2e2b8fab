#include "wire/encodings_v2_3.h"

#include <utility>

#include <protozero/pbf_writer.hpp>

#include "wire/message.h"

namespace glaive::wire {
namespace {

std::span<const std::byte> BytesOf(protozero::data_view view) {
  return std::as_bytes(std::span(view.data(), view.size()));
}

// Reads the nested messages of a layout. The first encoding that is none is kept as the fault;
// parsing goes on to the end, harmlessly.
class PlanarParser {
 public:
  explicit PlanarParser(Location where) : where_(where) {}

  const arrow::Status& fault() const { return fault_; }

  void ReadStructure(FieldReader fields, PlanarLayout& layout) {
    while (fields.next()) {
      if (fields.wire_type() != kLengthDelimited) {
        fields.skip();
        continue;
      }
      const uint32_t number = fields.tag();
      const FieldReader inner(fields.get_view());
      switch (number) {
        case 1: layout.structure = ReadDense(inner); break;
        case 2: layout.structure = ReadSparse(inner); break;
        default: layout.structure = UnknownPlane{number};
      }
    }
  }

  void ReadValues(FieldReader fields, PlanarLayout& layout) {
    while (fields.next()) {
      if (fields.wire_type() != kLengthDelimited) {
        fields.skip();
        continue;
      }
      const uint32_t number = fields.tag();
      const FieldReader inner(fields.get_view());
      switch (number) {
        case 1: layout.values = ReadChunked(inner); break;
        case 2: layout.values = ReadZipped(inner); break;
        case 3: layout.values = ReadConstant(inner); break;
        case 4: layout.values = NoValues{}; break;
        case 5: layout.values = ReadIndexed(inner); break;
        default: layout.values = UnknownPlane{number};
      }
    }
  }

 private:
  EncodingPtr ReadEncoding(FieldReader& reader) {
    auto encoding = ParseEncoding(BytesOf(reader.get_view()), where_);
    if (encoding.ok()) return *std::move(encoding);
    if (fault_.ok()) fault_ = encoding.status();
    return nullptr;
  }

  static DenseStructure ReadDense(FieldReader fields) {
    DenseStructure dense;
    const auto add = [&](uint32_t layer) {
      dense.layers.push_back(static_cast<RepDefLayer>(layer));
    };
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kVarint): add(fields.get_uint32()); break;
        case tag_and_type(1, kLengthDelimited):
          for (const uint32_t layer : fields.get_packed_uint32()) add(layer);
          break;
        default: fields.skip();
      }
    }
    return dense;
  }

  SparseStructure ReadSparse(FieldReader fields) {
    SparseStructure sparse;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited):
          sparse.layers.push_back(ReadSparseLayer(FieldReader(fields.get_view())));
          break;
        default: fields.skip();
      }
    }
    return sparse;
  }

  SparseLayer ReadSparseLayer(FieldReader fields) {
    SparseLayer layer;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited):
          layer = SparseItemLayer{ReadValidity(FieldReader(fields.get_view()))};
          break;
        case tag_and_type(2, kLengthDelimited):
          layer = ReadSparseList(FieldReader(fields.get_view()));
          break;
        case tag_and_type(3, kLengthDelimited):
          layer = ReadSparseFixedSizeList(FieldReader(fields.get_view()));
          break;
        default: fields.skip();
      }
    }
    return layer;
  }

  SparseValidity ReadValidity(FieldReader fields) {
    SparseValidity validity;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kVarint):
          validity.meaning = static_cast<SparseMeaning>(fields.get_uint32());
          break;
        case tag_and_type(2, kLengthDelimited): validity.positions = ReadEncoding(fields); break;
        case tag_and_type(3, kVarint): validity.num_positions = fields.get_uint64(); break;
        default: fields.skip();
      }
    }
    return validity;
  }

  SparseListLayer ReadSparseList(FieldReader fields) {
    SparseListLayer list;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kVarint): list.num_child_slots = fields.get_uint64(); break;
        case tag_and_type(2, kLengthDelimited):
          list.non_empty_positions = ReadEncoding(fields);
          break;
        case tag_and_type(3, kVarint): list.num_non_empty_positions = fields.get_uint64(); break;
        case tag_and_type(4, kLengthDelimited): list.counts = ReadEncoding(fields); break;
        case tag_and_type(5, kLengthDelimited):
          list.validity = ReadValidity(FieldReader(fields.get_view()));
          break;
        default: fields.skip();
      }
    }
    return list;
  }

  SparseFixedSizeListLayer ReadSparseFixedSizeList(FieldReader fields) {
    SparseFixedSizeListLayer list;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kVarint): list.dimension = fields.get_uint64(); break;
        case tag_and_type(2, kLengthDelimited):
          list.validity = ReadValidity(FieldReader(fields.get_view()));
          break;
        default: fields.skip();
      }
    }
    return list;
  }

  void ReadChunkLevels(FieldReader fields, ChunkedValues& values) {
    values.has_levels = true;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited): values.repetition = ReadEncoding(fields); break;
        case tag_and_type(2, kLengthDelimited): values.definition = ReadEncoding(fields); break;
        case tag_and_type(3, kVarint): values.repetition_index_depth = fields.get_uint32(); break;
        default: fields.skip();
      }
    }
  }

  ChunkedValues ReadChunked(FieldReader fields) {
    ChunkedValues values;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited): values.compression = ReadEncoding(fields); break;
        case tag_and_type(2, kLengthDelimited):
          ReadChunkLevels(FieldReader(fields.get_view()), values);
          break;
        case tag_and_type(3, kLengthDelimited): values.dictionary = ReadEncoding(fields); break;
        case tag_and_type(4, kVarint): values.num_dictionary_items = fields.get_uint64(); break;
        case tag_and_type(5, kVarint): values.num_buffers = fields.get_uint64(); break;
        case tag_and_type(6, kVarint): values.num_items = fields.get_uint64(); break;
        default: fields.skip();
      }
    }
    return values;
  }

  static void ReadZipLevels(FieldReader fields, ZippedValues& values) {
    values.has_levels = true;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kVarint): values.bits_repetition = fields.get_uint32(); break;
        case tag_and_type(2, kVarint): values.bits_definition = fields.get_uint32(); break;
        default: fields.skip();
      }
    }
  }

  ZippedValues ReadZipped(FieldReader fields) {
    ZippedValues values;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited): values.compression = ReadEncoding(fields); break;
        case tag_and_type(2, kLengthDelimited):
          ReadZipLevels(FieldReader(fields.get_view()), values);
          break;
        // 3 and 4 are one oneof: the later one counts.
        case tag_and_type(3, kVarint):
          values.bits_per_value = fields.get_uint32();
          values.bits_per_offset.reset();
          break;
        case tag_and_type(4, kVarint):
          values.bits_per_offset = fields.get_uint32();
          values.bits_per_value.reset();
          break;
        case tag_and_type(5, kVarint): values.num_items = fields.get_uint64(); break;
        case tag_and_type(6, kVarint): values.num_visible_items = fields.get_uint64(); break;
        default: fields.skip();
      }
    }
    return values;
  }

  static ConstantValue ReadConstant(FieldReader fields) {
    ConstantValue value;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited): value.scalar = fields.get_string(); break;
        default: fields.skip();
      }
    }
    return value;
  }

  IndexedValues ReadIndexed(FieldReader fields) {
    IndexedValues values;
    while (fields.next()) {
      switch (fields.tag_and_type()) {
        case tag_and_type(1, kLengthDelimited): values.indices = ReadEncoding(fields); break;
        case tag_and_type(2, kLengthDelimited):
          values.items = ReadZipped(FieldReader(fields.get_view()));
          break;
        default: fields.skip();
      }
    }
    return values;
  }

  Location where_;
  arrow::Status fault_;
};

// --- Writing -------------------------------------------------------------------------------------

// A nested message, which may be empty.
template <typename Write>
void AddMessage(protozero::pbf_writer& writer, uint32_t number, Write&& write) {
  std::string message;
  protozero::pbf_writer fields(message);
  write(fields);
  writer.add_message(number, message);
}

void AddUint64(protozero::pbf_writer& writer, uint32_t number, uint64_t value) {
  if (value != 0) writer.add_uint64(number, value);
}

void AddEncoding(protozero::pbf_writer& writer, uint32_t number, const EncodingPtr& encoding) {
  if (encoding != nullptr) writer.add_message(number, Serialize(*encoding));
}

void AddValidity(protozero::pbf_writer& writer, uint32_t number, const SparseValidity& validity) {
  AddMessage(writer, number, [&](protozero::pbf_writer& fields) {
    AddUint64(fields, 1, static_cast<uint32_t>(validity.meaning));
    AddEncoding(fields, 2, validity.positions);
    AddUint64(fields, 3, validity.num_positions);
  });
}

struct SparseLayerWriter {
  protozero::pbf_writer& out;

  void operator()(const UnknownSparseLayer&) const {}
  void operator()(const SparseItemLayer& layer) const { AddValidity(out, 1, layer.validity); }
  void operator()(const SparseListLayer& layer) const {
    AddMessage(out, 2, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, layer.num_child_slots);
      AddEncoding(fields, 2, layer.non_empty_positions);
      AddUint64(fields, 3, layer.num_non_empty_positions);
      AddEncoding(fields, 4, layer.counts);
      AddValidity(fields, 5, layer.validity);
    });
  }
  void operator()(const SparseFixedSizeListLayer& layer) const {
    AddMessage(out, 3, [&](protozero::pbf_writer& fields) {
      AddUint64(fields, 1, layer.dimension);
      AddValidity(fields, 2, layer.validity);
    });
  }
};

struct StructureWriter {
  protozero::pbf_writer& out;

  void operator()(const UnknownPlane&) const {}
  void operator()(const DenseStructure& dense) const {
    AddMessage(out, 1, [&](protozero::pbf_writer& fields) {
      protozero::packed_field_enum packed(fields, 1);
      for (const RepDefLayer layer : dense.layers) {
        packed.add_element(static_cast<int32_t>(layer));
      }
    });
  }
  void operator()(const SparseStructure& sparse) const {
    AddMessage(out, 2, [&](protozero::pbf_writer& fields) {
      for (const SparseLayer& layer : sparse.layers) {
        AddMessage(fields, 1, [&](protozero::pbf_writer& inner) {
          std::visit(SparseLayerWriter{inner}, layer);
        });
      }
    });
  }
};

void WriteZipped(protozero::pbf_writer& fields, const ZippedValues& values) {
  AddEncoding(fields, 1, values.compression);
  if (values.has_levels) {
    AddMessage(fields, 2, [&](protozero::pbf_writer& levels) {
      AddUint64(levels, 1, values.bits_repetition);
      AddUint64(levels, 2, values.bits_definition);
    });
  }
  if (values.bits_per_value) fields.add_uint32(3, *values.bits_per_value);
  if (values.bits_per_offset) fields.add_uint32(4, *values.bits_per_offset);
  AddUint64(fields, 5, values.num_items);
  AddUint64(fields, 6, values.num_visible_items);
}

struct ValuesWriter {
  protozero::pbf_writer& out;

  void operator()(const UnknownPlane&) const {}
  void operator()(const ChunkedValues& values) const {
    AddMessage(out, 1, [&](protozero::pbf_writer& fields) {
      AddEncoding(fields, 1, values.compression);
      if (values.has_levels) {
        AddMessage(fields, 2, [&](protozero::pbf_writer& levels) {
          AddEncoding(levels, 1, values.repetition);
          AddEncoding(levels, 2, values.definition);
          AddUint64(levels, 3, values.repetition_index_depth);
        });
      }
      AddEncoding(fields, 3, values.dictionary);
      AddUint64(fields, 4, values.num_dictionary_items);
      AddUint64(fields, 5, values.num_buffers);
      AddUint64(fields, 6, values.num_items);
    });
  }
  void operator()(const ZippedValues& values) const {
    AddMessage(out, 2, [&](protozero::pbf_writer& fields) { WriteZipped(fields, values); });
  }
  void operator()(const ConstantValue& value) const {
    AddMessage(out, 3, [&](protozero::pbf_writer& fields) { fields.add_bytes(1, value.scalar); });
  }
  void operator()(const NoValues&) const {
    AddMessage(out, 4, [](protozero::pbf_writer&) {});
  }
  void operator()(const IndexedValues& values) const {
    AddMessage(out, 5, [&](protozero::pbf_writer& fields) {
      AddEncoding(fields, 1, values.indices);
      AddMessage(fields, 2,
                 [&](protozero::pbf_writer& items) { WriteZipped(items, values.items); });
    });
  }
};

}  // namespace

arrow::Result<PlanarLayout> ParsePlanarLayout(std::span<const std::byte> message, Location where) {
  PlanarLayout layout;
  PlanarParser parser(where);
  ARROW_RETURN_NOT_OK(ReadMessage(message, where, "PlanarLayout", [&](FieldReader& reader) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, kLengthDelimited):
        parser.ReadStructure(FieldReader(reader.get_view()), layout);
        break;
      case tag_and_type(2, kLengthDelimited):
        parser.ReadValues(FieldReader(reader.get_view()), layout);
        break;
      default: reader.skip();
    }
  }));
  ARROW_RETURN_NOT_OK(parser.fault());
  return layout;
}

std::string Serialize(const PlanarLayout& layout) {
  std::string out;
  protozero::pbf_writer writer(out);
  AddMessage(writer, 1, [&](protozero::pbf_writer& fields) {
    std::visit(StructureWriter{fields}, layout.structure);
  });
  AddMessage(writer, 2, [&](protozero::pbf_writer& fields) {
    std::visit(ValuesWriter{fields}, layout.values);
  });
  return out;
}

}  // namespace glaive::wire
