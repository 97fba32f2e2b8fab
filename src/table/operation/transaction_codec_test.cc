#include "table/operation/transaction_codec.h"

#include <gtest/gtest.h>

#include "table/operation/conflict.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

struct GoldenFile {
  std::string_view what;
  std::string_view operation;
  std::string_view hex;
};

// Transaction files that pylance 14.0.2 wrote.
constexpr GoldenFile kGoldenFiles[] = {
    {"create with two files", "Overwrite",
     "122463666233313264392d666361322d343138652d396633622d353535663037396131646165b206d7010a4d12"
     "490a38313030303131313130313130313131303030313031313031396164636135346639386130336430393931"
     "38373837393932302e6c616e6365120200011a0200012002280230f90420020a4d12490a383030313131303130"
     "3131303031313131303031313130313039626436633034356531393937643334326363336535613439632e6c61"
     "6e6365120200011a0200012002280230f9042002121912016120ffffffffffffffffff012a05696e7436343001"
     "3801121c120162180120ffffffffffffffffff012a06737472696e6730013802"},
    {"append with a message", "Append",
     "0801122461313839626339622d346232392d346532332d383964322d623933306139306333373361221b0a165f"
     "5f6c616e63655f636f6d6d69745f6d65737361676512016da2064f0a4d12490a38313130303031313031303130"
     "30313131303131313030313136393063376434613436383631363063646438646163623064322e6c616e636512"
     "0200011a02000120022802309b032001"},
    {"one row", "Delete",
     "0802122432636131386364332d383837612d346634622d616430352d356132363237313738626562aa06660a5d"
     "12490a383130303031313131303131303131313030303130313130313961646361353466393861303364303939"
     "3138373837393932302e6c616e6365120200011a0200012002280230f9041a0e100218deb0fda8e7c9ef867f20"
     "0120021a0561203d2031"},
    {"a whole fragment", "Delete",
     "0803122465393464373838372d353866622d346232362d383534312d386537633765363634373430aa060a1201"
     "021a0561203d2039"},
    {"create_scalar_index", "CreateIndex",
     "0804122433303132333733632d376635302d343034612d386239312d636365663131396533363735ba0692010a"
     "8f010a120a100e143108ce084f5594d1593b79a2267a1201001a05615f69647820042a143a3000000100000000"
     "000100100000000000010032200a1e2f6c616e63652e7461626c652e4254726565496e64657844657461696c73"
     "380040e28fbec7a23452140a0f706167655f646174612e6c616e636510fa0452160a11706167655f6c6f6f6b75"
     "702e6c616e636510bd05"},
    {"drop_index", "CreateIndex",
     "0805122439326239336231612d363835352d346565342d623463332d646465653133313635623864ba06920112"
     "8f010a120a100e143108ce084f5594d1593b79a2267a1201001a05615f69647820042a143a3000000100000000"
     "000100100000000000010032200a1e2f6c616e63652e7461626c652e4254726565496e64657844657461696c73"
     "380040e28fbec7a23452140a0f706167655f646174612e6c616e636510fa0452160a11706167655f6c6f6f6b75"
     "702e6c616e636510bd05"},
    {"compact_files, reserving", "ReserveFragments",
     "0807122435383835613335392d643461382d343265332d616534362d316332383734396165356530da06020801"},
    {"compact_files", "Rewrite",
     "0807122466303735626662612d323162632d346233332d616230342d656362353663306633633864c206fe021a"
     "81020a5d12490a3831303030313131313031313031313130303031303131303139616463613534663938613033"
     "643039393138373837393932302e6c616e6365120200011a0200012002280230f9041a0e100218deb0fda8e7c9"
     "ef867f200120020a4f080112490a38303031313130313031313030313131313030313131303130396264366330"
     "34356531393937643334326363336535613439632e6c616e6365120200011a0200012002280230f9042002124f"
     "080312490a38303030313031303030303031303030313131313030303130393862303661343134343963656331"
     "36353864633838323733652e6c616e6365120200011a0200012002280230f904200322780a120a1043ef1c403b"
     "aa40f2a539fbb36155f76912120a1094a63b227ade4e80a0850c2da78e8acd1a200a1e2f6c616e63652e746162"
     "6c652e4254726565496e64657844657461696c732a140a0f706167655f646174612e6c616e636510fa042a160a"
     "11706167655f6c6f6f6b75702e6c616e636510bd05"},
    {"add_columns", "Merge",
     "0809122433316566346565652d303833312d343239652d386165622d326430393762306238313335ca06f3010a"
     "9801080312490a3830303031303130303030303130303031313131303030313039386230366134313434396365"
     "633136353864633838323733652e6c616e6365120200011a0200012002280230f90412470a3831313131303030"
     "313030313031313030303031303131303036313463366534383265396131653866656364356430326238382e6c"
     "616e63651201021a01002002280230d8022003121912016120ffffffffffffffffff012a05696e743634300138"
     "01121c120162180120ffffffffffffffffff012a06737472696e6730013802121b120163180220ffffffffffff"
     "ffffff012a05696e743634300138012001"},
    {"update", "Update",
     "080a122437613039316465622d346637632d346434612d623762392d643765643635656565313735e206ff0112"
     "a801080312490a3830303031303130303030303130303031313131303030313039386230366134313434396365"
     "633136353864633838323733652e6c616e6365120200011a0200012002280230f90412470a3831313131303030"
     "313030313031313030303031303131303036313463366534383265396131653866656364356430326238382e6c"
     "616e63651201021a01002002280230d8021a0e100a188dbfe186c7f7f29833200120031a4f124b0a3830303131"
     "313130313131313131303130303031303131303133323465323434646639613732623065623933326465646535"
     "662e6c616e636512030001021a030001022002280230ad042001320102"},
    {"merge_insert", "Update",
     "080b122466303639383661372d313862332d343765312d616366372d353934656535653839633337e206810212"
     "a801080312490a3830303031303130303030303130303031313131303030313039386230366134313434396365"
     "633136353864633838323733652e6c616e6365120200011a0200012002280230f90412470a3831313131303030"
     "313030313031313030303031303131303036313463366534383265396131653866656364356430326238382e6c"
     "616e63651201021a01002002280230d8021a0e100b18f1f59b98ad8398e948200220031a4f124b0a3830303031"
     "303030303030303030313031303031313031313033313532303834336462396533313233313439386365336333"
     "372e6c616e636512030001021a030001022002280230970720023203000102"},
    {"drop_columns", "Project",
     "080c122465613865356534342d396433382d346463342d613639302d346337653830313263396333ea063b0a19"
     "12016120ffffffffffffffffff012a05696e743634300138010a1c120162180120ffffffffffffffffff012a06"
     "737472696e67300138021001"},
    {"alter_columns", "Project",
     "080d122437346530383933652d623965642d346562322d616534652d336565366662663630633138ea063c0a19"
     "12016120ffffffffffffffffff012a05696e743634300138010a1d12026262180120ffffffffffffffffff012a"
     "06737472696e67300138021001"},
    {"update_config", "UpdateConfig",
     "080e122432656238643239652d323732312d343137332d626639392d333433306333343439326639f2060a3208"
     "0a060a016b120131"},
    {"delete_config_keys", "UpdateConfig",
     "080f122438383530633737652d353366612d343762632d393739612d343238663536626361353238f206073205"
     "0a030a016b"},
    {"update_metadata", "UpdateConfig",
     "0810122438373962303438312d376230302d346433612d616138662d373231313461313966373962f2060a3a08"
     "0a060a016b120131"},
    {"update_schema_metadata, replace", "UpdateConfig",
     "0811122434363938636266612d633962312d343133322d393363382d623635366164613163376432f2060c420a"
     "0a060a016b1201311001"},
    {"restore", "Restore",
     "0812122463636361623132362d653563662d343236642d383432642d656633366439366436643261d206020802"},
    {"a staged file", "DataReplacement",
     "0813122462666263616165312d646234332d346565632d396439642d346262303132396265333764fa061b0a19"
     "12170a087a7a2e6c616e63651201001a01002002280230d602"},
    {"shallow_clone", "Clone",
     "0801122433663962386565662d363662382d343036642d623832362d3134393062326162653536348a07080801"
     "180122027478"},
    {"add_bases", "UpdateBases",
     "0814122439383662386438632d656539342d343865382d396364622d6365623136313736623736319207100a0e"
     "12026e6d22082f746d702f7a7a7a"},
};

