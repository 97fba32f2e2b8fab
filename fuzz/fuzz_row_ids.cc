// Any bytes as the row ids, and as the row versions, of a fragment whose number of rows the first
// two say. What is accepted is of so many rows, and is the same after it was written again.
#include <vector>

#include "bytes.h"
#include "table/rows/row_ids.h"
#include "table/rows/row_lineage.h"
#include "wire/fields.h"

namespace {

using namespace glaive;
using namespace glaive::table;

std::vector<uint64_t> ValuesOf(const RowIdSequence& sequence) {
  const RowRange rows = {0, sequence.size()};
  std::vector<uint64_t> ids(rows.size());
  sequence.Get({&rows, 1}, ids.data());
  return ids;
}

void TryIds(std::span<const std::byte> message, uint64_t num_rows) {
  const auto ids = RowIdSequence::Parse(message, num_rows, {"fuzz"});
  if (!ids.ok()) return;
  if (ids->size() != num_rows) __builtin_trap();
  std::vector<RowRange> ranges;
  ids->AppendTo({0, num_rows}, &ranges);
  for (const RowRange& range : ranges) {
    if (range.begin >= range.end) return;  // id 2^64 - 1, which no table gives
  }
  const std::string again = SerializeRowIds(ranges);
  const auto parsed = RowIdSequence::Parse(wire::AsBytes(again), num_rows, {"again"});
  if (!parsed.ok() || ValuesOf(*parsed) != ValuesOf(*ids)) __builtin_trap();
}

void TryVersions(std::span<const std::byte> message, uint64_t num_rows) {
  const auto runs = ParseRowVersions(message, num_rows, {"fuzz"});
  if (!runs.ok()) return;
  const std::string again = SerializeRowVersions(*runs);
  const auto parsed = ParseRowVersions(wire::AsBytes(again), num_rows, {"again"});
  if (!parsed.ok() || SerializeRowVersions(*parsed) != again) __builtin_trap();
  const RowRange middle = {num_rows / 3, num_rows - num_rows / 3};
  uint64_t left = 0;
  for (const VersionRun& run : WithVersion(*runs, {&middle, 1}, 7)) left += run.num_rows;
  if (left != num_rows) __builtin_trap();
  (void)SelectRows(*runs, {&middle, 1});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint64_t num_rows = data[0] | uint64_t{data[1]} << 8;
  const auto message = fuzz::Bytes(data, size).subspan(2);
  TryIds(message, num_rows);
  TryVersions(message, num_rows);
  (void)RowIdSequence::ParseFirst(message, num_rows, {"fuzz"});
  return 0;
}
