#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "glaive/fragment.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using testing::IsError;

// As pylance's FragmentMetadata.to_json() gives it, without the blanks.
const std::string kJson =
    R"({"id":7,"files":[{"fields":[0,-2,4],"column_indices":[0,1,2],"file_major_version":2,)"
    R"("file_minor_version":2,"file_size_bytes":1285,"base_id":null,"path":"00ab.lance"},)"
    R"({"fields":[5],"column_indices":[0],"file_major_version":2,"file_minor_version":1,)"
    R"("file_size_bytes":null,"base_id":0,"path":"01.lance"}],"overlays":[],"physical_rows":10,)"
    R"("deletion_file":{"read_version":1,"id":9251405872784938700,"file_type":"bitmap",)"
    R"("num_deleted_rows":2,"base_id":null},"row_id_meta":{"Inline":[10,5,200]},)"
    R"("created_at_version_meta":{"inline":[10,9]},"last_updated_at_version_meta":null})";

TEST(FragmentMetadataTest, PylancesJsonIsReadAndWritten) {
  const auto metadata = FragmentMetadata::FromJson(kJson).ValueOrDie();
  EXPECT_EQ(metadata.ToJson(), kJson);
  EXPECT_EQ(metadata.id(), 7);
  EXPECT_EQ(metadata.physical_rows(), 10);
  EXPECT_EQ(metadata.num_deletions(), 2);
  EXPECT_EQ(metadata.num_rows(), 8);
  ASSERT_EQ(metadata.files().size(), 2);
  EXPECT_EQ(metadata.files()[0].file_size_bytes, 1285);
  EXPECT_EQ(metadata.files()[0].base_id, std::nullopt);
  EXPECT_EQ(metadata.files()[1].file_size_bytes, 0);
  EXPECT_EQ(metadata.files()[1].base_id, 0);
  EXPECT_EQ(metadata.deletion_file()->path, "_deletions/7-1-9251405872784938700.bin");
}

TEST(FragmentMetadataTest, WhatIsAbsentIsAsIfItWereNull) {
  const auto metadata =
      FragmentMetadata::FromJson(
          R"({"id": 0, "files": [{"fields": [1], "path": "x"}], "physical_rows": 3})")
          .ValueOrDie();
  EXPECT_EQ(metadata.ToJson(),
            R"({"id":0,"files":[{"fields":[1],"column_indices":[],"file_major_version":0,)"
            R"("file_minor_version":0,"file_size_bytes":null,"base_id":null,"path":"x"}],)"
            R"("overlays":[],"physical_rows":3,"deletion_file":null,"row_id_meta":null,)"
            R"("created_at_version_meta":null,"last_updated_at_version_meta":null})");
}

TEST(FragmentMetadataTest, FilesAlone) {
  const auto of = [](std::string_view more) {
    const auto json = R"({"id":1,"files":[],"physical_rows":3)" + std::string(more) + "}";
    return FragmentMetadata::FromJson(json).ValueOrDie();
  };
  EXPECT_TRUE(of("").has_files_only());
  EXPECT_EQ(of("").written_for(), std::nullopt);
  const auto travelled = of(R"(,"written_for":{"version":4,"transaction":"t"})");
  EXPECT_TRUE(travelled.has_files_only());
  EXPECT_EQ(travelled.written_for(), (WrittenFor{.version = 4, .transaction = "t"}));
  EXPECT_FALSE(FragmentMetadata::FromJson(kJson).ValueOrDie().has_files_only());
  for (const char* key : {"row_id_meta", "created_at_version_meta"}) {
    const char* arm = key[0] == 'r' ? "Inline" : "inline";
    EXPECT_FALSE(of(std::string(",\"") + key + "\":{\"" + arm + "\":[1]}").has_files_only()) << key;
  }
}

TEST(FragmentMetadataTest, OtherJsonIsRefusedByName) {
  const auto refusal = [](std::string_view json, std::string_view text) {
    EXPECT_THAT(FragmentMetadata::FromJson(json),
                IsError(ErrorKind::kInvalidInput, std::string(text)));
  };
  refusal("", "not the metadata of a fragment");
  refusal("[1]", "not an object");
  refusal(R"({"files": [], "physical_rows": 3})", "'id' is missing");
  refusal(R"({"id": -1, "files": [], "physical_rows": 3})", "id is out of range: -1");
  refusal(R"({"id": 1, "files": 3, "physical_rows": 3})", "'files' is not a list");
  refusal(R"({"id": 1, "files": [{"path": "x"}], "physical_rows": 3})", "'fields'");
  refusal(R"({"id": 1, "files": [], "physical_rows": 3, "row_id_meta": {"Inline": [256]}})",
          "out of range: 256");
  refusal(R"({"id": 1, "files": [], "physical_rows": 3, "overlays": [{}]})", "'data_file'");
}

}  // namespace
}  // namespace glaive
