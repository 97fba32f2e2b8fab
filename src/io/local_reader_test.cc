#include "io/local_reader.h"

#include <sys/resource.h>
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace glaive::io {
namespace {

using testing::BytesOf;
using testing::IsError;
using testing::IsOk;
using testing::TemporaryFolder;

size_t DescriptorsOfProcess() {
  const std::filesystem::directory_iterator open_files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open_files), end(open_files)));
}

std::string FileOf(const TemporaryFolder& folder, size_t number) {
  return folder.path() + "/" + std::to_string(number);
}

TEST(LocalReaderTest, ReadersMayOutnumberDescriptors) {
  const TemporaryFolder folder;
  constexpr size_t kFiles = 400;
  const size_t before = DescriptorsOfProcess();
  std::vector<std::shared_ptr<ObjectReader>> readers;
  for (size_t i = 0; i < kFiles; ++i) {
    ASSERT_THAT(LocalStore()->Put(FileOf(folder, i), BytesOf(std::to_string(i))), IsOk());
    const bool size_known = i % 2 == 0;
    readers.push_back(
        OpenLocalFile(FileOf(folder, i),
                      size_known ? std::optional<uint64_t>(std::to_string(i).size()) : std::nullopt)
            .ValueOrDie());
  }
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < kFiles; ++i) {
      const auto buffer = readers[i]->Read({0, readers[i]->size_bytes()}).ValueOrDie();
      ASSERT_EQ(buffer->ToString(), std::to_string(i));
    }
  }
  EXPECT_GT(NumOpenDescriptors(), 0);
  EXPECT_LE(NumOpenDescriptors(), kMaxOpenDescriptors);
  EXPECT_LE(DescriptorsOfProcess(), before + kMaxOpenDescriptors);
  readers.clear();
  EXPECT_EQ(NumOpenDescriptors(), 0);
  EXPECT_EQ(DescriptorsOfProcess(), before);
}

TEST(LocalReaderTest, FilesThatAreDeletedAreNotHeldOpen) {
  const TemporaryFolder folder;
  std::vector<std::shared_ptr<ObjectReader>> readers;
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_THAT(LocalStore()->Put(FileOf(folder, i), BytesOf("bytes")), IsOk());
    readers.push_back(OpenLocalFile(FileOf(folder, i), std::nullopt).ValueOrDie());
  }
  readers.push_back(OpenLocalFile(FileOf(folder, 1), std::nullopt).ValueOrDie());
  const size_t before = NumOpenDescriptors();
  ASSERT_THAT(LocalStore()->Delete(FileOf(folder, 1)), IsOk());
  EXPECT_EQ(NumOpenDescriptors(), before - 2);
  EXPECT_THAT(readers[0]->Read({0, 5}), IsOk());
  EXPECT_THAT(readers[1]->Read({0, 5}), IsError(ErrorKind::kFileNotFound, FileOf(folder, 1)));
  ASSERT_THAT(LocalStore()->DeleteFolder(folder.path()), IsOk());
  EXPECT_EQ(NumOpenDescriptors(), 0);
}

TEST(LocalReaderTest, WhereDescriptorsRunOutIdleOnesAreClosed) {
  const TemporaryFolder folder;
  std::vector<std::shared_ptr<ObjectReader>> readers;
  for (size_t i = 0; i < 20; ++i) {
    ASSERT_THAT(LocalStore()->Put(FileOf(folder, i), BytesOf("x")), IsOk());
    readers.push_back(OpenLocalFile(FileOf(folder, i), std::nullopt).ValueOrDie());
  }
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit tight = {.rlim_cur = DescriptorsOfProcess() - 1, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &tight);
  const auto written = LocalStore()->Put(FileOf(folder, 100), BytesOf("x"));
  const auto read = readers[0]->Read({0, 1});
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_THAT(written, IsOk());
  EXPECT_THAT(read, IsOk());
}

