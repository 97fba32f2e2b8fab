#include "table/fragment_packing.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "wire/fields.h"
#include "wire/fragment.h"

namespace glaive::table {
namespace {

using Random = std::mt19937;

std::string RandomPath(Random& random) {
  std::string path;
  for (int i = 0; i < 24; ++i) path += "01"[random() % 2];
  for (int i = 0; i < 26; ++i) path += "0123456789abcdef"[random() % 16];
  return random() % 5 == 0 ? "another name" : path + ".lance";
}

uint64_t RandomNumber(Random& random) { return random() % (uint64_t{1} << (random() % 40)); }

wire::DataFragment RandomFragment(uint32_t id, Random& random) {
  wire::DataFragment fragment;
  fragment.id = id;
  fragment.physical_rows = RandomNumber(random);
  const uint64_t num_files = random() % 4 == 0 ? random() % 7 : 1;
  for (uint64_t i = 0; i < num_files; ++i) {
    wire::DataFile& file = fragment.files.emplace_back();
    file.path = RandomPath(random);
    file.fields = {0, static_cast<int32_t>(random() % 2)};
    file.column_indices = {0, 1};
    file.file_major_version = 2;
    file.file_size_bytes = RandomNumber(random);
    if (random() % 4 == 0) file.base_id = random() % 3;
  }
  if (random() % 4 == 0) {
    fragment.deletion_file = {.read_version = RandomNumber(random),
                              .num_deleted_rows = RandomNumber(random)};
  }
  if (random() % 4 == 0) fragment.row_ids = wire::InlineSequence{"sequence"};
  return fragment;
}

// Packed one behind the other, and read again as a run does it.
void ExpectSame(const std::vector<std::pair<uint32_t, std::string>>& messages) {
  PackedFragments packed;
  uint32_t next_id = 0;
  for (const auto& [id, message] : messages) {
    PackFragment(wire::AsBytes(message), id - next_id, packed);
    next_id = id + 1;
  }
  const char* at = packed.bytes.data();
  next_id = 0;
  for (const auto& [id, message] : messages) {
    const PackedFragment fragment(packed.shapes, at);
    ASSERT_EQ(next_id + fragment.id_step, id);
    ASSERT_EQ(fragment.SizesOf(id).message, message.size());
    std::string bytes(RecordSize(message.size()), '\0');
    EXPECT_EQ(fragment.WriteRecord(id, bytes.data()), bytes.data() + bytes.size());
    std::string record;
    wire::AppendRecord(2, message, &record);
    ASSERT_EQ(bytes, record);
    at = fragment.end;
    next_id = id + 1;
  }
  EXPECT_EQ(at, packed.bytes.data() + packed.bytes.size());
}

TEST(FragmentPackingTest, EveryFragmentComesBackByteByByte) {
  Random random(1);
  std::vector<std::pair<uint32_t, std::string>> messages;
  uint32_t id = 0;
  for (int i = 0; i < 3000; ++i) {
    messages.emplace_back(id, wire::Serialize(RandomFragment(id, random)));
    id += static_cast<uint32_t>(1 + random() % 3 * (random() % 100'000));
  }
  ExpectSame(messages);
}

// Whatever the bytes: what is no message, or one that no writer would write, stays as it is.
TEST(FragmentPackingTest, DamagedMessagesComeBackToo) {
  Random random(2);
  for (int round = 0; round < 3000; ++round) {
    const auto id = static_cast<uint32_t>(random() % 1000);
    std::string message = wire::Serialize(RandomFragment(id, random));
    for (uint64_t changes = random() % 4; changes > 0 && !message.empty(); --changes) {
      const size_t place = random() % message.size();
      switch (random() % 3) {
        case 0: message[place] = static_cast<char>(random()); break;
        case 1: message.erase(place, 1); break;
        default: message.insert(place, 1, static_cast<char>(random()));
      }
    }
    // The id is kept beside a message that has none; one that has another is not found by a scan.
    const auto facts = wire::ScanDataFragment(wire::AsBytes(message), {"m"});
    if (facts.ok() && facts->id <= 1000) ExpectSame({{static_cast<uint32_t>(facts->id), message}});
  }
}

TEST(FragmentPackingTest, NumbersOfMoreBytesThanTheyNeedStay) {
  const std::string id = "\x08\x81\x00";  // 1, in two bytes
  ExpectSame({{1, std::string(id.data(), 3)}});
  const std::string rows("\x08\x01\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);  // 2^64 - 1
  ExpectSame({{1, rows}});
}

TEST(FragmentPackingTest, MostFragmentsTakeAFewBytesWhateverTheirColumns) {
  Random random(3);
  PackedFragments packed;
  for (uint32_t id = 0; id < 1000; ++id) {
    wire::DataFragment fragment = {.id = id, .physical_rows = 1000};
    std::string path;
    while (path.size() < 56) path = RandomPath(random);
    fragment.files.push_back({.path = path,
                              .fields = std::vector<int32_t>(100, 7),
                              .column_indices = std::vector<int32_t>(100, 8),
                              .file_major_version = 2,
                              .file_minor_version = 2,
                              .file_size_bytes = 5000});
    const std::string message = wire::Serialize(fragment);
    PackFragment(wire::AsBytes(message), 0, packed);
  }
  EXPECT_EQ(packed.bytes.size(), 1000 * (1 + 1 + 16 + 2 + 2));
}

TEST(FragmentPackingTest, TooManyShapesAreKeptAsTheyAre) {
  std::vector<std::pair<uint32_t, std::string>> messages;
  for (uint32_t id = 0; id < 500; ++id) {
    wire::DataFragment fragment = {.id = id, .physical_rows = 10};
    fragment.files.push_back({.path = "a", .fields = {static_cast<int32_t>(id % 250)}});
    messages.emplace_back(id, wire::Serialize(fragment));
  }
  ExpectSame(messages);
}

}  // namespace
}  // namespace glaive::table
