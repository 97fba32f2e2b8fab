#include "encoding/levels/level_scheme.h"

#include <algorithm>

namespace glaive::encoding {

using wire::RepDefLayer;

LevelScheme MakeLevelScheme(const LeafPath& path, const std::vector<LayerFacts>& survey,
                            const std::vector<LayerFacts>& elsewhere) {
  // Below a struct that has nulls a layer is nullable, as pylance has it: its reader takes no file
  // where pages differ in that.
  std::vector<LayerFacts> facts = survey;
  for (size_t i = 0; i < elsewhere.size(); ++i) {
    facts[i].nulls |= elsewhere[i].nulls;
    facts[i].empties |= elsewhere[i].empties;
  }
  for (size_t i = 1; i < facts.size(); ++i) {
    if (path.layers[i - 1].kind == LayerKind::kItem && facts[i - 1].nulls) facts[i].nulls = true;
  }
  LevelScheme scheme;
  scheme.layers.resize(path.layers.size());
  for (size_t i = path.layers.size(); i-- > 0;) {
    LevelScheme::LayerLevels& levels = scheme.layers[i];
    if (path.layers[i].kind == LayerKind::kItem) {
      if (facts[i].nulls) levels.null = ++scheme.max_def;
      scheme.types.push_back(facts[i].nulls ? RepDefLayer::kNullableItem
                                            : RepDefLayer::kAllValidItem);
      continue;
    }
    ++scheme.num_lists;
    scheme.group_tops.push_back(scheme.max_def);
    if (facts[i].nulls) levels.null = ++scheme.max_def;
    if (facts[i].empties) levels.empty = ++scheme.max_def;
    scheme.types.push_back(facts[i].nulls     ? facts[i].empties ? RepDefLayer::kNullAndEmptyList
                                                                 : RepDefLayer::kNullableList
                           : facts[i].empties ? RepDefLayer::kEmptyableList
                                              : RepDefLayer::kAllValidList);
  }
  scheme.group_tops.push_back(scheme.max_def);
  std::reverse(scheme.group_tops.begin(), scheme.group_tops.end());
  return scheme;
}

std::vector<LayerFacts> SharedFacts(const LeafPath& path, const std::vector<bool>& nullable) {
  std::vector<LayerFacts> facts(path.layers.size());
  bool above_list = false;
  for (size_t i = path.layers.size(); i-- > 0;) {
    const bool is_list = path.layers[i].kind == LayerKind::kList;
    facts[i].nulls = !is_list && above_list && nullable[i];
    above_list = above_list || is_list;
  }
  return facts;
}

}  // namespace glaive::encoding
