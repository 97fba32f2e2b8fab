#include "encoding/structural/page/encoded_page.h"

namespace glaive::encoding {

uint64_t EncodedPage::size_bytes() const {
  uint64_t size = 0;
  for (const auto& parts : buffers) {
    for (const auto& part : parts) size += static_cast<uint64_t>(part->size());
  }
  return size;
}

}  // namespace glaive::encoding
