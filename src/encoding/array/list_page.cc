#include "encoding/array/list_page.h"

#include <utility>

#include "core/error.h"

namespace glaive::encoding {

arrow::Result<std::shared_ptr<const ListPage>> ListPage::Open(std::span<const std::byte> encoding,
                                                              const ArraySource& source) {
  ARROW_ASSIGN_OR_RAISE(const auto parsed, wire::ParseArrayEncoding(encoding, source.where()));
  const auto* list = std::get_if<wire::ListArray>(&parsed->kind);
  if (list == nullptr) {
    return Corrupt(source.where(), "a column of lists in encoding {}", parsed->kind.index());
  }
  if (list->null_adjustment <= list->num_items) {
    return Corrupt(source.where(), "a null adjustment of {} for {} items", list->null_adjustment,
                   list->num_items);
  }
  constexpr uint64_t kEndBits = 64;
  ARROW_ASSIGN_OR_RAISE(auto ends,
                        FixedValues::Validate(*list->offsets, kEndBits, source.num_slots, source));
  if (ends.is_constant()) return Corrupt(source.where(), "lists that all end at one place");
  return std::shared_ptr<const ListPage>(
      new ListPage(std::move(ends), list->null_adjustment, list->num_items, source));
}

std::unique_ptr<ListRead> ListPage::Read(std::span<const RowRange> lists) const {
  return std::make_unique<ListRead>(shared_from_this(), lists);
}

ListRead::ListRead(std::shared_ptr<const ListPage> page, std::span<const RowRange> lists)
    : page_(std::move(page)),
      lists_(JoinRanges(lists)),
      ends_(page_->ends_.Read(WithPrevious(lists_))) {}

arrow::Result<std::vector<Extents>> ListRead::Take() {
  ARROW_ASSIGN_OR_RAISE(const auto ends, ends_.Words<uint64_t>());
  std::span<const uint64_t> left(ends);
  std::vector<Extents> runs;
  for (const RowRange& range : lists_) {
    const uint64_t count = range.size() + (range.begin > 0 ? 1 : 0);
    ARROW_ASSIGN_OR_RAISE(runs.emplace_back(),
                          ExtentsOf(left.first(count), range.begin == 0, page_->null_adjustment_,
                                    page_->num_items_, {page_->path_, page_->metadata_offset_}));
    left = left.subspan(count);
  }
  return runs;
}

}  // namespace glaive::encoding
