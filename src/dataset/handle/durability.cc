#include "dataset/handle/durability.h"

#include <cstdlib>
#include <string_view>

#include "core/error.h"

namespace glaive::dataset {

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

arrow::Status HandOver(io::ObjectStore& store, NewFiles& files, Durability durability) {
  ARROW_ASSIGN_OR_RAISE(const auto resolved, Resolve(durability));
  if (resolved == table::Durability::kCommit && !files.paths().empty()) {
    ARROW_RETURN_NOT_OK(store.Sync(files.paths()));
  }
  files.Keep();
  return arrow::Status::OK();
}

wire::StringMap PropertiesOf(const VersionOptions& options) {
  wire::StringMap properties = options.transaction_properties;
  if (options.commit_message) properties[kCommitMessageKey] = *options.commit_message;
  return properties;
}

}  // namespace glaive::dataset
