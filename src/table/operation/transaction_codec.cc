#include "table/operation/transaction_codec.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "table/manifest/codec.h"
#include "wire/fields.h"
#include "wire/fragment.h"
#include "wire/index.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using wire::AppendBytes;
using wire::AppendPacked;
using wire::AppendUnlessEmpty;
using wire::AppendUnlessZero;
using wire::AppendVarint;
using wire::Bytes;
using wire::FieldView;
using wire::Varint;

constexpr uint32_t kParentField = 20001;  // ours alone: a 64-bit hash

// Field of the Transaction message for each operation, in the order of Operation.
constexpr std::array<uint32_t, std::variant_size_v<Operation>> kOperationFields = {
    100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 115, 112, 113, 114};

arrow::Status ReadFragment(const FieldView& field, std::vector<FragmentMetadata>& fragments) {
  ARROW_ASSIGN_OR_RAISE(auto fragment, wire::ParseDataFragment(field.payload, field.where));
  fragments.push_back(MakeFragmentMetadata(std::move(fragment)));
  return arrow::Status::OK();
}

void WriteFragments(uint32_t number, const std::vector<FragmentMetadata>& fragments,
                    std::string* out) {
  for (const wire::DataFragment& fragment : fragments | Entries) {
    AppendBytes(number, wire::Serialize(fragment), out);
  }
}

template <typename Value, typename Parse>
arrow::Status ReadInto(const FieldView& field, std::vector<Value>& values, const Parse& parse) {
  ARROW_ASSIGN_OR_RAISE(Value value, parse(field.payload, field.where));
  values.push_back(std::move(value));
  return arrow::Status::OK();
}

template <typename Value>
void WriteAll(uint32_t number, const std::vector<Value>& values, std::string* out) {
  for (const Value& value : values) AppendBytes(number, wire::Serialize(value), out);
}

arrow::Status ReadIds(const FieldView& field, std::vector<uint64_t>& ids) {
  return wire::VisitVarints(field, [&](uint64_t id) { ids.push_back(id); });
}

arrow::Status ReadFieldIds(const FieldView& field, std::vector<uint32_t>& ids) {
  return wire::VisitVarints(field, [&](uint64_t id) { ids.push_back(static_cast<uint32_t>(id)); });
}

void WriteFieldIds(uint32_t number, const std::vector<uint32_t>& ids, std::string* out) {
  AppendPacked(number, std::vector<uint64_t>(ids.begin(), ids.end()), out);
}

arrow::Status ReadBase(const FieldView& field, std::vector<BasePath>& bases) {
  return ReadInto(field, bases, ParseBasePath);
}

void WriteMessages(uint32_t number, const std::vector<std::string>& messages, std::string* out) {
  for (const std::string& message : messages) AppendBytes(number, message, out);
}

arrow::Status ReadUpdateMapEntry(const FieldView& field, UpdateMap& map) {
  std::string key;
  std::optional<std::string> value;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(field.payload, field.where, "UpdateMapEntry", [&](const FieldView& part) {
        if (part.key() == Bytes(1)) key = part.text();
        if (part.key() == Bytes(2)) value = part.text();
        return arrow::Status::OK();
      }));
  map.entries[std::move(key)] = std::move(value);
  return arrow::Status::OK();
}

arrow::Status ReadUpdateMap(const FieldView& field, UpdateMap& map) {
  return wire::VisitFields(field.payload, field.where, "UpdateMap", [&](const FieldView& part) {
    if (part.key() == Bytes(1)) return ReadUpdateMapEntry(part, map);
    if (part.key() == Varint(2)) map.replace = part.value != 0;
    return arrow::Status::OK();
  });
}

std::string Serialize(const UpdateMap& map) {
  std::string out;
  for (const auto& [key, value] : map.entries) {
    std::string entry;
    AppendUnlessEmpty(1, key, &entry);
    if (value) AppendBytes(2, *value, &entry);
    AppendBytes(1, entry, &out);
  }
  AppendUnlessZero(2, map.replace ? 1 : 0, &out);
  return out;
}

// An entry of a map whose keys are numbers: {1 key, 2 message or bytes}.
struct NumberedEntry {
  uint64_t key = 0;
  FieldView value;
};

arrow::Result<NumberedEntry> ReadNumberedEntry(const FieldView& field) {
  NumberedEntry entry;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(field.payload, field.where, "a map entry", [&](const FieldView& part) {
        if (part.key() == Varint(1)) entry.key = part.value;
        if (part.key() == Bytes(2)) entry.value = part;
        return arrow::Status::OK();
      }));
  return entry;
}

