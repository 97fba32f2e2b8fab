#include "table/manifest/index_list.h"

#include <algorithm>
#include <utility>

#include "wire/fields.h"

namespace glaive::table {
namespace {

using wire::FieldView;

constexpr Location kHere = {"(index section)"};
constexpr uint32_t kIndices = 1;         // IndexSection.indices
constexpr uint32_t kFragmentBitmap = 5;  // IndexMetadata.fragment_bitmap

std::optional<FragmentSet> CoverageIn(const IndexMetadata& entry) {
  if (entry.fragment_bitmap.empty()) return std::nullopt;
  auto covered = FragmentSet::Parse(entry.fragment_bitmap, kHere);
  return covered.ok() ? std::optional(*std::move(covered)) : std::nullopt;
}

}  // namespace

bool Index::HasField(const std::set<int32_t>& fields) const {
  return std::ranges::any_of(entry.fields, [&](int32_t id) { return fields.contains(id); });
}

arrow::Result<Index> IndexList::ParseEntry(std::string message, Location where) {
  Index index;
  ARROW_ASSIGN_OR_RAISE(index.entry, wire::ParseIndex(wire::AsBytes(message), where));
  if (!index.entry.fragment_bitmap.empty()) {
    ARROW_ASSIGN_OR_RAISE(index.covered, FragmentSet::Parse(index.entry.fragment_bitmap, where));
  }
  index.message = std::move(message);
  return index;
}

arrow::Result<std::string> IndexList::MessageOf(const Index& index) {
  if (index.covered == CoverageIn(index.entry)) return index.message;
  std::string bitmap;
  wire::AppendBytes(kFragmentBitmap, index.covered->Serialize(), &bitmap);
  const std::pair<uint32_t, std::string> changed = {kFragmentBitmap, std::move(bitmap)};
  return WithFields(index.message, kHere, {&changed, 1});
}

arrow::Result<IndexList> IndexList::Parse(const std::string& section, Location where) {
  IndexList list;
  const auto add = [&](const FieldView& field) -> arrow::Status {
    if (field.key() != wire::Bytes(kIndices)) {
      list.unknown_fields_ += field.raw;
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(Index index, ParseEntry(field.text(), field.where));
    list.indices_.push_back(std::move(index));
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(section), where, "IndexSection", add));
  return list;
}

arrow::Result<std::string> IndexList::Serialize() const {
  std::string section;
  for (const Index& index : indices_) {
    ARROW_ASSIGN_OR_RAISE(const std::string message, MessageOf(index));
    wire::AppendBytes(kIndices, message, &section);
  }
  return section + unknown_fields_;
}

const Index* IndexList::FragmentReuse() const {
  const auto found = std::ranges::find_if(indices_, [](const Index& index) {
    return index.entry.name == wire::kFragmentReuseIndexName;
  });
  return found == indices_.end() ? nullptr : &*found;
}

arrow::Result<std::string> WithFields(std::string_view message, Location where,
                                      std::span<const std::pair<uint32_t, std::string>> fields) {
  std::string out;
  std::set<uint32_t> placed;
  const auto copy = [&](const FieldView& field) {
    const auto replaced =
        std::ranges::find(fields, field.number, &std::pair<uint32_t, std::string>::first);
    if (replaced == fields.end()) {
      out += field.raw;
    } else if (placed.insert(field.number).second) {
      out += replaced->second;
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(message), where, "IndexMetadata", copy));
  for (const auto& [number, bytes] : fields) {
    if (!placed.contains(number)) out += bytes;
  }
  return out;
}

}  // namespace glaive::table