arrow::Result<Transaction> Parsed(const std::string& bytes) {
  return ParseTransaction(BytesOf(bytes), {"t"});
}

const GoldenFile& Golden(std::string_view what) {
  return *std::ranges::find(kGoldenFiles, what, &GoldenFile::what);
}
template <typename Alternative>
Alternative GoldenOperation(std::string_view what) {
  return std::get<Alternative>(*Parsed(FromHex(Golden(what).hex)).ValueOrDie().operation);
}

TEST(TransactionCodecTest, PylancesFilesGoAroundToTheByte) {
  for (const auto& [what, operation, hex] : kGoldenFiles) {
    const std::string bytes = FromHex(hex);
    const auto transaction = Parsed(bytes);
    ASSERT_TRUE(transaction.ok()) << what << transaction.status().ToString();
    ASSERT_TRUE(transaction->operation.has_value()) << what;
    EXPECT_EQ(kOperationNames[transaction->operation->index()], operation) << what;
    EXPECT_THAT(transaction->uuid, SizeIs(36)) << what;
    EXPECT_EQ(transaction->unknown_fields, "") << what;
    EXPECT_EQ(Serialize(*transaction), bytes) << what;
  }
}

TEST(TransactionCodecTest, ReadsWhatTheyMean) {
  const auto append = Parsed(FromHex(Golden("append with a message").hex)).ValueOrDie();
  EXPECT_EQ(append.read_version, 1);
  EXPECT_THAT(append.properties, ElementsAre(Pair("__lance_commit_message", "m")));

  const auto created = GoldenOperation<Overwrite>("create with two files");
  EXPECT_THAT(created.fragments, SizeIs(2));
  EXPECT_THAT(StateOf(created.schema)->schema.fields, SizeIs(2));
  EXPECT_THAT(GoldenOperation<Delete>("a whole fragment").deleted_fragment_ids, SizeIs(1));
  EXPECT_EQ(GoldenOperation<Delete>("one row").predicate, "a = 1");
  EXPECT_EQ(GoldenOperation<Rewrite>("compact_files").groups[0].new_fragments.size(), 1);
  EXPECT_EQ(GoldenOperation<Restore>("restore").version, 2);
  EXPECT_TRUE(GoldenOperation<Merge>("add_columns").preserves_nullability);
  EXPECT_EQ(GoldenOperation<Update>("update").mode, Update::Mode::kRewriteRows);
  EXPECT_EQ(GoldenOperation<Clone>("shallow_clone").ref_version, 1);
  EXPECT_EQ(GoldenOperation<UpdateBases>("add_bases").new_bases[0].name, "nm");
  const auto removed = GoldenOperation<UpdateConfig>("delete_config_keys");
  EXPECT_THAT(removed.config->entries, ElementsAre(Pair("k", std::nullopt)));
  const auto replaced = GoldenOperation<UpdateConfig>("update_schema_metadata, replace");
  EXPECT_TRUE(replaced.schema_metadata->replace);
  EXPECT_THAT(GoldenOperation<DataReplacement>("a staged file").replacements[0].new_file.fields,
              ElementsAre(0));
}

