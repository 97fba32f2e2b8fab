// Any page description over any buffers, for leaves of several shapes.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/type.h>
#include <fuzzer/FuzzedDataProvider.h>

#include "bytes.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/layout/open_page.h"
#include "encoding/structural/leaf/builder.h"
#include "encoding/structural/page/decoder.h"

namespace glaive::encoding {
namespace {

const std::vector<std::shared_ptr<arrow::Field>>& Fields() {
  static const auto fields = [] {
    const auto int16 = arrow::field("item", arrow::int16());
    const auto pair =
        arrow::struct_({arrow::field("x", arrow::float64()), arrow::field("y", arrow::utf8())});
    std::vector<std::shared_ptr<arrow::Field>> made;
    for (const auto& type : std::initializer_list<std::shared_ptr<arrow::DataType>>{
             arrow::int64(), arrow::uint8(), arrow::boolean(), arrow::float32(), arrow::utf8(),
             arrow::large_binary(), arrow::list(int16), arrow::large_list(arrow::list(int16)),
             arrow::fixed_size_list(arrow::float32(), 3), pair, arrow::list(pair)}) {
      made.push_back(arrow::field("f", type));
    }
    return made;
  }();
  return fields;
}

// Reads some rows, giving the read what it wants out of `file` until it wants no more.
arrow::Status ReadRows(PageDecoder& decoder, const LeafPath& path, std::vector<RowRange> rows,
                       const std::vector<uint8_t>& file) {
  ARROW_ASSIGN_OR_RAISE(const auto read, decoder.Read(rows));
  for (int round = 0; !read->wanted().empty(); ++round) {
    if (round == 10) __builtin_trap();  // would be a read that never ends
    std::vector<std::shared_ptr<arrow::Buffer>> buffers;
    for (const ByteRange& range : read->wanted()) {
      if (range.offset > file.size() || range.size > file.size() - range.offset) __builtin_trap();
      buffers.push_back(fuzz::Copy(file.data() + range.offset, range.size));
    }
    ARROW_RETURN_NOT_OK(read->Supply(std::move(buffers)));
  }
  LeafBuilder leaf(path);
  ARROW_RETURN_NOT_OK(read->DecodeInto(leaf));
  return std::move(leaf).Finish().status();
}

void Run(FuzzedDataProvider input) {
  const auto& field = *Fields()[input.ConsumeIntegralInRange<size_t>(0, Fields().size() - 1)];
  const auto version = input.ConsumeBool() ? FileVersion::k2_2 : FileVersion::k2_1;
  const auto num_rows = input.ConsumeIntegralInRange<uint64_t>(0, 4000);
  const auto layout = input.ConsumeBytes<uint8_t>(input.ConsumeIntegralInRange<size_t>(0, 300));
  std::array<uint64_t, 5> sizes = {};
  for (uint64_t& size : sizes) size = input.ConsumeIntegral<uint16_t>();
  const auto num_buffers = input.ConsumeIntegralInRange<size_t>(0, sizes.size());
  const auto file = input.ConsumeRemainingBytes<uint8_t>();

  std::vector<ByteRange> buffers;
  uint64_t offset = 0;
  for (size_t i = 0; i < num_buffers; ++i) {
    const uint64_t size = std::min<uint64_t>(sizes[i], file.size() - offset);
    buffers.push_back({offset, size});
    offset += size;
  }
  const PageSource source = {.buffers = buffers,
                             .num_rows = num_rows,
                             .layout = fuzz::Bytes(layout.data(), layout.size()),
                             .version = version,
                             .path = "fuzz",
                             .layout_offset = 0,
                             .file_size = file.size()};
  const auto leaves = LeavesOf(field).ValueOrDie();
  for (const LeafPath& path : leaves) {
    const auto decoder = OpenPage(source, path);
    if (!decoder.ok() || num_rows == 0) continue;
    (void)ReadRows(**decoder, path, {{0, num_rows}}, file);
    (void)ReadRows(**decoder, path, {{num_rows / 2, num_rows / 2 + 1}}, file);
  }
}

}  // namespace
}  // namespace glaive::encoding

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  glaive::encoding::Run(FuzzedDataProvider(data, size));
  return 0;
}
