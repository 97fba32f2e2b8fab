// Any bytes as the index section of a small table: it is listed, followed through the versions that
// change what indices cover, and written again.
#include <string>

#include "bytes.h"
#include "glaive/dataset.h"
#include "glaive/index.h"
#include "glaive/session.h"
#include "small_manifest.h"
#include "table/manifest/codec.h"
#include "table/manifest/index_files.h"
#include "table/operation/index_coverage.h"

namespace {

using namespace glaive;
using namespace glaive::table;

void Follow(Manifest manifest) {
  auto indices = IndicesOf(manifest);
  if (!indices.ok()) return;
  const uint64_t first = 0;
  (void)Withdraw(*indices, {&first, 1}, std::set<int32_t>{0});
  DropIrrelevant(*indices, manifest);
  const auto section = indices->Serialize();
  if (!section.ok() || !IndexList::Parse(*section, {"again"}).ok()) __builtin_trap();
  const DataReplacement replacement{{{1,
                                      {.path = "new",
                                       .fields = {1},
                                       .column_indices = {0},
                                       .file_major_version = 2,
                                       .file_minor_version = 2}}}};
  (void)Apply(manifest, replacement);
  const wire::DataFragment moved = fuzz::SmallFragment("moved");
  (void)Apply(manifest, Rewrite{{{{fuzz::SmallFragment("f0")}, {moved}}}, {}});
  (void)Apply(manifest, Update{.removed_fragment_ids = {1}, .new_fragments = {moved}});
}

void List(const Manifest& manifest) {
  const auto parts = SerializeManifestFile(manifest, std::nullopt);
  if (!parts.ok()) return;
  std::string file;
  for (const auto& part : *parts) file += part->ToString();
  fuzz::PutFile("/fuzz/_versions/18446744073709551614.manifest",
                reinterpret_cast<const uint8_t*>(file.data()), file.size());
  const auto dataset =
      Dataset::Open("memory:///fuzz", {.version = 1, .session = std::make_shared<Session>(0)});
  if (dataset.ok()) (void)ListIndices(*dataset);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Manifest addresses = fuzz::SmallManifest(false);
  static const Manifest stable_ids = fuzz::SmallManifest(true);
  for (const Manifest& table : {addresses, stable_ids}) {
    Manifest manifest = table;
    manifest.index_section.assign(reinterpret_cast<const char*>(data), size);
    (void)IndexFolders(manifest.index_section, {"fuzz"});
    List(manifest);
    Follow(std::move(manifest));
  }
  return 0;
}
