#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace glaive::simulation {

// Columns besides the key `k`: `v` is always there, the others are added by clients.
inline constexpr size_t kNumColumns = 4;
inline constexpr std::array<const char*, kNumColumns> kColumns = {"v", "c1", "c2", "c3"};

struct Row {
  std::array<std::optional<int64_t>, kNumColumns> values;
  uint64_t created_at = 0;  // versions
  uint64_t updated_at = 0;
  uint64_t moved_at = 0;  // when it was last written whole
  uint64_t birth = 0;     // of which record the row is: another number for each row ever inserted

  bool SameValues(const Row& other) const { return values == other.values; }
};

// The rows of a version by key.
struct Rows {
  std::map<int64_t, Row> by_key;
  std::array<bool, kNumColumns> has_column = {true, false, false, false};
};

using Values = std::map<int64_t, int64_t>;  // by key

// What a verb means, whatever it was committed upon.
struct Intent {
  enum class Kind : uint8_t {
    kNothing,  // rows stay
    kPut,      // a table of these rows
    kAdd,
    kDelete,  // rows whose v is in the range
    kAssign,  // the same rows: v = v + amount
    kMerge,
    kSetColumn,  // values of a column, by key
    kCompute,    // a new column of all rows: v + amount
    kDropColumn,
    kRestore,
  };
  Kind kind = Kind::kNothing;
  Values rows;        // kPut, kAdd, kMerge, kSetColumn
  int64_t lower = 0;  // v >= lower and v < upper
  int64_t upper = 0;
  int64_t amount = 0;
  size_t column = 0;   // kSetColumn
  uint64_t since = 0;  // kDelete, kAssign: rows were chosen in that version, or in a later one
  std::string from;    // kRestore, kSetColumn, clones: transaction of the version that was read
};

// The rows after a verb, as version `version`. `read` are those of the version that it looked at.
// `birth` is that of the first row it inserts.
Rows After(const Rows& before, const Rows& read, const Intent& intent, uint64_t version,
           uint64_t birth);

// Whether a verb that chose rows there may be committed here: none of them was changed since, but
// that a delete passes new values of columns.
bool MayFollow(const Rows& before, const Rows& read, const Intent& intent);

// The first difference, for people; empty where there is none.
std::string Difference(const Rows& expected, const Rows& found, bool with_versions);

}  // namespace glaive::simulation
