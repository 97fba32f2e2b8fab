#include "table/operation/conflict.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "table/operation/key_filter.h"
#include "table/sets/fragment_set.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

using wire::DataFragment;

constexpr Location kTransaction = {"(transaction)"};

Verdict RetryIf(bool condition) { return condition ? Verdict::kRetry : Verdict::kCompatible; }
Verdict IncompatibleIf(bool condition) {
  return condition ? Verdict::kIncompatible : Verdict::kCompatible;
}

// What a Delete and an Update have in common.
struct RowChanges {
  const std::vector<FragmentMetadata>& updated_fragments;
  const std::vector<uint64_t>& removed_fragment_ids;
  bool knows_rows;
};

RowChanges RowChangesOf(const Operation& operation) {
  if (const auto* deletion = std::get_if<Delete>(&operation)) {
    return {deletion->updated_fragments, deletion->deleted_fragment_ids,
            deletion->affected_rows.has_value()};
  }
  // Rows of columns that are rewritten in place stay: a merge of vectors would hide them.
  const auto& update = std::get<Update>(operation);
  const bool in_place = update.mode == Update::Mode::kRewriteColumns ||
                        (!update.fields_modified.empty() && update.new_fragments.empty());
  return {update.updated_fragments, update.removed_fragment_ids, update.affected_rows && !in_place};
}

// Fragments of the snapshot that an operation changes or drops, of those operations that name them.
// An overwrite, a merge or a restore exchanges them all, which the matrix settles before anyone
// asks here.
std::set<uint64_t> TouchedFragments(const Operation& operation) {
  std::set<uint64_t> ids;
  const auto rows = [&](const auto&) {
    const RowChanges changes = RowChangesOf(operation);
    for (const auto& fragment : changes.updated_fragments) ids.insert(fragment.id());
    ids.insert(changes.removed_fragment_ids.begin(), changes.removed_fragment_ids.end());
  };
  std::visit(Match{[](const Append&) {}, [&](const Delete& deletion) { rows(deletion); },
                   [](const Overwrite&) {}, [](const CreateIndex&) {},
                   [&](const Rewrite& rewrite) {
                     for (const auto& group : rewrite.groups) {
                       for (const auto& fragment : group.old_fragments) ids.insert(fragment.id());
                     }
                   },
                   [](const Merge&) {}, [](const Restore&) {}, [](const ReserveFragments&) {},
                   [&](const Update& update) { rows(update); }, [](const Project&) {},
                   [](const UpdateConfig&) {},
                   [&](const DataReplacement& replacement) {
                     for (const auto& each : replacement.replacements) ids.insert(each.fragment_id);
                   },
                   [&](const DataOverlay& overlay) {
                     for (const auto& group : overlay.groups) ids.insert(group.fragment_id);
                   },
                   [](const UpdateMemWalState&) {}, [](const Clone&) {}, [](const UpdateBases&) {}},
             operation);
  return ids;
}

template <typename Ids>
bool Intersects(const std::set<uint64_t>& touched, const Ids& ids) {
  return std::ranges::any_of(ids, [&](uint64_t id) { return touched.contains(id); });
}

Verdict SharedFragment(const Operation& ours, const Operation& theirs) {
  return RetryIf(Intersects(TouchedFragments(ours), TouchedFragments(theirs)));
}

// Two changes of different rows in one fragment can both stand, once their deletion vectors are
// merged. That needs our rows, and a fragment that still has the files we found them in.
Verdict ChangedRows(const Operation& ours, const Operation& theirs) {
  if (SharedFragment(ours, theirs) == Verdict::kCompatible) return Verdict::kCompatible;
  const RowChanges mine = RowChangesOf(ours);
  const RowChanges other = RowChangesOf(theirs);
  if (!mine.knows_rows) return Verdict::kRetry;
  if (Intersects(TouchedFragments(ours), other.removed_fragment_ids)) return Verdict::kRetry;
  // Where ours leaves no row, theirs changed one of ours.
  if (Intersects(TouchedFragments(theirs), mine.removed_fragment_ids)) return Verdict::kRetry;
  for (const DataFragment& changed : other.updated_fragments | Entries) {
    const auto read = std::ranges::find(mine.updated_fragments, changed.id, &FragmentMetadata::id);
    if (read != mine.updated_fragments.end() && read->files() != changed.files) {
      return Verdict::kRetry;
    }
  }
  return Verdict::kRebase;
}

