#pragma once

// The whole public API.
//
// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const Dataset table, Dataset::Open("/data/images.lance"));
//     ARROW_ASSIGN_OR_RAISE(const CompactionResult compacted, CompactFiles(table));

#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/compaction.h"
#include "glaive/config.h"
#include "glaive/dataset.h"
#include "glaive/error.h"
#include "glaive/files.h"
#include "glaive/fragment.h"
#include "glaive/history.h"
#include "glaive/index.h"
#include "glaive/maintain.h"
#include "glaive/metadata.h"
#include "glaive/operation.h"
#include "glaive/refs.h"
#include "glaive/repair.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/schema.h"
#include "glaive/session.h"
#include "glaive/staged_columns.h"
#include "glaive/verify.h"
#include "glaive/version_options.h"
#include "glaive/write.h"
