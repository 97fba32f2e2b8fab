#include "core/recycling_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/per_process.h"
#include "core/write_once.h"

namespace glaive {
namespace {

constexpr uint64_t kSlack = 128;  // above a round size, for what aligns data and is read behind it
constexpr uint64_t kMinSize = uint64_t{64} << 10;  // below, malloc is as good
constexpr uint64_t kMaxSize = uint64_t{16} << 20;
// Sizes of blocks: four to each power of two, so that no more than a fifth is wasted.
constexpr uint64_t kStepsPerDoubling = 4;
constexpr size_t kNumClasses = kStepsPerDoubling * 8 + 1;

struct SizeClass {
  size_t index;
  int64_t block_size;
};

// Nothing where memory of that size is not kept.
std::optional<SizeClass> ClassOf(int64_t size, int64_t alignment) {
  if (alignment != arrow::kDefaultBufferAlignment) return std::nullopt;
  if (size < static_cast<int64_t>(kMinSize) || size > static_cast<int64_t>(kMaxSize + kSlack)) {
    return std::nullopt;
  }
  const uint64_t wanted = std::max(static_cast<uint64_t>(size) - kSlack, kMinSize);
  const uint64_t floor = std::bit_floor(wanted);
  const uint64_t step = floor / kStepsPerDoubling;
  const uint64_t steps = (wanted - floor + step - 1) / step;
  const auto doublings = static_cast<uint64_t>(std::countr_zero(floor / kMinSize));
  return SizeClass{doublings * kStepsPerDoubling + steps,
                   static_cast<int64_t>(floor + steps * step + kSlack)};
}

struct Block {
  uint8_t* data;
  int64_t size;
};

class Blocks {
 public:
  // Null where none of that size is kept.
  uint8_t* Take(const SizeClass& size_class) {
    const std::lock_guard lock(mutex_);
    std::vector<uint8_t*>& blocks = blocks_[size_class.index];
    if (blocks.empty()) return nullptr;
    uint8_t* const block = blocks.back();
    blocks.pop_back();
    kept_bytes_ -= size_class.block_size;
    return block;
  }

  // Returns those that there is no room for.
  std::vector<Block> Give(const SizeClass& size_class, uint8_t* block) {
    std::vector<Block> dropped;
    const std::lock_guard lock(mutex_);
    // Room is made by other sizes: what is asked for changes in the life of a process.
    for (size_t i = 0; i < kNumClasses && !HasRoom(size_class);) {
      if (i == size_class.index || blocks_[i].empty()) {
        ++i;
        continue;
      }
      dropped.push_back({blocks_[i].back(), block_sizes_[i]});
      kept_bytes_ -= block_sizes_[i];
      blocks_[i].pop_back();
    }
    if (!HasRoom(size_class)) {
      dropped.push_back({block, size_class.block_size});
      return dropped;
    }
    kept_bytes_ += size_class.block_size;
    block_sizes_[size_class.index] = size_class.block_size;
    blocks_[size_class.index].push_back(block);
    return dropped;
  }

  uint64_t kept_bytes() {
    const std::lock_guard lock(mutex_);
    return static_cast<uint64_t>(kept_bytes_);
  }

 private:
  bool HasRoom(const SizeClass& size_class) const {
    return kept_bytes_ + size_class.block_size <= static_cast<int64_t>(kMaxRecycledBytes);
  }

  std::mutex mutex_;
  std::array<std::vector<uint8_t*>, kNumClasses> blocks_;
  std::array<int64_t, kNumClasses> block_sizes_ = {};
  int64_t kept_bytes_ = 0;
};

// Never destroyed: buffers may outlive every static object.
Blocks& BlocksOfProcess() {
  static constinit ProcessWide<PerProcess<Blocks>> blocks;
  return blocks.Get().Get();
}

class Pool final : public arrow::MemoryPool {
 public:
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    const auto size_class = ClassOf(size, alignment);
    if (!size_class) return system_->Allocate(size, alignment, out);
    *out = BlocksOfProcess().Take(*size_class);
    if (*out != nullptr) return arrow::Status::OK();
    return system_->Allocate(size_class->block_size, alignment, out);
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** data) override {
    const auto before = ClassOf(old_size, alignment);
    const auto after = ClassOf(new_size, alignment);
    if (!before && !after) return system_->Reallocate(old_size, new_size, alignment, data);
    if (before && after && before->index == after->index) return arrow::Status::OK();
    uint8_t* moved = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
    std::memcpy(moved, *data, static_cast<size_t>(std::min(old_size, new_size)));
    Free(*data, old_size, alignment);
    *data = moved;
    return arrow::Status::OK();
  }

  void Free(uint8_t* data, int64_t size, int64_t alignment) override {
    const auto size_class = ClassOf(size, alignment);
    if (!size_class) return system_->Free(data, size, alignment);
    for (const Block& block : BlocksOfProcess().Give(*size_class, data)) {
      system_->Free(block.data, block.size, alignment);
    }
  }

  int64_t bytes_allocated() const override {
    return system_->bytes_allocated() - static_cast<int64_t>(BlocksOfProcess().kept_bytes());
  }
  int64_t total_bytes_allocated() const override { return system_->total_bytes_allocated(); }
  int64_t num_allocations() const override { return system_->num_allocations(); }
  std::string backend_name() const override { return system_->backend_name(); }

 private:
  arrow::MemoryPool* system_ = arrow::default_memory_pool();
};

}  // namespace

arrow::MemoryPool* RecyclingPool() {
  static constinit ProcessWide<Pool> pool;
  return &pool.Get();
}

uint64_t RecycledBytes() { return BlocksOfProcess().kept_bytes(); }

}  // namespace glaive
