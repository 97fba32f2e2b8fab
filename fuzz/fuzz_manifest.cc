// Any bytes as a manifest file: footer, sections, every fragment, the schema in Arrow's terms.
#include <string>

#include "bytes.h"
#include "glaive/dataset.h"
#include "glaive/fragment.h"
#include "glaive/session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  glaive::fuzz::PutFile("/fuzz/_versions/18446744073709551614.manifest", data, size);
  const auto dataset = glaive::Dataset::Open(
      "memory:///fuzz", {.version = 1, .session = std::make_shared<glaive::Session>(0)});
  if (!dataset.ok()) return 0;
  (void)dataset->CountRows();
  (void)dataset->summary();
  if (const auto fragments = dataset->Fragments(); fragments.ok()) {
    for (const auto& fragment : *fragments) {
      (void)fragment.files();
      (void)fragment.deletion_file();
      (void)glaive::FragmentMetadata::FromJson(fragment.ToJson());
    }
  }
  (void)glaive::ReadTransaction(*dataset, dataset->version());
  return 0;
}
