#include "encoding/array/buffer_read.h"

#include <iterator>
#include <utility>

#include "core/error.h"

namespace glaive::encoding {

void BufferReads::Add(BufferRead& read) {
  reads_.push_back(&read);
  wanted_.insert(wanted_.end(), read.wanted().begin(), read.wanted().end());
}

arrow::Status BufferReads::Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  if (buffers.size() != wanted_.size()) {
    return Internal("{} buffers were supplied, {} wanted", buffers.size(), wanted_.size());
  }
  wanted_.clear();
  auto next = std::make_move_iterator(buffers.begin());
  for (BufferRead* const read : reads_) {
    if (read->wanted().empty()) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(read->wanted().size());
    ARROW_RETURN_NOT_OK(read->Supply({next, end}));
    next = end;
    wanted_.insert(wanted_.end(), read->wanted().begin(), read->wanted().end());
  }
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
