#include "glaive/commit.h"

#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind_error.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

nb::bytes ToBytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
std::string FromBytes(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Strings that are no text, which nanobind would decode.
template <typename Class>
auto GetBytes(std::string Class::*member) {
  return [member](const Class& self) { return ToBytes(self.*member); };
}
template <typename Class>
auto SetBytes(std::string Class::*member) {
  return [member](Class& self, const nb::bytes& bytes) { self.*member = FromBytes(bytes); };
}

std::vector<nb::bytes> GetMessages(const std::vector<std::string>& messages) {
  std::vector<nb::bytes> out;
  for (const std::string& message : messages) out.push_back(ToBytes(message));
  return out;
}
std::vector<std::string> SetMessages(const std::vector<nb::bytes>& messages) {
  std::vector<std::string> out;
  for (const nb::bytes& message : messages) out.push_back(FromBytes(message));
  return out;
}

// Numbers of which 0 stands for none.
template <typename Class>
auto GetUnlessZero(uint64_t Class::*member) {
  return [member](const Class& self) -> std::optional<uint64_t> {
    if (self.*member == 0) return std::nullopt;
    return self.*member;
  };
}
template <typename Class>
auto SetOrZero(uint64_t Class::*member) {
  return [member](Class& self, std::optional<uint64_t> value) { self.*member = value.value_or(0); };
}

void BindFiles(nb::module_& m) {
  nb::class_<DataFileInfo>(m, "DataFileInfo")
      .def(nb::init<>())
      .def_rw("path", &DataFileInfo::path)
      .def_rw("fields", &DataFileInfo::fields)
      .def_rw("column_indices", &DataFileInfo::column_indices)
      .def_rw("file_major_version", &DataFileInfo::file_major_version)
      .def_rw("file_minor_version", &DataFileInfo::file_minor_version)
      .def_prop_rw("file_size_bytes", GetUnlessZero(&DataFileInfo::file_size_bytes),
                   SetOrZero(&DataFileInfo::file_size_bytes),
                   nb::for_setter(nb::arg("file_size_bytes").none()))
      .def_rw("base_id", &DataFileInfo::base_id, nb::arg().none());
  nb::class_<OverlayFile>(m, "OverlayFile")
      .def(nb::init<>())
      .def_rw("data_file", &OverlayFile::data_file)
      .def_prop_rw(
          "offsets",
          [](const OverlayFile& self) {
            std::vector<std::vector<uint32_t>> offsets;
            for (const std::string& bitmap : self.offset_bitmaps) {
              offsets.push_back(ValueOrRaise(ReadBitmap(bitmap)));
            }
            return offsets;
          },
          [](OverlayFile& self, std::vector<std::vector<uint32_t>> offsets) {
            self.offset_bitmaps.clear();
            for (auto& rows : offsets) {
              self.offset_bitmaps.push_back(ValueOrRaise(MakeBitmap(std::move(rows))));
            }
          })
      .def_rw("per_field", &OverlayFile::per_field)
      .def_prop_rw("committed_version", GetUnlessZero(&OverlayFile::committed_version),
                   SetOrZero(&OverlayFile::committed_version),
                   nb::for_setter(nb::arg("committed_version").none()));
}

void BindIndices(nb::module_& m) {
  nb::class_<IndexMetadata::File>(m, "IndexFile")
      .def(nb::init<>())
      .def_rw("path", &IndexMetadata::File::path)
      .def_rw("size_bytes", &IndexMetadata::File::size_bytes);
  using Details = IndexMetadata::Details;
  nb::class_<Details>(m, "IndexDetails")
      .def(nb::init<>())
      .def_rw("type_url", &Details::type_url)
      .def_prop_rw("value", GetBytes(&Details::value), SetBytes(&Details::value));
  nb::class_<IndexMetadata>(m, "IndexMetadata")
      .def(nb::init<>())
      .def_rw("uuid", &IndexMetadata::uuid)
      .def_rw("name", &IndexMetadata::name)
      .def_rw("fields", &IndexMetadata::fields)
      .def_rw("dataset_version", &IndexMetadata::dataset_version)
      .def_prop_rw(
          "fragment_ids",
          [](const IndexMetadata& self) -> std::optional<std::vector<uint32_t>> {
            if (self.fragment_bitmap.empty()) return std::nullopt;
            return ValueOrRaise(ReadBitmap(self.fragment_bitmap));
          },
          [](IndexMetadata& self, std::optional<std::vector<uint32_t>> ids) {
            self.fragment_bitmap.clear();
            if (ids) self.fragment_bitmap = ValueOrRaise(MakeBitmap(*std::move(ids)));
          },
          nb::for_setter(nb::arg("fragment_ids").none()))
      .def_rw("index_version", &IndexMetadata::index_version, nb::arg().none())
      .def_rw("created_at_ms", &IndexMetadata::created_at_ms, nb::arg().none())
      .def_rw("base_id", &IndexMetadata::base_id, nb::arg().none())
      .def_rw("files", &IndexMetadata::files)
      .def_rw("details", &IndexMetadata::details, nb::arg().none())
      .def_rw("covering_fields", &IndexMetadata::covering_fields);
}

void BindRowOperations(nb::module_& m) {
  using operation::Append;
  nb::class_<Append>(m, "Append").def(nb::init<>()).def_rw("fragments", &Append::fragments);
  using operation::Delete;
  nb::class_<Delete>(m, "Delete")
      .def(nb::init<>())
      .def_rw("updated_fragments", &Delete::updated_fragments)
      .def_rw("deleted_fragment_ids", &Delete::deleted_fragment_ids)
      .def_rw("predicate", &Delete::predicate);
  using operation::Overwrite;
  nb::class_<Overwrite>(m, "Overwrite")
      .def(
          "__init__",
          [](Overwrite* self, TableSchema schema) {
            new (self) Overwrite{.schema = std::move(schema)};
          },
          "schema"_a)
      .def_ro("schema", &Overwrite::schema)
      .def_rw("fragments", &Overwrite::fragments)
      .def_rw("config_upserts", &Overwrite::config_upserts)
      .def_rw("initial_bases", &Overwrite::initial_bases);
  using operation::Update;
  nb::enum_<Update::Mode>(m, "UpdateMode")
      .value("rewrite_rows", Update::Mode::kRewriteRows)
      .value("rewrite_columns", Update::Mode::kRewriteColumns);
  nb::class_<Update>(m, "Update")
      .def(nb::init<>())
      .def_rw("removed_fragment_ids", &Update::removed_fragment_ids)
      .def_rw("updated_fragments", &Update::updated_fragments)
      .def_rw("new_fragments", &Update::new_fragments)
      .def_rw("fields_modified", &Update::fields_modified)
      .def_rw("fields_for_preserving_frag_bitmap", &Update::fields_for_preserving_frag_bitmap)
      .def_rw("mode", &Update::mode)
      .def_rw("affected_rows", &Update::affected_rows, nb::arg().none())
      .def_prop_rw(
          "updated_fragment_offsets",
          [](const Update& self) {
            std::map<uint64_t, nb::bytes> offsets;
            for (const auto& [id, bitmap] : self.updated_fragment_offsets) {
              offsets.emplace(id, ToBytes(bitmap));
            }
            return offsets;
          },
          [](Update& self, const std::map<uint64_t, nb::bytes>& offsets) {
            self.updated_fragment_offsets.clear();
            for (const auto& [id, bitmap] : offsets) {
              self.updated_fragment_offsets[id] = FromBytes(bitmap);
            }
          })
      .def_prop_rw(
          "inserted_rows",
          [](const Update& self) {
            return self.inserted_rows ? std::optional(ToBytes(*self.inserted_rows)) : std::nullopt;
          },
          [](Update& self, const std::optional<nb::bytes>& message) {
            self.inserted_rows.reset();
            if (message) self.inserted_rows = FromBytes(*message);
          },
          nb::arg().none())
      .def_prop_rw(
          "compacted_sstables",
          [](const Update& self) { return GetMessages(self.compacted_sstables); },
          [](Update& self, const std::vector<nb::bytes>& messages) {
            self.compacted_sstables = SetMessages(messages);
          });
}

void BindFragmentOperations(nb::module_& m) {
  using operation::Rewrite;
  nb::class_<Rewrite::Group>(m, "RewriteGroup")
      .def(nb::init<>())
      .def_rw("old_fragments", &Rewrite::Group::old_fragments)
      .def_rw("new_fragments", &Rewrite::Group::new_fragments);
  using Index = RewrittenIndex;
  nb::class_<Index>(m, "RewrittenIndex")
      .def(nb::init<>())
      .def_rw("old_id", &Index::old_id)
      .def_rw("new_id", &Index::new_id)
      .def_rw("new_details", &Index::new_details)
      .def_rw("new_index_version", &Index::new_index_version)
      .def_rw("new_files", &Index::new_files);
  nb::class_<Rewrite>(m, "Rewrite")
      .def(nb::init<>())
      .def_rw("groups", &Rewrite::groups)
      .def_rw("rewritten_indices", &Rewrite::rewritten_indices);
  using operation::Restore;
  nb::class_<Restore>(m, "Restore").def(nb::init<>()).def_rw("version", &Restore::version);
  using operation::ReserveFragments;
  nb::class_<ReserveFragments>(m, "ReserveFragments")
      .def(nb::init<>())
      .def_rw("num_fragments", &ReserveFragments::num_fragments);
  using operation::CreateIndex;
  nb::class_<CreateIndex>(m, "CreateIndex")
      .def(nb::init<>())
      .def_rw("new_indices", &CreateIndex::new_indices)
      .def_rw("removed_indices", &CreateIndex::removed_indices);
  using operation::UpdateMemWalState;
  nb::class_<UpdateMemWalState>(m, "UpdateMemWalState")
      .def(nb::init<>())
      .def_prop_rw(
          "compacted_sstables",
          [](const UpdateMemWalState& self) { return GetMessages(self.compacted_sstables); },
          [](UpdateMemWalState& self, const std::vector<nb::bytes>& messages) {
            self.compacted_sstables = SetMessages(messages);
          });
}

void BindColumnOperations(nb::module_& m) {
  using operation::Merge;
  nb::class_<Merge>(m, "Merge")
      .def(
          "__init__",
          [](Merge* self, TableSchema schema) { new (self) Merge{.schema = std::move(schema)}; },
          "schema"_a)
      .def_rw("fragments", &Merge::fragments)
      .def_ro("schema", &Merge::schema)
      .def_rw("preserves_nullability", &Merge::preserves_nullability);
  using operation::Project;
  nb::class_<Project>(m, "Project")
      .def(
          "__init__",
          [](Project* self, TableSchema schema) { new (self) Project{std::move(schema)}; },
          "schema"_a)
      .def_ro("schema", &Project::schema)
      .def_rw("preserves_nullability", &Project::preserves_nullability);
  using operation::DataReplacement;
  nb::class_<DataReplacement::Group>(m, "DataReplacementGroup")
      .def(nb::init<>())
      .def_rw("fragment_id", &DataReplacement::Group::fragment_id)
      .def_rw("new_file", &DataReplacement::Group::new_file);
  nb::class_<DataReplacement>(m, "DataReplacement")
      .def(nb::init<>())
      .def_rw("replacements", &DataReplacement::replacements);
  using operation::DataOverlay;
  nb::class_<DataOverlay::Group>(m, "DataOverlayGroup")
      .def(nb::init<>())
      .def_rw("fragment_id", &DataOverlay::Group::fragment_id)
      .def_rw("overlays", &DataOverlay::Group::overlays);
  nb::class_<DataOverlay>(m, "DataOverlay")
      .def(nb::init<>())
      .def_rw("groups", &DataOverlay::groups);
}

void BindSettingOperations(nb::module_& m) {
  using operation::UpdateMap;
  nb::class_<UpdateMap>(m, "UpdateMap")
      .def(nb::init<>())
      .def_rw("updates", &UpdateMap::entries)
      .def_rw("replace", &UpdateMap::replace);
  using operation::UpdateConfig;
  nb::class_<UpdateConfig>(m, "UpdateConfig")
      .def(nb::init<>())
      .def_rw("config", &UpdateConfig::config, nb::arg().none())
      .def_rw("table_metadata", &UpdateConfig::table_metadata, nb::arg().none())
      .def_rw("schema_metadata", &UpdateConfig::schema_metadata, nb::arg().none())
      .def_rw("field_metadata", &UpdateConfig::field_metadata);
  using operation::Clone;
  nb::class_<Clone>(m, "Clone")
      .def(nb::init<>())
      .def_rw("is_shallow", &Clone::is_shallow)
      .def_rw("ref_name", &Clone::ref_name, nb::arg().none())
      .def_rw("ref_version", &Clone::ref_version)
      .def_rw("ref_path", &Clone::ref_path)
      .def_rw("branch_name", &Clone::branch_name, nb::arg().none());
  using operation::UpdateBases;
  nb::class_<UpdateBases>(m, "UpdateBases")
      .def(nb::init<>())
      .def_rw("new_bases", &UpdateBases::new_bases);
}

}  // namespace

void BindOperation(nb::module_& m) {
  BindFiles(m);
  BindIndices(m);
  BindRowOperations(m);
  BindFragmentOperations(m);
  BindColumnOperations(m);
  BindSettingOperations(m);
}

}  // namespace glaive::python
