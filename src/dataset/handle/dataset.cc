#include "glaive/dataset.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "dataset/handle/storage_version.h"
#include "table/manifest/fragment_metadata.h"
#include "table/manifest/table_schema.h"
#include "table/versions/not_found.h"
#include "wire/schema.h"

namespace glaive {
namespace dataset {

DatasetSummary SummaryOf(const table::FragmentTotals& totals) {
  return {.num_fragments = totals.num_fragments,
          .num_data_files = totals.num_data_files(),
          .num_deletion_files = totals.deletion_files,
          .physical_rows = totals.physical_rows,
          .deleted_rows = totals.deleted_rows,
          .data_file_bytes = totals.data_file_bytes};
}

arrow::Result<Dataset> MakeDataset(table::TableLocation location, table::ManifestPtr manifest,
                                   std::shared_ptr<Session> session) {
  auto state = std::make_shared<dataset::DatasetState>();
  ARROW_ASSIGN_OR_RAISE(state->schema, wire::ToArrow(manifest->schema));
  state->location = std::move(location);
  state->manifest = std::move(manifest);
  state->session = session != nullptr ? std::move(session) : Session::Default();
  return Access::Make<Dataset>(std::move(state));
}

arrow::Result<const RowIndex*> RowIndexOf(const Dataset& dataset) {
  std::atomic<const RowIndex*>& index = StateOf(dataset)->row_index;
  if (const RowIndex* made = index.load(std::memory_order_acquire)) return made;
  ARROW_ASSIGN_OR_RAISE(RowIndex fresh, RowIndex::Make(SnapshotOf(dataset)));
  auto owned = std::make_unique<const RowIndex>(std::move(fresh));
  const RowIndex* made = nullptr;
  if (index.compare_exchange_strong(made, owned.get(), std::memory_order_acq_rel)) {
    return owned.release();
  }
  return made;  // another thread was first
}

read::Snapshot SnapshotOf(const Dataset& dataset) {
  const dataset::DatasetState& state = *StateOf(dataset);
  return {state.location, state.manifest,
          std::shared_ptr<read::FileCache>(state.session, StateOf(*state.session).get())};
}

}  // namespace dataset

arrow::Result<Dataset> Dataset::Open(std::string_view uri, const OpenOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  table::TableLocation location{std::move(place.store), std::move(place.path),
                                std::move(place.uri)};
  const auto& session = options.session != nullptr ? options.session : Session::Default();
  auto manifest = options.version ? StateOf(*session)->ManifestOf(location, *options.version)
                                  : StateOf(*session)->LatestManifest(location);
  if (!manifest.ok() && KindOf(manifest.status()) == ErrorKind::kNotFound) {
    ARROW_ASSIGN_OR_RAISE(const auto latest, table::LatestVersion(location));
    return latest ? manifest.status() : table::TableNotFound(location);
  }
  ARROW_RETURN_NOT_OK(manifest.status());
  return dataset::MakeDataset(std::move(location), *std::move(manifest), session);
}

const std::string& Dataset::uri() const { return state_->location.uri; }
uint64_t Dataset::version() const { return state_->manifest->version; }
std::shared_ptr<arrow::Schema> Dataset::schema() const { return state_->schema; }
std::string Dataset::data_storage_version() const {
  return dataset::NameOf(state_->manifest->data_file_version);
}
bool Dataset::has_stable_row_ids() const { return state_->manifest->has_stable_row_ids(); }
const std::map<std::string, std::string>& Dataset::config() const {
  return state_->manifest->config;
}
const std::map<std::string, std::string>& Dataset::table_metadata() const {
  return state_->manifest->table_metadata;
}

arrow::Result<uint64_t> Dataset::CountRows() const {
  const table::FragmentTable& fragments = state_->manifest->fragments;
  if (const auto rows = fragments.totals().live_rows()) return *rows;
  const read::Snapshot snapshot = dataset::SnapshotOf(*this);
  uint64_t rows = 0;
  ARROW_RETURN_NOT_OK(fragments.Visit([&](const table::Fragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment parsed, fragment.Parse());
    ARROW_ASSIGN_OR_RAISE(const uint64_t live, read::LiveRows(snapshot, parsed));
    rows += live;
    return arrow::Status::OK();
  }));
  return rows;
}

