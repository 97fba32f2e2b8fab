#include "file/array_column.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/too_large.h"
#include "wire/file_columns.h"
#include "wire/schema.h"

namespace glaive::file {
namespace {

void AddColumns(const std::vector<wire::Field>& fields, std::vector<uint32_t>& lists,
                std::vector<ArrayColumn>& columns) {
  for (const wire::Field& field : fields) {
    const auto column = static_cast<uint32_t>(columns.size());
    columns.push_back({.lists = lists, .is_dictionary = field.logical_type.starts_with("dict:")});
    if (!wire::HasChildColumns(field)) continue;
    const bool is_list = field.logical_type != "struct";
    if (is_list) lists.push_back(column);
    AddColumns(field.children, lists, columns);
    if (is_list) lists.pop_back();
  }
}

// The page with a slot: the last one to begin at or before it. REQUIRES: there are pages
size_t PageWith(const std::vector<wire::Page>& pages, uint64_t slot) {
  const auto after = std::upper_bound(
      pages.begin(), pages.end(), slot,
      [](uint64_t wanted, const wire::Page& page) { return wanted < page.priority; });
  return static_cast<size_t>(std::max(after, pages.begin() + 1) - 1 - pages.begin());
}

double PerSlot(double bytes, uint64_t num_slots) {
  return bytes / static_cast<double>(std::max<uint64_t>(num_slots, 1));
}

// Appends lists to their layer; returns how many items they have.
template <typename Offset>
arrow::Result<uint64_t> AppendLists(std::span<const encoding::Extents> runs,
                                    encoding::LayerBuilder& layer) {
  uint64_t num_items = 0;
  std::vector<Offset> begins;
  for (const encoding::Extents& run : runs) {
    const size_t num_slots = run.offsets.size() - 1;
    begins.clear();
    begins.reserve(num_slots);
    for (size_t i = 0; i < num_slots; ++i) {
      begins.push_back(static_cast<Offset>(num_items));
      const bool is_valid = run.validity.empty() || run.validity[i] != 0;
      if (is_valid) num_items += run.offsets[i + 1] - run.offsets[i];
    }
    if (num_items > static_cast<uint64_t>(std::numeric_limits<Offset>::max())) {
      return TooLarge("the lists of one batch have more than {} items",
                      std::numeric_limits<Offset>::max());
    }
    ARROW_RETURN_NOT_OK(
        layer.offsets.Append(begins.data(), static_cast<int64_t>(begins.size() * sizeof(Offset))));
    ARROW_RETURN_NOT_OK(run.validity.empty()
                            ? layer.validity.AppendValid(static_cast<int64_t>(num_slots))
                            : layer.validity.AppendBytes(run.validity));
  }
  return num_items;
}

}  // namespace

arrow::Result<std::vector<ArrayColumn>> ArrayColumnsOf(const wire::Schema& schema,
                                                       size_t num_columns,
                                                       const std::string& path) {
  std::vector<ArrayColumn> columns;
  std::vector<uint32_t> lists;
  AddColumns(schema.fields, lists, columns);
  if (columns.size() == num_columns) return columns;
  return Corrupt({path}, "it has {} columns, but {} fields that need one", num_columns,
                 columns.size());
}

arrow::Result<std::unique_ptr<ArrayColumnRead>> ArrayColumnRead::Make(
    ArrayColumnPages column, std::span<const RowRange> rows) {
  std::unique_ptr<ArrayColumnRead> read(new ArrayColumnRead(std::move(column)));
  read->num_rows_ = CountRows(rows);
  ARROW_RETURN_NOT_OK(read->Start({rows.begin(), rows.end()}));
  return read;
}

// Goes on to the next column that wants something, or to the end.
arrow::Status ArrayColumnRead::Start(std::vector<RowRange> slots) {
  while (levels_.size() < column_.lists.size()) {
    ARROW_RETURN_NOT_OK(StartList(slots));
    if (!wanted_.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(slots, FinishList());
  }
  return StartLeaf(slots);
}

arrow::Status ArrayColumnRead::StartList(std::span<const RowRange> slots) {
  const ArrayColumnPages::List& list = column_.lists[levels_.size()];
  return VisitPages(*list.pages, slots, [&](size_t page, std::span<const RowRange> of_page) {
    auto read = list.column->pages[page]->Read(of_page);
    wanted_.insert(wanted_.end(), read->wanted().begin(), read->wanted().end());
    list_reads_.push_back({std::move(read), list.column->first_items[page]});
    return arrow::Status::OK();
  });
}

// The items of the lists that were read, in the column below.
arrow::Result<std::vector<RowRange>> ArrayColumnRead::FinishList() {
  std::vector<RowRange> items;
  Level& level = levels_.emplace_back();
  for (PageOfLists& page : list_reads_) {
    ARROW_ASSIGN_OR_RAISE(auto runs, page.read->Take());
    for (encoding::Extents& run : runs) {
      for (size_t i = 0; i + 1 < run.offsets.size(); ++i) {
        const uint64_t begin = page.first_item + run.offsets[i];
        const uint64_t end = page.first_item + run.offsets[i + 1];
        const bool is_valid = run.validity.empty() || run.validity[i] != 0;
        if (!is_valid || begin == end) continue;
        if (!items.empty() && items.back().end == begin) {
          items.back().end = end;
        } else {
          items.push_back({begin, end});
        }
      }
      level.runs.push_back(std::move(run));
    }
  }
  list_reads_.clear();
  return items;
}

arrow::Status ArrayColumnRead::StartLeaf(std::span<const RowRange> slots) {
  ARROW_RETURN_NOT_OK(VisitPages(
      *column_.pages, slots, [&](size_t page, std::span<const RowRange> of_page) -> arrow::Status {
        ARROW_ASSIGN_OR_RAISE(const auto decoder, column_.decoder(page));
        ARROW_ASSIGN_OR_RAISE(auto read, decoder->Read(of_page));
        leaf_reads_.push_back(std::move(read));
        expected_bytes_ += PerSlot(static_cast<double>(decoder->decoded_bytes()),
                                   (*column_.pages)[page].num_rows) *
                           static_cast<double>(CountRows(of_page));
        return arrow::Status::OK();
      }));
  WantAll();
  return arrow::Status::OK();
}

void ArrayColumnRead::WantAll() {
  for (const auto& read : leaf_reads_) {
    wanted_.insert(wanted_.end(), read->wanted().begin(), read->wanted().end());
  }
}

arrow::Status ArrayColumnRead::SupplyLeaf(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  auto next = std::make_move_iterator(buffers.begin());
  for (const auto& read : leaf_reads_) {
    if (read->wanted().empty()) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(read->wanted().size());
    ARROW_RETURN_NOT_OK(read->Supply({next, end}));
    next = end;
  }
  WantAll();
  return arrow::Status::OK();
}

arrow::Status ArrayColumnRead::Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  if (buffers.size() != wanted_.size()) return Internal("a column was not supplied as it wanted");
  wanted_.clear();
  if (levels_.size() == column_.lists.size()) return SupplyLeaf(std::move(buffers));
  auto next = std::make_move_iterator(buffers.begin());
  for (const PageOfLists& page : list_reads_) {
    const auto end = next + static_cast<std::ptrdiff_t>(page.read->wanted().size());
    if (next != end) ARROW_RETURN_NOT_OK(page.read->Supply({next, end}));
    next = end;
  }
  ARROW_ASSIGN_OR_RAISE(auto items, FinishList());
  return Start(std::move(items));
}

arrow::Status ArrayColumnRead::DecodeInto(encoding::LeafBuilder& leaf) {
  auto& state = leaf.state();
  uint64_t num_slots = num_rows_;
  size_t list = 0;
  for (size_t i = 0; i + 1 < state.layers.size(); ++i) {
    encoding::LayerBuilder& layer = state.layers[i];
    if (!layer.is_list) {
      ARROW_RETURN_NOT_OK(layer.validity.AppendValid(static_cast<int64_t>(num_slots)));
      continue;
    }
    const auto& runs = levels_[list++].runs;
    ARROW_ASSIGN_OR_RAISE(num_slots, layer.large_offsets ? AppendLists<int64_t>(runs, layer)
                                                         : AppendLists<int32_t>(runs, layer));
  }
  for (auto& read : leaf_reads_) {
    ARROW_RETURN_NOT_OK(read->DecodeInto(leaf));
    read.reset();  // the bytes of one page at a time
  }
  if (state.values.num_slots() == static_cast<int64_t>(num_slots) &&
      state.layers.back().num_slots() == static_cast<int64_t>(num_slots)) {
    return arrow::Status::OK();
  }
  return Corrupt({column_.path}, "a column gave {} values for {} slots", state.values.num_slots(),
                 num_slots);
}

ArrayRowSize SizeOfArrayRow(const ArrayColumnPages& column, uint64_t row) {
  ArrayRowSize size;
  double slots_per_row = 1;
  uint64_t slot = row;
  const auto end_with = [&](const std::vector<wire::Page>& pages, size_t page) {
    if (page + 1 < pages.size()) size.end = std::min(size.end, pages[page + 1].priority);
  };
  for (size_t i = 0; i < column.lists.size(); ++i) {
    const auto& [pages, lists] = column.lists[i];
    if (pages->empty()) return size;
    const size_t page = PageWith(*pages, slot);
    if (i == 0) end_with(*pages, page);
    const uint64_t first = lists->first_items[page];
    const uint64_t num_items = lists->first_items[page + 1] - first;
    const double items_per_slot = PerSlot(static_cast<double>(num_items), (*pages)[page].num_rows);
    size.bytes += slots_per_row * sizeof(int32_t);
    slot = first + static_cast<uint64_t>(
                       items_per_slot *
                       static_cast<double>(slot - std::min(slot, (*pages)[page].priority)));
    slots_per_row *= items_per_slot;
  }
  if (column.pages->empty()) return size;
  const size_t page = PageWith(*column.pages, slot);
  if (column.lists.empty()) end_with(*column.pages, page);
  const auto decoder = column.decoder(page);
  if (!decoder.ok()) return size;
  size.bytes += slots_per_row * PerSlot(static_cast<double>((*decoder)->decoded_bytes()),
                                        (*column.pages)[page].num_rows);
  return size;
}

}  // namespace glaive::file