// The keys that an update inserted; nothing where it does not say, or not so that it can be read.
std::optional<KeyFilter> InsertedKeysOf(const Update& update) {
  if (!update.inserted_rows) return std::nullopt;
  auto filter = ParseKeyFilter(*update.inserted_rows);
  if (!filter.ok()) return std::nullopt;
  return *std::move(filter);
}

// Whether rows that an update without a filter brought had their keys before, as those have whose
// other columns alone were changed.
bool LeavesKeysAlone(const Update& update, const std::vector<int32_t>& key_fields) {
  const auto changes = [&](const std::vector<uint32_t>& fields) {
    return std::ranges::any_of(key_fields, [&](int32_t id) {
      return std::ranges::count(fields, static_cast<uint32_t>(id)) > 0;
    });
  };
  if (changes(update.fields_modified)) return false;
  const auto& changed = update.fields_for_preserving_frag_bitmap;
  return update.new_fragments.empty() || (!changed.empty() && !changes(changed));
}

bool MayInsertOneKey(const Update& ours, const Update& theirs) {
  const auto mine = InsertedKeysOf(ours);
  if (!mine) return ours.inserted_rows.has_value();
  if (IsEmpty(*mine)) return false;
  if (!theirs.inserted_rows) return !LeavesKeysAlone(theirs, mine->field_ids);
  const auto other = InsertedKeysOf(theirs);
  if (!other) return true;
  // pylance puts keys of some types only into its filters. Ours are exact for the others.
  const bool may_omit = other->bloom && !mine->bloom && !theirs.new_fragments.empty();
  return (may_omit && IsEmpty(*other)) || MayShareKeys(*mine, *other);
}

Verdict ChangedRowsOrKeys(const Operation& ours, const Operation& theirs) {
  if (MayInsertOneKey(std::get<Update>(ours), std::get<Update>(theirs))) return Verdict::kRetry;
  return ChangedRows(ours, theirs);
}

// What an append brings is not known.
Verdict InsertedKeys(const Operation& ours) {
  const auto& update = std::get<Update>(ours);
  const auto mine = InsertedKeysOf(update);
  return RetryIf(mine ? !IsEmpty(*mine) : update.inserted_rows.has_value());
}

// Whether one of ours' inserted keys may be a value that `fields` got elsewhere; any, where it
// cannot be told which fields its keys are of.
bool InsertsKeysOf(const Update& ours, const std::vector<int32_t>& fields) {
  const auto mine = InsertedKeysOf(ours);
  if (!mine) return ours.inserted_rows.has_value();
  if (IsEmpty(*mine)) return false;
  return std::ranges::find_first_of(mine->field_ids, fields) != mine->field_ids.end();
}

// Other values of a key column are keys that were not there, in whichever fragment.
Verdict SharedFragmentOrKey(const Operation& ours, const Operation& theirs) {
  for (const auto& replacement : std::get<DataReplacement>(theirs).replacements) {
    if (InsertsKeysOf(std::get<Update>(ours), replacement.new_file.fields)) return Verdict::kRetry;
  }
  return SharedFragment(ours, theirs);
}

// Whether an operation may make a field required that was not.
bool MayForbidNulls(const Operation& operation) {
  if (const auto* merge = std::get_if<Merge>(&operation)) return !merge->preserves_nullability;
  const auto* project = std::get_if<Project>(&operation);
  return project != nullptr && !project->preserves_nullability;
}

bool BringsValues(const Operation& operation) {
  return std::holds_alternative<Append>(operation) || std::holds_alternative<Update>(operation) ||
         std::holds_alternative<DataReplacement>(operation) ||
         std::holds_alternative<DataOverlay>(operation);
}

Verdict Nullability(const Operation& ours, const Operation& theirs) {
  return RetryIf((MayForbidNulls(ours) && BringsValues(theirs)) ||
                 (BringsValues(ours) && MayForbidNulls(theirs)));
}

bool HasField(const std::vector<wire::Field>& fields, int64_t id) {
  return std::ranges::any_of(fields, [&](const wire::Field& field) {
    return field.id == id || HasField(field.children, id);
  });
}

Verdict DroppedField(const Operation& ours, const Operation& theirs) {
  if (Nullability(ours, theirs) == Verdict::kRetry) return Verdict::kRetry;
  const auto& left = StateOf(std::get<Project>(theirs).schema)->schema.fields;
  return RetryIf(!std::ranges::all_of(std::get<Update>(ours).fields_modified,
                                      [&](uint32_t id) { return HasField(left, id); }));
}

