#include "table/manifest/codec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/byte_reader.h"
#include "core/ranges.h"
#include "wire/fields.h"
#include "wire/relative_path.h"

namespace glaive::table {
namespace {

using wire::Bytes;
using wire::FieldView;
using wire::Varint;

constexpr std::string_view kMagic = "LANC";
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr uint32_t kAncestorsField = 20001;  // ours alone: 64-bit hashes, the newest first
constexpr std::array<std::string_view, kNumFileVersions> kVersionNames = {"0.1", "2.0", "2.1",
                                                                          "2.2", "2.3"};

std::span<const std::byte> BytesOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

// Fields 1 and 5 are the schema, 2 the fragments, which are read by others.
struct Reader {
  ParsedManifest parsed;
  wire::FieldListReader fields;
  std::optional<std::string> data_format;
  std::optional<uint64_t> old_transaction_section;

  arrow::Status Read(const FieldView& field);
  arrow::Status ReadTimestamp(const FieldView& field);
  arrow::Status ReadWriterVersion(const FieldView& field);
  arrow::Status ReadDataFormat(const FieldView& field);
  arrow::Status ReadAncestors(const FieldView& field);
};

arrow::Status Reader::Read(const FieldView& field) {
  Manifest& manifest = parsed.manifest;
  switch (field.key()) {
    case Bytes(1): return fields.Add(field.payload, field.where);
    case Bytes(2): break;
    case Varint(3): manifest.version = field.value; break;
    case Bytes(5):
      return wire::ReadStringMapEntry(field.payload, field.where, &manifest.schema.metadata);
    case Varint(6): parsed.index_section = field.value; break;
    case Bytes(7): return ReadTimestamp(field);
    case Bytes(8): manifest.tag = field.text(); break;
    case Varint(9): manifest.reader_feature_flags = field.value; break;
    case Varint(10): manifest.writer_feature_flags = field.value; break;
    case Varint(11): manifest.max_fragment_id = field.uint32(); break;
    case Bytes(12):
      manifest.transaction_file = field.text();
      if (manifest.transaction_file.empty()) break;
      return wire::CheckStaysBelow(manifest.transaction_file, "the transaction", field.where);
    case Bytes(13): return ReadWriterVersion(field);
    case Varint(14): manifest.next_row_id = field.value; break;
    case Bytes(15): return ReadDataFormat(field);
    case Bytes(16): return wire::ReadStringMapEntry(field.payload, field.where, &manifest.config);
    case Bytes(18): {
      ARROW_ASSIGN_OR_RAISE(BasePath base, ParseBasePath(field.payload, field.where));
      manifest.base_paths.push_back(std::move(base));
      break;
    }
    case Bytes(19):
      return wire::ReadStringMapEntry(field.payload, field.where, &manifest.table_metadata);
    case Bytes(20): manifest.branch = field.text(); break;
    case Varint(21): old_transaction_section = field.value; break;
    case Varint(23): parsed.transaction_section = field.value; break;
    case Varint(24): manifest.max_allocated_field_id = field.int32(); break;
    case Bytes(kAncestorsField): return ReadAncestors(field);
    default: manifest.unknown_fields += field.raw;
  }
  return arrow::Status::OK();
}

arrow::Status Reader::ReadTimestamp(const FieldView& field) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(field.payload, field.where, "Timestamp", [&](const FieldView& part) {
        if (part.key() == Varint(1)) seconds = static_cast<int64_t>(part.value);
        if (part.key() == Varint(2)) nanos = part.int32();
        return arrow::Status::OK();
      }));
  constexpr int64_t kLimit = std::numeric_limits<int64_t>::max() / kNanosPerSecond - 1;
  if (seconds > kLimit || seconds < -kLimit || nanos < 0 || nanos >= kNanosPerSecond) {
    return Corrupt(field.where, "a timestamp of {} seconds and {} nanoseconds", seconds, nanos);
  }
  parsed.manifest.timestamp_ns = seconds * kNanosPerSecond + nanos;
  return arrow::Status::OK();
}

