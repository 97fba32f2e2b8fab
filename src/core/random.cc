#include "core/random.h"

#include <sys/random.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <random>

namespace glaive {
namespace {

std::atomic<RandomSource> source_of_test = nullptr;

}  // namespace

void SetRandomSource(RandomSource source) {
  source_of_test.store(source, std::memory_order_relaxed);
}

void FillRandom(std::span<std::byte> bytes) {
  if (const auto source = source_of_test.load(std::memory_order_relaxed)) return source(bytes);
  constexpr size_t kMaxCallBytes = 256;
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kMaxCallBytes);
    if (getentropy(bytes.data(), size) != 0) break;
    bytes = bytes.subspan(size);
  }
  if (bytes.empty()) return;
  // A system without that call.
  std::random_device device;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(device());
}

uint64_t Random64() {
  uint64_t value = 0;
  FillRandom(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace glaive
