#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/ranges.h"
#include "encoding/array/list_page.h"
#include "encoding/structural/page/decoder.h"
#include "file/page_rows.h"
#include "wire/file_metadata.h"

// In a file of 2.0 every field has a column, parents before their children: structs a header that
// says nothing, lists their offsets. Pages of a column count its own slots, so that a leaf below
// lists is read through the columns of those.
namespace glaive::file {

// What a column of such a file is, by the file's own schema.
struct ArrayColumn {
  std::vector<uint32_t> lists;  // columns of the lists above it, outermost first
  bool is_dictionary = false;   // of an Arrow dictionary type
};

// Corrupt if the fields have more or fewer columns than there are.
arrow::Result<std::vector<ArrayColumn>> ArrayColumnsOf(const wire::Schema& schema,
                                                       size_t num_columns, const std::string& path);

// The pages of a column of lists, and which item each begins with; then the number of all.
struct ListColumn {
  std::vector<std::shared_ptr<const encoding::ListPage>> pages;
  std::vector<uint64_t> first_items;
};

// A leaf column and the lists above it. Borrows the metadata.
struct ArrayColumnPages {
  struct List {
    const std::vector<wire::Page>* pages;
    std::shared_ptr<const ListColumn> column;
  };
  using Decoder = std::function<arrow::Result<std::shared_ptr<encoding::PageDecoder>>(size_t page)>;

  std::vector<List> lists;  // outermost first
  const std::vector<wire::Page>* pages = nullptr;
  Decoder decoder;
  std::string path;  // for errors
};

// One reading of some rows of a leaf: a round for each list above it, then those of its values.
class ArrayColumnRead final : public encoding::PageRead {
 public:
  // REQUIRES: ascending, disjoint, within the outermost column; each column of lists has no more
  // items than the column below
  static arrow::Result<std::unique_ptr<ArrayColumnRead>> Make(ArrayColumnPages column,
                                                              std::span<const RowRange> rows);

  const std::vector<ByteRange>& wanted() const override { return wanted_; }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override;
  arrow::Status DecodeInto(encoding::LeafBuilder& leaf) override;

  // What the pages tell that the values take. REQUIRES: wanted().empty()
  double expected_bytes() const { return expected_bytes_; }

 private:
  explicit ArrayColumnRead(ArrayColumnPages column) : column_(std::move(column)) {}

  arrow::Status Start(std::vector<RowRange> slots);
  arrow::Status StartList(std::span<const RowRange> slots);
  arrow::Status StartLeaf(std::span<const RowRange> slots);
  arrow::Result<std::vector<RowRange>> FinishList();
  arrow::Status SupplyLeaf(std::vector<std::shared_ptr<arrow::Buffer>> buffers);
  void WantAll();

  // What is known of a list: its slots in the pages that were read, in order.
  struct Level {
    std::vector<encoding::Extents> runs;
  };
  struct PageOfLists {
    std::unique_ptr<encoding::ListRead> read;
    uint64_t first_item;
  };

  ArrayColumnPages column_;
  uint64_t num_rows_ = 0;
  std::vector<Level> levels_;  // of the lists that were read
  std::vector<PageOfLists> list_reads_;
  std::vector<std::unique_ptr<encoding::PageRead>> leaf_reads_;
  std::vector<ByteRange> wanted_;
  double expected_bytes_ = 0;
};

// About what a row takes from `row` on, and where that changes.
struct ArrayRowSize {
  double bytes = 0;
  uint64_t end = UINT64_MAX;
};
ArrayRowSize SizeOfArrayRow(const ArrayColumnPages& column, uint64_t row);

}  // namespace glaive::file
