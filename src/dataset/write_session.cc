#include "dataset/write_session.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/base_paths.h"
#include "dataset/dataset_state.h"
#include "dataset/input_stream.h"
#include "dataset/session_state.h"
#include "dataset/write_stream.h"
#include "dataset/write_target_state.h"
#include "io/object_store.h"

namespace glaive::dataset {
namespace {

arrow::Result<table::TableLocation> LocationOf(std::string_view uri) {
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  return table::TableLocation{std::move(place.store), std::move(place.path), std::move(place.uri)};
}

arrow::Status RefuseCreation(const WriteOptions& options, const std::string& uri) {
  if (options.mode != WriteMode::kCreate) return arrow::Status::OK();
  return AlreadyExists("Dataset already exists: {}", uri);
}

// Data files without a version are another writer's work in progress, or a table that lost its
// versions: neither is to be built upon.
arrow::Status RefuseStrayData(const table::TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(const auto files, table.store->ListNames(table.Path("data")));
  if (files.empty()) return arrow::Status::OK();
  return InvalidInput("{} has data files but no version of a dataset; appending would hide them",
                      table.uri);
}

// Workers that write the files of a table to come leave data files alone; transactions are left by
// a table that was there.
arrow::Status RefuseLostVersions(const table::TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(const auto files, table.store->ListNames(table.Path("_transactions")));
  if (files.empty()) return arrow::Status::OK();
  return InvalidInput("{} has transactions but no version of a dataset: the table is damaged",
                      table.uri);
}

arrow::Result<Destination> NewTable(table::TableLocation table, std::shared_ptr<Session> session,
                                    const WriteOptions& options) {
  Destination destination = {
      .table = std::move(table), .mode = WriteMode::kCreate, .session = std::move(session)};
  ARROW_RETURN_NOT_OK(ChooseFolders(options, {}, &destination));
  return destination;
}

arrow::Result<Destination> Onto(table::TableLocation table, const WriteTarget& target,
                                std::shared_ptr<Session> session, const WriteOptions& options) {
  ARROW_RETURN_NOT_OK(RefuseCreation(options, table.uri));
  const auto& state = target.state();
  Destination destination = {.table = std::move(table),
                             .mode = options.mode,
                             .session = std::move(session),
                             .schema = std::shared_ptr<const wire::Schema>(state, &state->schema),
                             .version = target.version(),
                             .data_file_version = state->data_file_version};
  ARROW_RETURN_NOT_OK(ChooseFolders(options, state->base_paths, &destination));
  return destination;
}

}  // namespace

std::string NameOf(FileVersion version) {
  switch (version) {
    case FileVersion::k0_1: return "0.1";
    case FileVersion::k2_0: return "2.0";
    case FileVersion::k2_1: return "2.1";
    case FileVersion::k2_2: return "2.2";
    case FileVersion::k2_3: return "2.3";
  }
  return "";
}

arrow::Result<FileVersion> WritableVersion(std::string_view name) {
  if (name == "2.2" || name == "stable") return FileVersion::k2_2;
  if (name == "2.1") return FileVersion::k2_1;
  for (const std::string_view known : {"0.1", "legacy", "0.3", "2.0", "2.3", "next"}) {
    if (name == known) return Unsupported("data_storage_version \"{}\" is not written yet", name);
  }
  return InvalidInput("Unknown Lance storage version: {}", name);
}

arrow::Result<table::Durability> Resolve(Durability durability) {
  switch (durability) {
    case Durability::kNone: return table::Durability::kNone;
    case Durability::kCommit: return table::Durability::kCommit;
    case Durability::kDefault: break;
  }
  const char* word = std::getenv("GLAIVE_DURABILITY");
  if (word == nullptr || std::string_view(word) == "commit") return table::Durability::kCommit;
  if (std::string_view(word) == "none") return table::Durability::kNone;
  return InvalidInput("GLAIVE_DURABILITY is \"{}\", which is neither none nor commit", word);
}

arrow::Result<Destination> OpenDestination(std::string_view uri, const WriteOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(uri));
  auto manifest = session->state().LatestManifest(table);
  if (manifest.ok()) {
    ARROW_ASSIGN_OR_RAISE(const Dataset dataset,
                          MakeDataset(std::move(table), *std::move(manifest), session));
    return OpenDestination(dataset, options);
  }
  if (KindOf(manifest.status()) != ErrorKind::kNotFound) return manifest.status();
  if (options.mode == WriteMode::kAppend) ARROW_RETURN_NOT_OK(RefuseStrayData(table));
  return NewTable(std::move(table), session, options);
}

arrow::Result<Destination> OpenDestination(const Dataset& dataset, const WriteOptions& options) {
  const Dataset::State& state = *dataset.state();
  ARROW_RETURN_NOT_OK(RefuseCreation(options, state.location.uri));
  Destination destination = {
      .table = state.location,
      .mode = options.mode,
      .session = options.session != nullptr ? options.session : state.session,
      .schema = std::shared_ptr<const wire::Schema>(state.manifest, &state.manifest->schema),
      .version = state.manifest->version,
      .data_file_version = state.manifest->data_file_version,
      .base = state.manifest};
  ARROW_RETURN_NOT_OK(ChooseFolders(options, state.manifest->base_paths, &destination));
  return destination;
}

arrow::Result<Destination> FileDestination(std::string_view uri, const WriteOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(uri));
  const auto target = session->state().LatestTarget(table);
  if (target.ok()) return Onto(std::move(table), *target, session, options);
  if (KindOf(target.status()) != ErrorKind::kNotFound) return target.status();
  if (options.mode == WriteMode::kAppend) ARROW_RETURN_NOT_OK(RefuseLostVersions(table));
  return NewTable(std::move(table), session, options);
}

arrow::Result<Destination> FileDestination(const Dataset& dataset, const WriteOptions& options) {
  if (options.session != nullptr && options.session != dataset.state()->session) {
    return InvalidInput("the session is not the dataset's own, which is the one to be used");
  }
  return OpenDestination(dataset, options);
}

arrow::Result<Destination> FileDestination(const WriteTarget& target, const WriteOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(target.uri()));
  ARROW_ASSIGN_OR_RAISE(Destination destination, Onto(std::move(table), target, session, options));
  destination.written_for = target.state()->identity;
  return destination;
}

arrow::Result<WrittenRows> WriteRows(std::shared_ptr<arrow::RecordBatchReader> stream,
                                     const Destination& destination, const WriteOptions& options) {
  FileVersion version = destination.data_file_version;
  if (options.data_storage_version) {
    ARROW_ASSIGN_OR_RAISE(version, WritableVersion(*options.data_storage_version));
  }
  wire::Schema schema;
  wire::Schema of_files;
  if (destination.mode == WriteMode::kAppend) {
    ARROW_ASSIGN_OR_RAISE(of_files, FieldsToAppend(*destination.schema, *stream->schema()));
  } else {
    ARROW_ASSIGN_OR_RAISE(schema, wire::FromArrow(*stream->schema()));
    of_files = schema;
  }
  const FragmentWriterOptions of_writer = {.limits = options.limits,
                                           .version = version,
                                           .folders = destination.folders,
                                           .progress = options.progress,
                                           .events = options.fragment_events};
  ARROW_ASSIGN_OR_RAISE(
      WrittenFragments written,
      WriteStream(std::move(stream),
                  {.table = destination.table, .fields = of_files, .options = of_writer},
                  options.n_jobs.value_or(1)));
  return WrittenRows{std::move(written), std::move(schema), version};
}

}  // namespace glaive::dataset
