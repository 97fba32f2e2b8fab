#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "file/file_reader.h"
#include "file/file_writer.h"
#include "file/leaf_column.h"
#include "file/page_join.h"
#include "io/memory_store.h"
#include "testing/matchers.h"

namespace glaive::testing {

using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;
using FilePtr = std::shared_ptr<file::FileReader>;
using PagesOfColumns = std::vector<std::vector<file::CopiedPage>>;

constexpr uint64_t kNoPageLimit = uint64_t{256} << 20;

// Files of one field `c`, in a store of their own.
class ColumnFiles {
 public:
  ColumnFiles(TypePtr type, FileVersion version)
      : field_(arrow::field("c", std::move(type))), version_(version) {}

  std::vector<file::LeafColumn> leaves() const {
    return file::LeafColumn::Of(*field_).ValueOrDie();
  }

  FilePtr Write(const ArrayPtr& rows, uint64_t max_page_bytes = kNoPageLimit) {
    const auto batch = arrow::RecordBatch::Make(arrow::schema({field_}), rows->length(), {rows});
    auto writer = Create({.version = version_, .max_page_bytes = max_page_bytes}).ValueOrDie();
    ARROW_CHECK_OK(writer->Write(batch).status());
    return Open(writer->Finish().ValueOrDie().path).ValueOrDie();
  }

  // Nothing where pages cannot be joined after all.
  arrow::Result<FilePtr> Copy(const PagesOfColumns& columns) {
    ARROW_ASSIGN_OR_RAISE(auto writer, Create({.version = version_, .copied_fields = {0}}));
    for (size_t column = 0; column < columns.size(); ++column) {
      for (const file::CopiedPage& page : columns[column]) {
        ARROW_ASSIGN_OR_RAISE(const bool done,
                              file::WriteCopiedPage(
                                  page, column, file::PageEnd::kFileEnd, 0,
                                  [](uint64_t) { return arrow::Status::OK(); }, *writer));
        if (!done) return nullptr;
      }
    }
    ARROW_ASSIGN_OR_RAISE(const file::FileSummary summary, writer->Finish());
    return Open(summary.path);
  }

  // Corrupt where a file says that it has more rows than its pages, as who copies has to find out.
  arrow::Result<PagesOfColumns> Plan(const std::vector<FilePtr>& files,
                                     uint64_t max_page_bytes = kNoPageLimit) const {
    PagesOfColumns columns;
    uint32_t column = 0;
    for (const file::LeafColumn& leaf : leaves()) {
      std::vector<file::PageRef> pages;
      for (const FilePtr& source : files) {
        const file::FileMetadata& metadata = source->metadata();
        if (column >= metadata.columns.size()) return Corrupt({}, "columns are missing");
        uint64_t num_rows = 0;
        for (size_t page = 0; page < metadata.columns[column].pages.size(); ++page) {
          pages.push_back({source, column, page});
          num_rows += pages.back().metadata().num_rows;
        }
        if (num_rows != metadata.num_rows) return Corrupt({}, "rows are missing");
      }
      ARROW_ASSIGN_OR_RAISE(columns.emplace_back(),
                            file::PlanPageCopy(leaf, pages, max_page_bytes));
      ++column;
    }
    return columns;
  }

  arrow::Result<FilePtr> Join(const std::vector<FilePtr>& files) {
    ARROW_ASSIGN_OR_RAISE(const auto columns, Plan(files));
    return Copy(columns);
  }

  arrow::Result<ArrayPtr> Read(file::FileReader& file, std::span<const RowRange> rows) const {
    ARROW_ASSIGN_OR_RAISE(const auto paths, encoding::LeavesOf(*field_));
    std::vector<file::ColumnRead> reads;
    for (uint32_t i = 0; i < paths.size(); ++i) reads.push_back({i, &paths[i]});
    ARROW_ASSIGN_OR_RAISE(auto leaves, file.ReadColumns(reads, rows));
    return encoding::AssembleField(*field_, std::move(leaves));
  }
  arrow::Result<ArrayPtr> ReadAll(file::FileReader& file) const {
    const RowRange all = {0, file.metadata().num_rows};
    return Read(file, {&all, 1});
  }

  // All rows at once, and some by themselves, which are found by what pages say of their chunks.
  void ExpectRows(file::FileReader& file, const ArrayPtr& expected) const;

  std::string Bytes(const file::FileReader& file) const {
    const auto reader = store_->OpenRead(file.path()).ValueOrDie();
    return reader->Read({0, reader->size_bytes()}).ValueOrDie()->ToString();
  }
  arrow::Result<FilePtr> Put(const std::string& bytes) {
    const std::string path = NextPath();
    ARROW_CHECK_OK(store_->Put(path, std::as_bytes(std::span(bytes))));
    return Open(path);
  }

 private:
  std::string NextPath() { return "/" + std::to_string(num_files_++ % 16) + ".lance"; }
  arrow::Result<std::unique_ptr<file::FileWriter>> Create(const file::FileWriterOptions& options) {
    ARROW_ASSIGN_OR_RAISE(auto schema, wire::FromArrow(*arrow::schema({field_})));
    return file::FileWriter::Create(store_, NextPath(), std::move(schema), options);
  }
  arrow::Result<FilePtr> Open(const std::string& path) const {
    return file::FileReader::Open(store_, path, std::nullopt);
  }

  std::shared_ptr<arrow::Field> field_;
  FileVersion version_;
  std::shared_ptr<io::ObjectStore> store_ = io::MakeMemoryStore();
  size_t num_files_ = 0;
};

inline void ColumnFiles::ExpectRows(file::FileReader& file, const ArrayPtr& expected) const {
  const auto num_rows = static_cast<uint64_t>(expected->length());
  ASSERT_EQ(file.metadata().num_rows, num_rows);
  const auto read = ReadAll(file);
  ASSERT_THAT(read, IsOk());
  ASSERT_THAT((*read)->ValidateFull(), IsOk());
  ASSERT_TRUE((*read)->Equals(*expected));
  std::mt19937_64 random(num_rows);
  std::vector<RowRange> some;
  arrow::ArrayVector slices;
  for (uint64_t row = 0; row < num_rows; row += 1 + random() % (num_rows / 20 + 1)) {
    const uint64_t end = std::min(num_rows, row + 1 + random() % 3);
    some.push_back({row, end});
    slices.push_back(expected->Slice(static_cast<int64_t>(row), static_cast<int64_t>(end - row)));
    row = end;
  }
  const auto taken = Read(file, some);
  ASSERT_THAT(taken, IsOk());
  ASSERT_TRUE((*taken)->Equals(*arrow::Concatenate(slices).ValueOrDie()));
}

}  // namespace glaive::testing
