#include "encoding/codec/fsst.h"

#include <cstring>

#include "core/byte_reader.h"

namespace glaive::encoding {
namespace {

constexpr size_t kHeaderBytes = 8;
constexpr uint32_t kMagic = 0x46535354;
constexpr uint8_t kEscape = 255;

// Whether one of four codes is 255.
bool HasEscape(uint32_t codes) {
  const uint32_t inverted = ~codes;
  return ((inverted - 0x01010101u) & codes & 0x80808080u) != 0;
}

}  // namespace

arrow::Result<FsstTable> FsstTable::Validate(Bytes table, Location where) {
  if (table.size() != kTableBytes) {
    return Corrupt(where, "a symbol table of {} bytes; {} expected", table.size(), kTableBytes);
  }
  if (LoadLittleEndian<uint32_t>(table.data() + 4) != kMagic) {
    return Corrupt(where, "a symbol table without its magic");
  }
  const auto count = std::to_integer<size_t>(table[0]);
  FsstTable result;
  result.compresses_ = (std::to_integer<int>(table[3]) & 1) != 0;
  const std::byte* symbols = table.data() + kHeaderBytes;
  const std::byte* lengths = symbols + count * kMaxSymbolBytes;
  for (size_t code = 0; code < count; ++code) {
    const auto length = std::to_integer<uint8_t>(lengths[code]);
    if (length == 0 || length > kMaxSymbolBytes) {
      return Corrupt(where, "symbol {} has a length of {} bytes", code, length);
    }
    result.symbols_[code] = LoadLittleEndian<uint64_t>(symbols + code * kMaxSymbolBytes);
    result.lengths_[code] = length;
  }
  return result;
}

std::optional<size_t> FsstTable::Decode(Bytes codes, uint8_t* out) const noexcept {
  uint8_t* to = out;
  bool unknown = false;
  const auto* from = reinterpret_cast<const uint8_t*>(codes.data());
  const uint8_t* const end = from + codes.size();
  const auto put = [&](uint8_t code) {
    std::memcpy(to, &symbols_[code], sizeof(uint64_t));
    to += lengths_[code];
    unknown |= lengths_[code] == 0;
  };
  while (from < end) {
    uint32_t four;
    if (end - from >= 4 && (std::memcpy(&four, from, sizeof(four)), !HasEscape(four))) {
      for (int i = 0; i < 4; ++i) put(from[i]);
      from += 4;
      continue;
    }
    const uint8_t code = *from++;
    if (code != kEscape) {
      put(code);
      continue;
    }
    if (from == end) return std::nullopt;
    *to++ = *from++;
  }
  if (unknown) return std::nullopt;
  return static_cast<size_t>(to - out);
}

}  // namespace glaive::encoding
