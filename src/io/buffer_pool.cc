#include "io/buffer_pool.h"

#include <sys/mman.h>
#include <array>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>

#include "core/per_process.h"

namespace glaive::io {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMinPooledSize = uint64_t{64} << 10;  // below, malloc is as good
constexpr uint64_t kMaxPooledSize = uint64_t{16} << 20;
// Sizes of pooled blocks: four to each power of two, so that no more than a fifth is wasted.
constexpr uint64_t kStepsPerDoubling = 4;
constexpr size_t kNumClasses = kStepsPerDoubling * 8 + 1;

struct SizeClass {
  size_t index;
  uint64_t block_size;  // with room for what aligns the data and may be read behind it
};

// REQUIRES: kMinPooledSize <= size <= kMaxPooledSize
SizeClass ClassOf(uint64_t size) {
  const uint64_t floor = std::bit_floor(size);
  const uint64_t step = floor / kStepsPerDoubling;
  const uint64_t steps = (size - floor + step - 1) / step;
  const auto doublings = static_cast<uint64_t>(std::countr_zero(floor / kMinPooledSize));
  return {doublings * kStepsPerDoubling + steps, floor + steps * step + 2 * kAlignment};
}

using Block = std::unique_ptr<arrow::Buffer>;

class BlockPool {
 public:
  // Nothing where none of that size is kept.
  Block Take(const SizeClass& size_class) {
    const std::lock_guard lock(mutex_);
    std::vector<Block>& blocks = blocks_[size_class.index];
    if (blocks.empty()) return nullptr;
    Block block = std::move(blocks.back());
    blocks.pop_back();
    kept_bytes_ -= size_class.block_size;
    return block;
  }

  void Give(const SizeClass& size_class, Block block) {
    std::vector<Block> dropped;  // freed after the lock
    const std::lock_guard lock(mutex_);
    // Room is made by other sizes: what is asked for changes in the life of a process.
    for (size_t i = 0; i < kNumClasses && kept_bytes_ + size_class.block_size > kMaxPooledBytes;) {
      if (i == size_class.index || blocks_[i].empty()) {
        ++i;
        continue;
      }
      kept_bytes_ -= static_cast<uint64_t>(blocks_[i].back()->size());
      dropped.push_back(std::move(blocks_[i].back()));
      blocks_[i].pop_back();
    }
    if (kept_bytes_ + size_class.block_size > kMaxPooledBytes) {
      dropped.push_back(std::move(block));
      return;
    }
    kept_bytes_ += size_class.block_size;
    blocks_[size_class.index].push_back(std::move(block));
  }

  uint64_t kept_bytes() {
    const std::lock_guard lock(mutex_);
    return kept_bytes_;
  }

 private:
  std::mutex mutex_;
  std::array<std::vector<Block>, kNumClasses> blocks_;
  uint64_t kept_bytes_ = 0;
};

// Never destroyed: buffers may outlive every static object.
BlockPool& PoolOfProcess() {
  static auto* const pool = new PerProcess<BlockPool>;
  return pool->Get();
}

// The part of a block that a read fills.
class PooledBuffer final : public arrow::MutableBuffer {
 public:
  PooledBuffer(Block block, const SizeClass& size_class, uint64_t skew, uint64_t size)
      : arrow::MutableBuffer(block->mutable_data() + skew, static_cast<int64_t>(size)),
        block_(std::move(block)),
        size_class_(size_class) {}
  ~PooledBuffer() override { PoolOfProcess().Give(size_class_, std::move(block_)); }

 private:
  Block block_;
  SizeClass size_class_;
};

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
  if (size < kMinPooledSize) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                          arrow::AllocateBuffer(static_cast<int64_t>(skew + size + kAlignment)));
    return arrow::SliceMutableBuffer(buffer, static_cast<int64_t>(skew),
                                     static_cast<int64_t>(size));
  }
  const SizeClass size_class = ClassOf(size);
  Block block = PoolOfProcess().Take(size_class);
  if (block == nullptr) {
    ARROW_ASSIGN_OR_RAISE(block,
                          arrow::AllocateBuffer(static_cast<int64_t>(size_class.block_size)));
  }
  return std::make_shared<PooledBuffer>(std::move(block), size_class, skew, size);
}

uint64_t PooledBytes() { return PoolOfProcess().kept_bytes(); }

}  // namespace glaive::io
