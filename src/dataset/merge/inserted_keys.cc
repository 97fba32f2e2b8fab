#include "dataset/merge/inserted_keys.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/xxhash64.h"
#include "dataset/merge/key_bytes.h"
#include "table/operation/key_filter.h"
#include "wire/fields.h"

namespace glaive::dataset {
namespace {

// Above so many a transaction would be too large to keep them one by one.
constexpr size_t kMaxExactKeys = 64 << 10;
constexpr size_t kRowsAtATime = 64 << 10;

void AppendHashes(const arrow::RecordBatch& keys, std::vector<uint64_t>* hashes) {
  std::string bytes;
  const bool composite = keys.num_columns() > 1;
  for (int64_t row = 0; row < keys.num_rows(); ++row) {
    const auto is_null = [&](const auto& column) { return column->IsNull(row); };
    if (std::ranges::any_of(keys.columns(), is_null)) continue;
    bytes.clear();
    for (const auto& column : keys.columns()) {
      AppendFilterBytes(*column, row, &bytes);
      if (composite) bytes.push_back('\0');
    }
    hashes->push_back(XxHash64(wire::AsBytes(bytes)));
  }
}

struct KeyField {
  uint32_t position;  // 0: in no particular place, behind those that have one
  int32_t id;
  std::string path;
};

void CollectKey(const std::vector<wire::Field>& fields, const std::string& prefix,
                std::vector<KeyField>* key) {
  for (const wire::Field& field : fields) {
    if (field.unenforced_primary_key) {
      key->push_back({field.unenforced_primary_key_position, field.id, prefix + field.name});
    }
    CollectKey(field.children, prefix + field.name + ".", key);
  }
}

}  // namespace

std::vector<std::string> PrimaryKey(const wire::Schema& schema) {
  std::vector<KeyField> key;
  CollectKey(schema.fields, "", &key);
  std::ranges::sort(key, {}, [](const KeyField& field) {
    return std::tuple(field.position == 0, field.position, field.id);
  });
  std::vector<std::string> paths;
  for (KeyField& field : key) paths.push_back(std::move(field.path));
  return paths;
}

arrow::Result<std::string> InsertedKeys(const table::Manifest& manifest, const MergeSource& source,
                                        const std::vector<std::string>& on,
                                        std::span<const uint32_t> rows) {
  table::KeyFilter filter;
  std::vector<int> columns;
  bool known_to_pylance = on == PrimaryKey(manifest.schema);
  for (const std::string& name : on) {
    const auto field = std::ranges::find(manifest.schema.fields, name, &wire::Field::name);
    filter.field_ids.push_back(field->id);
    columns.push_back(source.schema()->GetFieldIndex(name));
    known_to_pylance =
        known_to_pylance && IsInFilters(*source.schema()->field(columns.back())->type());
  }
  ARROW_ASSIGN_OR_RAISE(const MergeSource keys, source.Select(columns));
  while (!rows.empty()) {
    const auto part = rows.first(std::min(kRowsAtATime, rows.size()));
    rows = rows.subspan(part.size());
    ARROW_ASSIGN_OR_RAISE(const auto batch, keys.Take(part));
    AppendHashes(*batch, &filter.hashes);
  }
  std::ranges::sort(filter.hashes);
  filter.hashes.erase(std::ranges::unique(filter.hashes).begin(), filter.hashes.end());
  if (known_to_pylance || filter.hashes.size() > kMaxExactKeys) {
    filter = table::ToBloom(std::move(filter));
  }
  return table::SerializeKeyFilter(filter);
}

}  // namespace glaive::dataset
