#include "simulation/checks.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dataset/handle/dataset_state.h"
#include "glaive/refs.h"
#include "glaive/repair.h"
#include "glaive/retention.h"
#include "simulation/read_rows.h"

namespace glaive::simulation {
namespace {

class Checker {
 public:
  explicit Checker(World& world) : world_(world) {}

  void Run() {
    std::set<std::string> roots;
    for (const Record& record : world_.history.records()) roots.insert(record.root);
    for (const std::string& root : roots) {
      if (root.starts_with("/shallow")) continue;
      if (LacksRef(root)) continue;
      // A handle of a table that was dropped clones the version of its number that is there now.
      const bool has_drop = std::ranges::any_of(world_.runs, &VerbRun::drops);
      if (root.starts_with("/deep") && has_drop) continue;
      CheckTable(root);
    }
    if (is_removed_) return;
    CheckDetached();
    CheckNames();
  }

  // Rows of the newest version of the table, and what is named.
  void CheckAfterSweep() {
    Record* const newest = world_.Newest(kTableRoot);
    if (newest != nullptr) CheckVersion(*newest, "after the last clean-up, ");
    CheckDetached();
    CheckNames();
  }

 private:
  bool has_failed() const { return !world_.failure().empty(); }

  // What was cloned for a branch whose creator did not come to say that it is whole.
  bool LacksRef(const std::string& root) const {
    const std::string tree = std::string(kTableRoot) + "/tree/";
    if (!root.starts_with(tree)) return false;
    return !world_.store->objects().contains(
        fmt::format("{}/_refs/branches/{}.json", kTableRoot, root.substr(tree.size())));
  }

  void CheckTable(const std::string& root) {
    Record* const newest = world_.Newest(root);
    for (Record& record : world_.history.records()) {
      if (record.root != root || world_.MayBeDropped(record)) continue;
      const bool is_there = newest != nullptr && world_.history.Descends(*newest, record);
      if (record.was_reported && !is_there && !world_.MayBeReplaced(newest, record)) {
        world_.Fail(
            fmt::format("{}: version {} was reported to client {} ({}), and is not in the "
                        "history of the newest version",
                        root, record.version, record.verb->client, record.verb->name));
      }
    }
    if (newest == nullptr || IsBeingDropped(root)) return;
    id_of_birth_.clear();
    birth_of_id_.clear();
    for (Record* const record : world_.Listed(root)) {
      if (has_failed()) return;
      if (world_.history.Descends(*newest, *record)) CheckVersion(*record, "");
    }
  }

  // A removal that has not ended may leave anything.
  bool IsBeingDropped(const std::string& root) {
    for (const VerbRun& run : world_.runs) {
      if (!run.drops || !root.starts_with(run.root)) continue;
      if (!run.ended_at || run.outcome != "ok") is_removed_ = true;
      for (const Record& record : world_.history.records()) {
        const bool overlaps = record.verb != nullptr && record.root.starts_with(run.root) &&
                              record.verb->began_at <= run.ended_at.value_or(UINT64_MAX) &&
                              (!record.verb->ended_at || *record.verb->ended_at >= run.began_at);
        if (overlaps) is_removed_ = true;
      }
    }
    return is_removed_;
  }

  void CheckVersion(Record& record, const std::string& when) {
    const std::string uri = fmt::format("{}:/{}", kScheme, record.root);
    const auto dataset =
        Dataset::Open(uri, {.version = record.version, .session = std::make_shared<Session>()});
    const std::string name = fmt::format("{}version {} of {}", when, record.version, record.root);
    if (!dataset.ok()) {
      return world_.Fail(fmt::format("{} cannot be opened: {}", name, dataset.status().message()));
    }
    CompareRows(*dataset, record, name);
  }

  void CompareRows(const Dataset& dataset, Record& record, const std::string& name) {
    const auto read = ReadRows(dataset);
    if (!read.ok()) {
      return world_.Fail(fmt::format("{} cannot be read: {}", name, read.status().message()));
    }
    const auto expected = world_.history.RowsOf(record);
    if (!expected.ok()) return world_.Fail(name + ": " + expected.status().message());
    const bool with_versions = dataset.has_stable_row_ids();
    const std::string difference = Difference(**expected, read->rows, with_versions);
    if (!difference.empty()) return world_.Fail(name + ": " + difference);
    if (with_versions && checks_ids_) CheckRowIds(**expected, *read, name);
  }

