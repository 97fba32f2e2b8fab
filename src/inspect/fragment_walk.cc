#include "inspect/fragment_walk.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace glaive::inspect {
namespace {

arrow::Result<std::vector<table::Fragment>> ViewsOf(const table::FragmentTable& fragments) {
  std::vector<table::Fragment> views;
  views.reserve(fragments.totals().num_fragments);
  ARROW_RETURN_NOT_OK(fragments.Visit([&](const table::Fragment& view) {
    views.push_back(view);
    return arrow::Status::OK();
  }));
  return views;
}

}  // namespace

arrow::Status WalkBoth(const table::FragmentTable& before, const table::FragmentTable& after,
                       const FragmentPairVisitor& visit) {
  ARROW_ASSIGN_OR_RAISE(const auto old_views, ViewsOf(before));
  ARROW_ASSIGN_OR_RAISE(const auto new_views, ViewsOf(after));
  auto old_view = old_views.begin();
  auto new_view = new_views.begin();
  while (old_view != old_views.end() || new_view != new_views.end()) {
    const bool has_old = old_view != old_views.end() &&
                         (new_view == new_views.end() || old_view->id() <= new_view->id());
    const bool has_new = new_view != new_views.end() &&
                         (old_view == old_views.end() || new_view->id() <= old_view->id());
    const auto old_bytes = has_old ? old_view->message() : std::span<const std::byte>();
    const auto new_bytes = has_new ? new_view->message() : std::span<const std::byte>();
    if (!has_old || !has_new || !std::ranges::equal(old_bytes, new_bytes)) {
      wire::DataFragment old_fragment;
      wire::DataFragment new_fragment;
      if (has_old) ARROW_RETURN_NOT_OK(old_view->Parse().Value(&old_fragment));
      if (has_new) ARROW_RETURN_NOT_OK(new_view->Parse().Value(&new_fragment));
      // The same values may lie in other bytes.
      if (!has_old || !has_new || old_fragment != new_fragment) {
        ARROW_RETURN_NOT_OK(
            visit(has_old ? &old_fragment : nullptr, has_new ? &new_fragment : nullptr));
      }
    }
    if (has_old) ++old_view;
    if (has_new) ++new_view;
  }
  return arrow::Status::OK();
}

}  // namespace glaive::inspect