void WriteNumberedEntry(uint32_t number, uint64_t key, std::string_view value, std::string* out) {
  std::string entry;
  AppendUnlessZero(1, key, &entry);
  AppendBytes(2, value, &entry);
  AppendBytes(number, entry, out);
}

// Fields of the schema are tied together only when all have been seen.
struct SchemaReader {
  wire::FieldListReader fields;
  wire::StringMap metadata;
};

arrow::Status Read(const FieldView& field, Append& append, SchemaReader&) {
  if (field.key() == Bytes(1)) return ReadFragment(field, append.fragments);
  return arrow::Status::OK();
}
void Write(const Append& append, std::string* out) { WriteFragments(1, append.fragments, out); }

arrow::Status Read(const FieldView& field, Delete& deletion, SchemaReader&) {
  switch (field.key()) {
    case Bytes(1): return ReadFragment(field, deletion.updated_fragments);
    case Varint(2):
    case Bytes(2): return ReadIds(field, deletion.deleted_fragment_ids);
    case Bytes(3): deletion.predicate = field.text();
  }
  return arrow::Status::OK();
}
void Write(const Delete& deletion, std::string* out) {
  WriteFragments(1, deletion.updated_fragments, out);
  AppendPacked(2, deletion.deleted_fragment_ids, out);
  AppendUnlessEmpty(3, deletion.predicate, out);
}

arrow::Status Read(const FieldView& field, Overwrite& overwrite, SchemaReader& schema) {
  switch (field.key()) {
    case Bytes(1): return ReadFragment(field, overwrite.fragments);
    case Bytes(2): return schema.fields.Add(field.payload, field.where);
    case Bytes(3): return wire::ReadStringMapEntry(field.payload, field.where, &schema.metadata);
    case Bytes(4):
      return wire::ReadStringMapEntry(field.payload, field.where, &overwrite.config_upserts);
    case Bytes(5): return ReadBase(field, overwrite.initial_bases);
  }
  return arrow::Status::OK();
}
// Metadata of the schema is in the manifest alone.
void Write(const Overwrite& overwrite, std::string* out) {
  WriteFragments(1, overwrite.fragments, out);
  wire::AppendFields(2, StateOf(overwrite.schema)->schema.fields, out);
  wire::AppendStringMap(4, overwrite.config_upserts, out);
  for (const BasePath& base : overwrite.initial_bases) AppendBytes(5, table::Serialize(base), out);
}

arrow::Status Read(const FieldView& field, CreateIndex& change, SchemaReader&) {
  if (field.key() == Bytes(1)) return ReadInto(field, change.new_indices, wire::ParseIndex);
  if (field.key() == Bytes(2)) return ReadInto(field, change.removed_indices, wire::ParseIndex);
  return arrow::Status::OK();
}
void Write(const CreateIndex& change, std::string* out) {
  WriteAll(1, change.new_indices, out);
  WriteAll(2, change.removed_indices, out);
}

// Old writers listed the fragments of their one group beside it.
arrow::Status Read(const FieldView& field, Rewrite& rewrite, SchemaReader&) {
  switch (field.key()) {
    case Bytes(1):
    case Bytes(2): {
      if (rewrite.groups.empty()) rewrite.groups.emplace_back();
      Rewrite::Group& group = rewrite.groups.front();
      return ReadFragment(field, field.number == 1 ? group.old_fragments : group.new_fragments);
    }
    case Bytes(3): {
      Rewrite::Group& group = rewrite.groups.emplace_back();
      return wire::VisitFields(field.payload, field.where, "RewriteGroup",
                               [&](const FieldView& part) {
                                 if (part.key() == Bytes(1))
                                   return ReadFragment(part, group.old_fragments);
                                 if (part.key() == Bytes(2))
                                   return ReadFragment(part, group.new_fragments);
                                 return arrow::Status::OK();
                               });
    }
    case Bytes(4): return ReadInto(field, rewrite.rewritten_indices, wire::ParseRewrittenIndex);
  }
  return arrow::Status::OK();
}
void Write(const Rewrite& rewrite, std::string* out) {
  for (const Rewrite::Group& group : rewrite.groups) {
    std::string message;
    WriteFragments(1, group.old_fragments, &message);
    WriteFragments(2, group.new_fragments, &message);
    AppendBytes(3, message, out);
  }
  WriteAll(4, rewrite.rewritten_indices, out);
}

