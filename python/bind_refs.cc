#include "glaive/refs.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "glaive/session.h"

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

// A number, a tag, or a branch with a number, as Python has them.
using BranchPair = std::tuple<std::optional<std::string>, std::optional<uint64_t>>;
using PythonReference = std::variant<uint64_t, std::string, BranchPair>;

Reference ToReference(const PythonReference& reference) {
  if (const auto* tag = std::get_if<std::string>(&reference)) return TagName{*tag};
  if (const auto* pair = std::get_if<BranchPair>(&reference)) {
    return BranchVersion{std::get<0>(*pair), std::get<1>(*pair)};
  }
  return std::get<uint64_t>(reference);
}

std::optional<Reference> ToReference(const std::optional<PythonReference>& reference) {
  if (!reference) return std::nullopt;
  return ToReference(*reference);
}

void BindTags(nb::module_& m) {
  nb::class_<TagInfo>(m, "TagInfo")
      .def_ro("branch", &TagInfo::branch)
      .def_ro("version", &TagInfo::version)
      .def_ro("created_at_ns", &TagInfo::created_at_ns)
      .def_ro("updated_at_ns", &TagInfo::updated_at_ns)
      .def_ro("manifest_size", &TagInfo::manifest_size)
      .def_ro("metadata", &TagInfo::metadata);
  m.def(
      "list_tags",
      [](const Dataset& dataset) { return Call().Run([&] { return ListTags(dataset); }); },
      "dataset"_a);
  m.def(
      "get_tag",
      [](const Dataset& dataset, const std::string& tag) {
        return Call().Run([&] { return GetTag(dataset, tag); });
      },
      "dataset"_a, "tag"_a);
  m.def(
      "create_tag",
      [](const Dataset& dataset, const std::string& tag,
         const std::optional<PythonReference>& reference) {
        Call().RunStatus([&] { return CreateTag(dataset, tag, ToReference(reference)); });
      },
      "dataset"_a, "tag"_a, "reference"_a.none());
  m.def(
      "update_tag",
      [](const Dataset& dataset, const std::string& tag,
         const std::optional<PythonReference>& reference) {
        Call().RunStatus([&] { return UpdateTag(dataset, tag, ToReference(reference)); });
      },
      "dataset"_a, "tag"_a, "reference"_a.none());
  m.def(
      "replace_tag_metadata",
      [](const Dataset& dataset, const std::string& tag,
         const std::map<std::string, std::string>& metadata) {
        Call().RunStatus([&] { return ReplaceTagMetadata(dataset, tag, metadata); });
      },
      "dataset"_a, "tag"_a, "metadata"_a);
  m.def(
      "delete_tag",
      [](const Dataset& dataset, const std::string& tag) {
        Call().RunStatus([&] { return DeleteTag(dataset, tag); });
      },
      "dataset"_a, "tag"_a);
}

void BindBranches(nb::module_& m) {
  nb::class_<BranchInfo>(m, "BranchInfo")
      .def_ro("parent_branch", &BranchInfo::parent_branch)
      .def_ro("parent_version", &BranchInfo::parent_version)
      .def_ro("identifier", &BranchInfo::identifier)
      .def_ro("created_at_s", &BranchInfo::created_at_s)
      .def_ro("manifest_size", &BranchInfo::manifest_size)
      .def_ro("metadata", &BranchInfo::metadata);
  m.def("branch_of", &BranchOf, "dataset"_a);
  m.def(
      "list_branches",
      [](const Dataset& dataset) { return Call().Run([&] { return ListBranches(dataset); }); },
      "dataset"_a);
  m.def(
      "create_branch",
      [](const Dataset& dataset, const std::string& branch,
         const std::optional<PythonReference>& reference, const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run(
            [&] { return CreateBranch(dataset, branch, ToReference(reference), options); });
      },
      "dataset"_a, "branch"_a, "reference"_a.none(), "version"_a = nb::none());
  m.def(
      "replace_branch_metadata",
      [](const Dataset& dataset, const std::string& branch,
         const std::map<std::string, std::string>& metadata) {
        Call().RunStatus([&] { return ReplaceBranchMetadata(dataset, branch, metadata); });
      },
      "dataset"_a, "branch"_a, "metadata"_a);
  m.def(
      "delete_branch",
      [](const Dataset& dataset, const std::string& branch, bool force) {
        Call().RunStatus([&] { return DeleteBranch(dataset, branch, force); });
      },
      "dataset"_a, "branch"_a, "force"_a = false);
}

}  // namespace

void BindRefs(nb::module_& m) {
  m.def(
      "open_reference",
      [](const std::string& uri, const PythonReference& reference,
         std::shared_ptr<Session> session) {
        return Call().Run([&]() -> arrow::Result<Dataset> {
          OpenOptions options{.session = std::move(session)};
          if (const auto* number = std::get_if<uint64_t>(&reference)) {
            options.version = *number;
            return Dataset::Open(uri, options);
          }
          ARROW_ASSIGN_OR_RAISE(const Dataset newest, Dataset::Open(uri, options));
          return newest.Checkout(ToReference(reference));
        });
      },
      "uri"_a, "reference"_a, "session"_a.none());
  m.def(
      "checkout",
      [](const Dataset& dataset, const PythonReference& reference) {
        return Call().Run([&] { return dataset.Checkout(ToReference(reference)); });
      },
      "dataset"_a, "reference"_a);
  m.def(
      "restore",
      [](const Dataset& dataset, const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run([&] { return Restore(dataset, options); });
      },
      "dataset"_a, "version"_a = nb::none());
  BindTags(m);
  BindBranches(m);
  m.def(
      "shallow_clone",
      [](const Dataset& dataset, const std::string& uri, const PythonReference& reference,
         const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run(
            [&] { return ShallowClone(dataset, uri, ToReference(reference), options); });
      },
      "dataset"_a, "uri"_a, "reference"_a, "version"_a = nb::none());
  m.def(
      "deep_clone",
      [](const Dataset& dataset, const std::string& uri, const PythonReference& reference,
         const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run([&] { return DeepClone(dataset, uri, ToReference(reference), options); });
      },
      "dataset"_a, "uri"_a, "reference"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
