#include "simulation/model.h"

#include <fmt/format.h>

namespace glaive::simulation {
namespace {

bool IsChosen(const Row& row, const Intent& intent) {
  return row.values[0] && *row.values[0] >= intent.lower && *row.values[0] < intent.upper;
}

// Another row may have got the key of one that was deleted.
bool IsThere(const Rows& rows, int64_t key, const Row& row) {
  const auto found = rows.by_key.find(key);
  return found != rows.by_key.end() && found->second.birth == row.birth;
}

// In the columns that `rows` has: a column that was dropped is in the way of nobody.
bool HasSameValues(const Rows& rows, const Row& now, const Row& row) {
  for (size_t i = 0; i < kNumColumns; ++i) {
    if (rows.has_column[i] && now.values[i] != row.values[i]) return false;
  }
  return true;
}

void Insert(const Intent& intent, uint64_t version, uint64_t birth, Rows* rows) {
  for (const auto& [key, value] : intent.rows) {
    Row row{.created_at = version, .updated_at = version, .moved_at = version, .birth = birth++};
    row.values[0] = value;
    rows->by_key[key] = row;
  }
}

void Merge(const Intent& intent, uint64_t version, uint64_t birth, Rows* rows) {
  for (const auto& [key, value] : intent.rows) {
    const auto [entry, is_new] = rows->by_key.try_emplace(key);
    entry->second.values[0] = value;
    entry->second.updated_at = entry->second.moved_at = version;
    if (!is_new) continue;
    entry->second.created_at = version;
    entry->second.birth = birth++;
  }
}

std::string Text(const Row& row, bool with_versions) {
  std::string text;
  for (size_t i = 0; i < kNumColumns; ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", kColumns[i],
                        row.values[i] ? std::to_string(*row.values[i]) : "null");
  }
  if (with_versions) text += fmt::format(" created {} updated {}", row.created_at, row.updated_at);
  return text;
}

}  // namespace

Rows After(const Rows& before, const Rows& read, const Intent& intent, uint64_t version,
           uint64_t birth) {
  Rows rows = before;
  switch (intent.kind) {
    case Intent::Kind::kNothing: break;
    case Intent::Kind::kRestore: return read;
    case Intent::Kind::kPut:
      rows = Rows();
      Insert(intent, version, birth, &rows);
      break;
    case Intent::Kind::kAdd: Insert(intent, version, birth, &rows); break;
    case Intent::Kind::kMerge: Merge(intent, version, birth, &rows); break;
    case Intent::Kind::kDelete:
      for (const auto& [key, row] : read.by_key) {
        if (IsChosen(row, intent) && IsThere(rows, key, row)) rows.by_key.erase(key);
      }
      break;
    case Intent::Kind::kAssign:
      for (const auto& [key, row] : read.by_key) {
        if (!IsChosen(row, intent) || !IsThere(rows, key, row)) continue;
        Row& changed = rows.by_key[key];
        changed.values[0] = *row.values[0] + intent.amount;
        changed.updated_at = changed.moved_at = version;
      }
      break;
    case Intent::Kind::kCompute:
      rows.has_column[intent.column] = true;
      for (auto& [key, row] : rows.by_key) {
        row.values[intent.column] = row.values[0].value_or(0) + intent.amount;
        row.updated_at = version;
      }
      break;
    case Intent::Kind::kDropColumn:
      rows.has_column[intent.column] = false;
      for (auto& [key, row] : rows.by_key) row.values[intent.column].reset();
      break;
    case Intent::Kind::kSetColumn:
      rows.has_column[intent.column] = true;
      for (const auto& [key, value] : intent.rows) {
        const auto row = read.by_key.find(key);
        if (row == read.by_key.end() || !IsThere(rows, key, row->second)) continue;
        Row& changed = rows.by_key[key];
        changed.values[intent.column] = value;
        changed.updated_at = version;
      }
      break;
  }
  return rows;
}

bool MayFollow(const Rows& before, const Rows& read, const Intent& intent) {
  for (const auto& [key, row] : read.by_key) {
    if (!IsChosen(row, intent)) continue;
    if (!IsThere(before, key, row)) return false;
    const Row& now = before.by_key.at(key);
    const bool is_same = intent.kind == Intent::Kind::kDelete ? now.moved_at == row.moved_at
                                                              : HasSameValues(before, now, row);
    if (!is_same) return false;
  }
  return true;
}

std::string Difference(const Rows& expected, const Rows& found, bool with_versions) {
  if (expected.has_column != found.has_column) return "the columns are others";
  for (const auto& [key, row] : expected.by_key) {
    const auto other = found.by_key.find(key);
    if (other == found.by_key.end()) {
      return fmt::format("row {} ({}) is missing", key, Text(row, with_versions));
    }
    const bool same_versions =
        row.created_at == other->second.created_at && row.updated_at == other->second.updated_at;
    if (!row.SameValues(other->second) || (with_versions && !same_versions)) {
      return fmt::format("row {} is {}, expected {}", key, Text(other->second, with_versions),
                         Text(row, with_versions));
    }
  }
  for (const auto& [key, row] : found.by_key) {
    if (!expected.by_key.contains(key)) {
      return fmt::format("row {} ({}) should not be there", key, Text(row, with_versions));
    }
  }
  return "";
}

}  // namespace glaive::simulation
