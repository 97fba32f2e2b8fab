#include "encoding/structural/constant/encoder.h"

#include <cstring>
#include <utility>

#include "encoding/levels/level_stream.h"
#include "encoding/structural/page/buffer_parts.h"
#include "wire/encodings_v2_3.h"

namespace glaive::encoding {
namespace {

using Parts = std::vector<std::shared_ptr<arrow::Buffer>>;

std::shared_ptr<arrow::Buffer> BytesOf(const LevelBuffer& levels) {
  const auto* begin = reinterpret_cast<const char*>(levels.data());
  return arrow::Buffer::FromString(std::string(begin, levels.size() * sizeof(uint16_t)));
}

Parts PartsOf(std::shared_ptr<arrow::Buffer> buffer) {
  if (buffer->size() == 0) return {};
  return {std::move(buffer)};
}

Levels AllLevels(const PageRows& rows) {
  Levels levels;
  LevelStream stream(rows.nests, rows.scheme);
  while (stream.Next(levels)) {
  }
  return levels;
}

arrow::Result<Parts> Compress(LevelCodec codec, const LevelBuffer& levels) {
  codec.Prepare(levels.first(levels.size()));
  BufferParts parts;
  ARROW_ASSIGN_OR_RAISE(std::byte * out, parts.Append(codec.size_bytes()));
  codec.Write(out);
  return std::move(parts).Finish();
}

// A value that is too large for the description: the number and the sizes of the Arrow buffers of
// an array that holds it alone, then these.
std::string ValueBuffer(const std::string& value, unsigned offset_bits) {
  std::string out;
  const auto put = [&](auto number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  const auto size = static_cast<uint32_t>(value.size());
  if (offset_bits == 0) {
    put(uint32_t{1});
    put(size);
  } else {
    put(uint32_t{2});
    put(static_cast<uint32_t>(2 * offset_bits / 8));
    put(size);
    if (offset_bits == 32) {
      put(uint32_t{0});
      put(size);
    } else {
      put(uint64_t{0});
      put(uint64_t{size});
    }
  }
  return out + value;
}

}  // namespace

arrow::Result<EncodedPage> EncodeNullPage(const PageRows& rows) {
  wire::ConstantLayout layout{.layers = rows.scheme.types};
  EncodedPage page{.num_rows = rows.survey.num_rows};
  if (layout.layers.size() > 1) {
    const Levels levels = AllLevels(rows);
    if (rows.version < FileVersion::k2_2) {
      page.buffers = {PartsOf(BytesOf(levels.rep)), PartsOf(BytesOf(levels.def))};
    } else {
      page.buffers.resize(2);
      if (rows.scheme.has_rep()) {
        const LevelCodec codec = rows.ChooseRepCodec();
        layout.rep_compression = codec.Describe();
        layout.num_rep_values = levels.rep.size();
        ARROW_ASSIGN_OR_RAISE(page.buffers[0], Compress(codec, levels.rep));
      }
      if (rows.scheme.has_def()) {
        const LevelCodec codec = rows.ChooseDefCodec();
        layout.def_compression = codec.Describe();
        layout.num_def_values = levels.def.size();
        ARROW_ASSIGN_OR_RAISE(page.buffers[1], Compress(codec, levels.def));
      }
    }
  }
  page.layout = wire::SerializePage(std::move(layout), rows.version);
  return page;
}

arrow::Result<EncodedPage> EncodeConstantPage(const PageRows& rows, const std::string& value,
                                              unsigned offset_bits) {
  wire::ConstantLayout layout{.layers = rows.scheme.types};
  EncodedPage page{.num_rows = rows.survey.num_rows};
  if (offset_bits == 0 && value.size() <= kMaxInlineValue) {
    layout.inline_value = value;
  } else {
    page.buffers.push_back(PartsOf(arrow::Buffer::FromString(ValueBuffer(value, offset_bits))));
  }
  if (rows.scheme.has_rep() || rows.scheme.has_def()) {
    const Levels levels = AllLevels(rows);
    page.buffers.push_back(PartsOf(BytesOf(levels.rep)));
    page.buffers.push_back(PartsOf(BytesOf(levels.def)));
  }
  page.layout = wire::SerializePage(std::move(layout), rows.version);
  return page;
}

}  // namespace glaive::encoding
