#include "encoding/array/page.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "encoding/array/ends.h"
#include "encoding/array/node.h"
#include "encoding/structural/leaf/decoded_bytes.h"

namespace glaive::encoding {
namespace {

class ArrayPage final : public PageDecoder, public std::enable_shared_from_this<ArrayPage> {
 public:
  ArrayPage(std::unique_ptr<const ArrayNode> node, LeafShape shape, uint64_t num_slots)
      : node_(std::move(node)), shape_(std::move(shape)), num_slots_(num_slots) {}

  arrow::Result<std::unique_ptr<PageRead>> Read(std::span<const RowRange> rows) override;

  uint64_t decoded_bytes() const override {
    return DecodedBytes(
        {.num_rows = num_slots_, .num_slots = num_slots_, .text_bytes = node_->text_bytes()},
        shape_, 0);
  }
  uint64_t memory_bytes() const override { return sizeof(*this) + node_->memory_bytes(); }

 private:
  friend class ArrayPageRead;

  std::unique_ptr<const ArrayNode> node_;
  LeafShape shape_;
  uint64_t num_slots_;
};

class ArrayPageRead final : public PageRead {
 public:
  ArrayPageRead(std::shared_ptr<const ArrayPage> page, std::span<const RowRange> rows)
      : page_(std::move(page)), read_(page_->node_->Read(rows)) {}

  const std::vector<ByteRange>& wanted() const override { return read_->wanted(); }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
    return read_->Supply(std::move(buffers));
  }
  arrow::Status DecodeInto(LeafBuilder& leaf) override {
    LeafBuilder::State& state = leaf.state();
    return read_->Append({state.values, state.layers.back().validity}, /*with_validity=*/true);
  }

 private:
  std::shared_ptr<const ArrayPage> page_;
  std::unique_ptr<NodeRead> read_;
};

arrow::Result<std::unique_ptr<PageRead>> ArrayPage::Read(std::span<const RowRange> rows) {
  return std::make_unique<ArrayPageRead>(shared_from_this(), JoinRanges(rows));
}

}  // namespace

arrow::Result<std::shared_ptr<PageDecoder>> OpenArrayPage(std::span<const std::byte> encoding,
                                                          const ArraySource& source,
                                                          const LeafPath& path) {
  ARROW_ASSIGN_OR_RAISE(LeafShape shape, ShapeOf(*path.type));
  ARROW_ASSIGN_OR_RAISE(const auto parsed, wire::ParseArrayEncoding(encoding, source.where()));
  ARROW_ASSIGN_OR_RAISE(
      auto node,
      OpenNode(*parsed, {.shape = shape, .type = path.type, .num_slots = source.num_slots},
               source));
  return std::make_shared<ArrayPage>(std::move(node), std::move(shape), source.num_slots);
}

}  // namespace glaive::encoding
