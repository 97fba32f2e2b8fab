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

}  // namespace glaive::dataset
