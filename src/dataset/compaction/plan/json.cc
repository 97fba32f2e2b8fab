#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "glaive/compaction.h"

// Plans, tasks and results travel as the JSON that pylance's do, so that each engine's workers may
// take the other's. Keys of ours that it does not have are passed over there.
namespace glaive {
namespace {

using Json = nlohmann::ordered_json;  // keys in pylance's order

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
void Read(const Json& json, const char* key, std::optional<T>& value) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_null()) value = found->get<T>();
}

constexpr const char* kModes[] = {"Reencode", "TryBinaryCopy", "ForceBinaryCopy"};

Json ModeJson(const std::optional<CompactionMode>& mode) {
  return mode ? Json(kModes[static_cast<size_t>(*mode)]) : Json(nullptr);
}

std::optional<CompactionMode> ModeFrom(const Json& json) {
  std::optional<std::string> name;
  Read(json, "compaction_mode", name);
  for (size_t i = 0; name && i < std::size(kModes); ++i) {
    if (*name == kModes[i]) return static_cast<CompactionMode>(i);
  }
  if (name) throw std::invalid_argument("unknown compaction_mode " + *name);
  std::optional<bool> binary_copy;
  std::optional<bool> force;
  Read(json, "enable_binary_copy", binary_copy);
  Read(json, "enable_binary_copy_force", force);
  if (!binary_copy.value_or(false)) return std::nullopt;
  return force.value_or(false) ? CompactionMode::kForceBinaryCopy : CompactionMode::kTryBinaryCopy;
}

constexpr uint64_t kPylanceRowsPerGroup = 1024;  // its default, which says nothing

Json OptionsJson(const CompactionOptions& options) {
  Json json;
  json["target_rows_per_fragment"] = options.target_rows_per_fragment.value_or(1024 * 1024);
  json["max_rows_per_group"] = options.max_rows_per_group.value_or(kPylanceRowsPerGroup);
  json["max_bytes_per_file"] = OrNull(options.max_bytes_per_file);
  json["materialize_deletions"] = options.materialize_deletions.value_or(true);
  json["materialize_deletions_threshold"] = options.materialize_deletions_threshold.value_or(0.1);
  json["num_threads"] = OrNull(options.num_threads);
  json["batch_size"] = OrNull(options.batch_size);
  json["io_buffer_size"] = nullptr;
  json["defer_index_remap"] = options.defer_index_remap.value_or(false);
  json["index_remap_mode"] = "Direct";
  json["compaction_mode"] = ModeJson(options.mode);
  json["enable_binary_copy"] = false;
  json["enable_binary_copy_force"] = false;
  json["binary_copy_read_batch_bytes"] = 16 << 20;
  json["max_source_fragments"] = OrNull(options.max_source_fragments);
  json["max_source_rows"] = OrNull(options.max_source_rows);
  json["max_source_bytes"] = OrNull(options.max_source_bytes);
  json["excluded_fragment_ids"] = options.excluded_fragment_ids;
  json["max_overlays_per_fragment"] = options.max_overlays_per_fragment.value_or(10);
  json["data_storage_version"] = OrNull(options.data_storage_version);
  json["has_eager_remappable_index"] = nullptr;
  if (options.target_bytes_per_fragment) {
    json["target_bytes_per_fragment"] = *options.target_bytes_per_fragment;
  }
  if (options.rewrite_small_pages.value_or(false)) json["rewrite_small_pages"] = true;
  if (options.memory_limit) json["memory_limit"] = *options.memory_limit;
  if (options.max_page_bytes) json["max_page_bytes"] = *options.max_page_bytes;
  if (options.data_cache_bytes) json["data_cache_bytes"] = *options.data_cache_bytes;
  if (options.version.durability != Durability::kDefault) {
    json["durability"] = options.version.durability == Durability::kNone ? "none" : "commit";
  }
  return json;
}

CompactionOptions OptionsFrom(const Json& json) {
  CompactionOptions options;
  Read(json, "target_rows_per_fragment", options.target_rows_per_fragment);
  Read(json, "target_bytes_per_fragment", options.target_bytes_per_fragment);
  Read(json, "rewrite_small_pages", options.rewrite_small_pages);
  Read(json, "memory_limit", options.memory_limit);
  Read(json, "max_rows_per_group", options.max_rows_per_group);
  if (options.max_rows_per_group == kPylanceRowsPerGroup) options.max_rows_per_group.reset();
  Read(json, "max_bytes_per_file", options.max_bytes_per_file);
  Read(json, "max_page_bytes", options.max_page_bytes);
  Read(json, "data_cache_bytes", options.data_cache_bytes);
  Read(json, "materialize_deletions", options.materialize_deletions);
  Read(json, "materialize_deletions_threshold", options.materialize_deletions_threshold);
  Read(json, "max_overlays_per_fragment", options.max_overlays_per_fragment);
  Read(json, "num_threads", options.num_threads);
  Read(json, "batch_size", options.batch_size);
  Read(json, "defer_index_remap", options.defer_index_remap);
  options.mode = ModeFrom(json);
  Read(json, "max_source_fragments", options.max_source_fragments);
  Read(json, "max_source_rows", options.max_source_rows);
  Read(json, "max_source_bytes", options.max_source_bytes);
  std::optional<std::vector<uint64_t>> excluded;
  Read(json, "excluded_fragment_ids", excluded);
  options.excluded_fragment_ids = std::move(excluded).value_or(std::vector<uint64_t>());
  Read(json, "data_storage_version", options.data_storage_version);
  std::optional<std::string> durability;
  Read(json, "durability", durability);
  if (durability) {
    options.version.durability = *durability == "none" ? Durability::kNone : Durability::kCommit;
  }
  return options;
}

