#include "core/counted.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

TEST(Counted, OneIsSingularAndAllElsePlural) {
  EXPECT_EQ(core::counted(0, "rank"), "0 ranks");
  EXPECT_EQ(core::counted(1, "rank"), "1 rank");
  EXPECT_EQ(core::counted(2, "rank"), "2 ranks");
  EXPECT_EQ(core::counted(1, "rail switch", "es"), "1 rail switch");
  EXPECT_EQ(core::counted(3, "rail switch", "es"), "3 rail switches");
}

}  // namespace
}  // namespace photonrail::test