Verdict DroppedTarget(const Operation& ours, const Operation& theirs) {
  if (Nullability(ours, theirs) == Verdict::kRetry) return Verdict::kRetry;
  const auto& left = StateOf(std::get<Project>(theirs).schema)->schema.fields;
  for (const auto& replacement : std::get<DataReplacement>(ours).replacements) {
    for (const int32_t id : replacement.new_file.fields) {
      if (id >= 0 && !HasField(left, id)) return Verdict::kIncompatible;
    }
  }
  return Verdict::kCompatible;
}

UpdateMap ConfigOf(const Operation& operation) {
  if (const auto* update = std::get_if<UpdateConfig>(&operation)) {
    return update->config.value_or(UpdateMap{});
  }
  UpdateMap map;
  for (const auto& [key, value] : std::get<Overwrite>(operation).config_upserts) {
    map.entries.emplace(key, value);
  }
  return map;
}

bool EditsSchemaMetadata(const Operation& operation) {
  const auto* update = std::get_if<UpdateConfig>(&operation);
  return update != nullptr && (update->schema_metadata || !update->field_metadata.empty());
}

// Two deletions of one key agree; anything else about one key does not.
bool SetOneKey(const UpdateMap& ours, const UpdateMap& theirs) {
  const auto clash = [&](const auto& entry) {
    const auto other = theirs.entries.find(entry.first);
    return other != theirs.entries.end() && (entry.second || other->second);
  };
  return ours.replace || theirs.replace || std::ranges::any_of(ours.entries, clash);
}

Verdict Overwrites(const Operation& ours, const Operation& theirs) {
  return SetOneKey(ConfigOf(ours), ConfigOf(theirs)) ? Verdict::kIncompatible : Verdict::kRetry;
}

Verdict ConfigKey(const Operation& ours, const Operation& theirs) {
  return IncompatibleIf(SetOneKey(ConfigOf(ours), ConfigOf(theirs)));
}

Verdict ConfigKeyOrMetadata(const Operation& ours, const Operation& theirs) {
  return EditsSchemaMetadata(ours) ? Verdict::kIncompatible : ConfigKey(ours, theirs);
}

bool EditOneKey(const std::optional<UpdateMap>& ours, const std::optional<UpdateMap>& theirs) {
  if (!ours || !theirs) return false;
  return ours->replace || theirs->replace ||
         std::ranges::any_of(ours->entries, [&](const auto& entry) {
           return theirs->entries.contains(entry.first);
         });
}

Verdict SameMetadata(const Operation& ours, const Operation& theirs) {
  const auto& mine = std::get<UpdateConfig>(ours);
  const auto& other = std::get<UpdateConfig>(theirs);
  const bool one_field = std::ranges::any_of(mine.field_metadata, [&](const auto& entry) {
    return other.field_metadata.contains(entry.first);
  });
  return IncompatibleIf(one_field || (mine.schema_metadata && other.schema_metadata) ||
                        EditOneKey(mine.table_metadata, other.table_metadata) ||
                        (mine.config && other.config && SetOneKey(*mine.config, *other.config)));
}

const CreateIndex& IndexChange(const Operation& ours, const Operation& theirs) {
  const auto* mine = std::get_if<CreateIndex>(&ours);
  return mine != nullptr ? *mine : std::get<CreateIndex>(theirs);
}

Verdict SameIndex(const Operation& ours, const Operation& theirs) {
  std::set<std::string> names;
  const auto& mine = std::get<CreateIndex>(ours);
  const auto& other = std::get<CreateIndex>(theirs);
  for (const auto* indices : {&mine.new_indices, &mine.removed_indices}) {
    for (const IndexMetadata& index : *indices) names.insert(index.name);
  }
  const auto is_named = [&](const IndexMetadata& index) { return names.contains(index.name); };
  return RetryIf(std::ranges::any_of(other.new_indices, is_named) ||
                 std::ranges::any_of(other.removed_indices, is_named));
}

