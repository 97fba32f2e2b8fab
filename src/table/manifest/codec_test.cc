#include "table/manifest/codec.h"

#include <gtest/gtest.h>

#include "core/byte_reader.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::kManifestHex;

arrow::Result<ParsedManifest> Parsed(const std::string& message) {
  return ParseManifest(arrow::Buffer::FromString(message), {"m"});
}

std::string FileOf(const Manifest& manifest, std::optional<std::string_view> transaction) {
  const auto parts = SerializeManifestFile(manifest, transaction).ValueOrDie();
  return arrow::ConcatenateBuffers(parts).ValueOrDie()->ToString();
}

// The Manifest message in a whole file, by the footer.
std::string MessageIn(const std::string& file) {
  const auto offset = ParseManifestFooter(BytesOf(file), file.size(), "m").ValueOrDie();
  const auto length = LoadLittleEndian<uint32_t>(BytesOf(file).data() + offset);
  EXPECT_EQ(offset + sizeof(uint32_t) + length + kManifestFooterSize, file.size());
  return file.substr(offset + sizeof(uint32_t), length);
}

TEST(ManifestCodecTest, ReadsPylancesManifest) {
  const auto parsed = Parsed(FromHex(kManifestHex)).ValueOrDie();
  const Manifest& manifest = parsed.manifest;
  EXPECT_EQ(manifest.version, 3);
  EXPECT_EQ(manifest.schema.fields.size(), 2);
  EXPECT_EQ(manifest.schema.fields[1].name, "s");
  EXPECT_EQ(manifest.fragments.totals().live_rows(), 186);
  EXPECT_EQ(manifest.max_fragment_id, 1);
  EXPECT_EQ(manifest.reader_feature_flags, feature::kDeletionFiles);
  EXPECT_EQ(manifest.transaction_file.substr(0, 2), "2-");
  EXPECT_EQ(manifest.writer_version->version, "14.0.2");
  EXPECT_EQ(manifest.data_file_version, FileVersion::k2_2);
  EXPECT_EQ(manifest.timestamp_ns, 1'795'975'329'702'561'631);
  EXPECT_EQ(manifest.MaxFieldId(), 1);
  EXPECT_EQ(parsed.transaction_section, 0);
  EXPECT_EQ(parsed.index_section, std::nullopt);
}

TEST(ManifestCodecTest, WritesTheSameBytes) {
  const std::string golden = FromHex(kManifestHex);
  const Manifest manifest = Parsed(golden).ValueOrDie().manifest;
  const std::string file = FileOf(manifest, "the transaction");
  EXPECT_EQ(MessageIn(file), golden);
  EXPECT_EQ(file.substr(0, 19), std::string("\x0f\0\0\0the transaction", 19));
  EXPECT_EQ(file.substr(file.size() - 8), std::string("\0\0\2\0LANC", 8));
}

Manifest Full() {
  Manifest manifest;
  manifest.version = 7;
  manifest.schema = {{{.id = 0, .name = "k", .logical_type = "int64"}}, {{"a", "b"}, {"c", ""}}};
  manifest.config = {{"lance.x", "1"}};
  manifest.table_metadata = {{"who", "me"}};
  manifest.data_file_version = FileVersion::k2_1;
  manifest.max_fragment_id = 0;
  manifest.next_row_id = 12;
  manifest.reader_feature_flags = 2;
  manifest.writer_feature_flags = 10;
  manifest.timestamp_ns = -1;
  manifest.tag = "t";
  manifest.transaction_file = "6-x.txn";
  manifest.writer_version = WriterVersion{"other", "1.2.3", "beta", "g1"};
  manifest.branch = "dev";
  manifest.base_paths = {{.id = 0, .is_dataset_root = true, .path = "/a"},
                         {.id = 3, .name = "n", .path = "/b", .unknown_fields = FromHex("f80101")}};
  manifest.max_allocated_field_id = 0;
  manifest.index_section = FromHex("0a021801");
  manifest.unknown_fields = FromHex("924d03616263");
  manifest.data_format_unknown_fields = FromHex("924d03646566");
  return manifest;
}

TEST(ManifestCodecTest, EveryFieldGoesAround) {
  const std::string file = FileOf(Full(), "txn");
  const auto parsed = Parsed(MessageIn(file)).ValueOrDie();
  EXPECT_EQ(parsed.index_section, 0);
  EXPECT_EQ(parsed.transaction_section, 8);
  EXPECT_EQ(parsed.manifest.base_paths, Full().base_paths);
  EXPECT_EQ(parsed.manifest.timestamp_ns, -1);
  Manifest again = parsed.manifest;
  again.index_section = Full().index_section;
  EXPECT_EQ(FileOf(again, "txn"), file);
  EXPECT_NE(FileOf(again, std::nullopt), file);
}

TEST(ManifestCodecTest, OldWritersNamedNoVersionOfFiles) {
  std::string message = FromHex(kManifestHex);
  const size_t format = message.find(FromHex("7a0c0a05"));
  message.erase(format, 14);
  EXPECT_EQ(Parsed(message)->manifest.data_file_version, FileVersion::k2_2) << "as its files are";
  EXPECT_EQ(Parsed("")->manifest.data_file_version, FileVersion::k0_1);
}

TEST(ManifestCodecTest, FootersThatAreNone) {
  const std::string file = FileOf(Full(), {});
  const auto footer = [](const std::string& bytes) {
    return ParseManifestFooter(BytesOf(bytes), bytes.size(), "m");
  };
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(KindOf(footer(file.substr(0, size)).status()), ErrorKind::kCorrupt) << size;
  }
  EXPECT_THAT(footer(file.substr(0, file.size() - 1) + "X"),
              IsError(ErrorKind::kCorrupt, "not the magic"));
  EXPECT_THAT(footer(std::string(file.size(), '\0')),
              IsError(ErrorKind::kCorrupt, "not the magic"));
  std::string far = file;
  far[far.size() - 9] = '\x7f';
  EXPECT_THAT(footer(far), IsError(ErrorKind::kCorrupt, "would begin at"));
}

TEST(ManifestCodecTest, DamagedMessagesAreErrors) {
  const std::string good = MessageIn(FileOf(Full(), {}));
  for (size_t size = 0; size < good.size(); ++size) {
    const auto cut = Parsed(good.substr(0, size));
    EXPECT_TRUE(cut.ok() || KindOf(cut.status()) == ErrorKind::kCorrupt) << size;
  }
  for (size_t i = 0; i < good.size() * 8; ++i) {
    std::string flipped = good;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    const auto parsed = Parsed(flipped);
    if (parsed.ok()) continue;
    const ErrorKind kind = KindOf(parsed.status());
    EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported) << i;
  }
  EXPECT_THAT(Parsed(FromHex("3a0a08ffffffffffffffff7f")),
              IsError(ErrorKind::kCorrupt, "a timestamp of"));
  EXPECT_THAT(Parsed(FromHex("7a050a00120139")), IsError(ErrorKind::kUnsupported, "version '9'"));
}

}  // namespace
}  // namespace glaive::table
