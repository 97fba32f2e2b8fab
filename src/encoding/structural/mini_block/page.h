#pragma once

#include <memory>

#include <arrow/result.h>

#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// A page cut into chunks of a few KiB, each with the levels of its values. Buffers: chunk words,
// chunks, then a dictionary and a repetition index if the page has them. The first read fetches
// what is beside the chunks, later ones find their chunks by it.
arrow::Result<std::shared_ptr<PageDecoder>> MakeMiniBlockPage(const wire::MiniBlockLayout& layout,
                                                              const PageSource& source,
                                                              const LeafPath& path);

}  // namespace glaive::encoding
