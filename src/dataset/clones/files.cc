#include "dataset/clones/files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/table_identity.h"
#include "table/manifest/file_place.h"
#include "table/manifest/index_files.h"
#include "table/rows/deletion_vector.h"
#include "wire/fields.h"

namespace glaive::dataset {
namespace {

using table::FileKind;

// Copies files one by one, each of them once.
class Copier {
 public:
  Copier(const ResolvedReference& source, const table::TableLocation& target,
         const ProgressCallback& progress)
      : source_(source), target_(target), progress_(progress), files_(target.store) {}

  arrow::Status AddFragment(const wire::DataFragment& fragment) {
    for (const wire::DataFile& file : fragment.files) ARROW_RETURN_NOT_OK(AddDataFile(file));
    for (const std::string& overlay : fragment.overlays) {
      ARROW_ASSIGN_OR_RAISE(const wire::DataFile file, table::OverlayFile(overlay, Where()));
      ARROW_RETURN_NOT_OK(AddDataFile(file));
    }
    if (!fragment.deletion_file) return arrow::Status::OK();
    std::string name = table::DeletionFilePath(fragment.id, *fragment.deletion_file);
    name.erase(0, name.find('/') + 1);
    return AddFile(FileKind::kDeletion, name, fragment.deletion_file->base_id);
  }

  arrow::Status AddIndex(const table::IndexFolder& index) {
    ARROW_ASSIGN_OR_RAISE(const auto from, Place(FileKind::kIndex, index.name, index.base_id));
    return CopyFolder(from, "_indices/" + index.name);
  }

  NewFiles Finish() && { return std::move(files_); }

 private:
  Location Where() const { return {source_.manifest->path}; }

  arrow::Result<table::FilePlace> Place(FileKind kind, std::string_view name,
                                        std::optional<uint32_t> base_id) const {
    return table::PlaceOf(source_.location, *source_.manifest, kind, name, base_id);
  }

  // With what a data file keeps beside itself, in a folder of its name: large values.
  arrow::Status AddDataFile(const wire::DataFile& file) {
    ARROW_RETURN_NOT_OK(AddFile(FileKind::kData, file.path, file.base_id));
    if (!has_blobs_) return arrow::Status::OK();
    const std::string stem = file.path.substr(0, file.path.rfind('.'));
    ARROW_ASSIGN_OR_RAISE(const auto from, Place(FileKind::kData, stem, file.base_id));
    return CopyFolder(from, "data/" + stem);
  }

  arrow::Status AddFile(FileKind kind, std::string_view name, std::optional<uint32_t> base_id) {
    ARROW_ASSIGN_OR_RAISE(const auto from, Place(kind, name, base_id));
    const char* const folder = kind == FileKind::kData ? "data/" : "_deletions/";
    return Copy(from, target_.Path(folder + std::string(name)));
  }

  arrow::Status CopyFolder(const table::FilePlace& from, const std::string& to) {
    ARROW_ASSIGN_OR_RAISE(const auto objects, from.store->ListRecursive(from.path));
    for (const io::ObjectInfo& object : objects) {
      ARROW_RETURN_NOT_OK(
          Copy({from.store, object.path}, target_.Path(to + object.path.substr(from.path.size()))));
    }
    return arrow::Status::OK();
  }

  arrow::Status Copy(const table::FilePlace& from, const std::string& to) {
    constexpr uint64_t kChunk = uint64_t{8} << 20;
    const auto [known, is_new] = sources_.emplace(to, from.path);
    if (!is_new) {
      if (known->second == from.path) return arrow::Status::OK();
      return InvalidInput("{} and {} have one name, and would lie in one folder", known->second,
                          from.path);
    }
    ARROW_ASSIGN_OR_RAISE(const auto reader, from.store->OpenRead(from.path));
    ARROW_ASSIGN_OR_RAISE(const auto writer, target_.store->OpenWrite(to));
    for (uint64_t offset = 0; offset < reader->size_bytes(); offset += kChunk) {
      const uint64_t size = std::min(kChunk, reader->size_bytes() - offset);
      ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({offset, size}));
      ARROW_RETURN_NOT_OK(writer->Write(std::as_bytes(std::span(bytes->data(), size))));
      num_bytes_ += size;
      if (progress_) ARROW_RETURN_NOT_OK(progress_({.bytes = num_bytes_}));
    }
    files_.Add(to);
    return writer->Finish();
  }

  static bool HasBlobs(const std::vector<wire::Field>& fields) {
    return std::ranges::any_of(fields, [](const wire::Field& field) {
      return wire::IsBlob(field) || HasBlobs(field.children);
    });
  }

  const ResolvedReference& source_;
  const table::TableLocation& target_;
  const ProgressCallback& progress_;
  const bool has_blobs_ = HasBlobs(source_.manifest->schema.fields);
  std::map<std::string, std::string> sources_;  // of each target
  uint64_t num_bytes_ = 0;
  NewFiles files_;
};

}  // namespace

arrow::Result<Dataset> CommitShallowClone(const ResolvedReference& source,
                                          const CommitPlace& target,
                                          const std::optional<std::string>& branch,
                                          const VersionOptions& options) {
  CloneOf clone = {.source = source.manifest,
                   .operation = {.is_shallow = true,
                                 .ref_name = source.branch,
                                 .ref_version = source.manifest->version,
                                 .ref_path = AbsolutePath(source.location),
                                 .branch_name = branch}};
  return CommitVerb(target, std::move(clone), options);
}

arrow::Result<NewFiles> CopyFiles(const ResolvedReference& source,
                                  const table::TableLocation& target,
                                  const ProgressCallback& progress) {
  Copier copier(source, target, progress);
  const table::Manifest& manifest = *source.manifest;
  ARROW_RETURN_NOT_OK(manifest.fragments.Visit([&](const table::Fragment& view) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view.Parse());
    return copier.AddFragment(fragment);
  }));
  ARROW_ASSIGN_OR_RAISE(const auto indices,
                        table::IndexFolders(manifest.index_section, {manifest.path}));
  for (const table::IndexFolder& index : indices) ARROW_RETURN_NOT_OK(copier.AddIndex(index));
  return std::move(copier).Finish();
}

}  // namespace glaive::dataset
