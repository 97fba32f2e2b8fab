#include <utility>
#include <vector>

#include "dataset/fragment_state.h"
#include "dataset/write_session.h"
#include "glaive/write.h"

namespace glaive {
namespace {

arrow::Result<std::vector<FragmentMetadata>> WriteTo(
    std::shared_ptr<arrow::RecordBatchReader> stream, const dataset::WriteTarget& target,
    const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const table::Durability durability, dataset::Resolve(options.durability));
  ARROW_ASSIGN_OR_RAISE(auto rows, dataset::WriteRows(std::move(stream), target, options));
  if (durability == table::Durability::kCommit && !rows.written.files.paths().empty()) {
    ARROW_RETURN_NOT_OK(target.table.store->Sync(rows.written.files.paths()));
  }
  rows.written.files.Keep();
  std::vector<FragmentMetadata> fragments;
  for (wire::DataFragment& fragment : rows.written.fragments) {
    fragments.push_back(dataset::MakeFragmentMetadata(std::move(fragment)));
  }
  return fragments;
}

}  // namespace

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, std::string_view uri,
    const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto target, dataset::OpenTarget(uri, options));
  return WriteTo(std::move(stream), target, options);
}

arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const Dataset& dataset,
    const WriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto target, dataset::OpenTarget(dataset, options));
  return WriteTo(std::move(stream), target, options);
}

}  // namespace glaive
