// Any bytes as a Transaction: what is read is written the same again, meets one of each kind of
// operation on either side, and is applied to a small table, whose version must be one to read.
#include <string>
#include <vector>

#include "bytes.h"
#include "small_manifest.h"
#include "table/manifest/codec.h"
#include "table/operation/conflict.h"
#include "table/operation/field_identity.h"
#include "table/operation/transaction_codec.h"
#include "wire/fields.h"

namespace {

using namespace glaive;
using namespace glaive::table;

std::vector<Operation> OneOfEach() {
  const wire::DataFragment fragment = fuzz::SmallFragment("f1");
  return {Append{{fragment}},
          Delete{{fragment}, {2}, "", std::vector<uint64_t>{1, uint64_t{1} << 32}},
          Overwrite{},
          CreateIndex{},
          Rewrite{{{{fragment}, {fragment}}}, {}},
          Merge{},
          Restore{1},
          ReserveFragments{1},
          Update{.updated_fragments = {fragment},
                 .new_fragments = {fragment},
                 .inserted_rows = "filter",
                 .affected_rows = std::vector<uint64_t>{1}},
          Project{},
          UpdateConfig{},
          DataReplacement{{{1, fragment.files[0]}}},
          DataOverlay{{{1, {"overlay"}}}},
          UpdateMemWalState{},
          Clone{},
          UpdateBases{}};
}

void ApplyToSmallTable(const Manifest& manifest, const Operation& operation) {
  const auto next = Apply(manifest, operation);
  if (!next.ok()) return;
  (void)CheckFieldsStand(manifest, *next, operation);
  (void)next->fragments.Visit([](const Fragment& fragment) { return fragment.Parse().status(); });
  const auto parts = SerializeManifestFile(*next, std::nullopt);
  if (!parts.ok()) return;
  std::string file;
  for (const auto& part : *parts) file += part->ToString();
  const auto offset = ParseManifestFooter(wire::AsBytes(file), file.size(), "again");
  if (!offset.ok()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<Operation> others = OneOfEach();
  static const Manifest addresses = fuzz::SmallManifest(false);
  static const Manifest stable_ids = fuzz::SmallManifest(true);
  const auto transaction = ParseTransaction(fuzz::Bytes(data, size), {"fuzz"});
  if (!transaction.ok()) return 0;
  const std::string message = Serialize(*transaction);
  const auto again = ParseTransaction(wire::AsBytes(message), {"again"});
  if (!again.ok() || Serialize(*again) != message) __builtin_trap();
  if (!transaction->operation) return 0;
  const Operation& operation = *transaction->operation;
  for (const Operation& other : others) {
    (void)Conflict(operation, other);
    (void)Conflict(other, operation);
  }
  (void)Conflict(operation, operation);
  if (std::holds_alternative<Restore>(operation)) return 0;  // of a manifest that is not there
  ApplyToSmallTable(addresses, operation);
  ApplyToSmallTable(stable_ids, operation);
  return 0;
}
