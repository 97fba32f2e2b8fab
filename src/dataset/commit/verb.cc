#include "dataset/commit/verb.h"

#include <utility>

#include "core/error.h"
#include "dataset/commit/brought_files.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/refs/restoration.h"
#include "dataset/retention/plan.h"
#include "table/commit/publish.h"

namespace glaive::dataset {
namespace {

// The version before stays too: whoever read it is likely still at work.
arrow::Status CleanUpAfter(const table::TableLocation& table, const table::ManifestPtr& made) {
  ARROW_ASSIGN_OR_RAISE(const auto options, AutoCleanup(*made));
  if (!options || table::IsDetached(made->version)) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, MakeDataset(table, made, nullptr));
  return CleanUpFrom(dataset, made->version - 1, *options).status();
}

arrow::Result<table::ManifestPtr> Create(const table::TableLocation& table, table::Change change,
                                         const table::CommitOptions& options) {
  if (!std::holds_alternative<table::Overwrite>(change.operation)) {
    return Internal("only an overwrite makes a table");
  }
  return table::CommitCreate(table, std::move(change), options);
}

// An operation that is made for each version that it meets may bring other files each time.
table::MakeChange Durable(table::MakeChange make, const table::TableLocation& table,
                          BroughtFiles& brought, table::Durability durability) {
  return [=, make = std::move(make),
          &brought](const table::ManifestPtr& latest) -> arrow::Result<table::Change> {
    ARROW_ASSIGN_OR_RAISE(table::Change change, make(latest));
    ARROW_RETURN_NOT_OK(brought.Add(change.operation, latest));
    ARROW_ASSIGN_OR_RAISE(const auto paths, brought.Take());
    ARROW_RETURN_NOT_OK(table::SyncFiles(table, durability, paths));
    return change;
  };
}

// Sees to it that whatever the change brings is synced before its version is there.
arrow::Status MakeDurable(const CommitPlace& place, Change& change, BroughtFiles& brought,
                          table::CommitOptions& options) {
  if (options.durability == table::Durability::kNone) return arrow::Status::OK();
  brought.AddPaths(options.files_to_sync);
  if (const auto* const made = std::get_if<table::Change>(&change)) {
    ARROW_RETURN_NOT_OK(brought.Add(made->operation, place.base));
  } else if (auto* const make = std::get_if<table::MakeChange>(&change)) {
    *make = Durable(std::move(*make), place.table, brought, options.durability);
  }
  return brought.Take().Value(&options.files_to_sync);
}

arrow::Status Complete(const VersionOptions& options, table::CommitOptions& commit) {
  ARROW_ASSIGN_OR_RAISE(commit.durability, Resolve(options.durability));
  for (const auto& [key, value] : PropertiesOf(options)) {
    commit.transaction_properties.insert_or_assign(key, value);
  }
  if (options.progress && !commit.poll) {
    commit.poll = [&options] { return options.progress({}); };
  }
  return arrow::Status::OK();
}

arrow::Result<table::ManifestPtr> Publish(const CommitPlace& place, Change change,
                                          table::CommitOptions options) {
  BroughtFiles brought(place.table);
  ARROW_RETURN_NOT_OK(MakeDurable(place, change, brought, options));
  const table::Match cases{
      [&](table::Change& made) {
        if (place.base == nullptr) return Create(place.table, std::move(made), options);
        const auto* const restore = std::get_if<table::Restore>(&made.operation);
        return restore != nullptr && !options.detached
                   ? CommitRestore(place.table, place.base, *restore, made.hints.content, options)
                   : table::Commit(place.table, place.base, std::move(made), options);
      },
      [&](table::MakeChange& make) {
        return table::Commit(place.table, place.base, std::move(make), options);
      },
      [&](CloneOf& clone) {
        return table::CommitClone(place.table, *clone.source, std::move(clone.operation), options);
      }};
  return std::visit(cases, change);
}

}  // namespace

CommitPlace PlaceOf(const Dataset& dataset) {
  const dataset::DatasetState& state = *StateOf(dataset);
  return {state.location, state.manifest, state.session};
}

arrow::Result<Dataset> CommitVerb(const CommitPlace& place, Change change,
                                  const VersionOptions& options, NewFiles* files,
                                  table::CommitOptions details) {
  ARROW_RETURN_NOT_OK(Complete(options, details));
  if (files != nullptr) {
    details.files_to_sync.insert(details.files_to_sync.end(), files->paths().begin(),
                                 files->paths().end());
  }
  const auto made = Publish(place, std::move(change), std::move(details));
  // Unless it is certain that no version refers to the files, they stay.
  const bool may_refer = made.ok() || KindOf(made.status()) == ErrorKind::kCommitUnknown;
  if (files != nullptr && may_refer) files->Keep();
  ARROW_RETURN_NOT_OK(made.status());
  // What could not be deleted is for the next one.
  if (place.base != nullptr && place.cleans_up) static_cast<void>(CleanUpAfter(place.table, *made));
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
