#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/metadata.h"
#include "glaive/version_options.h"

// Example:
//
//     const MetadataEdit edit = {.entries = {{"lance.auto_cleanup.interval", "20"}}};
//     ARROW_ASSIGN_OR_RAISE(const Dataset configured, UpdateConfig(dataset, edit));
//     for (const DatasetBasePath& base : BasePaths(configured)) std::cout << base.path << "\n";
namespace glaive {

/// Settings that engines read; keys that begin with "lance." are theirs. One version, as with each
/// call below. Two writers may edit different keys at once; of one key the second gets a
/// CommitConflict, for good.
arrow::Result<Dataset> UpdateConfig(const Dataset& dataset, const MetadataEdit& edit,
                                    const VersionOptions& options = {});

/// Notes of users about a table. No engine reads them.
arrow::Result<Dataset> UpdateTableMetadata(const Dataset& dataset, const MetadataEdit& edit,
                                           const VersionOptions& options = {});

/// The metadata of the Arrow schema.
arrow::Result<Dataset> UpdateSchemaMetadata(const Dataset& dataset, const MetadataEdit& edit,
                                            const VersionOptions& options = {});

/// The metadata of fields, by name or by dotted path. The reserved keys
/// "lance-schema:unenforced-primary-key", "…:position" and "…-clustering-key:position" mark keys,
/// which cannot be changed once they are set.
///
/// Errors: InvalidInput for fields that are not there, and for keys that cannot be.
arrow::Result<Dataset> UpdateFieldMetadata(const Dataset& dataset,
                                           const std::map<std::string, MetadataEdit>& edits,
                                           const VersionOptions& options = {});

/// The bases of this version, in the order in which they were added.
std::vector<DatasetBasePath> BasePaths(const Dataset& dataset);

/// Errors: InvalidInput where a base has that id, name or path.
arrow::Result<Dataset> AddBases(const Dataset& dataset, std::span<const DatasetBasePath> bases,
                                const VersionOptions& options = {});

}  // namespace glaive
