#include "dataset/commit_verb.h"

#include <utility>

#include "core/error.h"
#include "dataset/cleanup_plan.h"
#include "dataset/dataset_state.h"
#include "dataset/write_session.h"

namespace glaive::dataset {
namespace {

// The version before stays too: whoever read it is likely still at work.
arrow::Status CleanUpAfter(const table::TableLocation& table, const table::ManifestPtr& made) {
  ARROW_ASSIGN_OR_RAISE(const auto options, AutoCleanup(*made));
  if (!options || table::IsDetached(made->version)) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, MakeDataset(table, made, nullptr));
  return CleanUpFrom(dataset, made->version - 1, *options).status();
}

arrow::Result<table::ManifestPtr> Create(const table::TableLocation& table,
                                         table::Operation operation,
                                         const table::CommitOptions& options) {
  auto* const overwrite = std::get_if<table::Overwrite>(&operation);
  if (overwrite == nullptr) return Internal("only an overwrite makes a table");
  return table::CommitCreate(table, std::move(*overwrite), options);
}

arrow::Result<table::ManifestPtr> Publish(const CommitPlace& place, Change change,
                                          const table::CommitOptions& options) {
  const table::Match cases{
      [&](table::Operation& operation) {
        return place.base == nullptr
                   ? Create(place.table, std::move(operation), options)
                   : table::Commit(place.table, place.base, std::move(operation), options);
      },
      [&](table::MakeOperation& make) {
        return table::Commit(place.table, place.base, std::move(make), options);
      },
      [&](CloneOf& clone) {
        return table::CommitClone(place.table, *clone.source, std::move(clone.operation), options);
      }};
  return std::visit(cases, change);
}

}  // namespace

CommitPlace PlaceOf(const Dataset& dataset) {
  const Dataset::State& state = *dataset.state();
  return {state.location, state.manifest, state.session};
}

arrow::Result<table::CommitOptions> CommitOptionsOf(const ChangeOptions& options) {
  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, Resolve(options.durability));
  commit.transaction_properties = options.transaction_properties;
  if (options.progress) commit.poll = [progress = options.progress] { return progress({}); };
  return commit;
}

arrow::Result<Dataset> CommitVerb(const CommitPlace& place, Change change,
                                  table::CommitOptions options, NewFiles* files) {
  if (files != nullptr) {
    options.files_to_sync.insert(options.files_to_sync.end(), files->paths().begin(),
                                 files->paths().end());
  }
  const auto made = Publish(place, std::move(change), options);
  // Unless it is certain that no version refers to the files, they stay.
  const bool may_refer = made.ok() || KindOf(made.status()) == ErrorKind::kCommitUnknown;
  if (files != nullptr && may_refer) files->Keep();
  ARROW_RETURN_NOT_OK(made.status());
  // What could not be deleted is for the next one.
  if (place.base != nullptr) static_cast<void>(CleanUpAfter(place.table, *made));
  return PublishedDataset(place.table, *made, place.session);
}

arrow::Result<Dataset> PublishedDataset(const table::TableLocation& table,
                                        const table::ManifestPtr& published,
                                        const std::shared_ptr<Session>& session) {
  auto dataset = MakeDataset(table, published, session);
  if (dataset.ok()) return dataset;
  return CommitUnknown(Location{published->path},
                       "version {} was committed, but cannot be opened here: {}",
                       published->version, dataset.status().message());
}

}  // namespace glaive::dataset