arrow::Status Reader::ReadAncestors(const FieldView& field) {
  constexpr size_t kSize = sizeof(uint64_t);
  if (field.payload.size() % kSize != 0) {
    return Corrupt(field.where, "{} bytes of hashes of versions, which take {} each",
                   field.payload.size(), kSize);
  }
  const size_t count = std::min(field.payload.size() / kSize, kMaxAncestors);
  parsed.manifest.ancestors.clear();
  for (size_t i = 0; i < count; ++i) {
    parsed.manifest.ancestors.push_back(
        LoadLittleEndian<uint64_t>(field.payload.subspan(i * kSize).data()));
  }
  return arrow::Status::OK();
}

arrow::Status Reader::ReadWriterVersion(const FieldView& field) {
  WriterVersion& writer = parsed.manifest.writer_version.emplace();
  return wire::VisitFields(field.payload, field.where, "WriterVersion", [&](const FieldView& part) {
    if (part.key() == Bytes(1)) writer.library = part.text();
    if (part.key() == Bytes(2)) writer.version = part.text();
    if (part.key() == Bytes(3)) writer.prerelease = part.text();
    if (part.key() == Bytes(4)) writer.build_metadata = part.text();
    return arrow::Status::OK();
  });
}

arrow::Status Reader::ReadDataFormat(const FieldView& field) {
  std::string& version = data_format.emplace();
  const auto read = [&](const FieldView& part) {
    switch (part.key()) {
      case Bytes(1): break;  // "lance"
      case Bytes(2): version = part.text(); break;
      default: parsed.manifest.data_format_unknown_fields += part.raw;
    }
    return arrow::Status::OK();
  };
  return wire::VisitFields(field.payload, field.where, "DataStorageFormat", read);
}

// What writers before the field existed wrote: all files of a table were of one version.
FileVersion VersionOfFiles(const FragmentTotals& totals) {
  for (size_t version = totals.files_by_version.size(); version-- > 0;) {
    if (totals.files_by_version[version] > 0) return static_cast<FileVersion>(version);
  }
  return FileVersion::k0_1;
}

arrow::Result<FileVersion> DataFileVersion(const std::optional<std::string>& name,
                                           const FragmentTotals& totals, Location where) {
  if (!name) return VersionOfFiles(totals);
  const auto found = std::ranges::find(kVersionNames, *name);
  if (found == kVersionNames.end()) {
    return Unsupported(where, "data files of version '{}'", *name);
  }
  return static_cast<FileVersion>(found - kVersionNames.begin());
}

// What there is beside the fragments, which mostly lie in one piece: they are walked over once.
std::vector<ByteRange> OtherFields(const arrow::Buffer& message, const FragmentTable& fragments) {
  const auto size = static_cast<uint64_t>(message.size());
  const auto slices = fragments.Splice();
  if (slices.size() != 1 || slices.front()->parent().get() != &message) return {{0, size}};
  const auto begin = static_cast<uint64_t>(slices.front()->data() - message.data());
  const uint64_t end = begin + static_cast<uint64_t>(slices.front()->size());
  return {{0, begin}, {end, size - end}};
}

std::string SerializeTimestamp(int64_t timestamp_ns) {
  int64_t seconds = timestamp_ns / kNanosPerSecond;
  int64_t nanos = timestamp_ns % kNanosPerSecond;
  if (nanos < 0) {
    nanos += kNanosPerSecond;
    --seconds;
  }
  std::string out;
  wire::AppendUnlessZero(1, static_cast<uint64_t>(seconds), &out);
  wire::AppendUnlessZero(2, static_cast<uint64_t>(nanos), &out);
  return out;
}

