#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "encoding/array/ends.h"
#include "encoding/array/fixed_values.h"

// The offsets of lists in a page of a 2.0 file: where each ends, counted in the items of this page.
// Items lie in the column behind, whose pages begin and end where they like. Those of a null list,
// if it has any, are not its.
namespace glaive::encoding {

class ListRead;

class ListPage : public std::enable_shared_from_this<ListPage> {
 public:
  static arrow::Result<std::shared_ptr<const ListPage>> Open(std::span<const std::byte> encoding,
                                                             const ArraySource& source);

  uint64_t num_items() const { return num_items_; }

  // REQUIRES: ascending, disjoint, within the page
  std::unique_ptr<ListRead> Read(std::span<const RowRange> lists) const;

 private:
  friend class ListRead;
  ListPage(FixedValues ends, uint64_t null_adjustment, uint64_t num_items,
           const ArraySource& source)
      : ends_(std::move(ends)),
        null_adjustment_(null_adjustment),
        num_items_(num_items),
        path_(source.path),
        metadata_offset_(source.metadata_offset) {}

  FixedValues ends_;
  uint64_t null_adjustment_;
  uint64_t num_items_;
  std::string path_;
  uint64_t metadata_offset_;
};

class ListRead final : public BufferRead {
 public:
  ListRead(std::shared_ptr<const ListPage> page, std::span<const RowRange> lists);

  const std::vector<ByteRange>& wanted() const override { return ends_.wanted(); }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
    return ends_.Supply(std::move(buffers));
  }

  // Of each run of lists, in items of the page.
  arrow::Result<std::vector<Extents>> Take();

 private:
  std::shared_ptr<const ListPage> page_;
  std::vector<RowRange> lists_;
  FixedRead ends_;
};

}  // namespace glaive::encoding
