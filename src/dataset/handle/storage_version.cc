#include "dataset/handle/storage_version.h"

#include "core/error.h"

namespace glaive::dataset {

std::string NameOf(FileVersion version) {
  switch (version) {
    case FileVersion::k0_1: return "0.1";
    case FileVersion::k2_0: return "2.0";
    case FileVersion::k2_1: return "2.1";
    case FileVersion::k2_2: return "2.2";
    case FileVersion::k2_3: return "2.3";
  }
  return "";
}

arrow::Result<FileVersion> WritableVersion(std::string_view name) {
  if (name == "2.2" || name == "stable") return FileVersion::k2_2;
  if (name == "2.1") return FileVersion::k2_1;
  if (name == "2.0" || name == "0.3") return FileVersion::k2_0;
  if (name == "2.3" || name == "next") return FileVersion::k2_3;
  for (const std::string_view known : {"0.1", "legacy"}) {
    if (name == known) return Unsupported("data_storage_version \"{}\" is not written yet", name);
  }
  return InvalidInput("Unknown Lance storage version: {}", name);
}

}  // namespace glaive::dataset