// An index that does not say which fragments it covers may cover any.
Verdict RewrittenIndex(const Operation& ours, const Operation& theirs) {
  const bool rewrites = std::holds_alternative<Rewrite>(ours);
  const std::set<uint64_t> touched = TouchedFragments(rewrites ? ours : theirs);
  const std::vector<uint64_t> rewritten(touched.begin(), touched.end());
  const auto covers_one = [&](const IndexMetadata& entry) {
    const auto covered = FragmentSet::Parse(entry.fragment_bitmap, kTransaction);
    return !covered.ok() || covered->ContainsAny(rewritten);
  };
  return RetryIf(std::ranges::any_of(IndexChange(ours, theirs).new_indices, covers_one));
}

bool AnyMemWal(const std::vector<IndexMetadata>& indices) {
  return std::ranges::count(indices, wire::kMemWalIndexName, &IndexMetadata::name) > 0;
}

Verdict MemWalIndex(const Operation& ours, const Operation& theirs) {
  return RetryIf(AnyMemWal(IndexChange(ours, theirs).new_indices));
}

Verdict OnlyMemWalIndex(const Operation& ours) {
  return AnyMemWal(std::get<CreateIndex>(ours).new_indices) ? Verdict::kRetry
                                                            : Verdict::kIncompatible;
}

Verdict IndexedField(const Operation& ours, const Operation& theirs) {
  const auto& indices = IndexChange(ours, theirs).new_indices;
  const auto* mine = std::get_if<DataReplacement>(&ours);
  const auto& operation = mine != nullptr ? *mine : std::get<DataReplacement>(theirs);
  for (const auto& replacement : operation.replacements) {
    for (const IndexMetadata& entry : indices) {
      if (std::ranges::find_first_of(entry.fields, replacement.new_file.fields) !=
          entry.fields.end()) {
        return Verdict::kRetry;
      }
    }
  }
  return Verdict::kCompatible;
}

bool TargetRemoved(const Operation& ours, const Operation& theirs) {
  return Intersects(TouchedFragments(ours), RowChangesOf(theirs).removed_fragment_ids);
}

bool MovesRows(const Update& update) {
  return update.mode == Update::Mode::kRewriteRows && !update.new_fragments.empty();
}

Verdict MovedRows(const Operation& ours, const Operation& theirs) {
  if (TargetRemoved(ours, theirs)) return Verdict::kIncompatible;
  const auto& update = std::get<Update>(theirs);
  for (const auto& [fragment_id, new_file] : std::get<DataReplacement>(ours).replacements) {
    if (std::ranges::count(update.updated_fragments, fragment_id, &FragmentMetadata::id) == 0)
      continue;
    const bool same_field = std::ranges::any_of(new_file.fields, [&](int32_t id) {
      return std::ranges::count(update.fields_modified, static_cast<uint32_t>(id)) > 0;
    });
    if (MovesRows(update) || same_field) return Verdict::kRetry;
  }
  return Verdict::kCompatible;
}

// Whether a row that moved is one that ours covers is for the deletion vectors to tell.
Verdict MovedCoverage(const Operation& ours, const Operation& theirs) {
  if (TargetRemoved(ours, theirs)) return Verdict::kRetry;
  const bool moved =
      MovesRows(std::get<Update>(theirs)) && SharedFragment(ours, theirs) == Verdict::kRetry;
  return moved ? Verdict::kRebase : Verdict::kCompatible;
}

// Whether an overlay lies on what an update takes away from it: fields that are written anew, or
// rows that move, any of the fragment's where they are not known.
bool LiesOn(const OverlayFile& overlay, uint64_t fragment_id, const Update& update) {
  if (update.mode == Update::Mode::kRewriteColumns) {
    return std::ranges::any_of(overlay.data_file.fields, [&](int32_t id) {
      return std::ranges::count(update.fields_modified, static_cast<uint32_t>(id)) > 0;
    });
  }
  if (!update.affected_rows) return true;
  const auto& rows = *update.affected_rows;
  return std::ranges::any_of(overlay.offset_bitmaps, [&](const std::string& bitmap) {
    const auto covered = ParseRoaring(wire::AsBytes(bitmap), kTransaction);
    return !covered.ok() || std::ranges::any_of(*covered, [&](const RowRange& range) {
      const auto first = std::ranges::lower_bound(rows, fragment_id << 32 | range.begin);
      return first != rows.end() && *first < (fragment_id << 32) + range.end;
    });
  });
}

// Whether an overlay supplies a column of keys that ours inserts.
bool OverlaysKeys(const Update& ours, const DataOverlay& theirs) {
  if (!ours.inserted_rows) return false;
  for (const DataOverlay::Group& group : theirs.groups) {
    for (const OverlayFile& overlay : group.overlays) {
      if (InsertsKeysOf(ours, overlay.data_file.fields)) return true;
    }
  }
  return false;
}