arrow::Status Read(const FieldView& field, Merge& merge, SchemaReader& schema) {
  switch (field.key()) {
    case Bytes(1): return ReadFragment(field, merge.fragments);
    case Bytes(2): return schema.fields.Add(field.payload, field.where);
    case Bytes(3): return wire::ReadStringMapEntry(field.payload, field.where, &schema.metadata);
    case Varint(4): merge.preserves_nullability = field.value != 0;
  }
  return arrow::Status::OK();
}
// Those that change among the others, in order of id; most are copied as they lie there.
void WriteAllFragments(const Merge& merge, const FragmentTable& others, std::string* out) {
  std::vector<const wire::DataFragment*> changed;
  for (const auto& fragment : merge.fragments | Entries) changed.push_back(&fragment);
  std::ranges::sort(changed, {}, &wire::DataFragment::id);
  auto next = changed.begin();
  const auto copy = [&](const Fragment& fragment) {
    if (next != changed.end() && (*next)->id == fragment.id()) {
      wire::AppendRecord(1, wire::Serialize(**next++), out);
    } else {
      const auto message = fragment.message();
      wire::AppendRecord(1, {reinterpret_cast<const char*>(message.data()), message.size()}, out);
    }
    return arrow::Status::OK();
  };
  static_cast<void>(others.Visit(copy));  // fails only where `copy` does
}

void Write(const Merge& merge, const CommitHints& hints, std::string* out) {
  if (hints.others) {
    WriteAllFragments(merge, *hints.others, out);
  } else {
    WriteFragments(1, merge.fragments, out);
  }
  wire::AppendFields(2, StateOf(merge.schema)->schema.fields, out);
  AppendUnlessZero(4, merge.preserves_nullability ? 1 : 0, out);
}

arrow::Status Read(const FieldView& field, Restore& restore, SchemaReader&) {
  if (field.key() == Varint(1)) restore.version = field.value;
  return arrow::Status::OK();
}
void Write(const Restore& restore, std::string* out) { AppendUnlessZero(1, restore.version, out); }

arrow::Status Read(const FieldView& field, ReserveFragments& reservation, SchemaReader&) {
  if (field.key() == Varint(1)) reservation.num_fragments = field.uint32();
  return arrow::Status::OK();
}
void Write(const ReserveFragments& reservation, std::string* out) {
  AppendUnlessZero(1, reservation.num_fragments, out);
}

arrow::Status Read(const FieldView& field, Update& update, SchemaReader&) {
  switch (field.key()) {
    case Varint(1):
    case Bytes(1): return ReadIds(field, update.removed_fragment_ids);
    case Bytes(2): return ReadFragment(field, update.updated_fragments);
    case Bytes(3): return ReadFragment(field, update.new_fragments);
    case Varint(4):
    case Bytes(4): return ReadFieldIds(field, update.fields_modified);
    case Bytes(5): update.compacted_sstables.push_back(field.text()); break;
    case Varint(6):
    case Bytes(6): return ReadFieldIds(field, update.fields_for_preserving_frag_bitmap);
    case Varint(7): update.mode = static_cast<Update::Mode>(field.uint32()); break;
    case Bytes(8): update.inserted_rows = field.text(); break;
    case Bytes(10): {
      ARROW_ASSIGN_OR_RAISE(const NumberedEntry entry, ReadNumberedEntry(field));
      update.updated_fragment_offsets[entry.key] = entry.value.text();
    }
  }
  return arrow::Status::OK();
}
void Write(const Update& update, std::string* out) {
  AppendPacked(1, update.removed_fragment_ids, out);
  WriteFragments(2, update.updated_fragments, out);
  WriteFragments(3, update.new_fragments, out);
  WriteFieldIds(4, update.fields_modified, out);
  WriteMessages(5, update.compacted_sstables, out);
  WriteFieldIds(6, update.fields_for_preserving_frag_bitmap, out);
  AppendUnlessZero(7, static_cast<uint64_t>(update.mode), out);
  if (update.inserted_rows) AppendBytes(8, *update.inserted_rows, out);
  for (const auto& [fragment_id, bitmap] : update.updated_fragment_offsets) {
    WriteNumberedEntry(10, fragment_id, bitmap, out);
  }
}

arrow::Status Read(const FieldView& field, Project& project, SchemaReader& schema) {
  if (field.key() == Bytes(1)) return schema.fields.Add(field.payload, field.where);
  if (field.key() == Varint(2)) project.preserves_nullability = field.value != 0;
  return arrow::Status::OK();
}
void Write(const Project& project, std::string* out) {
  wire::AppendFields(1, StateOf(project.schema)->schema.fields, out);
  AppendUnlessZero(2, project.preserves_nullability ? 1 : 0, out);
}

