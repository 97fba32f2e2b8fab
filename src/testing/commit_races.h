#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/versions/file.h"
#include "testing/hooked_store.h"
#include "testing/matchers.h"

// For tests of commits beside other writers, creators and clean-ups, in an order that a store
// forces.
namespace glaive::testing {

// Runs a function right before or after the first call of a kind to a path that ends in a text.
class MomentStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  void Before(StoreCallKind kind, std::string end, std::function<void()> run) {
    moments_.push_back({kind, std::move(end), std::move(run), /*is_before=*/true});
  }
  void After(StoreCallKind kind, std::string end, std::function<void()> run) {
    moments_.push_back({kind, std::move(end), std::move(run), /*is_before=*/false});
  }
  // The answer of the first such call is lost.
  void LoseAnswer(
      StoreCallKind kind, std::string end, std::function<void()> run = [] {}) {
    moments_.push_back({kind, std::move(end), std::move(run), false, /*loses_answer=*/true});
  }

  // The first such call does nothing.
  void Fail(StoreCallKind kind, std::string end) {
    moments_.push_back({kind, std::move(end), [] {}, /*is_before=*/true, false, /*fails=*/true});
  }

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    Moment moment = Take(call);
    if (moment.run && moment.is_before) moment.run();
    if (moment.fails) return IOError({call.path}, "it failed");
    const arrow::Status status = perform();
    if (moment.run && !moment.is_before) moment.run();
    if (moment.loses_answer) return IOError({call.path}, "the answer is lost");
    return status;
  }

 private:
  struct Moment {
    StoreCallKind kind = StoreCallKind::kHead;
    std::string end;
    std::function<void()> run;
    bool is_before = false;
    bool loses_answer = false;
    bool fails = false;
  };

  Moment Take(const StoreCall& call) {
    for (auto moment = moments_.begin(); moment != moments_.end(); ++moment) {
      if (moment->kind != call.kind || !call.path.ends_with(moment->end)) continue;
      Moment taken = std::move(*moment);
      moments_.erase(moment);
      return taken;
    }
    return {};
  }

  std::vector<Moment> moments_;
};

inline wire::DataFragment NewFragment(std::string path) {
  wire::DataFile file{.path = std::move(path), .fields = {0}, .column_indices = {0}};
  file.file_major_version = 2;
  file.file_minor_version = 2;
  return {.files = {std::move(file)}, .physical_rows = 10};
}

class CommitRaces : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto memory = io::MakeMemoryStore();
    calm_ = {memory, "/t", "memory://t"};
    store_ = std::make_shared<MomentStore>(memory);
    table_ = {store_, "/t", "memory://t"};
  }

  static table::Overwrite FirstRows(const std::string& path = "first") {
    wire::Schema schema;
    schema.fields.push_back({.id = 0, .name = "k", .logical_type = "int64"});
    return {.fragments = table::FragmentsOf({NewFragment(path)}),
            .schema = table::WrapSchema(std::move(schema))};
  }
  table::ManifestPtr Create(const table::CommitOptions& options = {}) {
    return table::CommitCreate(calm_, FirstRows(), options).ValueOrDie();
  }
  // A table in place of the one that was there. No file name is used twice.
  table::ManifestPtr CreateAnew() {
    EXPECT_THAT(calm_.store->DeleteFolder("/t"), IsOk());
    return table::CommitCreate(calm_, FirstRows("anew"), {}).ValueOrDie();
  }
  // By other writers, whom nothing interrupts.
  table::ManifestPtr Append1(const std::string& path) {
    return table::Commit(calm_, table::ReadLatestManifest(calm_).ValueOrDie(),
                         table::Append{table::FragmentsOf({NewFragment(path)})}, {})
        .ValueOrDie();
  }
  void Remove(const table::ManifestPtr& version) {
    ASSERT_THAT(calm_.store->Delete(version->path), IsOk());
    ASSERT_THAT(calm_.store->Delete(table::TransactionPath(calm_, *version)), IsOk());
  }
  std::shared_ptr<arrow::Buffer> BytesAt(const std::string& path) {
    return calm_.store->ReadWhole(path).ValueOrDie();
  }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    const arrow::Status visited = table::ReadLatestManifest(calm_).ValueOrDie()->fragments.Visit(
        [&](const table::Fragment& fragment) -> arrow::Status {
          ARROW_ASSIGN_OR_RAISE(const auto parsed, fragment.Parse());
          files.push_back(parsed.files.front().path);
          return arrow::Status::OK();
        });
    EXPECT_THAT(visited, IsOk());
    return files;
  }
  std::vector<uint64_t> Versions() {
    std::vector<uint64_t> versions;
    for (const auto& entry : table::ListVersions(calm_).ValueOrDie())
      versions.push_back(entry.version);
    return versions;
  }
  static std::string NameOf(uint64_t version,
                            table::NamingScheme scheme = table::NamingScheme::kV2) {
    return "/" + table::ManifestName(version, scheme);
  }

  table::TableLocation calm_;  // the same place, without interruptions
  table::TableLocation table_;
  std::shared_ptr<MomentStore> store_;
};

}  // namespace glaive::testing
