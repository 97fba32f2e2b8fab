#include "io/read_buffer.h"

#include <sys/mman.h>
#include <cstddef>

#include "core/recycling_pool.h"

namespace glaive::io {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMaxPooledSize = uint64_t{16} << 20;

// Fresh memory of the system, in huge pages where it has such: a read into it takes a third of the
// time that a read into pages of 4 KiB does, each of which is a fault of its own.
class MappedBuffer final : public arrow::MutableBuffer {
 public:
  static arrow::Result<std::shared_ptr<arrow::Buffer>> Make(uint64_t skew, uint64_t size) {
    const size_t mapped = skew + size + kAlignment;
    void* memory =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return arrow::Status::OutOfMemory("no ", mapped, " bytes for a read");
    (void)madvise(memory, mapped, MADV_HUGEPAGE);
    return std::make_shared<MappedBuffer>(memory, mapped, skew, size);
  }

  MappedBuffer(void* memory, size_t mapped, uint64_t skew, uint64_t size)
      : arrow::MutableBuffer(static_cast<uint8_t*>(memory) + skew, static_cast<int64_t>(size)),
        memory_(memory),
        mapped_(mapped) {}
  ~MappedBuffer() override { munmap(memory_, mapped_); }

 private:
  void* memory_;
  size_t mapped_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateReadBuffer(uint64_t size,
                                                                 uint64_t file_offset) {
  const uint64_t skew = file_offset % kAlignment;
  if (size > kMaxPooledSize) return MappedBuffer::Make(skew, size);
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(static_cast<int64_t>(skew + size + kAlignment), RecyclingPool()));
  return arrow::SliceMutableBuffer(buffer, static_cast<int64_t>(skew), static_cast<int64_t>(size));
}

}  // namespace glaive::io
