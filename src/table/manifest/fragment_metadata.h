#pragma once

#include <memory>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "core/access.h"
#include "glaive/fragment.h"
#include "wire/fragment.h"

namespace glaive::table {

struct FragmentMetadataState {
  wire::DataFragment fragment;
  // No part of the table's format: a commit drops it.
  std::optional<WrittenFor> written_for;
};

inline FragmentMetadata MakeFragmentMetadata(wire::DataFragment fragment,
                                             std::optional<WrittenFor> written_for = std::nullopt) {
  return Access::Make<FragmentMetadata>(std::make_shared<const FragmentMetadataState>(
      FragmentMetadataState{std::move(fragment), std::move(written_for)}));
}

// A view of the entries of a list of fragments: `fragments | Entries`.
inline constexpr auto Entries =
    std::views::transform([](const FragmentMetadata& fragment) -> const wire::DataFragment& {
      return StateOf(fragment)->fragment;
    });

// The same fragments in the other form.
std::vector<wire::DataFragment> EntriesOf(const std::vector<FragmentMetadata>& fragments);
std::vector<FragmentMetadata> FragmentsOf(std::vector<wire::DataFragment> entries);

}  // namespace glaive::table
