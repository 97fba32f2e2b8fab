#include "wire/relative_path.h"

#include <gtest/gtest.h>

#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/fragment.h"
#include "wire/index.h"
#include "wire/overlay.h"

namespace glaive::wire {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

const std::string_view kLeaving[] = {
    "",       ".",    "..",    "/x",       "../x",
    "a/../x", "a/..", "a//x",  "a/",       "./x",
    "a/./x",  "/",    "..\\x", "a\\..\\x", std::string_view("x\0.lance", 8)};

TEST(RelativePathTest, OnlyNamesBetweenSlashesStayBelow) {
  for (const std::string_view path : kLeaving) EXPECT_FALSE(StaysBelow(path)) << path;
  for (const std::string_view path : {"x.lance", "a/b/x.lance", "..x", "x..", "...", "a/.b", "ü"}) {
    EXPECT_TRUE(StaysBelow(path)) << path;
  }
}

TEST(RelativePathTest, WhateverIsParsedIsChecked) {
  for (const std::string_view path : kLeaving) {
    const DataFile file{.path = std::string(path), .fields = {0}, .column_indices = {0}};
    const std::string message = Serialize(file);
    EXPECT_THAT(ParseDataFile(AsBytes(message), {"m"}),
                IsError(ErrorKind::kCorrupt, "the path of a data file"));

    const std::string fragment = Serialize(DataFragment{.id = 7, .files = {file}});
    EXPECT_THAT(ParseDataFragment(AsBytes(fragment), {"m"}),
                IsError(ErrorKind::kCorrupt, "the path of a data file of fragment 7"));

    const std::string overlay =
        Serialize(DataOverlayFile{.data_file = file, .offset_bitmaps = {"b"}});
    EXPECT_THAT(ParseOverlay(AsBytes(overlay), {"m"}),
                IsError(ErrorKind::kCorrupt, "the path of a data file"));

    std::string index_file;
    AppendBytes(1, path, &index_file);
    std::string index;
    AppendBytes(3, "by_x", &index);
    AppendBytes(10, index_file, &index);
    EXPECT_THAT(ParseIndex(AsBytes(index), {"m"}),
                IsError(ErrorKind::kCorrupt, "the path of a file of index 'by_x'"));
  }
  const DataFile good{.path = "a/b.lance", .fields = {0}, .column_indices = {0}};
  const std::string fragment = Serialize(DataFragment{.id = 7, .files = {good}});
  EXPECT_THAT(ParseDataFragment(AsBytes(fragment), {"m"}), IsOk());
}

}  // namespace
}  // namespace glaive::wire
