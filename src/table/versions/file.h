#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "table/versions/hint.h"
#include "table/versions/versions.h"

namespace glaive::table {

// "18446744073709551613.manifest" for version 2 in scheme V2, "2.manifest" in V1; detached versions
// are named "d9223372036854775810.manifest" in both.
std::string ManifestName(uint64_t version, NamingScheme scheme);

// All attached versions, ascending, whatever their scheme; of sizes that are not known (0), since
// on a local disk they cost more than the names.
arrow::Result<std::vector<VersionEntry>> ListManifests(const TableLocation& table);

// Those above `version`, which is expected to be there itself or to be older than the newest; of a
// number that is missing between them nothing is there.
// `hint` is what ReadVersionHint gave, if anything. With `trusts_hint`, a caller who then puts the
// next version if absent, and asks again without it when there is one, may be told by the hint
// alone that there are none.
arrow::Result<std::vector<VersionEntry>> NewerVersions(const TableLocation& table, uint64_t version,
                                                       const std::optional<VersionHint>& hint,
                                                       bool trusts_hint);

// The Transaction message of a version as it is, and the file that it is in. Null where the version
// does not say.
struct TransactionMessage {
  std::shared_ptr<arrow::Buffer> message;
  std::string path;

  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(message->data()),
            static_cast<size_t>(message->size())};
  }
};
arrow::Result<TransactionMessage> ReadTransactionMessage(const TableLocation& table,
                                                         const VersionEntry& entry);

// A manifest file that is whole: its footer is right, and the length of the message fits. Opening
// one costs a read of its last 64 KiB, which mostly is all of it.
class ManifestFile {
 public:
  static arrow::Result<ManifestFile> Open(const TableLocation& table, const std::string& path,
                                          std::optional<uint64_t> size_bytes);

  uint64_t size_bytes() const { return reader_->size_bytes(); }
  uint64_t manifest_offset() const { return manifest_offset_; }  // of its length

  // The Manifest message. `arrived` is told while it is read, as ObjectReader::ReadInSteps does it,
  // of the message alone.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadMessage(
      const io::ObjectReader::Arrived& arrived);

  // The message of the section whose length lies at `offset`.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadSection(uint64_t offset);

  // The Transaction message, found by the chain of lengths at the file's head and without reading
  // the manifest; null where there is none.
  arrow::Result<std::shared_ptr<arrow::Buffer>> FindTransaction();

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(uint64_t offset, uint64_t size);
  arrow::Result<std::shared_ptr<arrow::Buffer>> SliceMessage(
      const std::shared_ptr<arrow::Buffer>& bytes, uint64_t bytes_offset) const;

  std::string path_;
  std::shared_ptr<io::ObjectReader> reader_;
  std::shared_ptr<arrow::Buffer> bytes_;  // the file from `bytes_offset_` to its end
  uint64_t bytes_offset_ = 0;
  uint64_t manifest_offset_ = 0;
};

}  // namespace glaive::table