// Fields 1 to 4 are those of old writers: settings and deletions of config, and whole maps.
arrow::Status Read(const FieldView& field, UpdateConfig& update, SchemaReader&) {
  const auto opened = [](std::optional<UpdateMap>& map, bool replace) -> UpdateMap& {
    if (!map) map.emplace().replace = replace;
    return *map;
  };
  switch (field.key()) {
    case Bytes(1): return ReadUpdateMapEntry(field, opened(update.config, false));
    case Bytes(2): opened(update.config, false).entries[field.text()] = std::nullopt; break;
    case Bytes(3): return ReadUpdateMapEntry(field, opened(update.schema_metadata, true));
    case Bytes(6): return ReadUpdateMap(field, opened(update.config, false));
    case Bytes(7): return ReadUpdateMap(field, opened(update.table_metadata, false));
    case Bytes(8): return ReadUpdateMap(field, opened(update.schema_metadata, false));
    case Bytes(4):
    case Bytes(9): {
      ARROW_ASSIGN_OR_RAISE(const NumberedEntry entry, ReadNumberedEntry(field));
      UpdateMap& map = update.field_metadata[static_cast<int32_t>(entry.key)];
      if (field.number == 9) return ReadUpdateMap(entry.value, map);
      map.replace = true;
      return wire::VisitFields(entry.value.payload, entry.value.where, "FieldMetadataUpdate",
                               [&](const FieldView& part) {
                                 if (part.key() != Bytes(5)) return arrow::Status::OK();
                                 return ReadUpdateMapEntry(part, map);
                               });
    }
  }
  return arrow::Status::OK();
}
void Write(const UpdateConfig& update, std::string* out) {
  if (update.config) AppendBytes(6, Serialize(*update.config), out);
  if (update.table_metadata) AppendBytes(7, Serialize(*update.table_metadata), out);
  if (update.schema_metadata) AppendBytes(8, Serialize(*update.schema_metadata), out);
  for (const auto& [field_id, map] : update.field_metadata) {
    WriteNumberedEntry(9, static_cast<uint64_t>(int64_t{field_id}), Serialize(map), out);
  }
}

arrow::Status Read(const FieldView& field, DataReplacement& operation, SchemaReader&) {
  if (field.key() != Bytes(1)) return arrow::Status::OK();
  auto& replacement = operation.replacements.emplace_back();
  return wire::VisitFields(field.payload, field.where, "DataReplacementGroup",
                           [&](const FieldView& part) -> arrow::Status {
                             if (part.key() == Varint(1)) replacement.fragment_id = part.value;
                             if (part.key() == Bytes(2)) {
                               ARROW_ASSIGN_OR_RAISE(replacement.new_file,
                                                     wire::ParseDataFile(part.payload, part.where));
                             }
                             return arrow::Status::OK();
                           });
}
void Write(const DataReplacement& operation, std::string* out) {
  for (const auto& [fragment_id, new_file] : operation.replacements) {
    std::string message;
    AppendUnlessZero(1, fragment_id, &message);
    AppendBytes(2, wire::Serialize(new_file), &message);
    AppendBytes(1, message, out);
  }
}

arrow::Status Read(const FieldView& field, DataOverlay& operation, SchemaReader&) {
  if (field.key() != Bytes(1)) return arrow::Status::OK();
  DataOverlay::Group& group = operation.groups.emplace_back();
  return wire::VisitFields(field.payload, field.where, "DataOverlayGroup",
                           [&](const FieldView& part) {
                             if (part.key() == Varint(1)) group.fragment_id = part.value;
                             if (part.key() == Bytes(2)) {
                               return ReadInto(part, group.overlays, wire::ParseOverlay);
                             }
                             return arrow::Status::OK();
                           });
}
void Write(const DataOverlay& operation, std::string* out) {
  for (const DataOverlay::Group& group : operation.groups) {
    std::string message;
    AppendUnlessZero(1, group.fragment_id, &message);
    WriteAll(2, group.overlays, &message);
    AppendBytes(1, message, out);
  }
}

arrow::Status Read(const FieldView& field, UpdateMemWalState& update, SchemaReader&) {
  if (field.key() == Bytes(1)) update.compacted_sstables.push_back(field.text());
  return arrow::Status::OK();
}
void Write(const UpdateMemWalState& update, std::string* out) {
  WriteMessages(1, update.compacted_sstables, out);
}

