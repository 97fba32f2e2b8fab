#include <utility>

#include "dataset/dataset_state.h"
#include "glaive/schema.h"
#include "wire/schema.h"

namespace glaive {
namespace {

arrow::Result<std::vector<FieldInfo>> InfoOf(const std::vector<wire::Field>& fields) {
  std::vector<FieldInfo> infos;
  infos.reserve(fields.size());
  for (const wire::Field& field : fields) {
    ARROW_ASSIGN_OR_RAISE(auto arrow_field, wire::ToArrow(field));
    ARROW_ASSIGN_OR_RAISE(auto children, InfoOf(field.children));
    infos.push_back({field.id, std::move(arrow_field), std::move(children)});
  }
  return infos;
}

}  // namespace

arrow::Result<std::vector<FieldInfo>> Fields(const Dataset& dataset) {
  return InfoOf(dataset.state()->manifest->schema.fields);
}

}  // namespace glaive
