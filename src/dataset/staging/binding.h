#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "dataset/staging/state.h"
#include "table/manifest/manifest.h"
#include "wire/schema.h"

// The fields of staged columns against those of a table, by their ids. Pure.
namespace glaive::dataset {

// Whether values of `staged` may be written for a table of this schema: what it has is named whole
// and as it is there, what is new has ids above `max_field_id`. InvalidInput says what is wrong.
arrow::Status CheckBinding(const table::Manifest& manifest, const wire::Schema& staged);

// A schema that grows by the new fields of what is committed.
class SchemaExtension {
 public:
  explicit SchemaExtension(const table::Manifest& latest);

  // A ColumnWriteConflict where the table has something else by now under an id or a name of
  // `staged`, or forbids nulls that it may hold.
  arrow::Status Add(const dataset::StagedColumnsState& staged);

  const wire::Schema& schema() const { return schema_; }
  bool has_new_fields() const { return has_new_fields_; }

  // A new field of which every row must have a value; it has one where one of `leaves` has a
  // column.
  struct Required {
    std::string path;
    std::set<int32_t> leaves;
  };
  const std::vector<Required>& required() const { return required_; }

 private:
  struct Place;

  arrow::Status AddTo(std::vector<wire::Field>& siblings, const wire::Field& field,
                      const Place& place);
  arrow::Status AddNew(std::vector<wire::Field>& siblings, const wire::Field& field,
                       const Place& place);
  // Whether the field that has the id now is the one that was meant.
  arrow::Status Compare(const wire::Field& found, const wire::Field& field,
                        const Place& place) const;

  const table::Manifest& latest_;
  int32_t max_field_id_;
  wire::Schema schema_;
  bool has_new_fields_ = false;
  std::vector<Required> required_;
};

// The field's dotted path; "field <id>" for an id that the schema does not have.
std::string PathOf(const wire::Schema& schema, int32_t id);

// The ids of the field at a dotted path and of all below it. InvalidInput where there is none.
arrow::Result<std::set<int32_t>> FieldIdsAt(const wire::Schema& schema, std::string_view path);

// "Commit conflict for version ...", retryable.
arrow::Status WriteConflict(uint64_t version, std::optional<uint64_t> fragment_id,
                            std::string field, std::string_view text, FieldWitness staged = {},
                            FieldWitness current = {});

}  // namespace glaive::dataset
