#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/handle/session_state.h"
#include "dataset/refs/file_references.h"
#include "glaive/repair.h"
#include "inspect/table_folders.h"
#include "table/manifest/location.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"

namespace glaive {
namespace {

using dataset::FileReferences;
using inspect::TableFolder;

constexpr auto kRecent = std::chrono::hours(7 * 24);  // the format's own rule for cleaning up

struct FoundFile {
  io::ObjectInfo info;
  TableFileKind kind;
  std::string stands_for;  // the path, or what it goes with: a data file, the folder of an index
};

// "…/data/stem/1000.blob" goes with "…/data/stem.lance".
std::string DataFileOf(const std::string& data_folder, const std::string& path) {
  const size_t slash = path.find('/', data_folder.size() + 1);
  if (slash == std::string::npos || !path.ends_with(".blob")) return path;
  return path.substr(0, slash) + ".lance";
}

// "…/_indices/uuid/page.lance" goes with "…/_indices/uuid".
std::string FolderOfIndex(const std::string& indices_folder, const std::string& path) {
  return path.substr(0, path.find('/', indices_folder.size() + 1));
}

bool IsTemporary(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.starts_with(".tmp") || path.ends_with(".lance-stage") ||
         path.find(".manifest-") != std::string_view::npos;
}

// Files of the kinds that versions refer to. Others (refs, hints, a user's own) are none of ours.
arrow::Status ListFiles(const TableFolder& folder, std::vector<FoundFile>* files) {
  const table::TableLocation& table = folder.location;
  const auto list = [&](std::string_view name, TableFileKind kind,
                        auto stands_for) -> arrow::Status {
    const std::string path = table.Path(name);
    ARROW_ASSIGN_OR_RAISE(auto objects, table.store->ListRecursive(path));
    for (io::ObjectInfo& object : objects) {
      const bool temporary = IsTemporary(object.path);
      std::string other = temporary ? object.path : stands_for(path, object.path);
      files->push_back(
          {std::move(object), temporary ? TableFileKind::kTemporary : kind, std::move(other)});
    }
    return arrow::Status::OK();
  };
  const auto itself = [](const std::string&, const std::string& path) { return path; };
  ARROW_RETURN_NOT_OK(list("data", TableFileKind::kData, DataFileOf));
  ARROW_RETURN_NOT_OK(list("_deletions", TableFileKind::kDeletions, itself));
  ARROW_RETURN_NOT_OK(list("_transactions", TableFileKind::kTransaction, itself));
  ARROW_RETURN_NOT_OK(list("_indices", TableFileKind::kIndex, FolderOfIndex));
  ARROW_ASSIGN_OR_RAISE(auto manifests, table.store->List(table.Path("_versions")));
  for (io::ObjectInfo& object : manifests) {
    if (!IsTemporary(object.path)) continue;
    std::string path = object.path;
    files->push_back({std::move(object), TableFileKind::kTemporary, std::move(path)});
  }
  return arrow::Status::OK();
}

arrow::Status FollowVersions(const TableFolder& folder, dataset::SessionState& session,
                             const ProgressCallback& progress, FileReferences* references,
                             uint64_t* num_versions) {
  ARROW_ASSIGN_OR_RAISE(const auto manifests, inspect::ListAllManifests(folder));
  for (const inspect::NamedManifest& named : manifests) {
    if (progress) ARROW_RETURN_NOT_OK(progress({.tasks = *num_versions}));
    const auto manifest = session.PassingManifest(folder.location, named.entry);
    // It was cleaned up while this went on.
    if (!manifest.ok() && KindOf(manifest.status()) == ErrorKind::kNotFound) continue;
    // A name that a creator held when it died is no version.
    if (!manifest.ok() && KindOf(manifest.status()) == ErrorKind::kCorrupt) {
      ARROW_ASSIGN_OR_RAISE(const bool is_held, table::IsHeldName(folder.location, named.entry));
      if (is_held) continue;
    }
    if (!manifest.ok()) {
      return WithContext(manifest.status(), "what version {} refers to is not known", named.name);
    }
    ARROW_RETURN_NOT_OK(references->Add(folder.location, **manifest, named.name));
    ++*num_versions;
  }
  return arrow::Status::OK();
}

bool IsRecent(const io::ObjectInfo& info) {
  if (!info.modified_ns) return true;
  return std::chrono::nanoseconds(UnixNanoseconds() - *info.modified_ns) < kRecent;
}

bool IsReferred(const FoundFile& file, const FileReferences& references) {
  if (file.kind == TableFileKind::kTemporary) return false;
  if (file.kind == TableFileKind::kIndex) return references.ContainsFolder(file.stands_for);
  return references.Contains(file.stands_for);
}

}  // namespace

arrow::Result<FileSurvey> SurveyFiles(std::string_view uri, const SurveyOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto folders, inspect::ListTableFolders(uri));
  const table::TableLocation& root = folders.front().location;
  std::vector<FoundFile> files;
  for (const TableFolder& folder : folders) ARROW_RETURN_NOT_OK(ListFiles(folder, &files));
  FileReferences references(root.store);
  FileSurvey survey;
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  for (const TableFolder& folder : folders) {
    ARROW_RETURN_NOT_OK(FollowVersions(folder, *StateOf(*session), options.progress, &references,
                                       &survey.num_versions));
  }

  const std::string below = root.Path("");
  survey.num_files = files.size();
  std::unordered_set<std::string> there;
  for (FoundFile& file : files) {
    const std::string relative = file.info.path.substr(below.size());
    if (!IsReferred(file, references)) {
      survey.orphans.push_back({.path = relative,
                                .kind = file.kind,
                                .size_bytes = file.info.size_bytes,
                                .modified_ns = file.info.modified_ns,
                                .is_recent = IsRecent(file.info)});
    }
    there.insert(std::move(file.info.path));
  }
  for (const auto& [path, version] : references.files()) {
    if (!path.starts_with(below) || there.contains(path)) continue;
    // What came after the listing is there by now.
    ARROW_ASSIGN_OR_RAISE(const auto info, root.store->Head(path));
    if (!info) survey.missing.push_back({path.substr(below.size()), version});
  }
  std::ranges::sort(survey.orphans, {}, &OrphanFile::path);
  std::ranges::sort(survey.missing, {}, &MissingFile::path);
  return survey;
}

}  // namespace glaive
