#include "table/operation/field_identity.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.h"
#include "table/operation/conflict.h"
#include "wire/fields.h"
#include "wire/index.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using wire::DataFile;
using wire::DataFragment;
using wire::Field;

constexpr Location kOperation = {"(operation)"};

// What makes values mean something: where the field stands, and its type.
struct Identity {
  std::string path;
  std::string type;
};

// Keys of a field's metadata that are part of its type.
constexpr std::string_view kTypeKeys[] = {"ARROW:extension:name", "lance-encoding:blob"};

std::string TypeOf(const Field& field) {
  std::string type = field.logical_type;
  for (const std::string_view key : kTypeKeys) {
    const auto found = field.metadata.find(std::string(key));
    if (found != field.metadata.end()) type += fmt::format(" {}={}", key, found->second);
  }
  return type;
}

void Collect(const std::vector<Field>& fields, const std::string& prefix,
             std::map<int32_t, Identity>* identities) {
  for (const Field& field : fields) {
    const std::string path = prefix + field.name;
    identities->emplace(field.id, Identity{path, TypeOf(field)});
    Collect(field.children, path + ".", identities);
  }
}

std::map<int32_t, Identity> IdentitiesIn(const wire::Schema& schema) {
  std::map<int32_t, Identity> identities;
  Collect(schema.fields, "", &identities);
  return identities;
}

void AddFields(const DataFile& file, std::set<int32_t>* ids) {
  for (const int32_t id : file.fields) {
    if (id >= 0) ids->insert(id);
  }
}

void AddFields(const std::vector<FragmentMetadata>& fragments, std::set<int32_t>* ids) {
  for (const DataFragment& fragment : fragments | Entries) {
    for (const DataFile& file : fragment.files) AddFields(file, ids);
  }
}

void AddFields(const DataOverlay& overlay, std::set<int32_t>* ids) {
  for (const DataOverlay::Group& group : overlay.groups) {
    for (const OverlayFile& file : group.overlays) AddFields(file.data_file, ids);
  }
}

void AddFields(const CreateIndex& change, std::set<int32_t>* ids) {
  for (const IndexMetadata& index : change.new_indices) {
    ids->insert(index.fields.begin(), index.fields.end());
  }
}

// Fields that an operation names by their ids: those that it brings values, indices or metadata of.
// A merge meets every change of the schema by its rule, and what makes a table anew brings its own.
std::set<int32_t> NamedFields(const Operation& operation) {
  std::set<int32_t> ids;
  std::visit(Match{[&](const Append& append) { AddFields(append.fragments, &ids); },
                   [&](const Update& update) {
                     AddFields(update.new_fragments, &ids);
                     ids.insert(update.fields_modified.begin(), update.fields_modified.end());
                   },
                   [&](const Rewrite& rewrite) {
                     for (const auto& group : rewrite.groups) AddFields(group.new_fragments, &ids);
                   },
                   [&](const DataReplacement& replacement) {
                     for (const auto& each : replacement.replacements)
                       AddFields(each.new_file, &ids);
                   },
                   [&](const UpdateConfig& update) {
                     for (const auto& [id, edits] : update.field_metadata) ids.insert(id);
                   },
                   [&](const DataOverlay& overlay) { AddFields(overlay, &ids); },
                   [&](const CreateIndex& change) { AddFields(change, &ids); },
                   [](const Delete&) {}, [](const Overwrite&) {}, [](const Merge&) {},
                   [](const Restore&) {}, [](const ReserveFragments&) {}, [](const Project&) {},
                   [](const UpdateMemWalState&) {}, [](const Clone&) {}, [](const UpdateBases&) {}},
             operation);
  return ids;
}

bool HoldsInOneFile(const DataFragment& before, const DataFragment& now, int32_t id) {
  const auto holds = [&](const DataFile& file) { return std::ranges::count(file.fields, id) > 0; };
  return std::ranges::any_of(before.files, [&](const DataFile& file) {
    const auto same = [&](const DataFile& other) {
      return other.path == file.path && other.base_id == file.base_id && holds(other);
    };
    return holds(file) && std::ranges::any_of(now.files, same);
  });
}

// Whether a file of both versions holds the field: then no version in between could give its id
// away.
arrow::Result<bool> WasKept(const Manifest& seen, const Manifest& latest, int32_t id) {
  const uint64_t count = seen.fragments.totals().num_fragments;
  for (uint64_t i = 0; i < count; ++i) {
    const Fragment before = seen.fragments.At(i);
    const auto now = latest.fragments.Find(before.id());
    if (!now) continue;
    ARROW_ASSIGN_OR_RAISE(const DataFragment read, before.Parse());
    ARROW_ASSIGN_OR_RAISE(const DataFragment current, now->Parse());
    if (HoldsInOneFile(read, current, id)) return true;
  }
  return false;
}

