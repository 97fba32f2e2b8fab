#include <utility>

#include "core/error.h"
#include "dataset/clones/files.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/table_identity.h"
#include "io/object_store.h"

namespace glaive {
namespace {

arrow::Result<table::TableLocation> FreePlace(std::string_view uri) {
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  table::TableLocation target = {std::move(place.store), std::move(place.path),
                                 std::move(place.uri)};
  ARROW_ASSIGN_OR_RAISE(const auto latest, table::LatestVersion(target));
  if (latest) return AlreadyExists("Dataset already exists: {}", target.uri);
  return target;
}

}  // namespace

arrow::Result<Dataset> ShallowClone(const Dataset& dataset, std::string_view uri,
                                    const Reference& reference, const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto source, dataset::ResolveReference(dataset, reference));
  ARROW_ASSIGN_OR_RAISE(const auto target, FreePlace(uri));
  return dataset::CommitShallowClone(source, {target, nullptr, StateOf(dataset)->session},
                                     std::nullopt, options);
}

arrow::Result<Dataset> DeepClone(const Dataset& dataset, std::string_view uri,
                                 const Reference& reference, const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto source, dataset::ResolveReference(dataset, reference));
  ARROW_ASSIGN_OR_RAISE(const auto target, FreePlace(uri));
  ARROW_ASSIGN_OR_RAISE(auto files, dataset::CopyFiles(source, target, options.progress));
  dataset::CloneOf clone = {.source = source.manifest,
                            .operation = {.is_shallow = false,
                                          .ref_name = source.branch,
                                          .ref_version = source.manifest->version,
                                          .ref_path = dataset::AbsolutePath(source.location),
                                          .branch_name = std::nullopt}};
  return dataset::CommitVerb({target, nullptr, StateOf(dataset)->session}, std::move(clone),
                             options, &files);
}

}  // namespace glaive
