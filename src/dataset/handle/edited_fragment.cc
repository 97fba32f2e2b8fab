#include "dataset/handle/edited_fragment.h"

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "table/manifest/fragment_metadata.h"

namespace glaive::dataset {

arrow::Result<wire::DataFragment> FragmentOf(const Dataset& dataset, uint64_t id) {
  ARROW_ASSIGN_OR_RAISE(const auto fragment, dataset.GetFragment(id));
  if (!fragment) return InvalidInput("version {} has no fragment {}", dataset.version(), id);
  return StateOf(*fragment)->fragment;
}

}  // namespace glaive::dataset
