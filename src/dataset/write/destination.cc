#include "dataset/write/destination.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/handle/session_state.h"
#include "dataset/handle/storage_version.h"
#include "dataset/handle/write_target_state.h"
#include "dataset/write/base_paths.h"
#include "dataset/write/input_stream.h"
#include "dataset/write/stream.h"
#include "io/object_store.h"
#include "table/versions/hint.h"

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

// Whether a folder without a version shows that it had some. What only leads up to a first one,
// such as data files and the transaction that creates, is a sibling's work in progress.
arrow::Result<bool> HadVersions(const table::TableLocation& table) {
  ARROW_ASSIGN_OR_RAISE(const auto hint, table.store->Head(table::VersionHintPath(table)));
  if (hint) return true;
  ARROW_ASSIGN_OR_RAISE(const auto names, table.store->ListNames(table.Path("_transactions")));
  const auto follows_another = [](const std::string& name) {
    return name.ends_with(".txn") && name.front() >= '1' && name.front() <= '9';
  };
  if (std::ranges::any_of(names, follows_another)) return true;
  for (const char* const folder : {"_deletions", "_indices", "_refs"}) {
    ARROW_ASSIGN_OR_RAISE(const auto files, table.store->ListRecursive(table.Path(folder)));
    if (!files.empty()) return true;
  }
  return false;
}

// Whether it is an append that is to make the table, by the look that found none.
bool Creates(const arrow::Status& look, const WriteOptions& options) {
  return !look.ok() && KindOf(look) == ErrorKind::kNotFound && options.mode == WriteMode::kAppend;
}

// What appending finds where no version was: OK where it is to make the table, or where `look`
// finds one by now, for others may have made several while traces of them were searched.
template <typename Found, typename Look>
arrow::Status LookForLost(const table::TableLocation& table, const Look& look,
                          arrow::Result<Found>* found) {
  ARROW_ASSIGN_OR_RAISE(const bool had_versions, HadVersions(table));
  if (!had_versions) return arrow::Status::OK();
  *found = look(table);
  const bool is_lost = !found->ok() && KindOf(found->status()) == ErrorKind::kNotFound;
  if (!is_lost) return arrow::Status::OK();
  return InvalidInput("{} had versions of a dataset, and has none: the table is damaged",
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
  const auto& state = StateOf(target);
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

arrow::Result<Destination> OpenDestination(std::string_view uri, const WriteOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(uri));
  const auto look = [&](const auto& at) { return StateOf(*session)->LatestManifest(at); };
  auto manifest = look(table);
  if (Creates(manifest.status(), options)) {
    ARROW_RETURN_NOT_OK(LookForLost(table, look, &manifest));
  }
  if (manifest.ok()) {
    ARROW_ASSIGN_OR_RAISE(const Dataset dataset,
                          MakeDataset(std::move(table), *std::move(manifest), session));
    return OpenDestination(dataset, options);
  }
  if (KindOf(manifest.status()) != ErrorKind::kNotFound) return manifest.status();
  return NewTable(std::move(table), session, options);
}

arrow::Result<Destination> OpenDestination(const Dataset& dataset, const WriteOptions& options) {
  const dataset::DatasetState& state = *StateOf(dataset);
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
  const auto look = [&](const auto& at) { return StateOf(*session)->LatestTarget(at); };
  auto target = look(table);
  if (Creates(target.status(), options)) {
    ARROW_RETURN_NOT_OK(LookForLost(table, look, &target));
  }
  if (target.ok()) return Onto(std::move(table), *target, session, options);
  if (KindOf(target.status()) != ErrorKind::kNotFound) return target.status();
  return NewTable(std::move(table), session, options);
}

arrow::Result<Destination> FileDestination(const Dataset& dataset, const WriteOptions& options) {
  if (options.session != nullptr && options.session != StateOf(dataset)->session) {
    return InvalidInput("the session is not the dataset's own, which is the one to be used");
  }
  return OpenDestination(dataset, options);
}

arrow::Result<Destination> FileDestination(const WriteTarget& target, const WriteOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  ARROW_ASSIGN_OR_RAISE(table::TableLocation table, LocationOf(target.uri()));
  ARROW_ASSIGN_OR_RAISE(Destination destination, Onto(std::move(table), target, session, options));
  destination.written_for = StateOf(target)->identity;
  return destination;
}

arrow::Result<WrittenRows> WriteRows(std::shared_ptr<arrow::RecordBatchReader> stream,
                                     const Destination& destination, const WriteOptions& options) {
  ARROW_RETURN_NOT_OK(Resolve(options.version.durability).status());  // before any work
  FileVersion version = destination.data_file_version;
  if (options.data_storage_version) {
    ARROW_ASSIGN_OR_RAISE(version, WritableVersion(*options.data_storage_version));
  }
  const bool appends = destination.mode == WriteMode::kAppend;
  ARROW_ASSIGN_OR_RAISE(wire::Schema fields,
                        appends ? FieldsToAppend(*destination.schema, *stream->schema())
                                : wire::FromArrow(*stream->schema()));
  const FragmentWriterOptions of_writer = {.limits = options.limits,
                                           .version = version,
                                           .folders = destination.folders,
                                           .progress = options.version.progress,
                                           .events = options.fragment_events};
  ARROW_ASSIGN_OR_RAISE(
      WrittenFragments written,
      WriteStream(std::move(stream),
                  {.table = destination.table, .fields = fields, .options = of_writer},
                  options.n_jobs.value_or(1)));
  return WrittenRows{std::move(written), std::move(fields), version};
}

}  // namespace glaive::dataset
