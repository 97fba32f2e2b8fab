#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "core/ranges.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/leaf/builder.h"

namespace glaive::encoding {

// A page as the column metadata describes it.
struct PageSource {
  std::span<const ByteRange> buffers;  // absolute in the file
  uint64_t num_rows = 0;
  std::span<const std::byte> layout;  // the PageLayout message
  FileVersion version = FileVersion::k2_2;
  std::string path;            // of the file, for errors
  uint64_t layout_offset = 0;  // where the layout's column metadata lies, for errors
  uint64_t file_size = 0;      // nothing may lie, or be allocated, beyond what this can hold
};

// One reading of some rows of a page, as a step machine without I/O of its own:
//
//   while (!read->wanted().empty()) read->Supply(file.ReadMany(read->wanted()));
//   read->DecodeInto(builder);
//
// Each turn of the loop is one dependent round. Not thread safe; different reads are independent.
class PageRead {
 public:
  virtual ~PageRead() = default;

  virtual const std::vector<ByteRange>& wanted() const = 0;
  virtual arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) = 0;
  // Appends the rows to the leaf. REQUIRES: wanted().empty()
  virtual arrow::Status DecodeInto(LeafBuilder& leaf) = 0;
};

// A page whose description was validated whole. Immutable but for what it keeps of the page once a
// read has brought it (chunk table, dictionary, repetition index). Thread safe.
class PageDecoder {
 public:
  virtual ~PageDecoder() = default;

  // `rows` count from the page's first row. REQUIRES: ascending, disjoint, within the page.
  virtual arrow::Result<std::unique_ptr<PageRead>> Read(std::span<const RowRange> rows) = 0;

  // About what all its rows take once decoded, as far as its description and what reads have
  // brought of it tell.
  virtual uint64_t decoded_bytes() const = 0;

  // Bytes that a cache should charge for this page.
  virtual uint64_t memory_bytes() const = 0;
};

}  // namespace glaive::encoding
