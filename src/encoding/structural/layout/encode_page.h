#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/file_version.h"
#include "encoding/levels/leaf.h"
#include "encoding/levels/level_scheme.h"
#include "encoding/structural/page/encoded_page.h"

namespace glaive::encoding {

struct PageEncodeOptions {
  FileVersion version = FileVersion::k2_2;
  std::string column_name;            // for errors
  std::vector<LayerFacts> elsewhere;  // see MakeLevelScheme
};

// Encodes one leaf of consecutive slices of a field's values: `pieces` are arrays of the top-level
// field (with offsets and lengths of their own, in any cutting: it leaves no trace), `path` the
// leaf in it. One page, or several where a limit of the format cuts (levels in a chunk, entries of
// a full-zip page). What is hidden behind nulls is not stored. Borrows the pieces.
arrow::Result<std::vector<EncodedPage>> EncodePages(
    std::span<const std::shared_ptr<arrow::ArrayData>> pieces, const LeafPath& path,
    const PageEncodeOptions& options);

}  // namespace glaive::encoding
