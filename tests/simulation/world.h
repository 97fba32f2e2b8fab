#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "glaive/compaction.h"
#include "glaive/dataset.h"
#include "glaive/session.h"
#include "simulation/history.h"
#include "simulation/scenario.h"
#include "simulation/scheduler.h"
#include "simulation/simulated_store.h"

namespace glaive::simulation {

inline constexpr std::string_view kScheme = "sim";
inline constexpr std::string_view kAliasScheme = "alias";  // leads to the same objects
inline constexpr std::string_view kTableUri = "sim://table";
inline constexpr std::string_view kTableRoot = "/table";

// "sim://x" to "/x", the path in the store.
std::string RootOf(std::string_view uri);

// Rewritten fragments that are not committed yet.
struct RewriteWork {
  Dataset dataset;
  std::vector<RewriteResult> results;
  int64_t began_ns = 0;
};

// A detached version that was reported, and what it showed then.
struct DetachedWork {
  Dataset dataset;
  Rows rows;
  bool is_durable = false;
};

// What all clients of a run share, and what is known of it from outside.
class World {
 public:
  World(const Scenario& scenario, std::unique_ptr<Chooser> chooser, bool keeps_log);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Around each verb of a client.
  VerbRun& Begin(size_t client, size_t index, Verb verb);
  void End(VerbRun& run, const arrow::Result<std::optional<Dataset>>& result, bool is_durable);

  // Around what is done before there are clients.
  VerbRun& BeginOutside(Verb verb);
  void EndOutside() { outside_ = nullptr; }

  // The first thing that went wrong counts.
  void Fail(std::string text);
  const std::string& failure() const { return failure_; }

  // The newest version that lies there; null where there is none.
  Record* Newest(std::string_view root);
  // The manifests that lie there now.
  std::vector<Record*> Listed(std::string_view root);
  // Whether the version of a handle lies under its name.
  bool IsThere(const Dataset& dataset);
  // Whether a removal of the table may have taken what was put then.
  bool MayBeDropped(const Record& record) const;

  // A writer of a table that was removed may put a version into the one that is made in its place,
  // and others may build on that before it can be taken back. It does not say that it succeeded.
  bool MayBeReplaced(Record* newest, const Record& record);

  // Whether a version was put whose files were old enough for a sweep: it may lack them.
  bool has_late_writer() const { return has_late_writer_; }

  // What writers and names draw from while this client runs.
  void FillRandom(std::span<std::byte> bytes);

  const Scenario& scenario;
  Scheduler scheduler;
  std::shared_ptr<SimulatedStore> store;
  std::shared_ptr<Session> shared_session = std::make_shared<Session>();
  History history;
  std::deque<VerbRun> runs;
  std::vector<RewriteWork> rewrites;  // done by one client, for any to commit
  std::vector<DetachedWork> detached;
  // What was reported of names: the version that a tag means, branches that were made. A name whose
  // removal has begun is in none of them.
  std::map<std::string, Record*> tags;
  std::map<std::string, Record*> branches;
  std::vector<std::string> log;  // for people

 private:
  void See(const StoreEvent& event);
  void Log(const StoreEvent& event);
  arrow::Result<Rows> Look(const Record& record);
  bool IsHeld() const;
  void CheckRefusal(const VerbRun& run, const arrow::Status& status);
  void CheckReported(VerbRun& run, const Dataset& dataset, bool is_durable);

  std::vector<VerbRun*> running_;  // by client
  VerbRun* outside_ = nullptr;
  std::vector<Random> randoms_;  // by client, and one for outside
  const bool keeps_log_;
  bool has_late_writer_ = false;
  std::string failure_;
};

}  // namespace glaive::simulation
