#include "glaive/write.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include <arrow/type.h>
#include <arrow/util/compression.h>

#include "core/error.h"
#include "core/xxhash64.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/storage_version.h"
#include "dataset/handle/write_target_state.h"
#include "table/manifest/codec.h"
#include "table/manifest/feature_flags.h"
#include "wire/fields.h"

// A target travels as
//
//   "GLWT" | u64 xxHash of what follows | u8 format 2 | u32 size of the message | zstd frame of it
//
// all little endian, so that bytes which were cut or changed on the way are told before a file is
// written by them. A size of 0 says that the message follows as it is. Its fields are numbered
// below; one that is not known is refused, since it may be what a newer writer has to be told.
namespace glaive {
namespace {

using wire::Bytes;
using wire::FieldView;
using wire::Varint;

constexpr std::string_view kMagic = "GLWT";
constexpr char kFormat = 2;
constexpr size_t kHashedFrom = kMagic.size() + sizeof(uint64_t);
constexpr size_t kHeaderBytes = kHashedFrom + sizeof(kFormat) + sizeof(uint32_t);
constexpr uint32_t kMaxMessageBytes = uint32_t{256} << 20;  // more is no schema
constexpr const char* kWhere = "a serialized write target";

constexpr uint32_t kUri = 1;
constexpr uint32_t kVersion = 2;
constexpr uint32_t kTransaction = 3;
constexpr uint32_t kFields = 4;
constexpr uint32_t kSchemaMetadata = 5;
constexpr uint32_t kDataFileVersion = 6;
constexpr uint32_t kStableRowIds = 7;
constexpr uint32_t kConfig = 8;
constexpr uint32_t kBase = 9;

static_assert(std::endian::native == std::endian::little);

template <typename T>
void AppendNumber(T number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename T>
T NumberAt(std::string_view bytes, size_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

const uint8_t* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

// The names of columns resemble each other, so that thousands of them take some kilobytes. Empty
// where this Arrow has no zstd.
std::string Compressed(std::string_view message) {
  const auto codec = arrow::util::Codec::Create(arrow::Compression::ZSTD);
  if (!codec.ok()) return {};
  const auto size = static_cast<int64_t>(message.size());
  std::string frame(static_cast<size_t>((*codec)->MaxCompressedLen(size, Unsigned(message))), 0);
  const auto written =
      (*codec)->Compress(size, Unsigned(message), static_cast<int64_t>(frame.size()),
                         reinterpret_cast<uint8_t*>(frame.data()));
  frame.resize(written.ok() ? static_cast<size_t>(*written) : 0);
  return frame;
}

arrow::Result<std::string> Decompressed(std::string_view frame, uint32_t size) {
  if (size > kMaxMessageBytes) return Corrupt({kWhere}, "it would have {} bytes", size);
  ARROW_ASSIGN_OR_RAISE(const auto codec, arrow::util::Codec::Create(arrow::Compression::ZSTD));
  std::string message(size, 0);
  const auto read = codec->Decompress(static_cast<int64_t>(frame.size()), Unsigned(frame), size,
                                      reinterpret_cast<uint8_t*>(message.data()));
  if (!read.ok() || *read != size) {
    return Corrupt({kWhere}, "it is damaged: there are not the {} bytes that it should hold", size);
  }
  return message;
}

std::string MessageOf(const dataset::WriteTargetState& state) {
  std::string message;
  wire::AppendBytes(kUri, state.uri, &message);
  wire::AppendVarint(kVersion, state.identity.version, &message);
  wire::AppendBytes(kTransaction, state.identity.transaction, &message);
  wire::AppendFields(kFields, state.schema.fields, &message);
  wire::AppendStringMap(kSchemaMetadata, state.schema.metadata, &message);
  wire::AppendVarint(kDataFileVersion, static_cast<uint64_t>(state.data_file_version), &message);
  wire::AppendUnlessZero(kStableRowIds, state.has_stable_row_ids ? 1 : 0, &message);
  wire::AppendStringMap(kConfig, state.config, &message);
  for (const table::BasePath& base : state.base_paths) {
    wire::AppendBytes(kBase, table::Serialize(base), &message);
  }
  return message;
}

uint64_t HashOf(std::string_view bytes) {
  return XxHash64(wire::AsBytes(bytes.substr(kHashedFrom)));
}

arrow::Result<std::string> ReadMessage(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) {
    return Corrupt({kWhere}, "{} bytes that are no write target, or a damaged one", bytes.size());
  }
  if (HashOf(bytes) != NumberAt<uint64_t>(bytes, kMagic.size())) {
    return Corrupt({kWhere}, "it is damaged: its {} bytes were changed or cut on the way",
                   bytes.size());
  }
  if (bytes[kHashedFrom] != kFormat) {
    return Unsupported(Location{kWhere}, "a write target of format {}; this build knows {}",
                       static_cast<uint8_t>(bytes[kHashedFrom]), int{kFormat});
  }
  const auto size = NumberAt<uint32_t>(bytes, kHashedFrom + sizeof(kFormat));
  const std::string_view rest = bytes.substr(kHeaderBytes);
  return size == 0 ? std::string(rest) : Decompressed(rest, size);
}

struct Reader {
  dataset::WriteTargetState state;
  wire::FieldListReader fields;

  arrow::Status Read(const FieldView& field);
  arrow::Result<WriteTarget> Finish() &&;
};

arrow::Status Reader::Read(const FieldView& field) {
  switch (field.key()) {
    case Bytes(kUri): state.uri = field.text(); break;
    case Varint(kVersion): state.identity.version = field.value; break;
    case Bytes(kTransaction): state.identity.transaction = field.text(); break;
    case Bytes(kFields): return fields.Add(field.payload, field.where);
    case Bytes(kSchemaMetadata):
      return wire::ReadStringMapEntry(field.payload, field.where, &state.schema.metadata);
    case Varint(kDataFileVersion):
      if (field.value >= kNumFileVersions) {
        return Corrupt(field.where, "no version of data files has the number {}", field.value);
      }
      state.data_file_version = static_cast<FileVersion>(field.value);
      break;
    case Varint(kStableRowIds): state.has_stable_row_ids = field.value != 0; break;
    case Bytes(kConfig): return wire::ReadStringMapEntry(field.payload, field.where, &state.config);
    case Bytes(kBase): {
      ARROW_ASSIGN_OR_RAISE(auto base, table::ParseBasePath(field.payload, field.where));
      state.base_paths.push_back(std::move(base));
      break;
    }
    default: return Corrupt(field.where, "field {} is not one of a write target", field.number);
  }
  return arrow::Status::OK();
}

// Two columns of one id would be written over each other.
arrow::Status CheckFieldIds(const std::vector<wire::Field>& fields, std::set<int32_t>& seen) {
  for (const wire::Field& field : fields) {
    if (field.id < 0 || !seen.insert(field.id).second) {
      return Corrupt({kWhere}, "field '{}' has the id {}, which is another's or none", field.name,
                     field.id);
    }
    ARROW_RETURN_NOT_OK(CheckFieldIds(field.children, seen));
  }
  return arrow::Status::OK();
}

arrow::Result<WriteTarget> Reader::Finish() && {
  if (state.uri.empty() || state.identity.version == 0 || state.identity.transaction.empty()) {
    return Corrupt({kWhere}, "it does not say which version of which table it is");
  }
  ARROW_ASSIGN_OR_RAISE(state.schema.fields, std::move(fields).Finish({kWhere}));
  std::set<int32_t> ids;
  ARROW_RETURN_NOT_OK(CheckFieldIds(state.schema.fields, ids));
  ARROW_ASSIGN_OR_RAISE(state.arrow_schema, wire::ToArrow(state.schema));
  return Access::Make<WriteTarget>(
      std::make_shared<const dataset::WriteTargetState>(std::move(state)));
}

// A relative path means another place in another process.
std::string UriOf(const table::TableLocation& table) {
  return table.uri.find("://") == std::string::npos ? table.root : table.uri;
}

}  // namespace

namespace dataset {

arrow::Result<WriteTarget> MakeWriteTarget(const table::TableLocation& table,
                                           const table::Manifest& manifest) {
  ARROW_RETURN_NOT_OK(table::CheckWritable(manifest));
  dataset::WriteTargetState state{.uri = UriOf(table),
                                  .identity = {},
                                  .schema = manifest.schema,
                                  .arrow_schema = nullptr,
                                  .data_file_version = manifest.data_file_version,
                                  .has_stable_row_ids = manifest.has_stable_row_ids(),
                                  .config = manifest.config,
                                  .base_paths = manifest.base_paths};
  ARROW_ASSIGN_OR_RAISE(state.identity, IdentityOf(table, manifest));
  ARROW_ASSIGN_OR_RAISE(state.arrow_schema, wire::ToArrow(state.schema));
  return Access::Make<WriteTarget>(
      std::make_shared<const dataset::WriteTargetState>(std::move(state)));
}

// Field by field the schema takes some times what it takes in one piece, and is there twice.
uint64_t MemoryBytes(const WriteTarget& target) {
  return 16 * MessageOf(*StateOf(target)).size() + 1024;
}

}  // namespace dataset

arrow::Result<WriteTarget> WriteTarget::Parse(std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(const std::string message, ReadMessage(bytes));
  Reader reader;
  ARROW_RETURN_NOT_OK(
      wire::VisitFields(wire::AsBytes(message), {kWhere}, "WriteTarget",
                        [&](const FieldView& field) { return reader.Read(field); }));
  return std::move(reader).Finish();
}

std::string WriteTarget::Serialize() const {
  const std::string message = MessageOf(*state_);
  const std::string frame = Compressed(message);
  std::string content(1, kFormat);
  AppendNumber(static_cast<uint32_t>(frame.empty() ? 0 : message.size()), &content);
  content += frame.empty() ? message : frame;
  std::string bytes(kMagic);
  AppendNumber(XxHash64(wire::AsBytes(content)), &bytes);
  return bytes += content;
}

const std::string& WriteTarget::uri() const { return state_->uri; }
uint64_t WriteTarget::version() const { return state_->identity.version; }
const std::string& WriteTarget::transaction_uuid() const { return state_->identity.transaction; }
const std::shared_ptr<arrow::Schema>& WriteTarget::schema() const { return state_->arrow_schema; }
std::string WriteTarget::data_storage_version() const {
  return dataset::NameOf(state_->data_file_version);
}
bool WriteTarget::has_stable_row_ids() const { return state_->has_stable_row_ids; }
const std::map<std::string, std::string>& WriteTarget::config() const { return state_->config; }

std::vector<DatasetBasePath> WriteTarget::bases() const { return state_->base_paths; }

bool WriteTarget::operator==(const WriteTarget& other) const {
  return state_->uri == other.state_->uri && state_->identity == other.state_->identity;
}

arrow::Result<WriteTarget> WriteTargetOf(const Dataset& dataset) {
  return dataset::MakeWriteTarget(StateOf(dataset)->location, *StateOf(dataset)->manifest);
}

}  // namespace glaive