std::string Serialize(const WriterVersion& writer) {
  std::string out;
  wire::AppendUnlessEmpty(1, writer.library, &out);
  wire::AppendUnlessEmpty(2, writer.version, &out);
  if (writer.prerelease) wire::AppendBytes(3, *writer.prerelease, &out);
  if (writer.build_metadata) wire::AppendBytes(4, *writer.build_metadata, &out);
  return out;
}

std::string SerializeDataFormat(const Manifest& manifest) {
  std::string out;
  wire::AppendBytes(1, "lance", &out);
  wire::AppendBytes(2, kVersionNames[static_cast<size_t>(manifest.data_file_version)], &out);
  return out + manifest.data_format_unknown_fields;
}

struct SectionOffsets {
  std::optional<uint64_t> index;
  std::optional<uint64_t> transaction;
};

void AppendLittleEndian(uint64_t value, size_t num_bytes, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), num_bytes);
}

// What follows the fragments, in order of the field numbers.
std::string SerializeAfterFragments(const Manifest& manifest, const SectionOffsets& sections) {
  std::string out;
  wire::AppendUnlessZero(3, manifest.version, &out);
  wire::AppendStringMap(5, manifest.schema.metadata, &out);
  if (sections.index) wire::AppendVarint(6, *sections.index, &out);
  wire::AppendBytes(7, SerializeTimestamp(manifest.timestamp_ns), &out);
  wire::AppendUnlessEmpty(8, manifest.tag, &out);
  wire::AppendUnlessZero(9, manifest.reader_feature_flags, &out);
  wire::AppendUnlessZero(10, manifest.writer_feature_flags, &out);
  if (manifest.max_fragment_id) wire::AppendVarint(11, *manifest.max_fragment_id, &out);
  wire::AppendUnlessEmpty(12, manifest.transaction_file, &out);
  if (manifest.writer_version) wire::AppendBytes(13, Serialize(*manifest.writer_version), &out);
  wire::AppendUnlessZero(14, manifest.next_row_id, &out);
  wire::AppendBytes(15, SerializeDataFormat(manifest), &out);
  wire::AppendStringMap(16, manifest.config, &out);
  for (const BasePath& base : manifest.base_paths)
    wire::AppendBytes(18, table::Serialize(base), &out);
  wire::AppendStringMap(19, manifest.table_metadata, &out);
  if (manifest.branch) wire::AppendBytes(20, *manifest.branch, &out);
  if (sections.transaction) wire::AppendVarint(23, *sections.transaction, &out);
  if (manifest.max_allocated_field_id) {
    wire::AppendVarint(24, static_cast<uint64_t>(int64_t{*manifest.max_allocated_field_id}), &out);
  }
  std::string ancestors;
  for (const uint64_t hash : manifest.ancestors) {
    AppendLittleEndian(hash, sizeof(hash), &ancestors);
  }
  wire::AppendUnlessEmpty(kAncestorsField, ancestors, &out);
  return out + manifest.unknown_fields;
}

// A section is preceded by its length.
uint64_t AppendSection(std::string_view message, std::string* out) {
  const uint64_t offset = out->size();
  AppendLittleEndian(message.size(), sizeof(uint32_t), out);
  out->append(message);
  return offset;
}

}  // namespace

arrow::Result<uint64_t> ParseManifestFooter(std::span<const std::byte> tail, uint64_t file_size,
                                            std::string_view path) {
  if (file_size < kManifestFooterSize + sizeof(uint32_t) || tail.size() < kManifestFooterSize) {
    return Corrupt({path, 0}, "a manifest of {} bytes, which is too short to be one", file_size);
  }
  const auto footer = tail.last(kManifestFooterSize);
  const uint64_t footer_offset = file_size - kManifestFooterSize;
  const auto found = footer.last(kMagic.size());
  if (!std::ranges::equal(found, wire::AsBytes(kMagic))) {
    return Corrupt({path, file_size - kMagic.size()}, "not the magic 'LANC' of a manifest");
  }
  const auto offset = LoadLittleEndian<uint64_t>(footer.data());
  if (offset > footer_offset - sizeof(uint32_t)) {
    return Corrupt({path, footer_offset}, "the manifest would begin at {} of {} bytes", offset,
                   file_size);
  }
  return offset;
}

