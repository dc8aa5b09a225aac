// What `--set` takes as text.
#include "photonrail/config.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST(OverrideText, NeedsAPointerWithItsEscapes) {
  const std::vector<Override> set{{"/a~2b", "1"}};
  const ConfigError error = error_of([&] { static_cast<void>(parse_scenario("{}", ".", "f.json", set)); });
  EXPECT_THAT(error.what(), HasSubstr("f.json: /a~2b: is not a JSON pointer: ~ needs 0 or 1 after it"));
}

TEST(OverrideText, NeedsAnEqualsSignAndASlash) {
  EXPECT_THAT(error_of([] { static_cast<void>(Override::parse("/a/b")); }).what(), HasSubstr("--set /a/b: no '='"));
  EXPECT_THAT(error_of([] { static_cast<void>(Override::parse("a=1")); }).what(), HasSubstr("must begin with '/'"));
  const Override good = Override::parse("/a=b=c");
  EXPECT_EQ(good.pointer, "/a");
  EXPECT_EQ(good.value, "b=c");
}

}  // namespace
}  // namespace photonrail::test
