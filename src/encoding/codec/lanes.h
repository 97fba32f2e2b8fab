#pragma once

#include <cstddef>

// What loops over many small values are made of. Only for .cc files.

// The hot loops are compiled twice, and the loader picks the copy that the machine can run.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GLAIVE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define GLAIVE_CLONES
#endif
#define GLAIVE_INLINE inline __attribute__((always_inline))

namespace glaive::encoding {

inline constexpr size_t kVectorBytes = 32;

// Words of neighbouring lanes, which need not be aligned.
template <typename T>
struct Lanes {
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
};

}  // namespace glaive::encoding
