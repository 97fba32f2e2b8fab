#include <memory>
#include <string>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/repair.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using testing::IsError;
using testing::IsOk;

constexpr const char* kUri = "repair-test://t";

std::shared_ptr<arrow::RecordBatchReader> NoRows() {
  return arrow::RecordBatchReader::Make({}, arrow::schema({arrow::field("a", arrow::int64())}))
      .ValueOrDie();
}

// The creator of a table of V1 names died while it held the V2 name of its first version.
TEST(RepairTest, ANameThatADeadCreatorHoldsIsReleased) {
  io::RegisterStore("repair-test", io::MakeMemoryStore());
  const auto place = io::Resolve(kUri).ValueOrDie();
  EXPECT_THAT(PlanRepair(kUri), IsError(ErrorKind::kNotFound, "was not found"));
  const std::string name =
      place.path + "/_versions/" + table::ManifestName(1, table::NamingScheme::kV2);
  const auto mark = arrow::Buffer::FromString(std::string(table::kHeldName));
  ASSERT_THAT(place.store->PutIfAbsent(name, {{mark}}, /*sync=*/false), IsOk());
  EXPECT_THAT(WriteDataset(NoRows(), kUri), IsError(ErrorKind::kAlreadyExists, "glaive repair"));

  const RepairPlan plan = PlanRepair(kUri).ValueOrDie();
  EXPECT_EQ(plan.version, 0);
  ASSERT_EQ(plan.steps.size(), 1);
  EXPECT_EQ(plan.steps[0].kind, RepairStep::Kind::kReleaseName);
  EXPECT_FALSE(Repair(kUri, plan).ValueOrDie().has_value());
  EXPECT_THAT(Repair(kUri, plan), IsError(ErrorKind::kInvalidInput, "plan again"));
  EXPECT_THAT(WriteDataset(NoRows(), kUri), IsOk());
  EXPECT_THAT(Repair(kUri, plan), IsError(ErrorKind::kInvalidInput, "plan again"));
  io::RegisterStore("repair-test", nullptr);
}

}  // namespace
}  // namespace glaive
