#include "simulation/client.h"

#include <array>
#include <utility>

#include <arrow/builder.h>
#include <arrow/util/logging.h>

#include "dataset/handle/dataset_state.h"

namespace glaive::simulation {

VerbFunction FunctionOf(Verb verb) {
  constexpr std::array<VerbFunction, kNumVerbs> kFunctions = {
      &Create,     &Open,    &Append,         &AppendOnce,   &OverwriteTable, &DeleteRows,
      &UpdateRows, &Merge,   &Stage,          &CommitStaged, &Overlay,        &AddColumn,
      &DropColumn, &Compact, &PlanTask,       &CommitTask,   &RestoreVersion, &Tag,
      &RemoveTag,  &Branch,  &AppendToBranch, &RemoveBranch, &Clone,          &Clean,
      &Sweep,      &Drop,    &Read,           &Detach};
  return kFunctions[static_cast<size_t>(verb)];
}

std::shared_ptr<arrow::RecordBatchReader> StreamOf(const Values& rows) {
  arrow::Int64Builder keys;
  arrow::Int64Builder values;
  for (const auto& [key, value] : rows) {
    ARROW_CHECK_OK(keys.Append(key));
    ARROW_CHECK_OK(values.Append(value));
  }
  const auto schema =
      arrow::schema({arrow::field("k", arrow::int64()), arrow::field("v", arrow::int64())});
  const auto batch = arrow::RecordBatch::Make(
      schema, static_cast<int64_t>(rows.size()),
      arrow::ArrayVector{keys.Finish().ValueOrDie(), values.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

Client::Client(World& world, size_t number)
    : world_(world),
      number_(number),
      plan_(world.scenario.clients[number]),
      session_(plan_.shares_session ? world.shared_session : std::make_shared<Session>()) {}

void Client::Run() {
  for (const VerbPlan& verb : plan_.verbs) {
    if (world_.scheduler.is_disconnected() || !world_.failure().empty()) return;
    Random random(verb.seed);
    VerbRun& run = world_.Begin(number_, verb.index, verb.verb);
    VerbResult result = FunctionOf(verb.verb)(*this, run, random);
    world_.End(run, result, plan_.is_durable);
    const bool is_of_table =
        result.ok() && *result && StateOf((**result))->location.root == kTableRoot;
    if (is_of_table) Keep(**std::move(result));
  }
}

arrow::Result<Dataset> Client::AnyHandle(Random& random) {
  const uint32_t wish = random.Below(10);
  if (handles.empty() || wish < 4) {
    ARROW_ASSIGN_OR_RAISE(auto dataset, Dataset::Open(uri(), {.session = session_}));
    Keep(dataset);
    return dataset;
  }
  return wish < 8 ? handles.back() : handles[random.Below(handles.size())];
}

void Client::Keep(Dataset dataset) { handles.push_back(std::move(dataset)); }

Values Client::NewRows(const VerbRun& run, Random& random) {
  Values rows;
  const auto first = static_cast<int64_t>(number_ * 10'000 + run.index * 100 + 1000);
  const uint32_t count = 1 + random.Below(4);
  for (uint32_t i = 0; i < count; ++i) rows[first + i] = random.Below(10);
  return rows;
}

}  // namespace glaive::simulation
