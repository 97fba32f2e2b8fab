#pragma once

#include <span>

#include "core/file_version.h"
#include "encoding/codec/level_codec.h"
#include "encoding/levels/level_scheme.h"
#include "encoding/levels/level_survey.h"
#include "encoding/levels/nest.h"

namespace glaive::encoding {

// The rows that become one page, and what the survey found out about their nesting.
struct PageRows {
  std::span<const Nest> nests;
  const LevelSurvey& survey;
  const LevelScheme& scheme;
  FileVersion version;

  LevelCodec ChooseRepCodec() const {
    return LevelCodec::Choose({.num_levels = survey.num_entries,
                               .max_level = scheme.num_lists,
                               .num_runs = survey.num_rep_runs},
                              version);
  }
  LevelCodec ChooseDefCodec() const {
    return LevelCodec::Choose({.num_levels = survey.num_entries,
                               .max_level = scheme.max_def,
                               .num_runs = survey.num_def_runs},
                              version);
  }
};

}  // namespace glaive::encoding
