#include "table/versions/not_found.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/memory_store.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using glaive::testing::TemporaryFolder;

TableLocation Local(const std::string& path) { return {io::LocalStore(), path, path}; }

void Write(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(TableNotFoundTest, SaysWhatLiesThere) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  const auto message = [&](const std::string& name) {
    const arrow::Status status = TableNotFound(Local(root + "/" + name));
    EXPECT_THAT(status, IsError(ErrorKind::kNotFound, name + " was not found"));
    return status.message().substr(status.message().find("found") + 5);
  };
  EXPECT_EQ(message("nothing"), "");
  std::filesystem::create_directory(root + "/empty");
  EXPECT_EQ(message("empty"), "");

  const std::string rest = " lies there; a table is a folder with manifests in _versions/";
  Write(root + "/rows.parquet", "PAR1....PAR1");
  EXPECT_EQ(message("rows.parquet"), ": a Parquet file" + rest);
  Write(root + "/rows.lance", "........LANC");
  EXPECT_EQ(message("rows.lance"), ": a Lance data file" + rest);
  Write(root + "/rows.arrow", "ARROW1..ARROW1");
  EXPECT_EQ(message("rows.arrow"), ": an Arrow file" + rest);
  Write(root + "/text", "hello");
  EXPECT_EQ(message("text"), ": a file of 5 bytes" + rest);
  Write(root + "/blank", "");
  EXPECT_EQ(message("blank"), ": a file of 0 bytes" + rest);
  EXPECT_EQ(message("text/below"), "");
  Write(root + "/tables/one/x", "x");
  EXPECT_EQ(message("tables"), ": a folder with 1 entry (one)" + rest);
  for (const char* name : {"a", "b", "c", "d"}) Write(root + "/many/" + name, "x");
  EXPECT_EQ(message("many"), ": a folder with 4 entries (a, b, c, ...)" + rest);
}

TEST(TableNotFoundTest, KnowsPartsOfATable) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  Write(root + "/t/_versions/1.manifest", "");
  Write(root + "/t/data/a.lance", "........LANC");
  const std::string within = "within the table " + root + "/t";
  for (const char* part : {"/t/data", "/t/data/a.lance", "/t/_versions"}) {
    EXPECT_THAT(TableNotFound(Local(root + part)), IsError(ErrorKind::kNotFound, within));
  }
}

TEST(TableNotFoundTest, LooksIntoAnyStore) {
  const auto store = io::MakeMemoryStore();
  ASSERT_TRUE(store->Put("/x/rows.parquet", std::as_bytes(std::span("PAR1", 4))).ok());
  EXPECT_THAT(TableNotFound({store, "/x", "/x"}),
              IsError(ErrorKind::kNotFound, "a folder with 1 entry (rows.parquet)"));
  EXPECT_THAT(TableNotFound({store, "/x/rows.parquet", "/x/rows.parquet"}),
              IsError(ErrorKind::kNotFound, "a Parquet file"));
}

}  // namespace
}  // namespace glaive::table
