#pragma once

#include <utility>
#include <vector>

#include "table/manifest/fragment_metadata.h"
#include "table/manifest/table_schema.h"

// Changes of what the immutable values in an operation hold.
namespace glaive::testing {

template <typename Change>  // takes std::vector<wire::DataFragment>&
void Edit(std::vector<FragmentMetadata>& fragments, const Change& change) {
  std::vector<wire::DataFragment> entries = table::EntriesOf(fragments);
  change(entries);
  fragments = table::FragmentsOf(std::move(entries));
}

template <typename Change>  // takes wire::Schema&
void Edit(TableSchema& schema, const Change& change) {
  wire::Schema edited = StateOf(schema)->schema;
  change(edited);
  schema = table::WrapSchema(std::move(edited));
}

}  // namespace glaive::testing
