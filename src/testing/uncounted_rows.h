#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "io/object_store.h"

namespace glaive::testing {

// Makes manifests of those that old writers left: no fragment says how many rows it has, and no
// deletion file how many it deletes. REQUIRES: those numbers are `rows` (or `deleted`), one byte
// each, and no others of their fields' are. All manifests of the table.
inline void ForgetRowCounts(io::ObjectStore& store, const std::string& table, uint8_t rows,
                            uint8_t deleted = 0) {
  constexpr uint8_t kTag = 0x20;  // field 4 of both messages, a varint
  const auto manifests = store.List(table + "/_versions").ValueOrDie();
  for (const io::ObjectInfo& info : manifests) {
    if (!info.path.ends_with(".manifest")) continue;
    std::string bytes = store.ReadWhole(info.path).ValueOrDie()->ToString();
    uint64_t found = 0;
    for (size_t i = 0; i + 1 < bytes.size(); ++i) {
      const auto number = static_cast<uint8_t>(bytes[i + 1]);
      if (static_cast<uint8_t>(bytes[i]) != kTag || number == 0) continue;
      if (number != rows && number != deleted) continue;
      bytes[i + 1] = 0;
      ++found;
    }
    EXPECT_GT(found, 0u) << info.path;
    ASSERT_TRUE(store.Put(info.path, std::as_bytes(std::span(bytes))).ok());
  }
}

}  // namespace glaive::testing
