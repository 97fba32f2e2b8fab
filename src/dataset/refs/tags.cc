#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/refs/files.h"

namespace glaive {
namespace {

using dataset::MainLocation;
using dataset::RefKind;

// Points the tag to what the reference means, or else to the handle's own version.
arrow::Result<dataset::ResolvedReference> Point(const Dataset& dataset,
                                                const std::optional<Reference>& reference,
                                                TagInfo* tag) {
  auto resolved = dataset::ResolveReference(
      dataset, reference.value_or(BranchVersion{BranchOf(dataset), dataset.version()}));
  if (!resolved.ok() && KindOf(resolved.status()) == ErrorKind::kNotFound) {
    return NotFound("Version not found error: {}", resolved.status().message());
  }
  ARROW_RETURN_NOT_OK(resolved.status());
  tag->branch = resolved->branch;
  tag->version = resolved->manifest->version;
  tag->manifest_size = resolved->manifest->size_bytes;
  tag->updated_at_ns = UnixNanoseconds();
  return resolved;
}

std::string Called(const std::string& tag) { return "tag " + tag; }

}  // namespace

arrow::Result<std::map<std::string, TagInfo>> ListTags(const Dataset& dataset) {
  const table::TableLocation main = MainLocation(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto names, dataset::ListRefNames(main, RefKind::kTag));
  std::map<std::string, TagInfo> tags;
  for (const std::string& name : names) {
    auto tag = dataset::ReadTag(main, name);
    // Deleted since the listing.
    if (!tag.ok() && KindOf(tag.status()) == ErrorKind::kNotFound) continue;
    ARROW_ASSIGN_OR_RAISE(tags[name], std::move(tag));
  }
  return tags;
}

arrow::Result<TagInfo> GetTag(const Dataset& dataset, const std::string& tag) {
  ARROW_RETURN_NOT_OK(dataset::CheckTagName(tag));
  return dataset::ReadTag(MainLocation(dataset), tag);
}

arrow::Status CreateTag(const Dataset& dataset, const std::string& tag,
                        const std::optional<Reference>& reference) {
  ARROW_RETURN_NOT_OK(dataset::CheckTagName(tag));
  const table::TableLocation main = MainLocation(dataset);
  TagInfo info;
  ARROW_ASSIGN_OR_RAISE(const auto source, Point(dataset, reference, &info));
  info.created_at_ns = info.updated_at_ns;
  const arrow::Status created = dataset::CreateRef(main, tag, info);
  if (!created.ok() && KindOf(created) == ErrorKind::kAlreadyExists) {
    return InvalidInput("Ref conflict error: tag {} already exists", tag);
  }
  ARROW_RETURN_NOT_OK(created);
  // A clean-up that took the version before does not know of the tag; one that takes it later does.
  const arrow::Status whole = dataset::CheckStillThere(source, Called(tag));
  if (IsRetryable(whole)) ARROW_RETURN_NOT_OK(dataset::TakeBackRef(main, tag, info));
  return whole;
}

arrow::Status UpdateTag(const Dataset& dataset, const std::string& tag,
                        const std::optional<Reference>& reference) {
  ARROW_ASSIGN_OR_RAISE(const TagInfo before, GetTag(dataset, tag));
  const table::TableLocation main = MainLocation(dataset);
  TagInfo info = before;
  ARROW_ASSIGN_OR_RAISE(const auto source, Point(dataset, reference, &info));
  ARROW_RETURN_NOT_OK(dataset::ReplaceRef(main, tag, info));
  const arrow::Status whole = dataset::CheckStillThere(source, Called(tag));
  if (!IsRetryable(whole)) return whole;
  ARROW_ASSIGN_OR_RAISE(const TagInfo now, dataset::ReadTag(main, tag));
  if (now.version == info.version && now.updated_at_ns == info.updated_at_ns) {
    ARROW_RETURN_NOT_OK(dataset::ReplaceRef(main, tag, before));
  }
  return whole;
}

arrow::Status ReplaceTagMetadata(const Dataset& dataset, const std::string& tag,
                                 const std::map<std::string, std::string>& metadata) {
  ARROW_ASSIGN_OR_RAISE(TagInfo info, GetTag(dataset, tag));
  info.metadata = metadata;
  return dataset::ReplaceRef(MainLocation(dataset), tag, info);
}

arrow::Status DeleteTag(const Dataset& dataset, const std::string& tag) {
  ARROW_RETURN_NOT_OK(GetTag(dataset, tag));
  const table::TableLocation main = MainLocation(dataset);
  return main.store->Delete(dataset::RefPath(main, RefKind::kTag, tag));
}

}  // namespace glaive
