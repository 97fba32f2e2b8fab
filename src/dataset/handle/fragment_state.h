#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "core/access.h"
#include "dataset/handle/table_identity.h"
#include "glaive/fragment.h"
#include "wire/fragment.h"

namespace glaive::dataset {

struct FragmentMetadataState {
  wire::DataFragment fragment;
  // The version whose write target it was written for. Not part of the table's format: it is gone
  // once the fragment is committed.
  std::optional<TableIdentity> written_for;
};

inline FragmentMetadata MakeFragmentMetadata(
    wire::DataFragment fragment, std::optional<TableIdentity> written_for = std::nullopt) {
  return Access::Make<FragmentMetadata>(std::make_shared<const FragmentMetadataState>(
      FragmentMetadataState{std::move(fragment), std::move(written_for)}));
}

}  // namespace glaive::dataset