DatasetSummary Dataset::summary() const {
  return dataset::SummaryOf(state_->manifest->fragments.totals());
}

uint64_t Dataset::num_fragments() const {
  return state_->manifest->fragments.totals().num_fragments;
}

arrow::Result<std::vector<FragmentMetadata>> Dataset::Fragments() const {
  std::vector<FragmentMetadata> fragments;
  fragments.reserve(num_fragments());
  ARROW_RETURN_NOT_OK(state_->manifest->fragments.Visit([&](const table::Fragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment parsed, fragment.Parse());
    fragments.push_back(table::MakeFragmentMetadata(std::move(parsed)));
    return arrow::Status::OK();
  }));
  return fragments;
}

arrow::Result<std::optional<FragmentMetadata>> Dataset::GetFragment(uint64_t id) const {
  const auto fragment = state_->manifest->fragments.Find(id);
  if (!fragment) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(wire::DataFragment parsed, fragment->Parse());
  return table::MakeFragmentMetadata(std::move(parsed));
}

arrow::Result<Dataset> Dataset::Checkout(uint64_t version) const {
  if (version == this->version()) return *this;
  ARROW_ASSIGN_OR_RAISE(auto manifest,
                        StateOf(*state_->session)->ManifestOf(state_->location, version));
  return dataset::MakeDataset(state_->location, std::move(manifest), state_->session);
}

arrow::Result<Dataset> Dataset::CheckoutLatest() const {
  ARROW_ASSIGN_OR_RAISE(auto manifest, StateOf(*state_->session)->LatestManifest(state_->location));
  return dataset::MakeDataset(state_->location, std::move(manifest), state_->session);
}

uint64_t CountSmallFragments(const Dataset& dataset, uint64_t min_rows) {
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  uint64_t small = 0;
  // What opened once is scanned again without an error.
  (void)snapshot.manifest->fragments.Visit([&](const table::Fragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(const wire::FragmentFacts facts, fragment.Scan());
    uint64_t rows = facts.physical_rows;
    if (rows == 0) {  // not counted, by an old writer; what cannot be opened holds nothing
      ARROW_ASSIGN_OR_RAISE(const wire::DataFragment parsed, fragment.Parse());
      rows = read::PhysicalRows(snapshot, parsed).ValueOr(0);
    }
    if (rows < min_rows) ++small;
    return arrow::Status::OK();
  });
  return small;
}

arrow::Result<TableSchema> SchemaOf(const Dataset& dataset) {
  return table::MakeTableSchema(StateOf(dataset)->manifest->schema);
}

int32_t MaxFieldId(const Dataset& dataset) { return StateOf(dataset)->manifest->MaxFieldId(); }

std::vector<uint64_t> FragmentIds(const Dataset& dataset) {
  return StateOf(dataset)->manifest->fragments.Ids();
}

std::optional<uint64_t> PositionOf(const Dataset& dataset, uint64_t id) {
  const table::FragmentTable& fragments = StateOf(dataset)->manifest->fragments;
  if (!fragments.Find(id)) return std::nullopt;
  return fragments.PositionOf(id);
}

arrow::Result<FragmentMetadata> FragmentAt(const Dataset& dataset, uint64_t position) {
  if (position >= dataset.num_fragments()) {
    return InvalidInput("fragment {} of version {}, which has {}", position, dataset.version(),
                        dataset.num_fragments());
  }
  const table::FragmentTable& fragments = StateOf(dataset)->manifest->fragments;
  ARROW_ASSIGN_OR_RAISE(wire::DataFragment parsed, fragments.At(position).Parse());
  return table::MakeFragmentMetadata(std::move(parsed));
}

}  // namespace glaive