Verdict OverlaidField(const Operation& ours, const Operation& theirs) {
  const auto& update = std::get<Update>(ours);
  if (OverlaysKeys(update, std::get<DataOverlay>(theirs))) return Verdict::kRetry;
  if (update.mode == Update::Mode::kRewriteRows && !MovesRows(update)) return Verdict::kCompatible;
  const std::set<uint64_t> touched = TouchedFragments(ours);
  for (const auto& [fragment_id, overlays] : std::get<DataOverlay>(theirs).groups) {
    if (!touched.contains(fragment_id)) continue;
    for (const OverlayFile& overlay : overlays) {
      if (LiesOn(overlay, fragment_id, update)) return Verdict::kRetry;
    }
  }
  return Verdict::kCompatible;
}

Verdict SameField(const Operation& ours, const Operation& theirs) {
  for (const auto& mine : std::get<DataReplacement>(ours).replacements) {
    for (const auto& other : std::get<DataReplacement>(theirs).replacements) {
      if (mine.fragment_id != other.fragment_id) continue;
      if (std::ranges::find_first_of(mine.new_file.fields, other.new_file.fields) !=
          mine.new_file.fields.end()) {
        return Verdict::kRetry;
      }
    }
  }
  return Verdict::kCompatible;
}

// Whether an operation says how far the write-ahead log has been worked off. Only its own writer
// could say which of two such steps is the later one.
bool AdvancesMemWal(const Operation& operation) {
  if (const auto* index = std::get_if<CreateIndex>(&operation))
    return AnyMemWal(index->new_indices);
  if (const auto* update = std::get_if<Update>(&operation)) {
    return !update->compacted_sstables.empty();
  }
  return !std::get<UpdateMemWalState>(operation).compacted_sstables.empty();
}

Verdict SameShard(const Operation& ours, const Operation& theirs) {
  return RetryIf(AdvancesMemWal(ours) && AdvancesMemWal(theirs));
}

Verdict SameBase(const Operation& ours, const Operation& theirs) {
  for (const BasePath& mine : std::get<UpdateBases>(ours).new_bases) {
    for (const BasePath& other : std::get<UpdateBases>(theirs).new_bases) {
      const bool clash = (mine.id != 0 && mine.id == other.id) || mine.path == other.path ||
                         (mine.name && mine.name == other.name);
      if (clash) return Verdict::kIncompatible;
    }
  }
  return Verdict::kCompatible;
}

}  // namespace

Verdict Conflict(const Operation& ours, const Operation& theirs) {
  switch (RuleFor(ours.index(), theirs.index())) {
    case Rule::kPass: return Verdict::kCompatible;
    case Rule::kRetry: return Verdict::kRetry;
    case Rule::kIncompatible: return Verdict::kIncompatible;
    case Rule::kSharedFragment: return SharedFragment(ours, theirs);
    case Rule::kChangedRows: return ChangedRows(ours, theirs);
    case Rule::kChangedRowsOrKeys: return ChangedRowsOrKeys(ours, theirs);
    case Rule::kNullability: return Nullability(ours, theirs);
    case Rule::kSharedFragmentOrKey: return SharedFragmentOrKey(ours, theirs);
    case Rule::kOverwrites: return Overwrites(ours, theirs);
    case Rule::kConfigKey: return ConfigKey(ours, theirs);
    case Rule::kConfigKeyOrMetadata: return ConfigKeyOrMetadata(ours, theirs);
    case Rule::kSchemaMetadata:
      return RetryIf(EditsSchemaMetadata(ours) || EditsSchemaMetadata(theirs));
    case Rule::kRestoredMetadata:
      return IncompatibleIf(EditsSchemaMetadata(ours) || EditsSchemaMetadata(theirs));
    case Rule::kSameMetadata: return SameMetadata(ours, theirs);
    case Rule::kSameIndex: return SameIndex(ours, theirs);
    case Rule::kRewrittenIndex: return RewrittenIndex(ours, theirs);
    case Rule::kMemWalIndex: return MemWalIndex(ours, theirs);
    case Rule::kInPlaceUpdate: return Verdict::kCompatible;
    case Rule::kIndexedField: return IndexedField(ours, theirs);
    case Rule::kOnlyMemWalIndex: return OnlyMemWalIndex(ours);
    case Rule::kInsertedKeys: return InsertedKeys(ours);
    case Rule::kDroppedField: return DroppedField(ours, theirs);
    case Rule::kDroppedTarget: return DroppedTarget(ours, theirs);
    case Rule::kOverlaidField: return OverlaidField(ours, theirs);
    case Rule::kTargetGone: return IncompatibleIf(TargetRemoved(ours, theirs));
    case Rule::kOverlayTargetGone: return RetryIf(TargetRemoved(ours, theirs));
    case Rule::kMovedRows: return MovedRows(ours, theirs);
    case Rule::kSameField: return SameField(ours, theirs);
    case Rule::kMovedCoverage: return MovedCoverage(ours, theirs);
    case Rule::kSameShard: return SameShard(ours, theirs);
    case Rule::kSameBase: return SameBase(ours, theirs);
  }
  return Verdict::kIncompatible;
}

