#include "table/manifest/overlays.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

// The overlays for which `keep`, which may change them, is true. Whether any changed or went.
arrow::Result<bool> Filter(wire::DataFragment& fragment, Location where,
                           const std::function<bool(wire::DataOverlayFile&)>& keep) {
  std::vector<std::string> kept;
  for (std::string& message : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(wire::DataOverlayFile overlay,
                          wire::ParseOverlay(wire::AsBytes(message), where));
    const wire::DataOverlayFile before = overlay;
    if (!keep(overlay)) continue;
    kept.push_back(overlay == before ? std::move(message) : wire::Serialize(overlay));
  }
  const bool changed = kept != fragment.overlays;
  fragment.overlays = std::move(kept);
  return changed;
}

}  // namespace

arrow::Status HideOverlays(wire::DataFragment& fragment, const std::set<int32_t>& fields,
                           Location where) {
  const auto hide = [&](wire::DataOverlayFile& overlay) {
    for (int32_t& id : overlay.data_file.fields) {
      if (fields.contains(id)) id = wire::kTombstoneFieldId;
    }
    return std::ranges::any_of(overlay.data_file.fields, [](int32_t id) { return id >= 0; });
  };
  return Filter(fragment, where, hide).status();
}

arrow::Result<bool> DropDeadOverlays(const std::set<int32_t>& live, wire::DataFragment& fragment,
                                     Location where) {
  return Filter(fragment, where, [&](wire::DataOverlayFile& overlay) {
    return std::ranges::any_of(overlay.data_file.fields,
                               [&](int32_t id) { return live.contains(id); });
  });
}

arrow::Status CollectOverlaid(const wire::DataFragment& fragment, Location where,
                              std::map<int32_t, uint64_t>* overlaid) {
  for (const std::string& message : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(const auto overlay, wire::ParseOverlay(wire::AsBytes(message), where));
    for (const int32_t id : overlay.data_file.fields) {
      if (id >= 0) (*overlaid)[id] = std::max((*overlaid)[id], overlay.committed_version);
    }
  }
  return arrow::Status::OK();
}

}  // namespace glaive::table
