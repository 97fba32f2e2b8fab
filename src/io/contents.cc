#include "io/contents.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace glaive::io {
namespace {

constexpr size_t kMaxCounted = 1000;
constexpr size_t kMaxNamed = 3;
constexpr uint64_t kMagicBytes = 4;

// By the bytes that these formats end with.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFormats = {{
    {"PAR1", "a Parquet file"},
    {"LANC", "a Lance data file"},
    {"ROW1", "an Arrow file"},  // of "ARROW1"
}};

std::string DescribeFile(ObjectStore& store, const ObjectInfo& info) {
  if (info.size_bytes >= kMagicBytes) {
    const auto reader = store.OpenRead(info.path, info.size_bytes);
    const uint64_t begin = info.size_bytes - kMagicBytes;
    std::string end;
    if (reader.ok()) {
      const auto bytes = (*reader)->Read({begin, kMagicBytes});
      if (bytes.ok()) end = (*bytes)->ToString();
    }
    for (const auto& [magic, text] : kFormats) {
      if (end == magic) return std::string(text);
    }
  }
  return fmt::format("a file of {} byte{}", info.size_bytes, info.size_bytes == 1 ? "" : "s");
}

// With folders where the store has such; no more than kMaxCounted.
std::vector<std::string> EntriesOf(const std::shared_ptr<ObjectStore>& store,
                                   const std::string& path) {
  std::vector<std::string> names;
  if (store != LocalStore()) {
    auto listed = store->ListNames(path);
    if (listed.ok()) names = *std::move(listed);
    return names;
  }
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(path, error);
       !error && entry != std::filesystem::directory_iterator() && names.size() < kMaxCounted;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

}  // namespace

std::string DescribeContents(const std::shared_ptr<ObjectStore>& store, const std::string& path) {
  const auto info = store->Head(path);
  if (info.ok() && *info) return DescribeFile(*store, **info);
  std::vector<std::string> names = EntriesOf(store, path);
  if (names.empty()) return "";
  std::ranges::sort(names);
  std::string shown;
  for (size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i) {
    shown += (i == 0 ? "" : ", ") + names[i];
  }
  return fmt::format("a folder with {}{} entr{} ({}{})", names.size(),
                     names.size() >= kMaxCounted ? " or more" : "", names.size() == 1 ? "y" : "ies",
                     shown, names.size() > kMaxNamed ? ", ..." : "");
}

}  // namespace glaive::io
