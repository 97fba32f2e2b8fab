#include "table/operation/fragment_reuse.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "wire/fields.h"

namespace glaive::table {
namespace {

using wire::Bytes;
using wire::FieldView;
using wire::Varint;

arrow::Result<uint64_t> ReadFragmentId(const FieldView& digest) {
  uint64_t id = 0;
  ARROW_RETURN_NOT_OK(wire::VisitFields(digest.payload, digest.where, "FragmentDigest",
                                        [&](const FieldView& field) {
                                          if (field.key() == Varint(1)) id = field.value;
                                          return arrow::Status::OK();
                                        }));
  if (id > UINT32_MAX) return Corrupt(digest.where, "fragment id {} does not fit 32 bits", id);
  return id;
}

arrow::Result<FragmentReuse::Group> ReadGroup(const FieldView& message) {
  FragmentReuse::Group group;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    if (field.key() != Bytes(2) && field.key() != Bytes(3)) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const uint64_t id, ReadFragmentId(field));
    (field.number == 2 ? group.old_ids : group.new_ids).push_back(id);
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(message.payload, message.where, "a reuse group", read));
  return group;
}

arrow::Status ReadVersions(const FieldView& content, std::vector<FragmentReuse::Group>* groups) {
  const auto read_version = [&](const FieldView& field) -> arrow::Status {
    if (field.key() != Bytes(3)) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(FragmentReuse::Group group, ReadGroup(field));
    groups->push_back(std::move(group));
    return arrow::Status::OK();
  };
  return wire::VisitFields(
      content.payload, content.where, "reuse versions", [&](const FieldView& field) {
        if (field.key() != Bytes(1)) return arrow::Status::OK();
        return wire::VisitFields(field.payload, field.where, "a reuse version", read_version);
      });
}

}  // namespace

arrow::Result<FragmentReuse> FragmentReuse::Parse(const std::string& details, Location where) {
  FragmentReuse reuse;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): return ReadVersions(field, &reuse.groups);
      case Bytes(2):
        return Unsupported(where, "changing a table whose fragment reuse index lies in a file");
      default: return arrow::Status::OK();
    }
  };
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(wire::AsBytes(details), where, "FragmentReuseIndexDetails", read));
  return reuse;
}

// Groups may be many and coverage of many pieces: what changes is noted, and done at the end.
void FragmentReuse::Translate(FragmentSet& covered) const {
  std::unordered_map<uint64_t, bool> changed;
  const auto is_covered = [&](uint64_t id) {
    const auto found = changed.find(id);
    return found != changed.end() ? found->second : covered.Contains(id);
  };
  for (const Group& group : groups) {
    if (std::ranges::none_of(group.old_ids, is_covered)) continue;
    const bool whole = std::ranges::all_of(group.old_ids, is_covered);
    for (const uint64_t id : group.old_ids) changed[id] = false;
    for (const uint64_t id : group.new_ids) {
      if (whole) changed[id] = true;
    }
  }
  std::vector<uint64_t> added;
  std::vector<uint64_t> removed;
  for (const auto& [id, is_added] : changed) (is_added ? added : removed).push_back(id);
  if (!removed.empty()) covered.Remove(std::move(removed));
  if (!added.empty()) covered.Add(std::move(added));
}

}  // namespace glaive::table
