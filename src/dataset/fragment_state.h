#pragma once

#include "glaive/fragment.h"
#include "wire/fragment.h"

namespace glaive {

struct FragmentMetadata::State {
  wire::DataFragment fragment;
};

namespace dataset {

inline FragmentMetadata MakeFragmentMetadata(wire::DataFragment fragment) {
  return FragmentMetadata(std::make_shared<const FragmentMetadata::State>(
      FragmentMetadata::State{std::move(fragment)}));
}

}  // namespace dataset
}  // namespace glaive
