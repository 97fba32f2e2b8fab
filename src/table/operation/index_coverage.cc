#include "table/operation/index_coverage.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "table/manifest/fragments_in.h"
#include "table/operation/fragment_reuse.h"

namespace glaive::table {
namespace {

// Whether the field or one of its children, if not one of its parents, is in `fields`; all of them
// are added to `related` then. Of a field that is there itself, everything below is related.
bool AddRelated(const wire::Field& field, const std::set<int32_t>& fields, bool below,
                std::set<int32_t>* related) {
  below = below || fields.contains(field.id);
  bool found = below;
  for (const wire::Field& child : field.children) {
    found = AddRelated(child, fields, below, related) || found;
  }
  if (found) related->insert(field.id);
  return found;
}

bool AnswersForSome(const Index& index, const FragmentTable& fragments) {
  if (!index.covered) return true;  // not known is not none
  return HasFragmentIn(fragments, index.covered->ranges());
}

// Segments without a time come last.
auto AgeOf(const Index* index) {
  const auto& created = index->entry.created_at_ms;
  return std::tuple(!created.has_value(), created.value_or(0), index->entry.dataset_version);
}

// Of the segments of one index, those to be dropped.
std::vector<const Index*> Superfluous(const std::vector<const Index*>& segments,
                                      const FragmentTable& fragments) {
  if (segments.size() < 2) return {};
  std::vector<const Index*> idle;
  for (const Index* segment : segments) {
    if (!AnswersForSome(*segment, fragments)) idle.push_back(segment);
  }
  if (idle.size() == segments.size()) idle.erase(std::ranges::min_element(idle, {}, AgeOf));
  return idle;
}

// Where a deferred compaction put rows matters only as long as an index knows where they were.
void EndTranslation(IndexList& indices, std::span<const uint64_t> fragment_ids) {
  std::set<uint64_t> idle(fragment_ids.begin(), fragment_ids.end());
  for (const Index& index : indices.indices()) {
    if (wire::IsSystem(index.entry)) continue;
    std::erase_if(idle, [&](uint64_t id) { return !index.covered || index.covered->Contains(id); });
  }
  for (Index& index : indices.indices()) {
    const bool translates = index.entry.name == wire::kFragmentReuseIndexName;
    if (translates && index.covered) index.covered->Remove({idle.begin(), idle.end()});
  }
}

}  // namespace

arrow::Result<IndexList> IndicesOf(const Manifest& manifest) {
  ARROW_ASSIGN_OR_RAISE(IndexList list, IndexList::Parse(manifest.index_section, {manifest.path}));
  const Index* moved = list.FragmentReuse();
  if (moved == nullptr) return list;
  const auto reuse = FragmentReuse::Parse(
      moved->entry.details.value_or(IndexMetadata::Details()).value, {manifest.path});
  for (Index& index : list.indices()) {
    if (&index == moved || !index.covered) continue;
    if (!reuse.ok()) return WithContext(reuse.status(), "index '{}'", index.entry.name);
    reuse->Translate(*index.covered);
  }
  return list;
}

std::set<int32_t> RelatedFields(const wire::Schema& schema, const std::set<int32_t>& fields) {
  std::set<int32_t> related = fields;
  for (const wire::Field& field : schema.fields) AddRelated(field, fields, false, &related);
  return related;
}

arrow::Status Withdraw(IndexList& indices, std::span<const uint64_t> fragment_ids,
                       const std::optional<std::set<int32_t>>& fields) {
  if (fragment_ids.empty()) return arrow::Status::OK();
  for (Index& index : indices.indices()) {
    if (wire::IsSystem(index.entry) || (fields && !index.HasField(*fields))) continue;
    if (!index.covered) {
      return Unsupported(
          "changing fragments of a table whose index '{}' does not say which it covers",
          index.entry.name);
    }
    index.covered->Remove({fragment_ids.begin(), fragment_ids.end()});
  }
  return arrow::Status::OK();
}

arrow::Status WithdrawCoverage(Manifest& next, std::span<const uint64_t> fragment_ids,
                               const std::set<int32_t>& fields) {
  if (next.index_section.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(IndexList indices, IndicesOf(next));
  ARROW_RETURN_NOT_OK(Withdraw(indices, fragment_ids, RelatedFields(next.schema, fields)));
  EndTranslation(indices, fragment_ids);
  return indices.Serialize().Value(&next.index_section);
}

bool IsOverlaid(const Index& index, const std::map<int32_t, uint64_t>& overlaid,
                const wire::Schema& schema) {
  return std::ranges::any_of(overlaid, [&](const auto& entry) {
    return entry.second > index.entry.dataset_version &&
           index.HasField(RelatedFields(schema, {entry.first}));
  });
}

void DropIrrelevant(IndexList& indices, const Manifest& next) {
  std::set<int32_t> live;
  wire::CollectFieldIds(next.schema.fields, &live);
  std::erase_if(indices.indices(), [&](const Index& index) {
    return !wire::IsSystem(index.entry) &&
           !std::ranges::all_of(index.entry.fields, [&](int32_t id) { return live.contains(id); });
  });
  std::map<std::string, std::vector<const Index*>> by_name;
  for (const Index& index : indices.indices()) {
    if (!wire::IsSystem(index.entry)) by_name[index.entry.name].push_back(&index);
  }
  std::set<std::string> dropped;  // uuids
  for (const auto& [name, segments] : by_name) {
    for (const Index* segment : Superfluous(segments, next.fragments)) {
      dropped.insert(segment->entry.uuid);
    }
  }
  std::erase_if(indices.indices(),
                [&](const Index& index) { return dropped.contains(index.entry.uuid); });
}

}  // namespace glaive::table