using FieldsById = std::map<int32_t, const Field*>;

void CollectById(const std::vector<Field>& fields, FieldsById* by_id) {
  for (const Field& field : fields) {
    by_id->emplace(field.id, &field);
    CollectById(field.children, by_id);
  }
}

// Takes what `theirs` changed since `before`. False where ours changed it too, to something else.
template <typename T>
bool MergeChange(const T& before, const T& theirs, T* ours) {
  if (theirs == before || theirs == *ours) return true;
  if (*ours != before) return false;
  *ours = theirs;
  return true;
}

// What an edit of a field's metadata changes: some of its keys stand beside the map as well.
auto MetadataOf(const Field& field) {
  return std::tuple(field.metadata, field.unenforced_primary_key,
                    field.unenforced_primary_key_position,
                    field.unenforced_clustering_key_position);
}

bool MergeMetadata(const Field& before, const Field& theirs, Field* ours) {
  auto merged = MetadataOf(*ours);
  if (!MergeChange(MetadataOf(before), MetadataOf(theirs), &merged)) return false;
  std::tie(ours->metadata, ours->unenforced_primary_key, ours->unenforced_primary_key_position,
           ours->unenforced_clustering_key_position) = std::move(merged);
  return true;
}

// Null where all could be merged, else the first field that could not.
const Field* MergeFields(const FieldsById& before, const FieldsById& theirs,
                         std::vector<Field>* ours) {
  for (Field& field : *ours) {
    const auto was = before.find(field.id);
    const auto is = theirs.find(field.id);
    const bool known = was != before.end() && is != theirs.end();
    if (known && !MergeMetadata(*was->second, *is->second, &field)) return &field;
    if (const Field* clash = MergeFields(before, theirs, &field.children)) return clash;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> FindReusedField(const wire::Schema& seen, const wire::Schema& latest,
                                           const std::set<int32_t>& ids,
                                           const std::function<bool(int32_t)>& was_kept) {
  const auto then = IdentitiesIn(seen);
  const auto now = IdentitiesIn(latest);
  for (const int32_t id : ids) {
    const auto is = now.find(id);
    if (is == now.end()) continue;
    const auto was = then.find(id);
    if (was == then.end()) {
      return fmt::format("field {} is '{}' ({}), which was not there", id, is->second.path,
                         is->second.type);
    }
    const bool same_type = was->second.type == is->second.type;
    if (same_type && (was->second.path == is->second.path || was_kept(id))) continue;
    return fmt::format("field {} is '{}' ({}), and was '{}' ({})", id, is->second.path,
                       is->second.type, was->second.path, was->second.type);
  }
  return std::nullopt;
}

arrow::Status CheckFieldsStand(const Manifest& seen, const Manifest& latest,
                               const Operation& operation) {
  if (seen.schema.fields == latest.schema.fields) return arrow::Status::OK();
  const std::set<int32_t> ids = NamedFields(operation);
  arrow::Status status;
  const auto was_kept = [&](int32_t id) {
    const auto kept = WasKept(seen, latest, id);
    if (!kept.ok()) status = kept.status();
    return kept.ok() && *kept;
  };
  const auto reused = FindReusedField(seen.schema, latest.schema, ids, was_kept);
  ARROW_RETURN_NOT_OK(status);
  if (!reused) return arrow::Status::OK();
  return CommitConflict(Retry::kYes, latest.version,
                        "what this {} brings was made for another schema, of version {}: {}",
                        kOperationNames[operation.index()], seen.version, *reused);
}

arrow::Status CarryMetadata(const Manifest& seen, const Manifest& latest, Project* project) {
  FieldsById before;
  FieldsById theirs;
  CollectById(seen.schema.fields, &before);
  CollectById(latest.schema.fields, &theirs);
  wire::Schema schema = StateOf(project->schema)->schema;
  const Field* clash = MergeFields(before, theirs, &schema.fields);
  const bool merged = clash == nullptr &&
                      MergeChange(seen.schema.metadata, latest.schema.metadata, &schema.metadata);
  project->schema = WrapSchema(std::move(schema));
  if (merged) return arrow::Status::OK();
  return CommitConflict(Retry::kYes, latest.version, "both change the metadata of {}",
                        clash == nullptr ? "the schema" : fmt::format("field '{}'", clash->name));
}

}  // namespace glaive::table
