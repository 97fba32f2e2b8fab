#include <filesystem>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/matchers.h"

namespace glaive::io {
namespace {

using testing::IsError;

std::string PathOf(std::string_view uri) { return Resolve(uri).ValueOrDie().path; }

TEST(ResolveTest, PlainPathsAreMadeAbsolute) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(PathOf("a/b.lance"), here + "/a/b.lance");
  EXPECT_EQ(PathOf("./a/../b.lance/"), here + "/b.lance");
  EXPECT_EQ(PathOf("/data//x.lance//"), "/data/x.lance");
  EXPECT_EQ(PathOf("/"), "/");
  EXPECT_EQ(PathOf("/with%20percent and space"), "/with%20percent and space");
  EXPECT_EQ(PathOf("~/x"), here + "/~/x");
  EXPECT_EQ(PathOf("a:b"), here + "/a:b");
  EXPECT_EQ(Resolve("a/b.lance").ValueOrDie().store, LocalStore());
}

TEST(ResolveTest, TheUriStaysAsItWasGiven) {
  for (const char* uri : {"a/b.lance/", "/x/../y", "file:///a%20b", "memory://x"}) {
    EXPECT_EQ(Resolve(uri).ValueOrDie().uri, uri);
  }
}

TEST(ResolveTest, FileUrisAreDecoded) {
  EXPECT_EQ(PathOf("file:///a%20b/c.lance/"), "/a b/c.lance");
  EXPECT_EQ(PathOf("FILE:///a"), "/a");
  EXPECT_EQ(PathOf("file://localhost/a"), "/a");
  EXPECT_EQ(PathOf("file:///100%"), "/100%");
  EXPECT_EQ(PathOf("file:///%zz"), "/%zz");
  EXPECT_THAT(Resolve("file://other/a"), IsError(ErrorKind::kInvalidInput, "another machine"));
}

TEST(ResolveTest, MemoryUrisShareOneStore) {
  EXPECT_EQ(PathOf("memory://a/b"), "/a/b");
  EXPECT_EQ(PathOf("memory:///a/b/"), "/a/b");
  EXPECT_EQ(Resolve("memory://a").ValueOrDie().store, MemoryStore());
}

TEST(ResolveTest, OtherSchemesAreUnsupportedByName) {
  EXPECT_THAT(Resolve("s3://bucket/x"), IsError(ErrorKind::kUnsupported, "'s3'"));
  EXPECT_THAT(Resolve("s3+ddb://bucket/x"), IsError(ErrorKind::kUnsupported, "'s3+ddb'"));
  EXPECT_THAT(Resolve(""), IsError(ErrorKind::kInvalidInput, "empty"));
  EXPECT_THAT(Resolve(std::string_view("a\0b", 3)), IsError(ErrorKind::kInvalidInput, "zero byte"));
}

TEST(ResolveTest, RegisteredStoresComeFirst) {
  const auto store = MakeMemoryStore();
  RegisterStore("resolvetest", store);
  EXPECT_EQ(Resolve("resolvetest:///tmp/x").ValueOrDie().store, store);
  EXPECT_EQ(PathOf("resolvetest:///tmp/x"), "/tmp/x");
  RegisterStore("resolvetest", nullptr);
  EXPECT_THAT(Resolve("resolvetest://x"), IsError(ErrorKind::kUnsupported, "resolvetest"));
  RegisterStore("file", store);
  EXPECT_EQ(Resolve("/tmp/x").ValueOrDie().store, store);
  RegisterStore("file", nullptr);
  EXPECT_EQ(Resolve("/tmp/x").ValueOrDie().store, LocalStore());
}

}  // namespace
}  // namespace glaive::io
