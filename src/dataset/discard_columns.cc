#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <arrow/buffer.h>

#include "core/error.h"
#include "dataset/dataset_state.h"
#include "dataset/staged_state.h"
#include "glaive/staged_columns.h"
#include "table/manifest_file.h"
#include "table/transaction_codec.h"

namespace glaive {
namespace {

// Files that no version may refer to.
class Unreferenced {
 public:
  Unreferenced(const table::TableLocation& location, std::span<const StagedColumns> staged)
      : location_(location), staged_(staged) {
    for (const StagedColumns& each : staged) {
      names_.emplace(each.path(), &each);
      lengths_.insert(each.path().size());
    }
  }

  // Only versions that followed the ones that were read can refer to them, and the transaction that
  // brought a file in has its name. Where that is gone, or does not tell, the manifest does.
  arrow::Status Check() const {
    ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(location_));
    const uint64_t first =
        1 + std::ranges::min(staged_, {}, &StagedColumns::read_version).read_version();
    uint64_t previous = first - 1;
    for (const table::VersionEntry& entry : entries) {
      if (entry.version < first) continue;
      ARROW_RETURN_NOT_OK(entry.version == previous + 1 ? CheckTransaction(entry)
                                                        : CheckManifest(entry));
      previous = entry.version;
    }
    return arrow::Status::OK();
  }

 private:
  // Looks for the names and at nothing else: there may be a million fragments in it.
  arrow::Status CheckTransaction(const table::VersionEntry& entry) const {
    static constexpr std::string_view kEnd = ".lance";
    ARROW_ASSIGN_OR_RAISE(const auto found, table::ReadTransactionMessage(location_, entry));
    if (found.message == nullptr) return CheckManifest(entry);
    ARROW_ASSIGN_OR_RAISE(const bool lists, table::ListsItsFiles(found.bytes(), {found.path}));
    if (!lists) return CheckManifest(entry);
    const std::string_view text(*found.message);
    for (size_t at = text.find(kEnd); at != text.npos; at = text.find(kEnd, at + 1)) {
      const size_t end = at + kEnd.size();
      for (const size_t length : lengths_) {
        if (length > end) continue;
        const auto name = names_.find(text.substr(end - length, length));
        if (name != names_.end()) return Refuse(entry, *name->second);
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckManifest(const table::VersionEntry& entry) const {
    ARROW_ASSIGN_OR_RAISE(const auto manifest, table::ReadManifest(location_, entry));
    for (const StagedColumns& each : staged_) {
      const auto view = manifest->fragments.Find(each.fragment_id());
      if (!view) continue;
      ARROW_ASSIGN_OR_RAISE(const auto fragment, view->Parse());
      const bool refers = std::ranges::any_of(fragment.files, [&](const wire::DataFile& file) {
        return !file.base_id && file.path == each.path();
      });
      if (refers) return Refuse(entry, each);
    }
    return arrow::Status::OK();
  }

  static arrow::Status Refuse(const table::VersionEntry& entry, const StagedColumns& staged) {
    return InvalidInput("what was staged for fragment {} is committed: version {} refers to {}",
                        staged.fragment_id(), entry.version, staged.path());
  }

  const table::TableLocation& location_;
  std::span<const StagedColumns> staged_;
  std::map<std::string, const StagedColumns*, std::less<>> names_;
  std::set<size_t> lengths_;
};

}  // namespace

arrow::Status Discard(const Dataset& dataset, std::span<const StagedColumns> staged) {
  if (staged.empty()) return arrow::Status::OK();
  const table::TableLocation& location = dataset.state()->location;
  ARROW_RETURN_NOT_OK(Unreferenced(location, staged).Check());
  for (const StagedColumns& each : staged) {
    ARROW_RETURN_NOT_OK(location.store->Delete(location.Path("data/" + each.path())));
  }
  return arrow::Status::OK();
}

arrow::Status Discard(const Dataset& dataset, const StagedColumns& staged) {
  return Discard(dataset, std::span(&staged, 1));
}

arrow::Status Discard(const StagedColumns& staged) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(staged.state()->uri));
  return Discard(dataset, staged);
}

}  // namespace glaive
