#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "io/object_store.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

namespace glaive::table {

enum class FileKind : uint8_t { kData, kDeletion, kIndex };

struct FilePlace {
  std::shared_ptr<io::ObjectStore> store;
  std::string path;
};

// Where a file lies: in the table itself, or in the base that its `base_id` names. `name` is the
// file's below data/, _deletions/ or _indices/. A base that is no table holds the files themselves,
// and no deletion files. Corrupt where the base is not listed.
arrow::Result<FilePlace> PlaceOf(const TableLocation& table, const Manifest& manifest,
                                 FileKind kind, std::string_view name,
                                 std::optional<uint32_t> base_id);

}  // namespace glaive::table
