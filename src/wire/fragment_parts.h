#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace glaive::wire {

// A DataFile message, cut into what differs from file to file and what mostly does not.
struct FileParts {
  std::string_view path;
  std::string_view middle;  // the fields between path and size
  std::optional<uint64_t> size_bytes;
  std::string_view tail;  // the fields behind it
};

// Likewise a DataFragment message; views of it.
struct FragmentParts {
  static constexpr size_t kMaxFiles = 4;

  std::optional<uint64_t> id;
  std::array<FileParts, kMaxFiles> files;
  size_t num_files = 0;
  std::optional<std::string_view> deletion_file;  // the message
  std::optional<uint64_t> physical_rows;
  std::string_view rest;  // the fields behind them
};

// Nothing where the fields come in another order than writers give them, or a number takes more
// bytes than it needs: the parts, put together again, make the same bytes.
std::optional<FragmentParts> SplitFragment(std::span<const std::byte> message);

}  // namespace glaive::wire