arrow::Result<ParsedManifest> ParseManifest(std::shared_ptr<arrow::Buffer> message,
                                            Location where) {
  ARROW_ASSIGN_OR_RAISE(FragmentTable fragments, FragmentTable::Open(message, where));
  return ParseManifest(message, where, std::move(fragments));
}

arrow::Result<ParsedManifest> ParseManifest(const std::shared_ptr<arrow::Buffer>& message,
                                            Location where, FragmentTable fragments) {
  Reader reader;
  Manifest& manifest = reader.parsed.manifest;
  manifest.fragments = std::move(fragments);
  for (const ByteRange& others : OtherFields(*message, manifest.fragments)) {
    ARROW_RETURN_NOT_OK(wire::VisitFields(
        BytesOf(*message).subspan(others.offset, others.size), where.Plus(others.offset),
        "Manifest", [&](const FieldView& field) { return reader.Read(field); }));
  }
  ARROW_ASSIGN_OR_RAISE(manifest.schema.fields, std::move(reader.fields).Finish(where));
  ARROW_ASSIGN_OR_RAISE(manifest.data_file_version,
                        DataFileVersion(reader.data_format, manifest.fragments.totals(), where));
  auto& section = reader.parsed.transaction_section;
  if (!section) section = reader.old_transaction_section;
  return std::move(reader.parsed);
}

arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> SerializeManifestFile(
    const Manifest& manifest, std::optional<std::string_view> transaction) {
  std::string head;
  SectionOffsets sections;
  if (!manifest.index_section.empty()) {
    sections.index = AppendSection(manifest.index_section, &head);
  }
  if (transaction) sections.transaction = AppendSection(*transaction, &head);
  const uint64_t manifest_offset = head.size();

  std::string before;
  wire::AppendFields(1, manifest.schema.fields, &before);
  std::string after = SerializeAfterFragments(manifest, sections);
  auto fragments = manifest.fragments.Splice();
  uint64_t length = before.size() + after.size();
  for (const auto& slice : fragments) length += static_cast<uint64_t>(slice->size());
  if (length > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("a manifest above 4 GiB, which the format's 32-bit length cannot say");
  }

  AppendLittleEndian(length, sizeof(uint32_t), &head);
  head += before;
  AppendLittleEndian(manifest_offset, sizeof(uint64_t), &after);
  AppendLittleEndian(uint64_t{2} << 16, sizeof(uint32_t), &after);  // major 0, minor 2
  after += kMagic;
  std::vector<std::shared_ptr<arrow::Buffer>> parts = {arrow::Buffer::FromString(std::move(head))};
  std::ranges::move(fragments, std::back_inserter(parts));
  parts.push_back(arrow::Buffer::FromString(std::move(after)));
  return parts;
}

arrow::Result<BasePath> ParseBasePath(std::span<const std::byte> message, Location where) {
  BasePath base;
  ARROW_RETURN_NOT_OK(wire::VisitFields(message, where, "BasePath", [&](const FieldView& field) {
    switch (field.key()) {
      case Varint(1): base.id = field.uint32(); break;
      case Bytes(2): base.name = field.text(); break;
      case Varint(3): base.is_dataset_root = field.value != 0; break;
      case Bytes(4): base.path = field.text(); break;
      default: base.unknown_fields += field.raw;
    }
    return arrow::Status::OK();
  }));
  return base;
}

std::string Serialize(const BasePath& base) {
  std::string out;
  wire::AppendUnlessZero(1, base.id, &out);
  if (base.name) wire::AppendBytes(2, *base.name, &out);
  wire::AppendUnlessZero(3, base.is_dataset_root ? 1 : 0, &out);
  wire::AppendUnlessEmpty(4, base.path, &out);
  return out + base.unknown_fields;
}

}  // namespace glaive::table
