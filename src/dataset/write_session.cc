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
#include "io/object_store.h"

namespace glaive::dataset {

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

arrow::Result<WriteTarget> OpenTarget(std::string_view uri, const WriteOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  auto dataset = Dataset::Open(uri, {.session = session});
  if (dataset.ok()) return OpenTarget(*dataset, options);
  if (KindOf(dataset.status()) != ErrorKind::kNotFound) return dataset.status();
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  WriteTarget target{.table = {std::move(place.store), std::move(place.path), std::move(place.uri)},
                     .base = nullptr,
                     .mode = WriteMode::kCreate,
                     .session = session};
  ARROW_RETURN_NOT_OK(ChooseFolders(options, &target));
  return target;
}

arrow::Result<WriteTarget> OpenTarget(const Dataset& dataset, const WriteOptions& options) {
  const Dataset::State& state = *dataset.state();
  if (options.mode == WriteMode::kCreate) {
    return AlreadyExists("Dataset already exists: {}", state.location.uri);
  }
  WriteTarget target{.table = state.location,
                     .base = state.manifest,
                     .mode = options.mode,
                     .session = options.session != nullptr ? options.session : state.session};
  ARROW_RETURN_NOT_OK(ChooseFolders(options, &target));
  return target;
}

arrow::Result<WrittenRows> WriteRows(std::shared_ptr<arrow::RecordBatchReader> stream,
                                     const WriteTarget& target, const WriteOptions& options) {
  FileVersion version = target.base ? target.base->data_file_version : FileVersion::k2_2;
  if (options.data_storage_version) {
    ARROW_ASSIGN_OR_RAISE(version, WritableVersion(*options.data_storage_version));
  }
  wire::Schema schema;
  wire::Schema of_files;
  if (target.mode == WriteMode::kAppend) {
    schema = target.base->schema;
    ARROW_ASSIGN_OR_RAISE(of_files, FieldsToAppend(schema, *stream->schema()));
  } else {
    ARROW_ASSIGN_OR_RAISE(schema, wire::FromArrow(*stream->schema()));
    of_files = schema;
  }
  ARROW_ASSIGN_OR_RAISE(InputStream input, InputStream::Make(std::move(stream), of_files));
  ARROW_ASSIGN_OR_RAISE(FragmentWriter writer,
                        FragmentWriter::Make(target.table, std::move(of_files),
                                             {.limits = options.limits,
                                              .version = version,
                                              .folders = target.folders,
                                              .progress = options.progress,
                                              .events = options.fragment_events}));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input.Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer.Write(*batch));
  }
  ARROW_ASSIGN_OR_RAISE(WrittenFragments written, std::move(writer).Finish());
  return WrittenRows{std::move(written), std::move(schema), version};
}

}  // namespace glaive::dataset
