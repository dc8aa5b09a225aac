// Fields that checks name: their paths, and errors about them in a larger value.
#include "core/field.hpp"

#include <gtest/gtest.h>

#include <string>

namespace photonrail::core {
namespace {

TEST(Field, HasAnIndexForEachPairOfBrackets) {
  EXPECT_EQ(field("rail.planes").path(), "rail.planes");
  EXPECT_EQ(field("rail.faults[].at", 2).path(), "rail.faults[2].at");
  EXPECT_EQ(field("shims[].ranks[]", 1, 30).path(), "shims[1].ranks[30]");
  EXPECT_EQ(named_field("parameters.*", "slot").path(), "parameters.slot");
}

TEST(Field, OfAMemberOfALargerValue) {
  EXPECT_EQ(field("rail.faults[].at", 2).in(field("cluster")).path(), "cluster.rail.faults[2].at");
  EXPECT_EQ(field("ranks[]", 5).in(field("jobs[]", 3)).path(), "jobs[3].ranks[5]");
  EXPECT_EQ(field("").in(field("moe")).path(), "moe");
  EXPECT_EQ(field("[]", 4).in(field("links")).path(), "links[4]");
}

TEST(FieldError, SaysTheFieldsOfItsTextsWithoutBraces) {
  const FieldError error(field("nic.ports"), "do not fit {rail.planes}", "raise {rail.planes} or {x");
  EXPECT_STREQ(error.what(), "nic.ports: do not fit rail.planes (raise rail.planes or {x)");
  EXPECT_EQ(error.problem_pattern(), "do not fit {rail.planes}");
}

TEST(FieldError, OfAMemberNamesAllFieldsOfTheLargerValue) {
  const FieldError inner(field("nic.ports"), "is 0", "raise {nic.ports}");
  const FieldError outer = inner.in(field("cluster"));
  EXPECT_EQ(outer.where(), "cluster.nic.ports");
  EXPECT_EQ(outer.hint(), "raise cluster.nic.ports");
  // Of an element of a list the fields in the texts stay: all elements have them.
  EXPECT_EQ(inner.in(field("jobs[]", 1)).hint(), "raise nic.ports");
  EXPECT_EQ(inner.in(field("jobs[]", 1)).where(), "jobs[1].nic.ports");
}

TEST(FieldError, OutOfACheckOfAMember) {
  try {
    check_member(field("cluster"), [] { throw FieldError(field("servers"), "is 0"); });
    FAIL();
  } catch (const FieldError& e) {
    EXPECT_EQ(e.field().path(), "cluster.servers");
  }
}

}  // namespace
}  // namespace photonrail::core
