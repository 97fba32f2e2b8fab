#include "dataset/write/base_paths.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "io/object_store.h"

namespace glaive::dataset {
namespace {

// A base, or nothing for the table's own folder.
using Target = std::optional<table::BasePath>;

// Ids of bases that have none yet follow the highest there is.
arrow::Result<std::vector<table::BasePath>> WithIds(const std::vector<DatasetBasePath>& given) {
  std::vector<table::BasePath> bases = given;
  uint32_t next_id = 1;
  for (table::BasePath& base : bases) {
    if (base.id == 0) base.id = next_id++;
  }
  for (auto base = bases.begin(); base != bases.end(); ++base) {
    const auto same = std::find_if(bases.begin(), base, [&](const table::BasePath& other) {
      return other.id == base->id || other.path == base->path ||
             (other.name && other.name == base->name);
    });
    if (same != base) {
      return InvalidInput("two of the new bases share an id, a name or a path: {} and {}",
                          same->path, base->path);
    }
  }
  return bases;
}

arrow::Result<std::vector<Target>> AllTargets(std::vector<table::BasePath> bases,
                                              bool include_own) {
  std::ranges::sort(bases, {}, &table::BasePath::id);
  std::vector<Target> targets(bases.begin(), bases.end());
  if (include_own) targets.insert(targets.begin(), std::nullopt);
  if (targets.empty()) return InvalidInput("target_all_bases: the table has no bases");
  return targets;
}

arrow::Result<Target> FindTarget(const std::vector<table::BasePath>& bases,
                                 const std::string& wanted, const std::string& own_uri) {
  const auto base = std::ranges::find_if(bases, [&](const table::BasePath& other) {
    return other.name == wanted || other.path == wanted;
  });
  if (base != bases.end()) return *base;
  if (wanted == own_uri) return Target();
  return InvalidInput("Base reference '{}' not found in available bases", wanted);
}

arrow::Result<DataFolder> FolderOf(const table::TableLocation& table, const Target& target) {
  if (!target) return DataFolder{table.Path("data"), std::nullopt};
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(target->path));
  if (place.store != table.store) {
    return Unsupported("writing to the base {}, which lies in another store than the table",
                       target->path);
  }
  if (target->is_dataset_root) place.path += "/data";
  return DataFolder{std::move(place.path), target->id};
}

}  // namespace

arrow::Status ChooseFolders(const WriteOptions& options, std::vector<table::BasePath> bases,
                            Destination* destination) {
  if (!options.initial_bases.empty() && options.mode != WriteMode::kCreate) {
    return InvalidInput("initial_bases are for mode create alone; add_bases adds them to a table");
  }
  if (!options.target_bases.empty() && options.target_all_bases) {
    return InvalidInput("target_all_bases and target_bases exclude each other");
  }
  ARROW_ASSIGN_OR_RAISE(destination->new_bases, WithIds(options.initial_bases));
  bases.insert(bases.end(), destination->new_bases.begin(), destination->new_bases.end());

  std::vector<Target> targets;
  if (options.target_all_bases) {
    ARROW_ASSIGN_OR_RAISE(targets, AllTargets(bases, *options.target_all_bases));
  }
  for (const std::string& wanted : options.target_bases) {
    ARROW_ASSIGN_OR_RAISE(targets.emplace_back(),
                          FindTarget(bases, wanted, destination->table.uri));
  }
  for (const Target& each : targets) {
    ARROW_ASSIGN_OR_RAISE(destination->folders.emplace_back(), FolderOf(destination->table, each));
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
