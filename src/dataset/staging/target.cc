#include "dataset/staging/target.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "dataset/staging/binding.h"
#include "dataset/staging/column_file.h"
#include "dataset/write/added_fields.h"
#include "table/manifest/overlays.h"
#include "table/sets/fragment_set.h"

namespace glaive::dataset {
namespace {

using State = dataset::StagedColumnsState;

// One attempt on one version.
class ColumnCommit {
 public:
  ColumnCommit(std::span<const ColumnWrite> writes, std::span<const RowRead> reads,
               const table::Manifest& latest, RowMoves& moves)
      : writes_(writes), reads_(reads), latest_(latest), moves_(moves), extension_(latest) {}

  arrow::Result<table::Change> Make() {
    for (const ColumnWrite& write : writes_) ARROW_RETURN_NOT_OK(Add(*write.staged));
    for (const RowRead& read : reads_) ARROW_RETURN_NOT_OK(CheckRead(read));
    ARROW_RETURN_NOT_OK(CheckRows());
    for (const ColumnWrite& write : writes_) ARROW_RETURN_NOT_OK(CheckWitnesses(write));
    ARROW_RETURN_NOT_OK(CheckRequired());
    if (!extension_.has_new_fields() && HaveOneFieldList()) return Replacement();
    return Merge();
  }

 private:
  struct Target {
    wire::DataFragment fragment;
    std::vector<const State*> staged;
  };

  arrow::Status Refuse(const State& staged, std::string_view text) const {
    return WriteConflict(latest_.version, staged.fragment_id, "", text);
  }

  arrow::Status Add(const State& staged) {
    ARROW_RETURN_NOT_OK(extension_.Add(staged));
    ARROW_ASSIGN_OR_RAISE(Target * target, TargetOf(staged));
    for (const State* other : target->staged) {
      const auto twice = std::ranges::find_first_of(staged.file.fields, other->file.fields);
      if (twice == staged.file.fields.end()) continue;
      return InvalidInput("column '{}' of fragment {} is written twice",
                          PathOf(extension_.schema(), *twice), staged.fragment_id);
    }
    ARROW_RETURN_NOT_OK(CheckFragment(staged, target->fragment));
    target->staged.push_back(&staged);
    return arrow::Status::OK();
  }

  arrow::Result<Target*> TargetOf(const State& staged) {
    const auto found = targets_.find(staged.fragment_id);
    if (found != targets_.end()) return &found->second;
    ARROW_ASSIGN_OR_RAISE(auto fragment, FragmentOf(staged));
    return &targets_.emplace(staged.fragment_id, Target{std::move(fragment), {}}).first->second;
  }

  arrow::Result<wire::DataFragment> FragmentOf(const State& staged) const {
    const auto view = latest_.fragments.Find(staged.fragment_id);
    if (!view) return Refuse(staged, "it is gone, deleted or compacted");
    return view->Parse();
  }

  arrow::Status CheckRead(const RowRead& read) {
    ARROW_ASSIGN_OR_RAISE(const auto fragment, FragmentOf(read.from));
    ARROW_RETURN_NOT_OK(CheckFragment(read.from, fragment, read.restricted()));
    ARROW_ASSIGN_OR_RAISE(const auto current, WitnessesOf(fragment, read.from.read_fields,
                                                          {latest_.path}, read.restricted()));
    for (const int32_t id : read.from.read_fields) {
      const FieldWitness& then = Find(read.from.read, id);
      const FieldWitness& now = Find(current, id);
      if (then != now)
        return Changed(fragment.id, id, "what the values were computed from", then, now);
    }
    return arrow::Status::OK();
  }

  // Whether its rows are those that the values are of. As far as the manifest does not tell, the
  // transactions will.
  arrow::Status CheckFragment(const State& staged, const wire::DataFragment& fragment,
                              const std::vector<RowRange>* rows = nullptr) {
    if (fragment.physical_rows != 0 && fragment.physical_rows != staged.physical_rows) {
      return Refuse(staged, fmt::format("it has {} rows now; {} were staged",
                                        fragment.physical_rows, staged.physical_rows));
    }
    if (staged.read_version > latest_.version) {
      return Refuse(staged,
                    fmt::format("it was staged from version {}, which this table does not have",
                                staged.read_version));
    }
    const bool is_anchored = std::ranges::any_of(fragment.files, [&](const wire::DataFile& file) {
      return file.path == staged.anchor && file.base_id == staged.anchor_base_id;
    });
    if (staged.read_version == latest_.version) {
      if (is_anchored || staged.anchor.empty()) return arrow::Status::OK();
      return Refuse(staged, fmt::format("it was staged for a fragment that has {}", staged.anchor));
    }
    bool same_rows = fragment.deletion_file == staged.deletion_file;
    if (!same_rows && rows != nullptr) {
      ARROW_ASSIGN_OR_RAISE(same_rows,
                            moves_.AreLive(latest_, fragment, staged.physical_rows, *rows));
    }
    if (is_anchored && same_rows) return arrow::Status::OK();
    OpenRows open{.fragment_id = fragment.id,
                  .read_version = staged.read_version,
                  .same_deletions = same_rows,
                  .files = {}};
    if (!is_anchored && !staged.anchor.empty()) {
      open.files = {{staged.anchor, staged.anchor_base_id},
                    {staged.file.path, staged.file.base_id}};
    }
    open_.push_back({std::move(open), fragment});
    first_open_ = std::min(first_open_.value_or(staged.read_version), staged.read_version);
    return arrow::Status::OK();
  }

