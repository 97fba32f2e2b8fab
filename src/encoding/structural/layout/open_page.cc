#include "encoding/structural/layout/open_page.h"

#include "encoding/structural/constant/page.h"
#include "encoding/structural/full_zip/page.h"
#include "encoding/structural/mini_block/page.h"
#include "encoding/structural/sparse/page.h"
#include "wire/encodings_v2_1.h"
#include "wire/encodings_v2_3.h"

namespace glaive::encoding {
namespace {

// The layouts of this build, each with its own file.
struct PageMaker {
  const PageSource& source;
  const LeafPath& path;

  using Made = arrow::Result<std::shared_ptr<PageDecoder>>;

  Made operator()(const wire::MiniBlockLayout& layout) const {
    return MakeMiniBlockPage(layout, source, path);
  }
  Made operator()(const wire::FullZipLayout& layout) const {
    return MakeFullZipPage(layout, source, path);
  }
  Made operator()(const wire::ConstantLayout& layout) const {
    return MakeConstantPage(layout, source, path);
  }
  Made operator()(const wire::UnknownLayout& layout) const {
    constexpr uint32_t kBlob = 4;
    const Location where = {source.path, source.layout_offset};
    if (layout.number == kBlob) return Unsupported(where, "a page of blobs");
    return Unsupported(where, "page layout {}", layout.number);
  }
};

}  // namespace

arrow::Result<std::shared_ptr<PageDecoder>> OpenPage(const PageSource& source,
                                                     const LeafPath& path) {
  const Location where = {source.path, source.layout_offset};
  if (source.version < FileVersion::k2_1) {
    return Unsupported(where, "pages of files before version 2.1");
  }
  if (source.version >= FileVersion::k2_3) {
    ARROW_ASSIGN_OR_RAISE(const auto planar, wire::ParsePlanarLayout(source.layout, where));
    if (std::holds_alternative<wire::SparseStructure>(planar.structure)) {
      return MakeSparsePage(planar, source, path);
    }
    ARROW_ASSIGN_OR_RAISE(const auto dense, wire::ToPageLayout(planar, where));
    return std::visit(PageMaker{source, path}, dense);
  }
  ARROW_ASSIGN_OR_RAISE(const wire::PageLayout layout, wire::ParsePageLayout(source.layout, where));
  return std::visit(PageMaker{source, path}, layout);
}

}  // namespace glaive::encoding
