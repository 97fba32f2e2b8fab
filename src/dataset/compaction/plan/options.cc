#include "dataset/compaction/plan/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"
#include "dataset/compaction/plan/memory.h"
#include "dataset/handle/storage_version.h"
#include "table/operation/index_coverage.h"

namespace glaive::dataset {
namespace {

constexpr std::string_view kConfigPrefix = "lance.compaction.";
constexpr uint64_t kDefaultTargetRows = 1024 * 1024;
constexpr double kDefaultDeletionThreshold = 0.1;
constexpr uint64_t kDefaultMaxOverlays = 10;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// One key of the config, if it is there.
class ConfigValue {
 public:
  ConfigValue(const std::map<std::string, std::string>& config, std::string_view name)
      : key_(std::string(kConfigPrefix).append(name)) {
    if (const auto found = config.find(key_); found != config.end()) text_ = found->second;
  }

  template <typename Number>
  arrow::Status To(std::optional<Number>& option, Number least = 0) const {
    if (option || !text_) return arrow::Status::OK();
    Number value{};
    const char* begin = text_->data();
    const char* end = begin + text_->size();
    if (text_->starts_with('+') && !text_->starts_with("+-")) ++begin;  // std::from_chars has none
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || rest != end || !std::isfinite(static_cast<double>(value))) {
      return Refuse("a number");
    }
    if (value < least) return Refuse(fmt::format("at least {}", least));
    option = value;
    return arrow::Status::OK();
  }

  // "none" is no limit.
  arrow::Status ToLimit(std::optional<uint64_t>& option) const {
    if (!option && text_ && Lower(*text_) == "none") option = UINT64_MAX;
    return To(option);
  }

  arrow::Status To(std::optional<bool>& option) const {
    if (option || !text_) return arrow::Status::OK();
    const std::string word = Lower(*text_);
    if (word != "true" && word != "false") return Refuse("'true' or 'false'");
    option = word == "true";
    return arrow::Status::OK();
  }

  arrow::Status CheckWord(std::initializer_list<std::string_view> words) const {
    if (!text_ || std::ranges::find(words, Lower(*text_)) != words.end()) {
      return arrow::Status::OK();
    }
    return Refuse(fmt::format("{}", fmt::join(words, " or ")));
  }

  arrow::Status To(std::optional<CompactionMode>& option) const {
    if (option || !text_) return arrow::Status::OK();
    const std::string word = Lower(*text_);
    if (word == "reencode") option = CompactionMode::kReencode;
    if (word == "try_binary_copy") option = CompactionMode::kTryBinaryCopy;
    if (word == "force_binary_copy") option = CompactionMode::kForceBinaryCopy;
    return option ? arrow::Status::OK() : Refuse("a compaction mode");
  }

  // The name of a version that is written.
  arrow::Status To(std::optional<std::string>& option) const {
    if (option || !text_) return arrow::Status::OK();
    const arrow::Status status = WritableVersion(*text_).status();
    if (!status.ok()) return status.WithMessage(key_, ": ", status.message());
    option = text_;
    return arrow::Status::OK();
  }

 private:
  arrow::Status Refuse(std::string_view expected) const {
    return InvalidInput("Invalid value for {}: '{}' (expected {})", key_, *text_, expected);
  }

  std::string key_;
  std::optional<std::string> text_;
};

}  // namespace

