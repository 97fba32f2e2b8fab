#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/staged_columns.h"
#include "glaive/write.h"
#include "simulation/random.h"
#include "simulation/world.h"

namespace glaive::simulation {

// Columns that were staged and not committed, and what they are to mean.
struct StagedWork {
  Dataset dataset;
  std::vector<StagedColumns> columns;
  size_t column = 0;
  Values values;
  int64_t began_ns = 0;
};

// A client: what it holds from one verb to the next.
class Client {
 public:
  Client(World& world, size_t number);

  // All verbs of its plan.
  void Run();

  World& world() { return world_; }
  size_t number() const { return number_; }
  const ClientPlan& plan() const { return plan_; }
  // Of the table, as this client calls it.
  std::string uri() const {
    return std::string(plan_.uses_alias ? kAliasScheme : kScheme) + "://table";
  }
  const std::shared_ptr<Session>& session() const { return session_; }
  glaive::Durability durability() const {
    return plan_.is_durable ? glaive::Durability::kCommit : glaive::Durability::kNone;
  }

  // A handle on the table: one that is newly opened, the last one, or an older one.
  arrow::Result<Dataset> AnyHandle(Random& random);
  void Keep(Dataset dataset);

  // Rows of keys that no other verb inserts.
  Values NewRows(const VerbRun& run, Random& random);

  std::vector<Dataset> handles;  // oldest first
  std::vector<StagedWork> staged;

 private:
  World& world_;
  const size_t number_;
  const ClientPlan& plan_;
  std::shared_ptr<Session> session_;
};

// A version that was made, or nothing where the verb makes none.
using VerbResult = arrow::Result<std::optional<Dataset>>;

// What a verb does. It fills run.intent before it asks for a commit.
using VerbFunction = VerbResult (*)(Client& client, VerbRun& run, Random& random);
VerbFunction FunctionOf(Verb verb);

// What a new table is made with.
WriteOptions FirstOptions(const Scenario& scenario);
std::shared_ptr<arrow::RecordBatchReader> StreamOf(const Values& rows);

// verbs_rows.cc
VerbResult Create(Client& client, VerbRun& run, Random& random);
VerbResult Open(Client& client, VerbRun& run, Random& random);
VerbResult Append(Client& client, VerbRun& run, Random& random);
VerbResult AppendOnce(Client& client, VerbRun& run, Random& random);
VerbResult OverwriteTable(Client& client, VerbRun& run, Random& random);
VerbResult DeleteRows(Client& client, VerbRun& run, Random& random);
VerbResult UpdateRows(Client& client, VerbRun& run, Random& random);
VerbResult Merge(Client& client, VerbRun& run, Random& random);
VerbResult Read(Client& client, VerbRun& run, Random& random);
VerbResult Drop(Client& client, VerbRun& run, Random& random);
// verbs_columns.cc
VerbResult Stage(Client& client, VerbRun& run, Random& random);
VerbResult CommitStaged(Client& client, VerbRun& run, Random& random);
VerbResult Overlay(Client& client, VerbRun& run, Random& random);
VerbResult AddColumn(Client& client, VerbRun& run, Random& random);
VerbResult DropColumn(Client& client, VerbRun& run, Random& random);
// verbs_upkeep.cc
VerbResult Compact(Client& client, VerbRun& run, Random& random);
VerbResult PlanTask(Client& client, VerbRun& run, Random& random);
VerbResult CommitTask(Client& client, VerbRun& run, Random& random);
VerbResult Clean(Client& client, VerbRun& run, Random& random);
VerbResult Sweep(Client& client, VerbRun& run, Random& random);
VerbResult Detach(Client& client, VerbRun& run, Random& random);
// verbs_refs.cc
VerbResult RestoreVersion(Client& client, VerbRun& run, Random& random);
VerbResult Tag(Client& client, VerbRun& run, Random& random);
VerbResult RemoveTag(Client& client, VerbRun& run, Random& random);
VerbResult Branch(Client& client, VerbRun& run, Random& random);
VerbResult AppendToBranch(Client& client, VerbRun& run, Random& random);
VerbResult RemoveBranch(Client& client, VerbRun& run, Random& random);
VerbResult Clone(Client& client, VerbRun& run, Random& random);

}  // namespace glaive::simulation
