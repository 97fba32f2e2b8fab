#include "dataset/write/data_file_name.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/random.h"

namespace glaive::dataset {

std::string NewDataFileName() {
  std::array<uint8_t, 16> uuid;
  FillRandom(std::as_writable_bytes(std::span(uuid)));
  uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3f) | 0x80);

  std::string name;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i < 3) {
      for (int bit = 7; bit >= 0; --bit) name += (uuid[i] >> bit & 1) != 0 ? '1' : '0';
    } else {
      name += "0123456789abcdef"[uuid[i] >> 4];
      name += "0123456789abcdef"[uuid[i] & 15];
    }
  }
  return name + ".lance";
}

}  // namespace glaive::dataset
