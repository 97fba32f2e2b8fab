#pragma once

#include <string>

#include <arrow/result.h>

#include "glaive/fragment.h"
#include "wire/fragment.h"

// The files of a fragment between what users hold and what messages say.
namespace glaive::dataset {

DataFileInfo InfoOf(const wire::DataFile& file);
wire::DataFile WireOf(const DataFileInfo& info);

// DataOverlayFile messages. InvalidInput unless the offsets of an overlay ascend and there is a
// list of them for each field, or one for all.
arrow::Result<OverlayFile> OverlayInfoOf(const std::string& message);
arrow::Result<std::string> OverlayMessageOf(const OverlayFile& overlay);

}  // namespace glaive::dataset
