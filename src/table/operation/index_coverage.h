#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "table/manifest/index_list.h"
#include "table/manifest/manifest.h"

// What becomes of indices when a version changes what they were built from. They are never read or
// rebuilt: an index stays right by answering for fewer fragments, and the reader scans the others.
namespace glaive::table {

// The indices of `manifest` with each one's coverage in terms of the fragments that hold the rows
// now: what a deferred compaction left behind is translated. Corrupt for a bitmap that is damaged;
// Unsupported, naming an index, where the translation lies out of reach.
arrow::Result<IndexList> IndicesOf(const Manifest& manifest);

// The fields, all they are part of, and all that is part of them: values of one are values of the
// others, and an index may name any of these.
std::set<int32_t> RelatedFields(const wire::Schema& schema, const std::set<int32_t>& fields);

// Takes fragments from what the indices cover, so that none answers for rows that it has not seen;
// with `fields`, only from indices that name one of these. Unsupported, naming the index, for one
// that does not say what it covers.
arrow::Status Withdraw(IndexList& indices, std::span<const uint64_t> fragment_ids,
                       const std::optional<std::set<int32_t>>& fields);

// The above for the version that is being made: other values of `fields`, and of what is related to
// them in its schema, in fragments that stay.
arrow::Status WithdrawCoverage(Manifest& next, std::span<const uint64_t> fragment_ids,
                               const std::set<int32_t>& fields);

// Whether values were laid over a field of the index after it was built: `overlaid` are fields with
// the versions that did so. Once they are written into other fragments, nothing tells any more that
// the index does not know them.
bool IsOverlaid(const Index& index, const std::map<int32_t, uint64_t>& overlaid,
                const wire::Schema& schema);

// Drops indices on fields that left the schema, and of the segments of one index those that answer
// for no fragment while another does. An index of one segment stays, as does the oldest where none
// answers for anything: they say which index to build.
void DropIrrelevant(IndexList& indices, const Manifest& next);

}  // namespace glaive::table