Json FragmentsJson(const std::vector<FragmentMetadata>& fragments) {
  Json json = Json::array();
  for (const auto& fragment : fragments) json.push_back(Json::parse(fragment.ToJson()));
  return json;
}

arrow::Result<std::vector<FragmentMetadata>> FragmentsFrom(const Json& json) {
  std::vector<FragmentMetadata> fragments;
  for (const Json& fragment : json) {
    ARROW_ASSIGN_OR_RAISE(auto parsed, FragmentMetadata::FromJson(fragment.dump()));
    fragments.push_back(std::move(parsed));
  }
  return fragments;
}

arrow::Result<CompactionTask> TaskFrom(const Json& task, uint64_t read_version,
                                       const CompactionOptions& options) {
  CompactionTask parsed = {.read_version = read_version, .options = options};
  ARROW_ASSIGN_OR_RAISE(parsed.fragments, FragmentsFrom(task.at("fragments")));
  return parsed;
}

// nlohmann's exceptions end here.
template <typename T, typename Build>
arrow::Result<T> Parse(std::string_view text, const char* name, const Build& build) {
  try {
    return build(Json::parse(text));
  } catch (const std::exception& error) {
    return InvalidInput("not the JSON of a {}: {}", name, error.what());
  }
}

}  // namespace

std::string CompactionTask::ToJson() const {
  Json json;
  json["task"]["fragments"] = FragmentsJson(fragments);
  json["read_version"] = read_version;
  json["options"] = OptionsJson(options);
  return json.dump();
}

arrow::Result<CompactionTask> CompactionTask::FromJson(std::string_view json) {
  return Parse<CompactionTask>(json, "compaction task", [](const Json& parsed) {
    return TaskFrom(parsed.at("task"), parsed.at("read_version").get<uint64_t>(),
                    OptionsFrom(parsed.at("options")));
  });
}

std::string CompactionPlan::ToJson() const {
  Json json;
  json["tasks"] = Json::array();
  for (const CompactionTask& task : tasks) {
    json["tasks"].push_back({{"fragments", FragmentsJson(task.fragments)}});
  }
  json["read_version"] = read_version;
  json["options"] = OptionsJson(options);
  return json.dump();
}

arrow::Result<CompactionPlan> CompactionPlan::FromJson(std::string_view json) {
  return Parse<CompactionPlan>(
      json, "compaction plan", [](const Json& parsed) -> arrow::Result<CompactionPlan> {
        CompactionPlan plan;
        plan.read_version = parsed.at("read_version").get<uint64_t>();
        plan.options = OptionsFrom(parsed.at("options"));
        for (const Json& task : parsed.at("tasks")) {
          ARROW_ASSIGN_OR_RAISE(auto with_options, TaskFrom(task, plan.read_version, plan.options));
          plan.tasks.push_back(std::move(with_options));
        }
        return plan;
      });
}

std::string RewriteResult::ToJson() const {
  Json json;
  json["metrics"] = {{"fragments_removed", metrics.fragments_removed},
                     {"fragments_added", metrics.fragments_added},
                     {"files_removed", metrics.files_removed},
                     {"files_added", metrics.files_added}};
  json["new_fragments"] = FragmentsJson(new_fragments);
  json["read_version"] = read_version;
  json["original_fragments"] = FragmentsJson(original_fragments);
  json["row_addrs"] = nullptr;
  return json.dump();
}

arrow::Result<RewriteResult> RewriteResult::FromJson(std::string_view json) {
  return Parse<RewriteResult>(
      json, "rewrite result", [](const Json& parsed) -> arrow::Result<RewriteResult> {
        RewriteResult result;
        result.read_version = parsed.at("read_version").get<uint64_t>();
        const Json& counts = parsed.at("metrics");
        result.metrics = {.fragments_removed = counts.at("fragments_removed").get<uint64_t>(),
                          .fragments_added = counts.at("fragments_added").get<uint64_t>(),
                          .files_removed = counts.at("files_removed").get<uint64_t>(),
                          .files_added = counts.at("files_added").get<uint64_t>()};
        ARROW_ASSIGN_OR_RAISE(result.new_fragments, FragmentsFrom(parsed.at("new_fragments")));
        ARROW_ASSIGN_OR_RAISE(result.original_fragments,
                              FragmentsFrom(parsed.at("original_fragments")));
        return result;
      });
}

}  // namespace glaive
