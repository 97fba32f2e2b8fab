#include "wire/fragment_parts.h"

#include "wire/cursor.h"

namespace glaive::wire {
namespace {

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view TextBetween(const std::byte* begin, const std::byte* end) {
  return TextOf({begin, end});
}

bool SplitFile(std::span<const std::byte> message, FileParts& parts) {
  constexpr uint64_t kSize = Tag(6, kVarint);
  Cursor file(message);
  if (!file.Match(Tag(1, kLengthDelimited))) return false;
  parts.path = TextOf(file.Bytes());
  if (!file.ok() || !file.is_canonical()) return false;
  Cursor middle = file;
  while (!middle.done() && *middle.at() != static_cast<std::byte>(kSize)) {
    middle.Skip(middle.Varint());
  }
  if (!middle.ok()) return false;
  parts.middle = TextBetween(file.at(), middle.at());
  file.MoveTo(middle.at());
  if (file.Match(kSize)) parts.size_bytes = file.Varint();
  if (!file.ok() || !file.is_canonical()) return false;
  parts.tail = TextBetween(file.at(), message.data() + message.size());
  return true;
}

}  // namespace

std::optional<FragmentParts> SplitFragment(std::span<const std::byte> message) {
  FragmentParts parts;
  Cursor fragment(message);
  if (fragment.Match(Tag(1, kVarint))) parts.id = fragment.Varint();
  while (fragment.Match(Tag(2, kLengthDelimited))) {
    if (parts.num_files == FragmentParts::kMaxFiles) return std::nullopt;
    if (!SplitFile(fragment.Bytes(), parts.files[parts.num_files++])) return std::nullopt;
  }
  if (fragment.Match(Tag(3, kLengthDelimited))) parts.deletion_file = TextOf(fragment.Bytes());
  if (fragment.Match(Tag(4, kVarint))) parts.physical_rows = fragment.Varint();
  if (!fragment.ok() || !fragment.is_canonical()) return std::nullopt;
  for (Cursor rest = fragment; !rest.done();) {
    const uint64_t tag = rest.Varint();
    if (tag < Tag(5, kVarint)) return std::nullopt;
    rest.Skip(tag);
    if (!rest.ok()) return std::nullopt;
  }
  parts.rest = TextBetween(fragment.at(), message.data() + message.size());
  return parts;
}

}  // namespace glaive::wire
