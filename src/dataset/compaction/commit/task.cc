#include "dataset/compaction/commit/task.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "dataset/compaction/commit/deletions.h"
#include "table/operation/field_identity.h"
#include "table/versions/witness.h"

namespace glaive::dataset {
namespace {

using wire::DataFragment;

void CollectLeaves(const std::vector<wire::Field>& fields, std::set<int32_t>* leaves) {
  for (const wire::Field& field : fields) {
    if (field.children.empty()) leaves->insert(field.id);
    CollectLeaves(field.children, leaves);
  }
}

bool HasColumnOf(const DataFragment& fragment, int32_t field) {
  return std::ranges::any_of(fragment.files, [&](const wire::DataFile& file) {
    return std::ranges::count(file.fields, field) > 0;
  });
}

// A field that came back, by a version that tells nothing any more, has values that the task did
// not write.
bool LacksColumns(const RewriteTask& task, const Witnesses& values, const wire::Schema& schema) {
  std::set<int32_t> leaves;
  CollectLeaves(schema.fields, &leaves);
  for (const auto& [field, witness] : values) {
    if (!leaves.contains(field)) continue;
    for (const FragmentMetadata& made : task.result->new_fragments) {
      if (!HasColumnOf(StateOf(made)->fragment, field)) return true;
    }
  }
  return false;
}

// Where the old fragments had no values of a field, the task wrote nulls of the type that the field
// had, and nothing that it read could tell when another field got the id since. Those that had some
// are compared by their files.
std::optional<std::string> FindOtherField(const RewriteTask& task, const wire::Schema& latest) {
  std::set<int32_t> made_up;
  for (const FragmentMetadata& made : task.result->new_fragments) {
    for (const wire::DataFile& file : StateOf(made)->fragment.files) {
      for (const int32_t id : file.fields) {
        const bool was_read = std::ranges::any_of(
            task.read, [&](const DataFragment& read) { return HasColumnOf(read, id); });
        if (id >= 0 && !was_read) made_up.insert(id);
      }
    }
  }
  return table::FindReusedField(task.schema.value_or(wire::Schema()), latest, made_up,
                                [](int32_t) { return false; });
}

// Why the rows of an old fragment are not those that the task wrote; nothing where they are, but
// for the ones deleted.
arrow::Result<const char*> FindChange(const table::Manifest& latest, const RewriteTask& task,
                                      const DataFragment& read, const DataFragment& now) {
  if (read.physical_rows != now.physical_rows) return "has another number of rows by now";
  std::set<int32_t> fields;
  wire::CollectFieldIds(latest.schema.fields, &fields);
  ARROW_ASSIGN_OR_RAISE(const Witnesses before, WitnessesOf(read, fields, {"(compaction result)"}));
  ARROW_ASSIGN_OR_RAISE(const Witnesses after, WitnessesOf(now, fields, {latest.path}));
  if (before != after || LacksColumns(task, after, latest.schema)) {
    return "has other values by now";
  }
  const bool same_lineage = read.row_ids == now.row_ids &&
                            read.created_at_versions == now.created_at_versions &&
                            read.last_updated_at_versions == now.last_updated_at_versions;
  return same_lineage ? nullptr : "has other row ids or row versions by now";
}

class Meeting {
 public:
  Meeting(const read::Snapshot& latest, const RewriteHistory& history, RewriteTask& task)
      : latest_(latest), history_(history), task_(task) {}

  arrow::Status Run() {
    task_.verdict = arrow::Status::OK();
    task_.current.clear();
    for (const DataFragment& read : task_.read) {
      ARROW_RETURN_NOT_OK(LookUp(read));
      if (!task_.verdict.ok()) return arrow::Status::OK();
    }
    if (const auto other = FindOtherField(task_, latest_.manifest->schema)) {
      Refuse(fmt::format("it was written for another schema: {}", *other));
      return arrow::Status::OK();
    }
    if (task_.current.empty()) {
      Refuse(fmt::format("all rows of fragment {} and those beside it are gone",
                         task_.read.front().id));
      return arrow::Status::OK();
    }
    if (!task_.made.empty() && states_ == task_.states) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(MapRows());
    task_.states = std::move(states_);
    return arrow::Status::OK();
  }

 private:
  void Refuse(const std::string& text) { Refuse(Retry::kYes, latest_.manifest->version, text); }

