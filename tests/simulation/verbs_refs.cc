#include <iterator>

#include <fmt/format.h>

#include "dataset/handle/dataset_state.h"
#include "glaive/history.h"
#include "glaive/refs.h"
#include "simulation/client.h"

namespace glaive::simulation {
namespace {

Record* RecordOf(World& world, const Dataset& dataset) {
  const dataset::DatasetState& state = *StateOf(dataset);
  return world.history.Find(state.location.root, dataset.version(), UuidOf(*state.manifest));
}

// A handle, or in half of all cases one that is made of it: on a version that clean-ups may take.
arrow::Result<Dataset> AnyVersion(Client& client, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  if (random.Chance(500)) return dataset;
  ARROW_ASSIGN_OR_RAISE(const auto versions, VersionNumbers(dataset));
  if (versions.empty()) return dataset;
  return dataset.Checkout(versions[random.Below(versions.size())]);
}

template <typename Map>
std::string AnyKey(const Map& map, Random& random) {
  return std::next(map.begin(), random.Below(map.size()))->first;
}

}  // namespace

VerbResult RestoreVersion(Client& client, VerbRun& run, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, AnyVersion(client, random));
  run.intent = {.kind = Intent::Kind::kRestore, .from = UuidOf(*StateOf(dataset)->manifest)};
  ARROW_ASSIGN_OR_RAISE(auto made, Restore(dataset, {.durability = client.durability()}));
  return made;
}

VerbResult Tag(Client& client, VerbRun& run, Random& random) {
  World& world = client.world();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, AnyVersion(client, random));
  std::string name = fmt::format("t{}-{}", client.number(), run.index);
  if (!world.tags.empty() && random.Chance(500)) {
    name = AnyKey(world.tags, random);
    world.tags.erase(name);  // until it is known what it means
    ARROW_RETURN_NOT_OK(UpdateTag(dataset, name));
  } else {
    ARROW_RETURN_NOT_OK(CreateTag(dataset, name));
  }
  world.tags[name] = RecordOf(world, dataset);
  return std::nullopt;
}

VerbResult RemoveTag(Client& client, VerbRun& /*run*/, Random& random) {
  World& world = client.world();
  if (world.tags.empty()) return std::nullopt;
  const std::string name = AnyKey(world.tags, random);
  world.tags.erase(name);  // before others choose it
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_RETURN_NOT_OK(DeleteTag(dataset, name));
  return std::nullopt;
}

VerbResult Branch(Client& client, VerbRun& run, Random& random) {
  World& world = client.world();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  const std::string name = fmt::format("b{}-{}", client.number(), run.index);
  run.intent.from = UuidOf(*StateOf(dataset)->manifest);
  ARROW_ASSIGN_OR_RAISE(const Dataset branch, CreateBranch(dataset, name, std::nullopt,
                                                           {.durability = client.durability()}));
  world.branches[name] = RecordOf(world, branch);
  return branch;
}

VerbResult AppendToBranch(Client& client, VerbRun& run, Random& random) {
  World& world = client.world();
  if (world.branches.empty()) return std::nullopt;
  const std::string name = AnyKey(world.branches, random);
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  ARROW_ASSIGN_OR_RAISE(const Dataset branch, dataset.Checkout(BranchVersion{name, std::nullopt}));
  run.root = StateOf(branch)->location.root;
  run.intent = {.kind = Intent::Kind::kAdd, .rows = client.NewRows(run, random)};
  ARROW_ASSIGN_OR_RAISE(auto result,
                        WriteDataset(StreamOf(run.intent.rows), branch,
                                     {.mode = WriteMode::kAppend,
                                      .session = client.session(),
                                      .version = {.durability = client.durability()}}));
  return result.dataset;
}

VerbResult RemoveBranch(Client& client, VerbRun& run, Random& random) {
  World& world = client.world();
  if (world.branches.empty()) return std::nullopt;
  const std::string name = AnyKey(world.branches, random);
  world.branches.erase(name);
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  run.root = fmt::format("{}/tree/{}", kTableRoot, name);
  run.drops = true;
  ARROW_RETURN_NOT_OK(DeleteBranch(dataset, name));
  return std::nullopt;
}

// With files of its own, or referring to those of the table: then the table's clean-up may take
// them, and nothing is checked but that it is made.
VerbResult Clone(Client& client, VerbRun& run, Random& random) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, client.AnyHandle(random));
  const bool is_deep = random.Chance(600);
  const std::string uri = fmt::format("{}://{}{}-{}", kScheme, is_deep ? "deep" : "shallow",
                                      client.number(), run.index);
  const auto clone = is_deep ? &DeepClone : &ShallowClone;
  run.root = RootOf(uri);
  run.intent.from = UuidOf(*StateOf(dataset)->manifest);
  ARROW_ASSIGN_OR_RAISE(
      auto made, clone(dataset, uri, dataset.version(), {.durability = client.durability()}));
  return made;
}

}  // namespace glaive::simulation