TEST(LocalReaderTest, AKnownSizeCostsNoLookAndAWrongOneIsAnError) {
  const TemporaryFolder folder;
  const std::string path = FileOf(folder, 0);
  const auto missing = OpenLocalFile(path, 100);
  ASSERT_THAT(missing, IsOk());
  EXPECT_THAT((*missing)->Read({0, 1}), IsError(ErrorKind::kFileNotFound, path));
  ASSERT_THAT(LocalStore()->Put(path, BytesOf("0123456789")), IsOk());
  EXPECT_THAT((*missing)->Read({8, 2}), IsOk());
  EXPECT_THAT((*missing)->Read({8, 5}),
              IsError(ErrorKind::kCorrupt, "byte 8: 5 bytes expected here, the file ends after 2"));
  // A size out of a damaged manifest is not allocated.
  const auto huge = OpenLocalFile(path, uint64_t{1} << 62).ValueOrDie();
  EXPECT_THAT(huge->Read({0, uint64_t{1} << 61}),
              IsError(ErrorKind::kCorrupt, "the file ends at byte 10"));
}

TEST(LocalReaderTest, AFileThatIsCutUnderTheReaderIsAnError) {
  const TemporaryFolder folder;
  const std::string path = FileOf(folder, 0);
  ASSERT_THAT(LocalStore()->Put(path, BytesOf(std::string(10'000, 'x'))), IsOk());
  const auto reader = OpenLocalFile(path, std::nullopt).ValueOrDie();
  std::filesystem::resize_file(path, 5'000);
  EXPECT_THAT(reader->Read({4'000, 1'000}), IsOk());
  EXPECT_THAT(reader->Read({4'000, 1'001}), IsError(ErrorKind::kCorrupt, path));
}

TEST(LocalReaderTest, ALargeReadTellsOnTheWayWhatHasArrived) {
  const TemporaryFolder folder;
  const std::string path = FileOf(folder, 0);
  std::string bytes(9 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i >> 10);
  ASSERT_THAT(LocalStore()->Put(path, BytesOf(bytes)), IsOk());
  const auto reader = OpenLocalFile(path, std::nullopt).ValueOrDie();
  const ByteRange range = {.offset = 1000, .size = bytes.size() - 1000};
  const std::string_view expected = std::string_view(bytes).substr(range.offset);
  std::vector<uint64_t> steps;
  const auto compare = [&](const std::shared_ptr<arrow::Buffer>& buffer, uint64_t num_bytes) {
    EXPECT_EQ(std::string_view(*buffer).substr(0, num_bytes), expected.substr(0, num_bytes));
    steps.push_back(num_bytes);
    return arrow::Status::OK();
  };
  EXPECT_EQ(reader->ReadInSteps(range, compare).ValueOrDie()->ToString(), expected);
  EXPECT_GT(steps.size(), 2);
  EXPECT_TRUE(std::ranges::is_sorted(steps));
  EXPECT_EQ(steps.back(), range.size);

  steps.clear();
  const auto stop = [&](const std::shared_ptr<arrow::Buffer>&, uint64_t num_bytes) {
    steps.push_back(num_bytes);
    return arrow::Status::Cancelled("enough of it");
  };
  EXPECT_TRUE(reader->ReadInSteps(range, stop).status().IsCancelled());
  EXPECT_EQ(steps.size(), 1);

  std::filesystem::resize_file(path, 5 << 20);
  EXPECT_THAT(reader->ReadInSteps(range, compare), IsError(ErrorKind::kCorrupt, path));
}

TEST(LocalReaderTest, ThreadsReadWhileDescriptorsComeAndGo) {
  const TemporaryFolder folder;
  constexpr size_t kFiles = 200;
  std::vector<std::shared_ptr<ObjectReader>> readers;
  for (size_t i = 0; i < kFiles; ++i) {
    ASSERT_THAT(LocalStore()->Put(FileOf(folder, i), BytesOf(std::to_string(i))), IsOk());
    readers.push_back(OpenLocalFile(FileOf(folder, i), std::nullopt).ValueOrDie());
  }
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t step = 0; step < 2'000; ++step) {
        const size_t i = (step * 37 + thread * 61) % kFiles;
        const auto buffer = readers[i]->Read({0, readers[i]->size_bytes()});
        ASSERT_TRUE(buffer.ok());
        ASSERT_EQ((*buffer)->ToString(), std::to_string(i));
        if (step % 100 == 0) CloseIdleDescriptors();
      }
    });
  }
}

}  // namespace
}  // namespace glaive::io