  // A row keeps its id, and no other row ever had it.
  void CheckRowIds(const Rows& rows, const RowsRead& read, const std::string& name) {
    for (const auto& [key, id] : read.row_ids) {
      const uint64_t birth = rows.by_key.at(key).birth;
      const auto [entry, is_new] = id_of_birth_.try_emplace(birth, id);
      if (!is_new && entry->second != id) {
        return world_.Fail(
            fmt::format("{}: row {} had the id {}, and has {}", name, key, entry->second, id));
      }
      const auto [other, is_first] = birth_of_id_.try_emplace(id, birth);
      if (!is_first && other->second != birth) {
        return world_.Fail(
            fmt::format("{}: row {} has the id {}, which was another row's", name, key, id));
      }
    }
  }

  void CheckDetached() {
    if (std::ranges::any_of(world_.runs, &VerbRun::drops)) return;
    for (const DetachedWork& work : world_.detached) {
      const std::string name = fmt::format("detached version {}", work.dataset.version());
      const auto dataset = Dataset::Open(
          kTableUri, {.version = work.dataset.version(), .session = std::make_shared<Session>()});
      if (!dataset.ok()) {
        return world_.Fail(
            fmt::format("{} cannot be opened: {}", name, dataset.status().message()));
      }
      const auto read = ReadRows(*dataset);
      if (!read.ok()) {
        return world_.Fail(fmt::format("{} cannot be read: {}", name, read.status().message()));
      }
      const std::string difference = Difference(work.rows, read->rows, /*with_versions=*/false);
      if (!difference.empty()) return world_.Fail(name + ": " + difference);
    }
  }

  void CheckNames() {
    Record* const newest = world_.Newest(kTableRoot);
    if (newest == nullptr || has_failed()) return;
    const auto dataset = Dataset::Open(kTableUri, {.session = std::make_shared<Session>()});
    if (!dataset.ok()) {
      return world_.Fail("the table cannot be opened: " + dataset.status().message());
    }
    checks_ids_ = false;  // branches have their own
    for (const auto& [tag, record] : world_.tags) CheckName(*dataset, TagName{tag}, tag, record);
    for (const auto& entry : world_.branches) {
      const BranchVersion reference{entry.first, std::nullopt};
      CheckName(*dataset, reference, entry.first,
                world_.Newest(fmt::format("{}/tree/{}", kTableRoot, entry.first)));
    }
  }

  void CheckName(const Dataset& dataset, const Reference& reference, const std::string& name,
                 Record* record) {
    if (has_failed()) return;
    const auto named = dataset.Checkout(reference);
    if (!named.ok()) {
      return world_.Fail(fmt::format("{} cannot be opened: {}", name, named.status().message()));
    }
    const std::string uuid = UuidOf(*StateOf(*named)->manifest);
    if (record == nullptr || record->uuid != uuid) {
      return world_.Fail(fmt::format("{} leads to another version", name));
    }
    CompareRows(*named, *record, name);
  }

