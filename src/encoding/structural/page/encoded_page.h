#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>

namespace glaive::encoding {

// A page ready to be placed in a file.
struct EncodedPage {
  // One entry per page buffer; each is a list of parts to be written back to back.
  std::vector<std::vector<std::shared_ptr<arrow::Buffer>>> buffers;
  std::string layout;  // the PageLayout message
  uint64_t num_rows = 0;

  uint64_t size_bytes() const;
};

}  // namespace glaive::encoding