// What no call of pylance's makes, and all fields that the files above leave out.
TEST(TransactionCodecTest, TheRestGoesAround) {
  wire::DataFragment fragment{.id = 3, .physical_rows = 2};
  const Operation operations[] = {
      Overwrite{.config_upserts = {{"a", "1"}}, .initial_bases = {{.id = 1, .path = "/p"}}},
      CreateIndex{{{.name = "new"}},
                  {{.name = "old"}, {.name = "older", .unknown_fields = "\xa0\x06\x01"}}},
      Update{.removed_fragment_ids = {1, 300},
             .new_fragments = FragmentsOf({fragment}),
             .fields_modified = {0, 7},
             .compacted_sstables = {"s"},
             .fields_for_preserving_frag_bitmap = {2},
             .mode = Update::Mode::kRewriteColumns,
             .inserted_rows = "f",
             .updated_fragment_offsets = {{0, "zero"}, {9, "nine"}}},
      UpdateConfig{.table_metadata = UpdateMap{{{"a", ""}}, false},
                   .field_metadata = {{4, UpdateMap{{{"b", {}}}, true}}}},
      DataOverlay{{{5,
                    {{.data_file = {.path = "o", .fields = {1, 2}}, .offset_bitmaps = {"b"}},
                     {.data_file = {.path = "p", .fields = {1, 2}},
                      .offset_bitmaps = {"c", "d"},
                      .per_field = true}}}}},
      UpdateMemWalState{{"s", "t"}},
      Clone{true, "tag", 7, "/p", "branch"},
  };
  for (const Operation& operation : operations) {
    const std::string bytes =
        Serialize(Transaction{.uuid = "u", .tag = "t", .operation = operation});
    const auto parsed = Parsed(bytes).ValueOrDie();
    EXPECT_EQ(parsed.operation->index(), operation.index());
    EXPECT_EQ(parsed.tag, "t");
    EXPECT_EQ(Serialize(parsed), bytes) << kOperationNames[operation.index()];
  }
}

