#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "dataset/handle/table_identity.h"
#include "glaive/fragment.h"
#include "wire/fragment.h"

namespace glaive {

struct FragmentMetadata::State {
  wire::DataFragment fragment;
  // The version whose write target it was written for. Not part of the table's format: it is gone
  // once the fragment is committed.
  std::optional<dataset::TableIdentity> written_for;
};

namespace dataset {

inline FragmentMetadata MakeFragmentMetadata(
    wire::DataFragment fragment, std::optional<TableIdentity> written_for = std::nullopt) {
  return FragmentMetadata(std::make_shared<const FragmentMetadata::State>(
      FragmentMetadata::State{std::move(fragment), std::move(written_for)}));
}

}  // namespace dataset
}  // namespace glaive
