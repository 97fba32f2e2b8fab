#pragma once

#include <cstdint>

#include <arrow/memory_pool.h>

namespace glaive {

// A pool for buffers that live briefly: those from 64 KiB to 16 MiB come from memory that earlier
// ones have used, as touching fresh pages costs several times what filling them does. Others go to
// Arrow's default pool. What is kept for reuse is bounded, and a forked child begins with none. One
// for the process, never destroyed; thread safe.
arrow::MemoryPool* RecyclingPool();

// Bytes that this process keeps for reuse; bounded by kMaxRecycledBytes.
uint64_t RecycledBytes();
inline constexpr uint64_t kMaxRecycledBytes = uint64_t{32} << 20;

}  // namespace glaive
