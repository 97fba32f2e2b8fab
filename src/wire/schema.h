#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/error.h"
#include "core/file_version.h"

// Field messages (package lance.file) as a tree, and what they mean in Arrow's terms.
namespace glaive::wire {

using StringMap = std::map<std::string, std::string>;

// One Field message. On the wire the tree is a flat list in pre-order, tied together by parent_id.
struct Field {
  int32_t id = -1;
  std::string name;
  std::string logical_type;  // "int64", "list.struct", "fixed_size_list:float:8", ...
  bool nullable = true;
  StringMap metadata;  // Arrow's field metadata, the two ARROW:extension:* keys included
  bool unenforced_primary_key = false;
  uint32_t unenforced_primary_key_position = 0;     // 1-based, 0 = unset
  uint32_t unenforced_clustering_key_position = 0;  // likewise
  std::string unknown_fields;
  std::vector<Field> children;

  bool operator==(const Field&) const = default;
};

struct Schema {
  std::vector<Field> fields;
  StringMap metadata;

  bool operator==(const Schema&) const = default;
};

// Entries of a map<string, string> (or bytes): {1 key, 2 value} messages.
arrow::Status ReadStringMapEntry(std::span<const std::byte> message, Location where,
                                 StringMap* map);
void AppendStringMap(uint32_t field_number, const StringMap& map, std::string* out);

// Collects the Field messages of a list, in order, and ties them into a tree.
class FieldListReader {
 public:
  arrow::Status Add(std::span<const std::byte> message, Location where);
  arrow::Result<std::vector<Field>> Finish(Location where) &&;

 private:
  struct Flat {
    Field field;
    int32_t parent_id;
  };
  std::vector<Flat> flat_;
};

// Appends the tree as records of field `field_number`, in pre-order, as pylance writes them.
void AppendFields(uint32_t field_number, const std::vector<Field>& fields, std::string* out);

// "int64" for arrow::int64(), and back. Unsupported (naming the type) for what the format lacks.
arrow::Result<std::string> LogicalTypeOf(const arrow::DataType& type);

// Children included, extension metadata on the field, views and other aliases as the format reads
// them back.
arrow::Result<std::shared_ptr<arrow::Field>> ToArrow(const Field& field);
arrow::Result<std::shared_ptr<arrow::Schema>> ToArrow(const Schema& schema);

// Ids are given in pre-order from `first_id` on.
arrow::Result<Schema> FromArrow(const arrow::Schema& schema, int32_t first_id = 0);

// The highest id in the tree; -1 for an empty one.
int32_t MaxFieldId(const std::vector<Field>& fields);
// Every id in the tree.
void CollectFieldIds(const std::vector<Field>& fields, std::set<int32_t>* ids);
int32_t MaxFieldId(const Schema& schema);

// Sets the marks of primary and clustering keys to what the metadata's reserved entries say.
void SetKeysFromMetadata(Field& field);

// Whether a metadata value that is a switch is on: 1, true, on, yes, y.
bool IsTrue(std::string_view text);

bool IsBlob(const Field& field);
bool IsPacked(const Field& field);
// Whether the field is one column of a file in 2.1 and later, rather than what its children are.
bool IsSingleColumn(const Field& field);

// One column of a data file in 2.1 and later: a field that has no child columns.
struct LeafField {
  int32_t field_id;
  std::vector<int32_t> ancestors;  // field ids from the root down, the leaf's own excluded
};
// The columns of a file of this schema in order: pre-order, single-column fields only (leaves,
// packed structs, blobs, fixed-size lists of primitives, dictionaries).
std::vector<LeafField> LeafFields(const Schema& schema);

}  // namespace glaive::wire
