#include "dataset/backfill/checkpoint.h"

#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include <arrow/buffer.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace glaive::dataset {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kJobName = "backfill.json";
constexpr std::string_view kFragmentPrefix = "fragment-";

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsOurs(std::string_view name) {
  return name == kJobName || (name.starts_with(kFragmentPrefix) && name.ends_with(".json"));
}

}  // namespace

arrow::Result<BackfillCheckpoint> BackfillCheckpoint::Open(const std::optional<std::string>& folder,
                                                           const std::string& job) {
  BackfillCheckpoint checkpoint;
  if (!folder) return checkpoint;
  if (folder->empty()) return InvalidInput("the checkpoint is a folder, and its name is empty");
  checkpoint.store_ = io::LocalStore();
  checkpoint.folder_ = std::filesystem::absolute(*folder).lexically_normal().string();
  while (checkpoint.folder_.size() > 1 && checkpoint.folder_.ends_with('/')) {
    checkpoint.folder_.pop_back();
  }
  ARROW_RETURN_NOT_OK(checkpoint.Load(job));
  return checkpoint;
}

std::string BackfillCheckpoint::PathOf(uint64_t fragment_id) const {
  return fmt::format("{}/{}{}.json", folder_, kFragmentPrefix, fragment_id);
}

arrow::Status BackfillCheckpoint::Load(const std::string& job) {
  const std::string job_path = folder_ + "/" + std::string(kJobName);
  ARROW_ASSIGN_OR_RAISE(const auto info, store_->Head(job_path));
  ARROW_ASSIGN_OR_RAISE(const auto names, store_->ListNames(folder_));
  if (!info) {
    for (const std::string& name : names) {
      if (!IsOurs(name)) continue;
      return InvalidInput("'{}' is no checkpoint: it has {} but no {}", folder_, name, kJobName);
    }
    return Write(job_path, job);
  }
  ARROW_ASSIGN_OR_RAISE(const auto text, store_->ReadWhole(job_path));
  if (text->ToString() != job) {
    return InvalidInput("'{}' is the checkpoint of another backfill. There: {}. Here: {}", folder_,
                        text->ToString(), job);
  }
  for (const std::string& name : names) {
    if (name != kJobName && IsOurs(name)) ARROW_RETURN_NOT_OK(LoadFragment(folder_ + "/" + name));
  }
  return arrow::Status::OK();
}

arrow::Status BackfillCheckpoint::LoadFragment(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto text, store_->ReadWhole(path));
  const Json json = Json::parse(text->ToString(), nullptr, /*allow_exceptions=*/false);
  const auto invalid = [&](std::string_view why) {
    return InvalidInput("'{}' is no file of a checkpoint: {}", path, why);
  };
  if (!json.is_object()) return invalid("it is no JSON object");
  const auto committed = json.find("committed");
  if (committed != json.end()) {
    if (!committed->is_number_unsigned()) return invalid("'committed' is no fragment id");
    committed_.insert(committed->get<uint64_t>());
    return arrow::Status::OK();
  }
  const auto staged = json.find("staged");
  if (staged == json.end()) return invalid("it has neither 'staged' nor 'committed'");
  auto columns = StagedColumns::FromJson(staged->dump());
  if (!columns.ok()) return invalid(columns.status().message());
  if (NameOf(path) != NameOf(PathOf(columns->fragment_id()))) {
    return invalid(fmt::format("it is of fragment {}", columns->fragment_id()));
  }
  staged_.push_back(*std::move(columns));
  return arrow::Status::OK();
}

arrow::Status BackfillCheckpoint::Write(const std::string& path, const std::string& text) const {
  return store_->PutSynced(path, std::as_bytes(std::span(text)));
}

arrow::Status BackfillCheckpoint::KeepStaged(const StagedColumns& staged) const {
  if (!is_kept()) return arrow::Status::OK();
  return Write(PathOf(staged.fragment_id()), fmt::format("{{\"staged\":{}}}", staged.ToJson()));
}

arrow::Status BackfillCheckpoint::KeepCommitted(const std::vector<uint64_t>& fragment_ids) {
  if (!is_kept()) return arrow::Status::OK();
  for (const uint64_t id : fragment_ids) {
    ARROW_RETURN_NOT_OK(Write(PathOf(id), fmt::format("{{\"committed\":{}}}", id)));
  }
  return arrow::Status::OK();
}

arrow::Status BackfillCheckpoint::Forget(uint64_t fragment_id) {
  return is_kept() ? store_->Delete(PathOf(fragment_id)) : arrow::Status::OK();
}

arrow::Status BackfillCheckpoint::Remove() {
  if (!is_kept()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto names, store_->ListNames(folder_));
  // The job's file last: without it the others would be nobody's. With them goes what a process
  // left that was killed while it wrote one.
  for (const std::string& name : names) {
    if (name == kJobName || !(IsOurs(name) || name.starts_with(".tmp_"))) continue;
    ARROW_RETURN_NOT_OK(store_->Delete(folder_ + "/" + name));
  }
  ARROW_RETURN_NOT_OK(store_->Delete(folder_ + "/" + std::string(kJobName)));
  std::error_code not_empty;
  std::filesystem::remove(folder_, not_empty);
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
