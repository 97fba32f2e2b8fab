#pragma once

#include <string>

#include "wire/file_metadata.h"

namespace glaive::file {

// How a page is encoded, for people: "MiniBlock(InlineBitpacking(16), def Flat(16))".
std::string DescribePage(const wire::Page& page);

}  // namespace glaive::file