arrow::Result<CompactionOptions> ResolveOptions(const CompactionOptions& options,
                                                const std::map<std::string, std::string>& config) {
  CompactionOptions resolved = options;
  const auto from_config = [&](std::string_view name, auto& option, auto... least) {
    return ConfigValue(config, name).To(option, least...);
  };
  ARROW_RETURN_NOT_OK(from_config("target_rows_per_fragment", resolved.target_rows_per_fragment));
  ARROW_RETURN_NOT_OK(
      from_config("target_bytes_per_fragment", resolved.target_bytes_per_fragment, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("rewrite_small_pages", resolved.rewrite_small_pages));
  ARROW_RETURN_NOT_OK(from_config("memory_limit", resolved.memory_limit, kLeastMemory));
  ARROW_RETURN_NOT_OK(from_config("max_rows_per_group", resolved.max_rows_per_group));
  ARROW_RETURN_NOT_OK(from_config("max_bytes_per_file", resolved.max_bytes_per_file));
  ARROW_RETURN_NOT_OK(from_config("max_page_bytes", resolved.max_page_bytes, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("data_cache_bytes", resolved.data_cache_bytes, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("materialize_deletions", resolved.materialize_deletions));
  ARROW_RETURN_NOT_OK(
      from_config("materialize_deletions_threshold", resolved.materialize_deletions_threshold));
  ARROW_RETURN_NOT_OK(from_config("num_threads", resolved.num_threads, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("batch_size", resolved.batch_size, uint64_t{1}));
  ARROW_RETURN_NOT_OK(
      from_config("max_source_fragments", resolved.max_source_fragments, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("max_source_rows", resolved.max_source_rows, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("max_source_bytes", resolved.max_source_bytes, uint64_t{1}));
  ARROW_RETURN_NOT_OK(from_config("data_storage_version", resolved.data_storage_version));
  ARROW_RETURN_NOT_OK(from_config("compaction_mode", resolved.mode));
  ARROW_RETURN_NOT_OK(from_config("defer_index_remap", resolved.defer_index_remap));
  ARROW_RETURN_NOT_OK(
      ConfigValue(config, "max_overlays_per_fragment").ToLimit(resolved.max_overlays_per_fragment));
  // Without effect here; a value that cannot be is an error as for every reader of the config.
  std::optional<uint64_t> io_buffer_size;
  std::optional<uint64_t> copy_bytes;
  ARROW_RETURN_NOT_OK(from_config("io_buffer_size", io_buffer_size));
  ARROW_RETURN_NOT_OK(from_config("binary_copy_read_batch_bytes", copy_bytes));
  ARROW_RETURN_NOT_OK(ConfigValue(config, "index_remap_mode").CheckWord({"compact", "direct"}));

  resolved.target_rows_per_fragment =
      resolved.target_rows_per_fragment.value_or(kDefaultTargetRows);
  resolved.rewrite_small_pages = resolved.rewrite_small_pages.value_or(false);
  resolved.materialize_deletions = resolved.materialize_deletions.value_or(true);
  resolved.materialize_deletions_threshold =
      resolved.materialize_deletions_threshold.value_or(kDefaultDeletionThreshold);
  resolved.max_overlays_per_fragment =
      resolved.max_overlays_per_fragment.value_or(kDefaultMaxOverlays);
  resolved.mode = resolved.mode.value_or(CompactionMode::kReencode);
  resolved.defer_index_remap = resolved.defer_index_remap.value_or(false);

  if (resolved.data_storage_version) {
    ARROW_RETURN_NOT_OK(WritableVersion(*resolved.data_storage_version).status());
  }
  for (const auto& [name, value] :
       {std::pair("target_bytes_per_fragment", resolved.target_bytes_per_fragment),
        std::pair("max_source_fragments", resolved.max_source_fragments),
        std::pair("max_source_rows", resolved.max_source_rows),
        std::pair("max_source_bytes", resolved.max_source_bytes),
        std::pair("num_threads", resolved.num_threads),
        std::pair("batch_size", resolved.batch_size)}) {
    if (value == 0u) return InvalidInput("{} must be greater than 0 (None for no limit)", name);
  }
  if (resolved.memory_limit && *resolved.memory_limit < kLeastMemory) {
    return InvalidInput("memory_limit is {} bytes, expected at least {}: less makes small pages",
                        *resolved.memory_limit, kLeastMemory);
  }
  const double threshold = *resolved.materialize_deletions_threshold;
  if (!std::isfinite(threshold) || threshold < 0) {
    return InvalidInput(
        "materialize_deletions_threshold is {}, expected a number that is at least 0", threshold);
  }
  return resolved;
}

arrow::Status CheckCanDefer(const table::Manifest& manifest, const CompactionOptions& resolved) {
  if (!resolved.defer_index_remap.value_or(false)) return arrow::Status::OK();
  if (manifest.has_stable_row_ids()) {
    return Unsupported("compaction with defer_index_remap of a table with stable row ids");
  }
  ARROW_ASSIGN_OR_RAISE(const auto indices, table::IndicesOf(manifest));
  for (const table::Index& index : indices.indices()) {
    if (wire::IsSystem(index.entry)) continue;
    return Unsupported(
        "compaction with defer_index_remap, as an option or in the table's config, of a table "
        "with the index '{}'; with false the index does not cover the new fragments",
        index.entry.name);
  }
  return arrow::Status::OK();
}

arrow::Status CheckCanRewrite(const table::Manifest& manifest) {
  ARROW_ASSIGN_OR_RAISE(const auto indices, table::IndicesOf(manifest));
  for (const table::Index& index : indices.indices()) {
    if (index.covered || wire::IsSystem(index.entry)) continue;
    return Unsupported("compaction of a table whose index '{}' does not say what it covers",
                       index.entry.name);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
