#include "dataset/commit/operation_conversion.h"

#include <string>
#include <utility>
#include <vector>

#include "dataset/commit/index_message.h"
#include "dataset/handle/base_list.h"
#include "dataset/handle/fragment_conversion.h"
#include "dataset/handle/fragment_state.h"
#include "dataset/handle/schema_state.h"
#include "table/operation/conflict.h"

namespace glaive {
namespace dataset {
namespace {

std::vector<wire::DataFragment> WireOf(const std::vector<FragmentMetadata>& fragments) {
  std::vector<wire::DataFragment> wire;
  wire.reserve(fragments.size());
  for (const FragmentMetadata& fragment : fragments) wire.push_back(StateOf(fragment)->fragment);
  return wire;
}

std::vector<FragmentMetadata> InfoOf(const std::vector<wire::DataFragment>& fragments) {
  std::vector<FragmentMetadata> infos;
  infos.reserve(fragments.size());
  for (const wire::DataFragment& fragment : fragments) {
    infos.push_back(MakeFragmentMetadata(fragment));
  }
  return infos;
}

std::vector<DatasetBasePath> InfoOf(const std::vector<table::BasePath>& bases) {
  std::vector<DatasetBasePath> infos;
  for (const table::BasePath& base : bases) {
    infos.push_back({base.id, base.name, base.is_dataset_root, base.path});
  }
  return infos;
}

// Each of a list by a conversion that may fail.
template <typename To, typename From, typename Convert>
arrow::Result<std::vector<To>> Each(const std::vector<From>& list, const Convert& convert) {
  std::vector<To> converted;
  converted.reserve(list.size());
  for (const From& item : list) {
    ARROW_ASSIGN_OR_RAISE(To to, convert(item));
    converted.push_back(std::move(to));
  }
  return converted;
}

table::UpdateMap Convert(const operation::UpdateMap& map) { return {map.updates, map.replace}; }
operation::UpdateMap Convert(const table::UpdateMap& map) { return {map.entries, map.replace}; }

template <typename To, typename From>
std::optional<To> Convert(const std::optional<From>& map) {
  if (!map) return std::nullopt;
  return Convert(*map);
}

template <typename To, typename From>
std::map<int32_t, To> Convert(const std::map<int32_t, From>& maps) {
  std::map<int32_t, To> converted;
  for (const auto& [id, map] : maps) converted.emplace(id, Convert(map));
  return converted;
}

using Result = arrow::Result<table::Operation>;

Result To(const operation::Append& op) { return table::Append{WireOf(op.fragments)}; }

Result To(const operation::Delete& op) {
  return table::Delete{.updated_fragments = WireOf(op.updated_fragments),
                       .deleted_fragment_ids = op.deleted_fragment_ids,
                       .predicate = op.predicate,
                       .affected_rows = {}};
}

Result To(const operation::Overwrite& op) {
  return table::Overwrite{.fragments = WireOf(op.fragments),
                          .schema = StateOf(op.schema)->schema,
                          .config_upserts = op.config_upserts,
                          .initial_bases = ToTableBases(op.initial_bases),
                          .data_file_version = {}};
}

Result To(const operation::CreateIndex& op) {
  table::CreateIndex change;
  ARROW_ASSIGN_OR_RAISE(change.new_indices, Each<std::string>(op.new_indices, IndexMessageOf));
  ARROW_ASSIGN_OR_RAISE(change.removed_indices,
                        Each<std::string>(op.removed_indices, IndexMessageOf));
  return change;
}

Result To(const operation::Rewrite& op) {
  table::Rewrite rewrite;
  for (const auto& group : op.groups) {
    rewrite.groups.push_back({WireOf(group.old_fragments), WireOf(group.new_fragments)});
  }
  ARROW_ASSIGN_OR_RAISE(rewrite.rewritten_indices,
                        Each<std::string>(op.rewritten_indices, RewrittenMessageOf));
  return rewrite;
}

Result To(const operation::Merge& op) {
  return table::Merge{WireOf(op.fragments), StateOf(op.schema)->schema, op.preserves_nullability};
}

Result To(const operation::Restore& op) { return table::Restore{op.version}; }

Result To(const operation::ReserveFragments& op) {
  return table::ReserveFragments{op.num_fragments};
}

Result To(const operation::Update& op) {
  return table::Update{.removed_fragment_ids = op.removed_fragment_ids,
                       .updated_fragments = WireOf(op.updated_fragments),
                       .new_fragments = WireOf(op.new_fragments),
                       .fields_modified = op.fields_modified,
                       .compacted_sstables = op.compacted_sstables,
                       .fields_for_preserving_frag_bitmap = op.fields_for_preserving_frag_bitmap,
                       .mode = op.mode == operation::Update::Mode::kRewriteRows
                                   ? table::Update::Mode::kRewriteRows
                                   : table::Update::Mode::kRewriteColumns,
                       .inserted_rows = op.inserted_rows,
                       .updated_fragment_offsets = op.updated_fragment_offsets,
                       .affected_rows = op.affected_rows};
}

Result To(const operation::Project& op) {
  return table::Project{StateOf(op.schema)->schema, op.preserves_nullability};
}

Result To(const operation::UpdateConfig& op) {
  return table::UpdateConfig{.config = Convert<table::UpdateMap>(op.config),
                             .table_metadata = Convert<table::UpdateMap>(op.table_metadata),
                             .schema_metadata = Convert<table::UpdateMap>(op.schema_metadata),
                             .field_metadata = Convert<table::UpdateMap>(op.field_metadata)};
}

Result To(const operation::DataReplacement& op) {
  table::DataReplacement replacement;
  for (const auto& [fragment_id, new_file] : op.replacements) {
    replacement.replacements.push_back({fragment_id, dataset::WireOf(new_file)});
  }
  return replacement;
}

Result To(const operation::DataOverlay& op) {
  table::DataOverlay overlay;
  for (const auto& [fragment_id, overlays] : op.groups) {
    ARROW_ASSIGN_OR_RAISE(auto messages, Each<std::string>(overlays, OverlayMessageOf));
    overlay.groups.push_back({fragment_id, std::move(messages)});
  }
  return overlay;
}

Result To(const operation::UpdateMemWalState& op) {
  return table::UpdateMemWalState{op.compacted_sstables};
}

Result To(const operation::Clone& op) {
  return table::Clone{op.is_shallow, op.ref_name, op.ref_version, op.ref_path, op.branch_name};
}

Result To(const operation::UpdateBases& op) {
  return table::UpdateBases{ToTableBases(op.new_bases)};
}

using Back = arrow::Result<Operation>;

Back From(const table::Append& op) { return operation::Append{InfoOf(op.fragments)}; }

Back From(const table::Delete& op) {
  return operation::Delete{InfoOf(op.updated_fragments), op.deleted_fragment_ids, op.predicate};
}

Back From(const table::Overwrite& op) {
  ARROW_ASSIGN_OR_RAISE(TableSchema schema, MakeTableSchema(op.schema));
  return operation::Overwrite{std::move(schema), InfoOf(op.fragments), op.config_upserts,
                              InfoOf(op.initial_bases)};
}

Back From(const table::CreateIndex& op) {
  operation::CreateIndex change;
  ARROW_ASSIGN_OR_RAISE(change.new_indices, Each<IndexMetadata>(op.new_indices, IndexOf));
  ARROW_ASSIGN_OR_RAISE(change.removed_indices, Each<IndexMetadata>(op.removed_indices, IndexOf));
  return change;
}

Back From(const table::Rewrite& op) {
  operation::Rewrite rewrite;
  for (const auto& group : op.groups) {
    rewrite.groups.push_back({InfoOf(group.old_fragments), InfoOf(group.new_fragments)});
  }
  ARROW_ASSIGN_OR_RAISE(rewrite.rewritten_indices, Each<operation::Rewrite::RewrittenIndex>(
                                                       op.rewritten_indices, RewrittenIndexOf));
  return rewrite;
}

Back From(const table::Merge& op) {
  ARROW_ASSIGN_OR_RAISE(TableSchema schema, MakeTableSchema(op.schema));
  return operation::Merge{InfoOf(op.fragments), std::move(schema), op.preserves_nullability};
}

Back From(const table::Restore& op) { return operation::Restore{op.version}; }

Back From(const table::ReserveFragments& op) {
  return operation::ReserveFragments{op.num_fragments};
}

Back From(const table::Update& op) {
  return operation::Update{
      .removed_fragment_ids = op.removed_fragment_ids,
      .updated_fragments = InfoOf(op.updated_fragments),
      .new_fragments = InfoOf(op.new_fragments),
      .fields_modified = op.fields_modified,
      .fields_for_preserving_frag_bitmap = op.fields_for_preserving_frag_bitmap,
      .mode = op.mode == table::Update::Mode::kRewriteRows
                  ? operation::Update::Mode::kRewriteRows
                  : operation::Update::Mode::kRewriteColumns,
      .updated_fragment_offsets = op.updated_fragment_offsets,
      .inserted_rows = op.inserted_rows,
      .affected_rows = op.affected_rows,
      .compacted_sstables = op.compacted_sstables};
}

Back From(const table::Project& op) {
  ARROW_ASSIGN_OR_RAISE(TableSchema schema, MakeTableSchema(op.schema));
  return operation::Project{std::move(schema), op.preserves_nullability};
}

Back From(const table::UpdateConfig& op) {
  return operation::UpdateConfig{
      .config = Convert<operation::UpdateMap>(op.config),
      .table_metadata = Convert<operation::UpdateMap>(op.table_metadata),
      .schema_metadata = Convert<operation::UpdateMap>(op.schema_metadata),
      .field_metadata = Convert<operation::UpdateMap>(op.field_metadata)};
}

Back From(const table::DataReplacement& op) {
  operation::DataReplacement replacement;
  for (const auto& [fragment_id, new_file] : op.replacements) {
    replacement.replacements.push_back({fragment_id, dataset::InfoOf(new_file)});
  }
  return replacement;
}

Back From(const table::DataOverlay& op) {
  operation::DataOverlay overlay;
  for (const auto& [fragment_id, messages] : op.groups) {
    ARROW_ASSIGN_OR_RAISE(auto overlays, Each<OverlayFile>(messages, OverlayInfoOf));
    overlay.groups.push_back({fragment_id, std::move(overlays)});
  }
  return overlay;
}

Back From(const table::UpdateMemWalState& op) {
  return operation::UpdateMemWalState{op.compacted_sstables};
}

Back From(const table::Clone& op) {
  return operation::Clone{op.is_shallow, op.ref_name, op.ref_version, op.ref_path, op.branch_name};
}

Back From(const table::UpdateBases& op) { return operation::UpdateBases{InfoOf(op.new_bases)}; }

}  // namespace

arrow::Result<table::Operation> ToTable(const Operation& operation) {
  return std::visit([](const auto& alternative) { return To(alternative); }, operation);
}

arrow::Result<Operation> FromTable(const table::Operation& operation) {
  return std::visit([](const auto& alternative) { return From(alternative); }, operation);
}

arrow::Result<Transaction> FromTable(const table::Transaction& transaction) {
  Transaction converted{.read_version = transaction.read_version,
                        .operation = {},
                        .uuid = transaction.uuid,
                        .properties = transaction.properties};
  if (transaction.operation) {
    ARROW_ASSIGN_OR_RAISE(converted.operation, FromTable(*transaction.operation));
  }
  return converted;
}

}  // namespace dataset

std::string NameOf(const Operation& operation) {
  return std::string(table::kOperationNames[operation.index()]);
}

}  // namespace glaive
