// Any bytes as a deletion file of either kind. What is accepted must be ascending and in bounds.
#include <span>

#include "bytes.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/rows/deletion_vector.h"

namespace {

constexpr uint64_t kRows = 100'000;

void Read(glaive::wire::DeletionFileType type, const uint8_t* data, size_t size) {
  const glaive::table::TableLocation table = {glaive::io::MemoryStore(), "/fuzz", "memory:///fuzz"};
  const glaive::wire::DeletionFile file = {.file_type = type, .read_version = 1, .id = 7};
  glaive::fuzz::PutFile(table.Path(glaive::table::DeletionFilePath(0, file)), data, size);
  const auto vector =
      glaive::table::ReadDeletionFile(table, glaive::table::Manifest{}, 0, file, kRows);
  if (!vector.ok()) return;
  const std::span<const uint32_t> offsets = (*vector)->offsets();
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] >= kRows || (i > 0 && offsets[i] <= offsets[i - 1])) __builtin_trap();
  }
  (void)(*vector)->LiveRanges({0, kRows});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Read(glaive::wire::DeletionFileType::kArrowArray, data, size);
  Read(glaive::wire::DeletionFileType::kBitmap, data, size);
  return 0;
}
