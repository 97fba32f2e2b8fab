#include "dataset/handle/base_list.h"

namespace glaive::dataset {

std::vector<table::BasePath> ToTableBases(std::span<const DatasetBasePath> bases) {
  std::vector<table::BasePath> converted;
  for (const DatasetBasePath& base : bases) {
    converted.push_back({.id = base.id,
                         .name = base.name,
                         .is_dataset_root = base.is_dataset_root,
                         .path = base.path,
                         .unknown_fields = {}});
  }
  return converted;
}

}  // namespace glaive::dataset
