#pragma once

#include <vector>

#include <arrow/result.h>

#include "dataset/compaction/plan/outlook.h"
#include "dataset/compaction/plan/planned_files.h"
#include "glaive/compaction.h"

namespace glaive::dataset {

// A plan, and what it goes by.
struct SurveyedPlan {
  CompactionPlan plan;
  std::vector<SourceFragment> fragments;  // all of the version
  std::vector<TaskMembers> tasks;         // of the plan
};

// PlanCompaction. REQUIRES of other tasks: members of `fragments`.
arrow::Result<SurveyedPlan> SurveyAndPlan(const Dataset& dataset, const CompactionOptions& options);

// The tasks of these members, as the plan of the same version has them.
arrow::Result<std::vector<CompactionTask>> MakeTasks(const Dataset& dataset,
                                                     const std::vector<TaskMembers>& tasks,
                                                     const CompactionOptions& options);

}  // namespace glaive::dataset