  void Refuse(Retry retry, uint64_t version, const std::string& text) {
    task_.verdict = CommitConflict(retry, version, "{}", text);
  }

  arrow::Status LookUp(const DataFragment& read) {
    RewriteTask::OldState& state = states_.emplace_back();
    const auto view = latest_.manifest->fragments.Find(read.id);
    if (!view) {
      state.is_gone = true;
      LookUpEnd(read.id);
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(DataFragment now, view->Parse());
    ARROW_ASSIGN_OR_RAISE(const char* const change,
                          FindChange(*latest_.manifest, task_, read, now));
    if (change != nullptr) {
      Refuse(fmt::format("fragment {}, which was rewritten, {}", read.id, change));
    }
    state.deletions = now.deletion_file;
    task_.current.push_back(std::move(now));
    return arrow::Status::OK();
  }

  void LookUpEnd(uint64_t id) {
    const auto end = history_.EndOf(id);
    if (!end) {
      return Refuse(fmt::format("fragment {}, which was rewritten, is gone", id));
    }
    if (!end->was_rewritten) return;
    for (const FragmentMetadata& made : task_.result->new_fragments) {
      for (const wire::DataFile& file : StateOf(made)->fragment.files) {
        const auto version = history_.VersionWith(file.path);
        if (version) return Refuse(Retry::kNo, *version, "this result is committed already");
      }
    }
    Refuse(Retry::kYes, end->version, fmt::format("fragment {} was rewritten there", id));
  }

  arrow::Result<OldRows> RowsOf(const DataFragment& read, const RewriteTask::OldState& state) {
    OldRows rows;
    ARROW_ASSIGN_OR_RAISE(rows.physical_rows, read::PhysicalRows(latest_, read));
    ARROW_ASSIGN_OR_RAISE(rows.then, read::Deletions(latest_, read, rows.physical_rows));
    if (state.is_gone) return rows;
    DataFragment now = read;
    now.deletion_file = state.deletions;
    ARROW_ASSIGN_OR_RAISE(rows.now, read::Deletions(latest_, now, rows.physical_rows));
    return rows;
  }

  arrow::Status MapRows() {
    std::vector<uint64_t> new_rows;
    for (const FragmentMetadata& fragment : task_.result->new_fragments) {
      new_rows.push_back(fragment.physical_rows());
    }
    std::vector<table::DeletionVector> deleted(new_rows.size());
    if (HasNewDeletions()) {
      ARROW_ASSIGN_OR_RAISE(const auto old, ReadDeletions());
      if (!task_.verdict.ok()) return arrow::Status::OK();
      ARROW_ASSIGN_OR_RAISE(deleted, MapDeletions(old, new_rows));
    }
    task_.made.clear();
    for (table::DeletionVector& vector : deleted) {
      task_.made.push_back({.deleted = std::move(vector)});
    }
    return arrow::Status::OK();
  }

  bool HasNewDeletions() const {
    for (size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].is_gone || states_[i].deletions != task_.read[i].deletion_file) return true;
    }
    return false;
  }

  arrow::Result<std::vector<OldRows>> ReadDeletions() {
    std::vector<OldRows> old;
    for (size_t i = 0; i < states_.size(); ++i) {
      auto rows = RowsOf(task_.read[i], states_[i]);
      if (!rows.ok() && KindOf(rows.status()) == ErrorKind::kFileNotFound) {
        Refuse(fmt::format("which rows of fragment {} were left out is not known any more",
                           task_.read[i].id));
        return old;
      }
      ARROW_RETURN_NOT_OK(rows.status());
      const auto then = rows->then->offsets();
      if (rows->now != nullptr && !std::ranges::includes(rows->now->offsets(), then)) {
        Refuse(fmt::format("rows of fragment {} that were left out are there again",
                           task_.read[i].id));
        return old;
      }
      old.push_back(*std::move(rows));
    }
    return old;
  }

  const read::Snapshot& latest_;
  const RewriteHistory& history_;
  RewriteTask& task_;
  std::vector<RewriteTask::OldState> states_;
};

}  // namespace

arrow::Status Meet(const read::Snapshot& latest, const RewriteHistory& history, RewriteTask& task) {
  return Meeting(latest, history, task).Run();
}

}  // namespace glaive::dataset
