#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "table/sets/fragment_set.h"
#include "wire/index.h"

namespace glaive::table {

// An entry of an index section: what is known of it, and the bytes it came in, which go back where
// nothing changed.
struct Index {
  IndexMetadata entry;
  std::string message;
  std::optional<FragmentSet> covered;  // nothing: the index does not say

  bool HasField(const std::set<int32_t>& fields) const;
};

// The indices of one version. Entries of any type are carried; what is changed here is which
// fragments they answer for, and whether they are there.
class IndexList {
 public:
  // `section` is an IndexSection message.
  static arrow::Result<IndexList> Parse(const std::string& section, Location where);
  static arrow::Result<Index> ParseEntry(std::string message, Location where);
  // The entry's bytes, with what it covers now.
  static arrow::Result<std::string> MessageOf(const Index& index);

  // The section again: the very bytes, but for the coverage that changed.
  arrow::Result<std::string> Serialize() const;

  std::vector<Index>& indices() { return indices_; }
  const std::vector<Index>& indices() const { return indices_; }

  // The entry that says where a deferred compaction moved rows; null where there is none.
  const Index* FragmentReuse() const;

 private:
  std::vector<Index> indices_;
  std::string unknown_fields_;  // of the section
};

// An entry's bytes with other ones in the place of fields: {number, tag and value}. A field that is
// not there yet is put at the end.
arrow::Result<std::string> WithFields(std::string_view message, Location where,
                                      std::span<const std::pair<uint32_t, std::string>> fields);

}  // namespace glaive::table
