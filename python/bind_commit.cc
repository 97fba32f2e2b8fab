#include "glaive/commit.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <arrow/record_batch.h>

#include "glaive/session.h"
#include "glaive/write.h"

#include "arrow_exchange.h"
#include "bind_version_options.h"
#include "bind_write.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

// A URI, or an open handle.
using Target = std::variant<std::string, Dataset>;
using FileTarget = std::variant<std::string, Dataset, WriteTarget>;

void BindOptions(nb::module_& m) {
  nb::class_<CommitOptions>(m, "CommitOptions")
      .def(nb::init<>())
      .def_rw("enable_v2_manifest_paths", &CommitOptions::enable_v2_manifest_paths)
      .def_rw("enable_stable_row_ids", &CommitOptions::enable_stable_row_ids)
      .def_rw("detached", &CommitOptions::detached)
      .def_rw("max_retries", &CommitOptions::max_retries)
      .def_rw("timeout_ms", &CommitOptions::timeout_ms, nb::arg().none())
      .def_rw("strict", &CommitOptions::strict)
      .def_rw("idempotency_token", &CommitOptions::idempotency_token, nb::arg().none())
      .def_rw("session", &CommitOptions::session, nb::arg().none());
  nb::class_<Transaction>(m, "Transaction")
      .def(nb::init<>())
      .def_rw("read_version", &Transaction::read_version, nb::arg().none())
      .def_rw("operation", &Transaction::operation, nb::arg().none())
      .def_rw("uuid", &Transaction::uuid)
      .def_rw("properties", &Transaction::properties);
  nb::class_<BatchResult>(m, "BatchResult")
      .def_ro("dataset", &BatchResult::dataset)
      .def_ro("merged", &BatchResult::merged);
}

}  // namespace

void BindCommit(nb::module_& m) {
  BindOptions(m);
  m.def(
      "commit",
      [](const Target& target, const Transaction& transaction, CommitOptions options,
         const PythonVersion* version) {
        const Call call;
        options.version = PythonVersion::For(version, call);
        return call.Run([&] {
          return std::visit([&](const auto& to) { return Commit(to, transaction, options); },
                            target);
        });
      },
      "target"_a, "transaction"_a, "options"_a, "version"_a = nb::none());
  m.def(
      "commit_batch",
      [](const Target& target, const std::vector<Transaction>& batch, CommitOptions options,
         const PythonVersion* version) {
        const Call call;
        options.version = PythonVersion::For(version, call);
        return call.Run([&] {
          return std::visit([&](const auto& to) { return CommitBatch(to, batch, options); },
                            target);
        });
      },
      "target"_a, "batch"_a, "options"_a, "version"_a = nb::none());
  m.def(
      "write_transaction",
      [](nb::handle source, const FileTarget& target, WriteOptions options, nb::object progress,
         const PythonVersion* version) {
        const Call call;
        options.version = PythonVersion::For(version, call);
        options.fragment_events = EventsFrom(std::move(progress), call);
        auto stream = StreamFromPython(source, call);
        return call.Run([&] {
          return std::visit(
              [&](const auto& to) { return WriteTransaction(std::move(stream), to, options); },
              target);
        });
      },
      "source"_a, "target"_a, "options"_a, "progress"_a = nb::none(), "version"_a = nb::none());
  m.def(
      "transaction_of",
      [](const Dataset& dataset, uint64_t version) {
        return Call().Run([&] { return TransactionOf(dataset, version); });
      },
      "dataset"_a, "version"_a);
  m.def(
      "recent_transactions",
      [](const Dataset& dataset, uint64_t limit) {
        return Call().Run([&] { return RecentTransactions(dataset, limit); });
      },
      "dataset"_a, "limit"_a);
}

}  // namespace glaive::python
