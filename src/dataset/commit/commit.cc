#include "glaive/commit.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/commit/written_for.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "io/object_store.h"
#include "wire/file_version.h"

namespace glaive {
namespace {

std::chrono::milliseconds Timeout(const CommitOptions& options) {
  constexpr uint64_t kForever = uint64_t{100} * 365 * 24 * 60 * 60 * 1000;
  return std::chrono::milliseconds(std::min(options.timeout_ms.value_or(kForever), kForever));
}

arrow::Result<table::CommitOptions> OptionsOf(const Transaction& transaction,
                                              const CommitOptions& options) {
  table::CommitOptions commit;
  if (options.timeout_ms == 0) {
    return InvalidInput("the timeout of a commit must be more than 0, or absent");
  }
  commit.max_retries = options.max_retries;
  commit.timeout = Timeout(options);
  commit.transaction_properties = transaction.properties;
  if (options.idempotency_token) {
    commit.transaction_properties[table::kIdempotencyKey] = *options.idempotency_token;
  }
  commit.transaction_uuid = transaction.uuid;
  commit.read_version = transaction.read_version.value_or(0);
  commit.strict = options.strict;
  commit.detached = options.detached;
  commit.naming_scheme =
      options.enable_v2_manifest_paths ? table::NamingScheme::kV2 : table::NamingScheme::kV1;
  commit.enable_stable_row_ids = options.enable_stable_row_ids;
  return commit;
}

arrow::Result<Operation> OperationOf(const Transaction& transaction) {
  if (!transaction.operation) {
    return InvalidInput("transaction {} has no operation that this version of glaive knows",
                        transaction.uuid);
  }
  const bool needs_none = std::holds_alternative<operation::Overwrite>(*transaction.operation) ||
                          std::holds_alternative<operation::Restore>(*transaction.operation);
  if (!transaction.read_version && !needs_none) {
    return InvalidInput("read_version is required for all operations except Overwrite and Restore");
  }
  return *transaction.operation;
}

// A table of the files' own version. Those of one table may differ, and then the first counts.
arrow::Result<Dataset> CreateFrom(table::TableLocation location, table::Overwrite overwrite,
                                  const VersionOptions& options, table::CommitOptions commit,
                                  const std::shared_ptr<Session>& session) {
  if (!overwrite.fragments.empty() && !overwrite.fragments.front().files().empty()) {
    const DataFileInfo& file = overwrite.fragments.front().files().front();
    commit.data_file_version =
        wire::FileVersionOf(file.file_major_version, file.file_minor_version);
  }
  return dataset::CommitVerb({std::move(location), nullptr, session}, std::move(overwrite), options,
                             nullptr, std::move(commit));
}

}  // namespace

arrow::Result<Dataset> Commit(const Dataset& dataset, const Transaction& transaction,
                              const CommitOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Operation operation, OperationOf(transaction));
  ARROW_ASSIGN_OR_RAISE(table::CommitOptions commit, OptionsOf(transaction, options));
  const uint64_t read_version = transaction.read_version.value_or(0);
  Dataset base = dataset;
  if (read_version != 0) {
    ARROW_ASSIGN_OR_RAISE(base, dataset.Checkout(read_version));
  }
  ARROW_RETURN_NOT_OK(dataset::CheckWrittenFor(base, *transaction.operation));
  dataset::CommitPlace place = dataset::PlaceOf(base);
  if (options.session != nullptr) place.session = options.session;
  return dataset::CommitVerb(place, std::move(operation), options.version, nullptr,
                             std::move(commit));
}

arrow::Result<Dataset> Commit(std::string_view uri, const Transaction& transaction,
                              const CommitOptions& options) {
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  const auto dataset = Dataset::Open(uri, {.session = session});
  if (dataset.ok()) return Commit(*dataset, transaction, options);
  if (KindOf(dataset.status()) != ErrorKind::kNotFound) return dataset.status();
  ARROW_ASSIGN_OR_RAISE(Operation operation, OperationOf(transaction));
  auto* overwrite = std::get_if<table::Overwrite>(&operation);
  // Fragments that were written for a table are not the beginning of another.
  if (overwrite == nullptr || dataset::RemembersTarget(*transaction.operation)) {
    return dataset.status();
  }
  if (options.detached) return Unsupported("creating a table by a detached commit");
  ARROW_ASSIGN_OR_RAISE(table::CommitOptions commit, OptionsOf(transaction, options));
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  table::TableLocation location{std::move(place.store), std::move(place.path),
                                std::move(place.uri)};
  auto created = CreateFrom(std::move(location), std::move(*overwrite), options.version,
                            std::move(commit), session);
  const bool lost = !created.ok() && KindOf(created.status()) == ErrorKind::kAlreadyExists;
  // The table that is there now may be what an earlier call with the token made.
  if (lost && options.idempotency_token) return Commit(uri, transaction, options);
  return created;
}

}  // namespace glaive
