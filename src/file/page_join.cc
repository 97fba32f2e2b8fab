#include "file/page_join.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace glaive::file {
namespace {

// Every page that is joined leaves up to a dozen chunks that are smaller than the others. With
// smaller pages, on average, these would be more than a few in a hundred.
constexpr uint64_t kMeanMiniBlockBytes = uint64_t{1} << 20;

struct Candidate {
  uint64_t num_bytes = 0;
  uint64_t num_bits = 0;  // of its rows, by the measure of the page rule
  std::optional<encoding::MiniBlockJoin> chunks;
  std::optional<wire::MiniBlockLayout> chunk_layout;
  std::optional<wire::FullZipLayout> entries;
};

uint64_t BitsOf(uint64_t bytes) { return 8 * std::min(bytes, UINT64_MAX / 16); }

// The rows' bits where values have one width: all there is but the offsets of lists in lists.
uint64_t FixedWidthBits(const LeafColumn& leaf, uint64_t num_rows, uint64_t num_items) {
  const auto is_list = [](const LeafNode& node) {
    return node.kind == NodeKind::kList || node.kind == NodeKind::kLargeList;
  };
  auto lists = std::ranges::count_if(leaf.nodes(), is_list);
  uint64_t bits = 0;
  uint64_t slots = num_rows;
  for (const LeafNode& node : leaf.nodes()) {
    if (node.nullable && node.counted_validity) bits += slots;
    if (is_list(node)) {
      bits += (node.kind == NodeKind::kList ? 32 : 64) * slots;
      if (--lists == 0) slots = num_items;
    } else if (node.kind == NodeKind::kFixedList) {
      slots *= static_cast<uint64_t>(node.width);
    } else if (node.kind == NodeKind::kFixedWidth) {
      bits += static_cast<uint64_t>(node.width) * slots;
    }
  }
  return bits;
}

arrow::Result<Candidate> Examine(const LeafColumn& leaf, const PageRef& ref) {
  ARROW_RETURN_NOT_OK(ref.file->CheckPage({ref.column, &leaf.path()}, ref.page));
  const wire::Page& page = ref.metadata();
  const FileMetadata& file = ref.file->metadata();
  const Location where = {ref.file->path(), file.column_metadata[ref.column].offset};
  Candidate candidate;
  for (const ByteRange& buffer : page.buffers) candidate.num_bytes += buffer.size;
  candidate.num_bits = 8 * candidate.num_bytes;
  ARROW_ASSIGN_OR_RAISE(
      const wire::PageLayout layout,
      wire::ParsePageLayout(std::as_bytes(std::span(page.encoding.value)), where));
  if (const auto* mini_block = std::get_if<wire::MiniBlockLayout>(&layout)) {
    ARROW_ASSIGN_OR_RAISE(candidate.chunks, encoding::MiniBlockJoin::Make(*mini_block, leaf.path(),
                                                                          file.version, where));
    if (!candidate.chunks) return candidate;
    candidate.num_bits = FixedWidthBits(leaf, page.num_rows, mini_block->num_items);
    if (candidate.num_bytes < kMinJoinedBytes) candidate.chunks.reset();
    candidate.chunk_layout = *mini_block;
  } else if (const auto* full_zip = std::get_if<wire::FullZipLayout>(&layout)) {
    if (full_zip->bits_per_value) {
      candidate.num_bits = FixedWidthBits(leaf, page.num_rows, full_zip->num_visible_items);
    }
    if (candidate.num_bytes >= kMinJoinedBytes) candidate.entries = *full_zip;
  }
  return candidate;
}

std::vector<wire::RepDefLayer> LayersOf(const wire::PageLayout& layout) {
  return std::visit(
      []<typename Layout>(const Layout& any) {
        if constexpr (std::is_same_v<Layout, wire::UnknownLayout>) {
          return std::vector<wire::RepDefLayer>();
        } else {
          return any.layers;
        }
      },
      layout);
}

// Whether the layouts differ in the numbers of entries alone.
bool SameEntries(wire::FullZipLayout left, wire::FullZipLayout right) {
  for (wire::FullZipLayout* layout : {&left, &right}) {
    layout->num_items = layout->num_visible_items = 0;
  }
  return wire::Serialize(wire::PageLayout(left)) == wire::Serialize(wire::PageLayout(right));
}

// Puts a page behind those of `open`, if it goes with them.
bool Join(const Candidate& next, CopiedPage& open) {
  if (next.chunks && open.chunks) return open.chunks->Takes(*next.chunk_layout);
  if (!next.entries || !open.entries || !SameEntries(*next.entries, *open.entries)) return false;
  if (next.entries->num_items > UINT32_MAX - open.entries->num_items) return false;
  open.entries->num_items += next.entries->num_items;
  open.entries->num_visible_items += next.entries->num_visible_items;
  return true;
}

}  // namespace

arrow::Result<std::vector<CopiedPage>> PlanPageCopy(const LeafColumn& leaf,
                                                    std::span<const PageRef> pages,
                                                    uint64_t max_page_bytes) {
  const uint64_t max_bits = BitsOf(max_page_bytes);
  std::vector<CopiedPage> copied;
  for (const PageRef& page : pages) {
    if (page.metadata().num_rows == 0) continue;
    ARROW_ASSIGN_OR_RAISE(Candidate next, Examine(leaf, page));
    const bool joined = !copied.empty() && copied.back().num_bits + next.num_bits <= max_bits &&
                        Join(next, copied.back());
    if (!joined) {
      copied.push_back(
          {.sources = {}, .chunks = std::move(next.chunks), .entries = std::move(next.entries)});
    }
    CopiedPage& open = copied.back();
    open.sources.push_back(page);
    open.num_rows += page.metadata().num_rows;
    open.num_bytes += next.num_bytes;
    open.num_bits += next.num_bits;
  }
  return copied;
}

arrow::Result<bool> AgreeOnNulls(const LeafColumn& leaf, std::span<const PageRef> pages) {
  const std::vector<encoding::LayerFacts> shared = leaf.SharedFacts();
  if (std::ranges::none_of(shared, &encoding::LayerFacts::nulls)) return true;
  std::vector<wire::RepDefLayer> first;
  for (const PageRef& ref : pages) {
    const wire::Page& page = ref.metadata();
    const FileMetadata& file = ref.file->metadata();
    ARROW_ASSIGN_OR_RAISE(
        const wire::PageLayout layout,
        wire::ParsePageLayout(std::as_bytes(std::span(page.encoding.value)),
                              {ref.file->path(), file.column_metadata[ref.column].offset}));
    const auto layers = LayersOf(layout);
    if (layers.size() != shared.size()) return false;
    if (first.empty()) first = layers;
    for (size_t i = 0; i < shared.size(); ++i) {
      const size_t from_leaf = shared.size() - 1 - i;
      if (shared[i].nulls && layers[from_leaf] != first[from_leaf]) return false;
    }
  }
  return true;
}

bool AreAsGoodAsNew(std::span<const CopiedPage> pages, uint64_t max_page_bytes) {
  const uint64_t max_bits = BitsOf(max_page_bytes);
  return std::ranges::all_of(pages, [&](const CopiedPage& page) {
    const bool small = page.num_bits < max_bits - max_bits / 8 && &page != &pages.back();
    const bool large = page.num_bits > max_bits && page.num_rows > 1;
    const bool scattered = page.chunks && page.sources.size() > 1 &&
                           page.num_bytes < kMeanMiniBlockBytes * page.sources.size();
    return !small && !large && !scattered;
  });
}

}  // namespace glaive::file
