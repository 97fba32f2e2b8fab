#include "glaive/refs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "io/object_store.h"
#include "table/commit/commit.h"
#include "table/rows/deletion_vector.h"

namespace glaive {
namespace {

using wire::DataFile;
using wire::DataFragment;

std::string DataFilePath(const DataFile& file) { return "data/" + file.path; }

// What a table without the source's base paths, row ids and overlays cannot express.
arrow::Status CheckLinkable(const DataFragment& fragment) {
  const bool elsewhere =
      std::ranges::any_of(fragment.files,
                          [](const DataFile& file) { return file.base_id.has_value(); }) ||
      (fragment.deletion_file && fragment.deletion_file->base_id);
  if (elsewhere) return Unsupported("linking fragment {}, which uses base paths", fragment.id);
  if (!fragment.overlays.empty()) {
    return Unsupported("linking fragment {}, which has overlays", fragment.id);
  }
  if (std::holds_alternative<wire::ColumnSequence>(fragment.row_ids)) {
    return Unsupported("linking fragment {}, whose row ids lie in its files", fragment.id);
  }
  return arrow::Status::OK();
}

// A file whose size the manifest does not say is asked for it.
arrow::Result<uint64_t> SizeOf(const table::TableLocation& source, const DataFile& file) {
  if (file.file_size_bytes > 0) return file.file_size_bytes;
  const std::string path = source.Path(DataFilePath(file));
  ARROW_ASSIGN_OR_RAISE(const auto info, source.store->Head(path));
  if (!info) return FileNotFound({path}, "a data file of the table is not there");
  return info->size_bytes;
}

struct Selection {
  LinkPlan plan;
  std::vector<DataFragment> fragments;
};

arrow::Result<Selection> Select(const Dataset& dataset, const LinkOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<FragmentMetadata> fragments, dataset.Fragments());
  Selection selection;
  LinkPlan& plan = selection.plan;
  for (const FragmentMetadata& metadata : fragments) {
    const DataFragment& fragment = StateOf(metadata)->fragment;
    uint64_t size = 0;
    for (const DataFile& file : fragment.files) {
      ARROW_ASSIGN_OR_RAISE(const uint64_t file_size, SizeOf(StateOf(dataset)->location, file));
      size += file_size;
    }
    if (size > options.max_bytes - plan.size_bytes) {
      if (plan.num_fragments == 0) {
        return InvalidInput("the first fragment alone has {} bytes, the limit is {}", size,
                            options.max_bytes);
      }
      break;
    }
    ARROW_RETURN_NOT_OK(CheckLinkable(fragment));
    plan.size_bytes += size;
    plan.num_rows += metadata.num_rows();
    plan.num_files += fragment.files.size() + (fragment.deletion_file ? 1 : 0);
    ++plan.num_fragments;
    selection.fragments.push_back(fragment);
  }
  plan.fragments_left_out = fragments.size() - selection.fragments.size();
  return selection;
}

arrow::Status Link(const table::TableLocation& source, const std::string& from,
                   const table::TableLocation& target, const std::string& to, LinkResult& result) {
  ARROW_ASSIGN_OR_RAISE(const bool shared, target.store->Link(source.Path(from), target.Path(to)));
  ++(shared ? result.files_linked : result.files_copied);
  return arrow::Status::OK();
}

// The fragments of the new table: ids are given by the commit, in order, from 0 on.
table::Change FirstChange(const table::Manifest& source, std::vector<DataFragment> fragments) {
  for (DataFragment& fragment : fragments) {
    fragment.deletion_file.reset();
    fragment.row_ids = {};
    fragment.created_at_versions = {};
    fragment.last_updated_at_versions = {};
  }
  return {table::Overwrite{.fragments = table::FragmentsOf(std::move(fragments)),
                           .schema = table::WrapSchema(source.schema)},
          {.data_file_version = source.data_file_version}};
}

}  // namespace

arrow::Result<LinkPlan> PlanLink(const Dataset& dataset, const LinkOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Selection selection, Select(dataset, options));
  return selection.plan;
}

arrow::Result<LinkResult> LinkTable(const Dataset& dataset, std::string_view uri,
                                    const LinkOptions& options) {
  const table::TableLocation& source = StateOf(dataset)->location;
  ARROW_ASSIGN_OR_RAISE(const Selection selection, Select(dataset, options));
  ARROW_ASSIGN_OR_RAISE(const io::ResolvedUri resolved, io::Resolve(uri));
  const table::TableLocation target = {resolved.store, resolved.path, resolved.uri};
  if (target.store != source.store) {
    return Unsupported("linking the files of {} into another store, {}", source.uri, target.uri);
  }
  ARROW_ASSIGN_OR_RAISE(const auto latest, table::LatestVersion(target));
  if (latest) return AlreadyExists("there is a table at {}", target.uri);

  LinkResult result{.dataset = dataset};
  // Deletion files come in by a commit of their own, since a first one takes none.
  table::Delete hidden;
  for (size_t i = 0; i < selection.fragments.size(); ++i) {
    DataFragment fragment = selection.fragments[i];
    for (const DataFile& file : fragment.files) {
      ARROW_RETURN_NOT_OK(Link(source, DataFilePath(file), target, DataFilePath(file), result));
    }
    if (fragment.deletion_file) {
      const wire::DeletionFile& file = *fragment.deletion_file;
      ARROW_RETURN_NOT_OK(Link(source, table::DeletionFilePath(fragment.id, file), target,
                               table::DeletionFilePath(i, file), result));
      fragment.id = i;
      hidden.updated_fragments.push_back(table::MakeFragmentMetadata(std::move(fragment)));
    }
  }

  const VersionOptions options_of_version = {.durability = Durability::kNone};
  ARROW_ASSIGN_OR_RAISE(
      result.dataset,
      dataset::CommitVerb({target, nullptr, StateOf(dataset)->session},
                          FirstChange(*StateOf(dataset)->manifest, selection.fragments),
                          options_of_version));
  if (!hidden.updated_fragments.empty()) {
    ARROW_ASSIGN_OR_RAISE(result.dataset,
                          dataset::CommitVerb(dataset::PlaceOf(result.dataset), std::move(hidden),
                                              options_of_version));
  }
  return result;
}

}  // namespace glaive
