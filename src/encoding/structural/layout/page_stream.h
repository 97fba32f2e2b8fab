#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/layout/encode_page.h"

namespace glaive::encoding {

// A page whose largest buffer is written while its rows still come, so that no more than the last
// of them are in memory. How it is encoded is told by the first rows; it is what EncodePages would
// make of all rows, were it to decide by those.
class PageStream {
 public:
  using Pieces = std::vector<std::shared_ptr<arrow::ArrayData>>;
  using Parts = std::vector<std::shared_ptr<arrow::Buffer>>;

  // For a page that begins with these rows, which Add has to be given as well, in any cutting. Null
  // where all rows have to be at hand to encode them well, or as far as these say. Borrows the
  // path.
  static arrow::Result<std::unique_ptr<PageStream>> Begin(const Pieces& pieces,
                                                          const LeafPath& path,
                                                          const PageEncodeOptions& options);

  virtual ~PageStream() = default;

  // The next rows of the page; null where they cannot be in it, or would take far more room there
  // than in one that begins with them. Those that Begin saw always can.
  struct Rows;
  virtual arrow::Result<std::shared_ptr<Rows>> Add(Pieces pieces) = 0;

  // What goes on with the buffer. On any thread, also while more rows are added: once for all that
  // were, in order.
  virtual arrow::Result<Parts> Encode(std::shared_ptr<Rows> rows) = 0;

  // The page, of that buffer what is left. Once all rows are encoded.
  virtual arrow::Result<EncodedPage> Finish() = 0;

  // Which of the page's buffers it is.
  virtual size_t buffer() const = 0;
};

}  // namespace glaive::encoding
