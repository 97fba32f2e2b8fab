// Mounts without hard links, and without renames that replace nothing: link(2) and renameat2(2) of
// this program are the ones below.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "io/object_store.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace {

std::atomic<int> link_error = 0;    // 0: it works
std::atomic<int> rename_error = 0;  // likewise
std::atomic<int> synced_files = 0;
std::atomic<int> renames = 0;

}  // namespace

extern "C" int link(const char* from, const char* to) noexcept {
  if (link_error == 0) return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = link_error;
  return -1;
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned int flags) noexcept {
  if (rename_error == 0) {
    ++renames;
    return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  }
  errno = rename_error;
  return -1;
}

extern "C" int fsync(int file) {
  struct stat status = {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) ++synced_files;
  return static_cast<int>(syscall(SYS_fsync, file));
}

namespace glaive::io {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;

struct Mount {
  std::string name;
  int link_error;
  int rename_error;
};

class NoLinksTest : public ::testing::TestWithParam<Mount> {
 protected:
  void SetUp() override {
    link_error = GetParam().link_error;
    rename_error = GetParam().rename_error;
  }
  void TearDown() override {
    link_error = 0;
    rename_error = 0;
  }

  arrow::Status Put(const std::string& text) {
    const std::vector<std::shared_ptr<arrow::Buffer>> parts = {arrow::Buffer::FromString(text),
                                                               arrow::Buffer::FromString("!")};
    return LocalStore()->PutIfAbsent(path_, parts, /*sync=*/true);
  }
  std::string Content() {
    const auto reader = LocalStore()->OpenRead(path_).ValueOrDie();
    return reader->Read({0, reader->size_bytes()}).ValueOrDie()->ToString();
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/_versions/1.manifest";
};

TEST_P(NoLinksTest, TheFirstOneStays) {
  ASSERT_THAT(Put("first"), IsOk());
  EXPECT_THAT(Put("second"), IsError(ErrorKind::kAlreadyExists, "1.manifest"));
  EXPECT_EQ(Content(), "first!");
  // No temporary file is left.
  EXPECT_EQ(LocalStore()->List(folder_.path() + "/_versions").ValueOrDie().size(), 1u);
}

// Nobody sees a part of it where one call can still give it its name, and its bytes are synced
// under the name that they have in the end.
TEST_P(NoLinksTest, WhatHasItsNameIsWholeAndSynced) {
  const int files_before = synced_files;
  const int renames_before = renames;
  ASSERT_THAT(Put("text"), IsOk());
  const bool can_link = GetParam().link_error == 0;
  const bool can_rename = GetParam().rename_error == 0;
  EXPECT_EQ(renames - renames_before, !can_link && can_rename ? 1 : 0);
  EXPECT_EQ(synced_files - files_before, can_link || can_rename ? 1 : 2);
}

TEST_P(NoLinksTest, OneOfManyWins) {
  std::atomic<int> winners = 0;
  std::atomic<int> losers = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const arrow::Status status = Put("writer " + std::to_string(i));
      if (status.ok()) {
        ++winners;
      } else if (KindOf(status) == ErrorKind::kAlreadyExists) {
        ++losers;
      }
    });
  }
  threads.clear();  // joins
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(losers, 7);
  EXPECT_EQ(LocalStore()->List(folder_.path() + "/_versions").ValueOrDie().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Mounts, NoLinksTest,
                         ::testing::Values(Mount{"Links", 0, 0}, Mount{"Renames", EPERM, 0},
                                           Mount{"RenamesOnly", EOPNOTSUPP, 0},
                                           Mount{"Neither", EPERM, EINVAL},
                                           Mount{"NeitherCall", ENOSYS, ENOSYS}),
                         [](const auto& test) { return test.param.name; });

// What is no answer to the question is no licence to try another way.
TEST(LinkErrorTest, AFaultIsRefused) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/1.manifest";
  link_error = EIO;
  const std::vector<std::shared_ptr<arrow::Buffer>> parts = {arrow::Buffer::FromString("text")};
  const arrow::Status status = LocalStore()->PutIfAbsent(path, parts, /*sync=*/false);
  link_error = 0;
  EXPECT_THAT(status, IsError(ErrorKind::kIO, "1.manifest"));
  EXPECT_THAT(LocalStore()->List(folder.path()).ValueOrDie(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace glaive::io
