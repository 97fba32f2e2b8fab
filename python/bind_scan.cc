#include "glaive/scan.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "arrow_exchange.h"
#include "bindings.h"
#include "call.h"
#include "process_mutex.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

// Batches of a scan for Python: typed errors, which an Arrow C stream cannot carry. Any number of
// Python threads may ask; each batch goes to one of them.
class BatchStream {
 public:
  explicit BatchStream(std::unique_ptr<ScanStream> stream) : stream_(std::move(stream)) {}

  ~BatchStream() {
    nb::gil_scoped_release release;  // reads that are under way are waited for
    stream_.reset();
  }

  nb::object Schema() const { return ToPython(stream_->schema()); }

  // None at the end.
  nb::object Next() {
    auto batch = Call().Run([&] { return mutex_.Run([&] { return stream_->Next(); }); });
    return batch == nullptr ? nb::none() : ToPython(std::move(batch));
  }

  // What is left, as one table.
  nb::object ReadAll() {
    const Call call;
    const auto read = [&]() -> arrow::Result<std::shared_ptr<arrow::Table>> {
      const ProgressCallback poll = call.PollSignals();
      arrow::RecordBatchVector batches;
      while (true) {
        ARROW_ASSIGN_OR_RAISE(auto batch, stream_->Next());
        if (batch == nullptr) break;
        batches.push_back(std::move(batch));
        ARROW_RETURN_NOT_OK(poll({}));
      }
      return arrow::Table::FromRecordBatches(stream_->schema(), std::move(batches));
    };
    return ToPython(call.Run([&] { return mutex_.Run(read); }));
  }

 private:
  ProcessMutex mutex_;
  std::unique_ptr<ScanStream> stream_;
};

std::unique_ptr<BatchStream> OpenScan(const Dataset& dataset, const ScanOptions& options) {
  return std::make_unique<BatchStream>(Call().Run([&] { return Scan(dataset, options); }));
}

}  // namespace

void BindScan(nb::module_& m) {
  nb::class_<Predicate>(m, "Predicate")
      .def_static("sql", &Predicate::Sql, "text"_a)
      .def_static(
          "substrait",
          [](nb::handle message) {
            return Predicate::Substrait(std::string(BufferView(message).bytes()));
          },
          "message"_a);

  nb::class_<ComputedColumn>(m, "ComputedColumn")
      .def(
          "__init__",
          [](ComputedColumn* self, std::string name, std::string sql) {
            new (self) ComputedColumn{std::move(name), std::move(sql)};
          },
          "name"_a, "sql"_a);

  nb::class_<SortKey>(m, "SortKey")
      .def(
          "__init__",
          [](SortKey* self, std::string column, bool ascending, bool nulls_first) {
            new (self) SortKey{std::move(column), ascending, nulls_first};
          },
          "column"_a, "ascending"_a, "nulls_first"_a);

  nb::enum_<DistanceMetric>(m, "DistanceMetric")
      .value("default", DistanceMetric::kDefault)
      .value("l2", DistanceMetric::kL2)
      .value("cosine", DistanceMetric::kCosine)
      .value("dot", DistanceMetric::kDot)
      .value("hamming", DistanceMetric::kHamming);

  nb::class_<NearestQuery>(m, "NearestQuery")
      .def(
          "__init__",
          [](NearestQuery* self, std::string column, nb::handle vector) {
            new (self) NearestQuery{.column = std::move(column),
                                    .vector = BatchFromPython(vector)->column(0)};
          },
          "column"_a, "vector"_a)
      .def_rw("k", &NearestQuery::k)
      .def_rw("metric", &NearestQuery::metric)
      .def_rw("min_distance", &NearestQuery::min_distance, nb::arg().none())
      .def_rw("max_distance", &NearestQuery::max_distance, nb::arg().none())
      .def_rw("prefilter", &NearestQuery::prefilter)
      .def_rw("add_distance", &NearestQuery::add_distance)
      .def_rw("use_index", &NearestQuery::use_index);

  nb::class_<ScanOptions>(m, "ScanOptions")
      .def(nb::init<>())
      .def_rw("computed", &ScanOptions::computed, nb::arg().none())
      .def_rw("order_by", &ScanOptions::order_by)
      .def_rw("nearest", &ScanOptions::nearest, nb::arg().none())
      .def_rw("columns", &ScanOptions::columns, nb::arg().none())
      .def_rw("filter", &ScanOptions::filter, nb::arg().none())
      .def_rw("limit", &ScanOptions::limit, nb::arg().none())
      .def_rw("offset", &ScanOptions::offset)
      .def_rw("batch_size", &ScanOptions::batch_size, nb::arg().none())
      .def_rw("with_row_id", &ScanOptions::with_row_id)
      .def_rw("with_row_address", &ScanOptions::with_row_address)
      .def_rw("include_deleted_rows", &ScanOptions::include_deleted_rows)
      .def_rw("ordered", &ScanOptions::ordered)
      .def_rw("fragment_ids", &ScanOptions::fragment_ids, nb::arg().none())
      .def_rw("read_ahead_bytes", &ScanOptions::read_ahead_bytes);

  nb::class_<TakeOptions>(m, "TakeOptions")
      .def(nb::init<>())
      .def_rw("columns", &TakeOptions::columns, nb::arg().none())
      .def_rw("with_row_id", &TakeOptions::with_row_id)
      .def_rw("with_row_address", &TakeOptions::with_row_address);

  nb::class_<BatchStream>(m, "BatchStream")
      .def_prop_ro("schema", &BatchStream::Schema)
      .def("next", &BatchStream::Next)
      .def("read_all", &BatchStream::ReadAll);

  m.def("scan", &OpenScan, "dataset"_a, "options"_a);
  m.def(
      "scan_schema",
      [](const Dataset& dataset, const ScanOptions& options) {
        return ToPython(Call().Run([&] { return ScanSchema(dataset, options); }));
      },
      "dataset"_a, "options"_a);
  m.def(
      "explain_scan",
      [](const Dataset& dataset, const ScanOptions& options) {
        return Call().Run([&] { return ExplainScan(dataset, options); });
      },
      "dataset"_a, "options"_a);
  m.def(
      "analyze_scan",
      [](const Dataset& dataset, const ScanOptions& options) {
        return Call().Run([&] { return AnalyzeScan(dataset, options); });
      },
      "dataset"_a, "options"_a);
  m.def(
      "count_rows",
      [](const Dataset& dataset, const ScanOptions& options) {
        return Call().Run([&] { return CountRows(dataset, options); });
      },
      "dataset"_a, "options"_a);
  m.def(
      "take",
      [](const Dataset& dataset, nb::handle offsets, const TakeOptions& options) {
        const BufferView view(offsets);
        return ToPython(Call().Run([&] { return Take(dataset, view.numbers(), options); }));
      },
      "dataset"_a, "offsets"_a, "options"_a);
  m.def(
      "take_rows",
      [](const Dataset& dataset, nb::handle row_ids, const TakeOptions& options) {
        const BufferView view(row_ids);
        return ToPython(Call().Run([&] { return TakeRows(dataset, view.numbers(), options); }));
      },
      "dataset"_a, "row_ids"_a, "options"_a);
  m.def(
      "take_from_fragment",
      [](const Dataset& dataset, uint64_t fragment_id, nb::handle offsets,
         const TakeOptions& options) {
        const BufferView view(offsets);
        return ToPython(Call().Run(
            [&] { return TakeFromFragment(dataset, fragment_id, view.numbers(), options); }));
      },
      "dataset"_a, "fragment_id"_a, "offsets"_a, "options"_a);
}

}  // namespace glaive::python
