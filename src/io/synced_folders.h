#pragma once

#include <string>

#include <arrow/result.h>

// Names of folders on stable storage. A file is lost with a folder whose own name is, whoever made
// that folder, and another process may not have synced it.
namespace glaive::io {

// Syncs the names in `folder`, then the name of the folder itself and of those above it, up to
// where its file system is mounted. What this process has seen to once is not done again.
arrow::Status SyncFolderAndName(const std::string& folder);

}  // namespace glaive::io