arrow::Status Read(const FieldView& field, Clone& clone, SchemaReader&) {
  switch (field.key()) {
    case Varint(1): clone.is_shallow = field.value != 0; break;
    case Bytes(2): clone.ref_name = field.text(); break;
    case Varint(3): clone.ref_version = field.value; break;
    case Bytes(4): clone.ref_path = field.text(); break;
    case Bytes(5): clone.branch_name = field.text();
  }
  return arrow::Status::OK();
}
void Write(const Clone& clone, std::string* out) {
  AppendUnlessZero(1, clone.is_shallow ? 1 : 0, out);
  if (clone.ref_name) AppendBytes(2, *clone.ref_name, out);
  AppendUnlessZero(3, clone.ref_version, out);
  AppendUnlessEmpty(4, clone.ref_path, out);
  if (clone.branch_name) AppendBytes(5, *clone.branch_name, out);
}

arrow::Status Read(const FieldView& field, UpdateBases& update, SchemaReader&) {
  if (field.key() == Bytes(1)) return ReadBase(field, update.new_bases);
  return arrow::Status::OK();
}
void Write(const UpdateBases& update, std::string* out) {
  for (const BasePath& base : update.new_bases) AppendBytes(1, table::Serialize(base), out);
}

template <typename Alternative>
arrow::Result<Operation> ParseAs(const FieldView& field) {
  Alternative operation{};
  SchemaReader schema;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(field.payload, field.where, "an operation",
                        [&](const FieldView& part) { return Read(part, operation, schema); }));
  if constexpr (requires { operation.schema; }) {
    wire::Schema parsed{.fields = {}, .metadata = std::move(schema.metadata)};
    ARROW_ASSIGN_OR_RAISE(parsed.fields, std::move(schema.fields).Finish(field.where));
    operation.schema = WrapSchema(std::move(parsed));
  }
  return Operation(std::move(operation));
}

template <size_t... kIndex>
arrow::Result<std::optional<Operation>> ParseOperation(const FieldView& field,
                                                       std::index_sequence<kIndex...>) {
  arrow::Result<std::optional<Operation>> parsed = std::nullopt;
  const auto parse = [&]<size_t kAlternative>() {
    if (field.number != kOperationFields[kAlternative]) return;
    parsed = ParseAs<std::variant_alternative_t<kAlternative, Operation>>(field);
  };
  (parse.template operator()<kIndex>(), ...);
  return parsed;
}

}  // namespace

arrow::Result<Transaction> ParseTransaction(std::span<const std::byte> message, Location where) {
  Transaction transaction;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Varint(1): transaction.read_version = field.value; return arrow::Status::OK();
      case Bytes(2): transaction.uuid = field.text(); return arrow::Status::OK();
      case Bytes(3): transaction.tag = field.text(); return arrow::Status::OK();
      case Bytes(4):
        return wire::ReadStringMapEntry(field.payload, field.where, &transaction.properties);
      case Varint(kParentField): transaction.parent = field.value; return arrow::Status::OK();
    }
    std::optional<Operation> operation;
    if (field.kind == wire::FieldKind::kBytes) {
      ARROW_ASSIGN_OR_RAISE(
          operation,
          ParseOperation(field, std::make_index_sequence<std::variant_size_v<Operation>>()));
    }
    if (operation) {
      transaction.operation = std::move(operation);
    } else {
      transaction.unknown_fields += field.raw;
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(message, where, "Transaction", read));
  return transaction;
}

arrow::Result<bool> ListsItsFiles(std::span<const std::byte> message, Location where) {
  constexpr uint32_t kRestore = 106;
  constexpr uint32_t kClone = 113;
  bool lists = false;
  const auto look = [&](const FieldView& field) {
    const bool is_known =
        std::ranges::find(kOperationFields, field.number) != kOperationFields.end();
    if (is_known) lists = field.number != kRestore && field.number != kClone;
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(wire::VisitFields(message, where, "Transaction", look));
  return lists;
}

std::string Serialize(const Transaction& transaction) {
  std::string out;
  AppendUnlessZero(1, transaction.read_version, &out);
  AppendUnlessEmpty(2, transaction.uuid, &out);
  AppendUnlessEmpty(3, transaction.tag, &out);
  wire::AppendStringMap(4, transaction.properties, &out);
  if (transaction.operation) {
    std::string message;
    const auto write = [&](const auto& operation) {
      if constexpr (requires { Write(operation, transaction.hints, &message); }) {
        Write(operation, transaction.hints, &message);
      } else {
        Write(operation, &message);
      }
    };
    std::visit(write, *transaction.operation);
    AppendBytes(kOperationFields[transaction.operation->index()], message, &out);
  }
  AppendUnlessZero(kParentField, transaction.parent, &out);
  return out + transaction.unknown_fields;
}

}  // namespace glaive::table