arrow::Status CheckConflict(const Operation& ours, const Operation& theirs,
                            uint64_t theirs_version) {
  const Verdict verdict = Conflict(ours, theirs);
  if (verdict == Verdict::kCompatible || verdict == Verdict::kRebase) return arrow::Status::OK();
  const bool again = verdict == Verdict::kRetry;
  return CommitConflict(again ? Retry::kYes : Retry::kNo, theirs_version,
                        "this {} {} the {} committed there", kOperationNames[ours.index()],
                        again ? "must be done again after" : "cannot follow",
                        kOperationNames[theirs.index()]);
}

std::string_view MeaningOf(Rule rule) {
  switch (rule) {
    case Rule::kPass: return "never in the way";
    case Rule::kRetry: return "always: read again and do it again";
    case Rule::kIncompatible: return "always: give up";
    case Rule::kSharedFragment: return "again, if they touched a fragment of ours";
    case Rule::kSharedFragmentOrKey:
      return "as f; and again, if they replaced a column of keys that ours inserts";
    case Rule::kChangedRows:
      return "in a shared fragment: merged if the rows differ and its files do not, else again";
    case Rule::kChangedRowsOrKeys: return "as d; and again, if both may have inserted one key";
    case Rule::kNullability:
      return "again, if one may forbid nulls that the other may have brought";
    case Rule::kOverwrites: return "again; give up if both set one config key";
    case Rule::kConfigKey: return "give up, if both set one config key";
    case Rule::kConfigKeyOrMetadata:
      return "as k; and give up, if ours edits metadata of the schema";
    case Rule::kSchemaMetadata:
      return "again, if the other side edits metadata of schema or fields";
    case Rule::kRestoredMetadata:
      return "give up, if the other side edits metadata of schema or fields";
    case Rule::kSameMetadata: return "give up, if both edit one thing";
    case Rule::kSameIndex: return "again, if both bring or drop one index";
    case Rule::kRewrittenIndex: return "again, if an index covers a rewritten fragment";
    case Rule::kMemWalIndex: return "again, if the index is the write-ahead log's";
    case Rule::kInPlaceUpdate: return "passes; the index does not cover what was updated";
    case Rule::kIndexedField: return "again, if a replaced field is indexed";
    case Rule::kOnlyMemWalIndex: return "give up, unless our index is the write-ahead log's";
    case Rule::kInsertedKeys: return "again, if ours inserts rows by key";
    case Rule::kDroppedField: return "as g; and again, if a field that ours rewrites was dropped";
    case Rule::kDroppedTarget:
      return "as g; and give up, if a field that ours replaces was dropped";
    case Rule::kOverlaidField:
      return "again, if the overlay is on rows or fields that ours rewrites, or on keys it inserts";
    case Rule::kTargetGone: return "give up, if they removed a fragment of ours";
    case Rule::kOverlayTargetGone: return "again, if they removed a fragment of ours";
    case Rule::kMovedRows:
      return "give up, if the fragment is gone; again, if its rows or our field moved";
    case Rule::kSameField: return "again, if they replaced a field of ours in a fragment of ours";
    case Rule::kMovedCoverage: return "again, if rows of a fragment that ours overlays were moved";
    case Rule::kSameShard:
      return "if both advance one shard of the write-ahead log: the later one wins";
    case Rule::kSameBase: return "give up, on an equal id, name or path";
  }
  return "";
}

}  // namespace glaive::table