  World& world_;
  bool is_removed_ = false;
  bool checks_ids_ = true;
  // Of the table or branch that is looked at.
  std::map<uint64_t, uint64_t> id_of_birth_;
  std::map<uint64_t, uint64_t> birth_of_id_;
};

// Cleans branches as well, and removes what failed attempts left of them.
arrow::Status SweepAll(World& world) {
  ARROW_ASSIGN_OR_RAISE(const auto dataset,
                        Dataset::Open(kTableUri, {.session = std::make_shared<Session>()}));
  ARROW_ASSIGN_OR_RAISE(const auto branches, ListBranches(dataset));
  const std::string tree = std::string(kTableRoot) + "/tree/";
  std::set<std::string> others;
  for (const auto& entry : world.store->objects()) {
    if (!entry.first.starts_with(tree)) continue;
    const std::string name =
        entry.first.substr(tree.size(), entry.first.find('/', tree.size()) - tree.size());
    if (!branches.contains(name)) others.insert(name);
  }
  for (const std::string& name : others) {
    ARROW_RETURN_NOT_OK(DeleteBranch(dataset, name, /*force=*/true));
  }
  const CleanupOptions options{
      .older_than_ns = 0, .delete_unverified = true, .error_if_tagged_old_versions = false};
  for (const auto& entry : branches) {
    ARROW_ASSIGN_OR_RAISE(const Dataset branch,
                          dataset.Checkout(BranchVersion{entry.first, std::nullopt}));
    ARROW_RETURN_NOT_OK(CleanUp(branch, options).status());
  }
  return CleanUp(dataset, options).status();
}

// A tombstone beside the name of a version that stays, whose owner may be about to take that, and
// what was said of its run.
bool IsOfTombstone(const World& world, std::string_view path) {
  constexpr std::string_view kFate = ".manifest-fate-";
  constexpr std::string_view kGone = "-gone-";
  const auto& objects = world.store->objects();
  const size_t gone = path.find(kGone);
  if (gone != path.npos) {
    return objects.contains(fmt::format("{}/{}", kTableRoot, path.substr(0, gone)));
  }
  const size_t at = path.find(kFate);
  if (at == path.npos) return false;
  const std::string end = fmt::format("{}{}", kGone, path.substr(at + kFate.size()));
  return std::ranges::any_of(objects,
                             [&](const auto& entry) { return entry.first.ends_with(end); });
}

bool IsUnreported(const World& world, std::string_view version) {
  return version.ends_with("(detached)") &&
         std::ranges::none_of(world.detached, [&](const DetachedWork& work) {
           return version.starts_with(std::to_string(work.dataset.version()));
         });
}

// Files below the table that are left after nobody needs them.
void CheckSweep(World& world) {
  // The next one may take for dead what one had to take for at work, and finds what a stray hid.
  for (int i = 0; i < 3; ++i) {
    const arrow::Status swept = SweepAll(world);
    if (!swept.ok()) return world.Fail("the last clean-up failed: " + swept.message());
    world.scheduler.PassTime(std::chrono::hours(24 * 8));
  }
  const auto survey = SurveyFiles(kTableUri, {.session = std::make_shared<Session>()});
  if (!survey.ok()) return world.Fail("the last survey failed: " + survey.status().message());
  for (const OrphanFile& orphan : survey->orphans) {
    // What a restore that stopped pinned stays pinned until there is a newer version.
    if (orphan.path.find("-pin-") != std::string::npos) continue;
    if (IsOfTombstone(world, orphan.path)) continue;
    world.Fail("after the last clean-up there is still " + orphan.path);
  }
  for (const auto& missing : survey->missing) {
    // A detached version of which it is not known whether it was made while its base went.
    if (IsUnreported(world, missing.version)) continue;
    world.Fail(fmt::format("after the last clean-up {} is missing, for version {}", missing.path,
                           missing.version));
  }
}

void CheckPlaces(World& world) {
  for (const auto& entry : world.store->objects()) {
    const std::string& path = entry.first;
    const bool is_inside =
        path.starts_with("/table/") || path.starts_with("/deep") || path.starts_with("/shallow");
    if (!is_inside) return world.Fail(path + " lies outside of the table");
  }
}

}  // namespace

void CheckEnd(World& world) {
  CheckPlaces(world);
  if (world.has_late_writer()) return;
  if (world.scenario.loses_power) {
    std::set<Record*> lost;
    for (Record& record : world.history.records()) {
      if (!record.is_durable) lost.insert(&record);
    }
    const auto listed = world.Listed(kTableRoot);
    world.store->LosePower(world.scenario.seed);
    const auto left = world.Listed(kTableRoot);
    for (Record* const record : listed) {
      const bool is_there = std::ranges::find(left, record) != left.end();
      if (record->is_durable && !is_there) {
        world.Fail(fmt::format("version {} was reported as durable, and is lost with the power",
                               record->version));
      }
    }
    // What was not promised to stay is nobody's to check.
    for (Record* const record : lost) record->was_reported = false;
    std::erase_if(world.detached, [](const DetachedWork& work) { return !work.is_durable; });
    std::erase_if(world.tags, [&](const auto&) { return true; });
    std::erase_if(world.branches, [&](const auto&) { return true; });
  }
  Checker checker(world);
  checker.Run();
  const bool is_whole = world.failure().empty() && !world.scenario.loses_power &&
                        world.Newest(kTableRoot) != nullptr &&
                        std::ranges::none_of(world.runs, &VerbRun::drops);
  if (!is_whole) return;
  CheckSweep(world);
  if (world.failure().empty()) checker.CheckAfterSweep();
}

}  // namespace glaive::simulation
