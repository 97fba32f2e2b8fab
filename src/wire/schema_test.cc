#include "wire/schema.h"

#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"
#include "wire/fragment.h"

namespace glaive::wire {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;

constexpr Location kWhere = {"m"};

// The Field records of a manifest of pylance 14.0.2 for the schema below.
constexpr std::string_view kFieldsHex =
    "0a1912046e756c6c20ffffffffffffffffff012a046e756c6c30010a1a120162180120ffffffffffffffffff012a"
    "04626f6f6c300138010a1912026938180220ffffffffffffffffff012a04696e743838010a261203753634180320"
    "ffffffffffffffffff012a0675696e7436343001380152060a016b1201760a211203663136180420ffffffffffff"
    "ffffff012a0968616c66666c6f6174300138010a1b120166180520ffffffffffffffffff012a05666c6f61743001"
    "38010a1c120164180620ffffffffffffffffff012a06646f75626c65300138010a1c120173180720ffffffffffff"
    "ffffff012a06737472696e67300138020a2312026c73180820ffffffffffffffffff012a0c6c617267655f737472"
    "696e67300138020a1e120362696e180920ffffffffffffffffff012a0662696e617279300138020a2512046c6269"
    "6e180a20ffffffffffffffffff012a0c6c617267655f62696e617279300138020a2b1203667362180b20ffffffff"
    "ffffffffff012a1366697865645f73697a655f62696e6172793a35300138010a221203643332180c20ffffffffff"
    "ffffffff012a0a6461746533323a646179300138010a211203643634180d20ffffffffffffffffff012a09646174"
    "6536343a6d73300138010a211203743332180e20ffffffffffffffffff012a0974696d6533323a6d73300138010a"
    "211203743634180f20ffffffffffffffffff012a0974696d6536343a6e73300138010a2512027473181020ffffff"
    "ffffffffffff012a0e74696d657374616d703a75733a2d300138010a2a1202747a181120ffffffffffffffffff01"
    "2a1374696d657374616d703a6e733a2b30383a3030300138010a221203647572181220ffffffffffffffffff012a"
    "0a6475726174696f6e3a73300138010a291203646563181320ffffffffffffffffff012a11646563696d616c3a31"
    "32383a31303a2d32300138010a29120464656332181420ffffffffffffffffff012a10646563696d616c3a323536"
    "3a35303a33300138010a1b12027374181520ffffffffffffffffff012a0673747275637430010a0f120161181620"
    "152a04696e743838010a11120162181720152a046c697374300138010a1612046974656d181820172a0673747269"
    "6e67300138020a1b12026c69181920ffffffffffffffffff012a046c697374300138010a111202656c181a20192a"
    "05696e74313638010a2912036c6c73181b20ffffffffffffffffff012a116c617267655f6c6973742e7374727563"
    "74300138010a1412046974656d181c201b2a0673747275637430010a11120178181d201c2a04696e743830013801"
    "0a41120366736c181e20ffffffffffffffffff012a2966697865645f73697a655f6c6973743a66697865645f7369"
    "7a655f6c6973743a666c6f61743a383a32300138010a32120566736c7374181f20ffffffffffffffffff012a1866"
    "697865645f73697a655f6c6973743a7374727563743a32300138010a1412046974656d1820201f2a067374727563"
    "7430010a11120178182120202a04696e7438300138010a1b12036d6170182220ffffffffffffffffff012a036d61"
    "70300138010a151207656e7472696573182320222a067374727563740a1312036b6579182420232a06737472696e"
    "6738020a16120576616c7565182520232a05696e743332300138010a30120464696374182620ffffffffffffffff"
    "ff012a17646963743a737472696e673a696e7433323a66616c7365300138030a1e1205656d707479182720ffffff"
    "ffffffffffff012a067374727563743001";

std::shared_ptr<arrow::Schema> EveryType() {
  using namespace arrow;
  const auto item = [](std::shared_ptr<DataType> type) { return field("item", std::move(type)); };
  return schema({
      field("null", null()),
      field("b", boolean()),
      field("i8", int8(), false),
      field("u64", uint64(), true, key_value_metadata({{"k", "v"}})),
      field("f16", float16()),
      field("f", float32()),
      field("d", float64()),
      field("s", utf8()),
      field("ls", large_utf8()),
      field("bin", binary()),
      field("lbin", large_binary()),
      field("fsb", fixed_size_binary(5)),
      field("d32", date32()),
      field("d64", date64()),
      field("t32", time32(TimeUnit::MILLI)),
      field("t64", time64(TimeUnit::NANO)),
      field("ts", timestamp(TimeUnit::MICRO)),
      field("tz", timestamp(TimeUnit::NANO, "+08:00")),
      field("dur", duration(TimeUnit::SECOND)),
      field("dec", decimal128(10, -2)),
      field("dec2", decimal256(50, 3)),
      field("st", struct_({field("a", int8(), false), field("b", list(item(utf8())))})),
      field("li", list(field("el", int16(), false))),
      field("lls", large_list(item(struct_({field("x", int8())})))),
      field("fsl", fixed_size_list(item(fixed_size_list(item(float32()), 8)), 2)),
      field("fslst", fixed_size_list(item(struct_({field("x", int8())})), 2)),
      field("map", map(utf8(), int32())),
      field("dict", dictionary(int32(), utf8())),
      field("empty", struct_(FieldVector{})),
  });
}

std::string Serialized(const Schema& schema) {
  std::string bytes;
  AppendFields(1, schema.fields, &bytes);
  return bytes;
}

arrow::Result<Schema> Parsed(std::string_view records) {
  FieldListReader reader;
  ARROW_RETURN_NOT_OK(VisitRecords(BytesOf(records), kWhere, "fields", [&](const Record& record) {
    return reader.Add(record.payload, kWhere);
  }));
  Schema schema;
  ARROW_ASSIGN_OR_RAISE(schema.fields, std::move(reader).Finish(kWhere));
  return schema;
}

TEST(SchemaTest, EveryTypeIsWhatPylanceMakesOfIt) {
  const std::string golden = FromHex(kFieldsHex);
  const Schema schema = FromArrow(*EveryType()).ValueOrDie();
  EXPECT_EQ(Serialized(schema), golden);
  const Schema parsed = Parsed(golden).ValueOrDie();
  EXPECT_EQ(parsed, schema);
  EXPECT_TRUE(ToArrow(parsed).ValueOrDie()->Equals(*EveryType(), /*check_metadata=*/true))
      << ToArrow(parsed).ValueOrDie()->ToString();
  EXPECT_EQ(MaxFieldId(parsed), 39);
}

TEST(SchemaTest, ColumnsAreTheFieldsWithoutColumnsOfTheirOwn) {
  Schema schema = FromArrow(*EveryType()).ValueOrDie();
  schema.fields.erase(schema.fields.begin(), schema.fields.begin() + 21);
  std::vector<int32_t> ids;
  for (const LeafField& leaf : LeafFields(schema)) ids.push_back(leaf.field_id);
  EXPECT_THAT(ids, ElementsAre(22, 24, 26, 29, 30, 33, 36, 37, 38, 39));
  EXPECT_THAT(LeafFields(schema)[1].ancestors, ElementsAre(21, 23));

  schema.fields[0].metadata["packed"] = "Yes";
  EXPECT_EQ(LeafFields(schema)[0].field_id, 21) << "a packed struct is one column";
  schema.fields[0].metadata = {{"lance-encoding:blob", ""}};
  EXPECT_EQ(LeafFields(schema)[0].field_id, 21) << "a blob is one column";
}

TEST(SchemaTest, ViewsAndExtensionsAreStoredAsWhatTheyStandFor) {
  const auto uuid = arrow::extension::uuid();
  const Schema schema =
      FromArrow(*arrow::schema({arrow::field("v", arrow::utf8_view()),
                                arrow::field("b", arrow::binary_view()), arrow::field("u", uuid)}),
                7)
          .ValueOrDie();
  EXPECT_EQ(schema.fields[0].logical_type, "string");
  EXPECT_EQ(schema.fields[1].logical_type, "binary");
  EXPECT_EQ(schema.fields[2].logical_type, "fixed_size_binary:16");
  EXPECT_EQ(schema.fields[2].metadata.at("ARROW:extension:name"), "arrow.uuid");
  EXPECT_EQ(schema.fields[2].id, 9);
  EXPECT_EQ(Parsed(Serialized(schema)).ValueOrDie(), schema) << "the name is stored twice";
}

TEST(SchemaTest, KeysAreReadFromMetadata) {
  const auto metadata = arrow::key_value_metadata(
      {{"lance-schema:unenforced-primary-key:position", "2"}, {"lance:field_id", "77"}});
  const Schema schema =
      FromArrow(*arrow::schema({arrow::field("k", arrow::int8(), false, metadata)})).ValueOrDie();
  EXPECT_TRUE(schema.fields[0].unenforced_primary_key);
  EXPECT_EQ(schema.fields[0].unenforced_primary_key_position, 2);
  EXPECT_EQ(schema.fields[0].id, 0);
  EXPECT_EQ(schema.fields[0].metadata.size(), 1) << "ids of others are not stored";
  EXPECT_EQ(Parsed(Serialized(schema)).ValueOrDie(), schema);
}

TEST(SchemaTest, WhatTheFormatLacksIsRefusedByName) {
  using namespace arrow;
  const auto refused = [](const std::shared_ptr<DataType>& type) {
    return FromArrow(*schema({field("q", type)}));
  };
  EXPECT_THAT(refused(list_view(int32())), IsError(ErrorKind::kUnsupported, "list_view<item"));
  EXPECT_THAT(refused(list(list_view(int8()))), IsError(ErrorKind::kUnsupported, "column \"q\""));
  EXPECT_THAT(refused(month_day_nano_interval()), IsError(ErrorKind::kUnsupported, "interval"));
  EXPECT_THAT(refused(decimal32(5, 2)), IsError(ErrorKind::kUnsupported, "decimal32"));
  EXPECT_THAT(refused(run_end_encoded(int32(), int8())),
              IsError(ErrorKind::kUnsupported, "run_end_encoded"));
  EXPECT_THAT(refused(map(utf8(), int8(), true)), IsError(ErrorKind::kUnsupported, "keys_sorted"));
  EXPECT_THAT(refused(fixed_size_list(list(int8()), 3)),
              IsError(ErrorKind::kUnsupported, "fixed_size_list<item: list"));
  EXPECT_THAT(refused(fixed_size_list(int8(), 0)),
              IsError(ErrorKind::kInvalidInput, "dimension 0"));
  EXPECT_THAT(refused(dictionary(int8(), timestamp(TimeUnit::MICRO))),
              IsError(ErrorKind::kUnsupported, "dictionary<"));
  EXPECT_THAT(refused(extension::json()), IsError(ErrorKind::kUnsupported, "arrow.json"));
}

TEST(SchemaTest, NamesThatCannotBe) {
  const auto named = [](std::string name) {
    return FromArrow(
        *arrow::schema({arrow::field(name, arrow::int8()), arrow::field("q", arrow::int8())}));
  };
  EXPECT_THAT(named("q"), IsError(ErrorKind::kInvalidInput, "\"q\""));
  EXPECT_THAT(named("q.r"), IsError(ErrorKind::kInvalidInput, "q.r cannot contain"));
  for (const char* name : {"_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version",
                           "_row_last_updated_at_version"}) {
    EXPECT_THAT(named(name), IsError(ErrorKind::kInvalidInput, "reserved name"));
  }
  EXPECT_THAT(named("_row"), IsOk());
}

TEST(SchemaTest, FieldListsThatAreNoTree) {
  const Schema orphan{{{.id = 3, .name = "p", .logical_type = "struct"}}, {}};
  Schema nested = orphan;
  nested.fields[0].children = {{.id = 4, .name = "c", .logical_type = "int8"}};
  const std::string bytes = Serialized(nested);
  const std::string without_parent = bytes.substr(Serialized(orphan).size());
  EXPECT_THAT(Parsed(without_parent), IsError(ErrorKind::kCorrupt, "has the parent 3"));

  const Schema unnameable{{{.id = 0, .name = "\xff", .logical_type = "int32"}}, {}};
  EXPECT_THAT(Parsed(Serialized(unnameable)), IsError(ErrorKind::kCorrupt, "not UTF-8"));

  Field deep{.id = 5000, .name = "leaf", .logical_type = "int8"};
  for (int32_t id = 300; id > 0; --id) {
    Field parent{.id = id, .name = "d", .logical_type = "struct"};
    parent.children.push_back(std::move(deep));
    deep = std::move(parent);
  }
  EXPECT_THAT(Parsed(Serialized({{deep}, {}})), IsError(ErrorKind::kCorrupt, "nested more than"));
}

TEST(SchemaTest, TypesThatAreNoTypes) {
  for (const char* type : {"",
                           "int9",
                           "decimal:128:99:0",
                           "decimal:64:3:1",
                           "decimal:128:1",
                           "time32:ns",
                           "time64:s",
                           "timestamp:h:-",
                           "fixed_size_list:int8:0",
                           "fixed_size_list:int8:-1",
                           "fixed_size_list:int8",
                           "fixed_size_list:int8:99999999999",
                           "fixed_size_binary:-1",
                           "fixed_size_binary:x",
                           "dict:int9:int8:false",
                           "dict:string:float:false",
                           "dict",
                           "list",
                           "map",
                           "fixed_size_list:fixed_size_list:int8:65536:65536",
                           "fixed_size_list:struct:2"}) {
    const Field field{.id = 0, .name = "q", .logical_type = type};
    EXPECT_EQ(KindOf(ToArrow(field).status()), ErrorKind::kCorrupt) << type;
  }
  const Field parent{.id = 0,
                     .name = "q",
                     .logical_type = "int8",
                     .children = {{.id = 1, .name = "c", .logical_type = "int8"}}};
  EXPECT_THAT(ToArrow(parent), IsError(ErrorKind::kCorrupt, "'q' of type int8 has 1 children"));
}

TEST(SchemaTest, UnknownFieldsAreKept) {
  Schema schema{{{.id = 0, .name = "k", .logical_type = "int8"}}, {}};
  schema.fields[0].unknown_fields = FromHex("924d03616263");
  EXPECT_EQ(Parsed(Serialized(schema)).ValueOrDie(), schema);
}

}  // namespace
}  // namespace glaive::wire
