#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "encoding/array/encoder.h"
#include "file/leaf_column.h"
#include "wire/file_metadata.h"
#include "wire/schema.h"

namespace glaive::file {

// The columns of a file of 2.0 that is written. Rows come leaf by leaf, as for later versions; the
// first leaf below a list or struct brings the page of that column as well.
class ArrayWriter {
 public:
  using Pieces = std::vector<std::shared_ptr<arrow::ArrayData>>;

  explicit ArrayWriter(const wire::Schema& schema);

  // InvalidInput, by name, for types that files of 2.0 do not hold.
  static arrow::Status CheckTypes(const std::vector<wire::Field>& fields);

  size_t num_columns() const { return num_columns_; }

  // The pages of some rows of a leaf: that of its own column, then those of the columns that it
  // brings. `leaf` counts those of the schema. InvalidInput, by name, for structs that are null.
  arrow::Result<std::vector<encoding::EncodedPage>> Encode(size_t leaf, const LeafColumn& column,
                                                           Pieces pieces) const;

  // Takes the page at that place of what Encode gave, when it is written.
  void Add(size_t leaf, size_t page, const encoding::EncodedPage& encoded,
           std::vector<ByteRange> buffers, std::vector<wire::ColumnMetadata>& columns);

  // Adds the headers of structs, and checks that all columns have as many slots as they should.
  arrow::Status Finish(uint64_t num_rows, std::vector<wire::ColumnMetadata>& columns);

 private:
  struct Brought {
    size_t depth;   // in the leaf's nodes
    size_t column;  // in the file
    bool is_list;   // else a struct
  };
  struct Leaf {
    size_t column;
    std::vector<Brought> brings;
    encoding::ArrayEncodeOptions options;
  };

  void Walk(const wire::Field& field, size_t depth, std::vector<Brought>& brings);

  std::vector<Leaf> leaves_;
  std::vector<size_t> top_columns_;
  std::vector<size_t> headers_;         // columns of structs
  std::vector<uint64_t> header_slots_;  // of each column, if it is one
  size_t num_columns_ = 0;
};

}  // namespace glaive::file