  arrow::Status CheckRows() {
    if (!first_open_) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(moves_.Read(*first_open_, latest_.version));
    for (const auto& [rows, fragment] : open_) {
      const auto found = moves_.FindFor(rows, fragment);
      if (found) return WriteConflict(found->version, rows.fragment_id, "", found->what);
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckWitnesses(const ColumnWrite& write) const {
    const wire::DataFragment& fragment = targets_.at(write.staged->fragment_id).fragment;
    std::set<int32_t> fields = write.read_fields;
    wire::CollectFieldIds(write.staged->schema.fields, &fields);
    ARROW_ASSIGN_OR_RAISE(Witnesses current, WitnessesOf(fragment, fields, {latest_.path}));
    for (const int32_t id : fields) {
      const bool is_read = write.read_fields.contains(id);
      const FieldWitness& staged = Find(is_read ? write.read : write.staged->replaced, id);
      const FieldWitness& here = Find(current, id);
      if (staged == here) continue;
      const bool is_ours = here.base && here.base->path == write.staged->file.path;
      if (is_ours) {
        return WriteConflict(latest_.version, fragment.id, PathOf(extension_.schema(), id),
                             "what was staged is committed already", staged, here);
      }
      return Changed(fragment.id, id,
                     is_read ? "what the values were computed from" : "what is replaced", staged,
                     here);
    }
    return arrow::Status::OK();
  }

  arrow::Status Changed(uint64_t fragment_id, int32_t field_id, std::string_view what,
                        const FieldWitness& then, const FieldWitness& now) const {
    return WriteConflict(
        latest_.version, fragment_id, PathOf(extension_.schema(), field_id),
        fmt::format("{} was {}, and is {} now", what, then.ToString(), now.ToString()), then, now);
  }

  static const FieldWitness& Find(const Witnesses& witnesses, int32_t id) {
    static const FieldWitness kNoBacking;
    const auto found = witnesses.find(id);
    return found != witnesses.end() ? found->second : kNoBacking;
  }

  // A new column in which every row has a value needs a file for every fragment.
  arrow::Status CheckRequired() const {
    for (const SchemaExtension::Required& field : extension_.required()) {
      table::FragmentSet covered;
      std::vector<uint64_t> ids;
      for (const auto& [id, target] : targets_) {
        const bool has_values = std::ranges::any_of(target.staged, [&](const State* staged) {
          return std::ranges::any_of(staged->file.fields,
                                     [&](int32_t leaf) { return field.leaves.contains(leaf); });
        });
        if (has_values) ids.push_back(id);
      }
      covered.Add(std::move(ids));
      const auto without = latest_.fragments.IdsBeside(covered.ranges());
      if (without.empty()) continue;
      return WriteConflict(latest_.version, without.front(), field.path,
                           "the column may hold no nulls, but the fragment gets no values of it");
    }
    return arrow::Status::OK();
  }

  bool HaveOneFieldList() const {
    const auto& fields = writes_.front().staged->file.fields;
    return std::ranges::all_of(targets_, [&](const auto& entry) {
      const auto& staged = entry.second.staged;
      return staged.size() == 1 && staged.front()->file.fields == fields;
    });
  }

  table::Change Replacement() const {
    table::DataReplacement replacement;
    for (const auto& [id, target] : targets_) {
      replacement.replacements.push_back({id, target.staged.front()->file});
    }
    return replacement;
  }

  arrow::Result<table::Change> Merge() {
    table::Merge merge{
        .schema = table::WrapSchema(extension_.schema()),
        .preserves_nullability = !AnyRequired(extension_.schema().fields, latest_.MaxFieldId())};
    for (auto& [id, target] : targets_) {
      for (const State* staged : target.staged) {
        AddFile(&target.fragment, staged->file);
        const auto& fields = staged->file.fields;
        ARROW_RETURN_NOT_OK(
            table::HideOverlays(target.fragment, {fields.begin(), fields.end()}, {latest_.path}));
      }
      merge.fragments.push_back(table::MakeFragmentMetadata(std::move(target.fragment)));
    }
    return table::Change(std::move(merge), {.others = latest_.fragments});
  }

  std::span<const ColumnWrite> writes_;
  std::span<const RowRead> reads_;
  const table::Manifest& latest_;
  RowMoves& moves_;
  SchemaExtension extension_;
  std::map<uint64_t, Target> targets_;
  struct Open {
    OpenRows rows;
    wire::DataFragment fragment;
  };
  std::vector<Open> open_;  // whose rows may have been moved
  std::optional<uint64_t> first_open_;
};

}  // namespace

arrow::Result<table::Change> MakeColumnCommit(std::span<const ColumnWrite> writes,
                                              std::span<const RowRead> reads,
                                              const table::Manifest& latest, RowMoves& moves) {
  return ColumnCommit(writes, reads, latest, moves).Make();
}

}  // namespace glaive::dataset
