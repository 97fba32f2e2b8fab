#include "table/manifest/location.h"

namespace glaive::table {

std::string TableLocation::Path(std::string_view relative) const {
  std::string path = root;
  if (!path.ends_with('/')) path += '/';
  return path += relative;
}

}  // namespace glaive::table