TEST(TransactionCodecTest, OldFormsAreRead) {
  // 110 {1 {a: 1}, 2 b, 3 {c: 2}, 4 {7: {5 {d: 3}}}}
  const auto config = std::get<UpdateConfig>(
      *Parsed(FromHex("f206210a060a01611201311201621a060a0163120132220c080712082a060a0164120133"))
           .ValueOrDie()
           .operation);
  EXPECT_THAT(config.config->entries, ElementsAre(Pair("a", "1"), Pair("b", std::nullopt)));
  EXPECT_FALSE(config.config->replace);
  EXPECT_TRUE(config.schema_metadata->replace);
  EXPECT_TRUE(config.field_metadata.at(7).replace);
  EXPECT_THAT(config.field_metadata.at(7).entries, ElementsAre(Pair("d", "3")));
  // 104 {1 {1 4}, 2 {1 5}}: the fragments of the only group
  const auto rewrite =
      std::get<Rewrite>(*Parsed(FromHex("c206080a02080412020805")).ValueOrDie().operation);
  EXPECT_EQ(rewrite.groups[0].old_fragments[0].id(), 4);
  EXPECT_EQ(rewrite.groups[0].new_fragments[0].id(), 5);
}

TEST(TransactionCodecTest, AnUnknownOperationIsKeptAndIsNone) {
  const std::string bytes = FromHex("120175b2090141");
  const auto unknown = Parsed(bytes).ValueOrDie();
  EXPECT_FALSE(unknown.operation.has_value());
  EXPECT_EQ(Serialize(unknown), bytes);
}

// What changes among the others of a version is stored as the list of them all.
TEST(TransactionCodecTest, MostOperationsNameTheFilesThatTheyBring) {
  const auto lists = [](const Operation& operation) {
    const std::string message = Serialize(Transaction{.uuid = "u", .operation = operation});
    return ListsItsFiles(wire::AsBytes(message), {"t"}).ValueOrDie();
  };
  EXPECT_TRUE(lists(Append()));
  EXPECT_TRUE(lists(DataReplacement()));
  EXPECT_FALSE(lists(Restore{.version = 1}));
  EXPECT_FALSE(lists(Clone()));
  std::string unknown;
  wire::AppendBytes(999, "message", &unknown);
  EXPECT_FALSE(ListsItsFiles(wire::AsBytes(unknown), {"t"}).ValueOrDie());
  EXPECT_THAT(ListsItsFiles(wire::AsBytes("\x0a\x7f"), {"t"}).status(),
              testing::IsError(ErrorKind::kCorrupt, "t"));
}

TEST(TransactionCodecTest, AMergeOfWhatChangesIsStoredWhole) {
  std::vector<wire::DataFragment> fragments;
  for (uint64_t id = 0; id < 5; ++id) {
    fragments.push_back({.id = id, .files = {{.path = "old"}}, .physical_rows = id + 1});
  }
  const auto others = FragmentTable().Insert(fragments).ValueOrDie();
  fragments[3].files[0].path = "three";
  fragments[1].files[0].path = "one";
  Transaction whole{.uuid = "u", .operation = Merge{.fragments = FragmentsOf(fragments)}};
  Transaction changes{.uuid = "u",
                      .operation = Merge{.fragments = FragmentsOf({fragments[3], fragments[1]})}};
  changes.hints.others = others;
  EXPECT_EQ(Serialize(changes), Serialize(whole));
}

TEST(TransactionCodecTest, DamagedFilesAreErrors) {
  for (const GoldenFile& golden : kGoldenFiles) {
    const std::string good = FromHex(golden.hex);
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      const auto parsed = Parsed(flipped);
      EXPECT_TRUE(parsed.ok() || KindOf(parsed.status()) == ErrorKind::kCorrupt) << bit;
      const auto cut = Parsed(good.substr(0, bit / 8));
      EXPECT_TRUE(cut.ok() || KindOf(cut.status()) == ErrorKind::kCorrupt) << bit;
    }
  }
}

}  // namespace
}  // namespace glaive::table
