// From fields to JSON pointers: sections, indices, and the unit that the file has.
#include "json/field_keys.hpp"
#include "json/text.hpp"

#include <gtest/gtest.h>

namespace photonrail::json {
namespace {

using core::field;
using core::FieldError;

constexpr FieldKey kKeys[] = {{"", ""},
                              {"nic.ports", "nic/ports"},
                              {"nic.latency", "nic/latency", "ns"},
                              {"faults[].at", "faults/[]/at", "ms"},
                              {"parameters.slot", "slot", "us"},
                              {"parameters.*", "*"}};

class Places : public ::testing::Test {
 protected:
  [[nodiscard]] std::string of(const core::Field& field) const { return places_.pointer(field).value_or("none"); }

  Json file_ = parse_json(R"({"nic": {"latency_us": 1}, "faults": [{"at_s": 1}, {"at_ps": 1}], "window_ms": 3})", "test");
  FieldPlaces places_ = [this] {
    FieldPlaces places;
    places.add("cluster", "/cluster", &file_, kKeys);
    return places;
  }();
};

TEST_F(Places, AFieldHasTheUnitThatTheFileHas) {
  EXPECT_EQ(of(field("cluster.nic.latency")), "/cluster/nic/latency_us");
  EXPECT_EQ(of(field("cluster.faults[].at", 0)), "/cluster/faults/0/at_s");
  EXPECT_EQ(of(field("cluster.faults[].at", 1)), "/cluster/faults/1/at_ps");
  EXPECT_EQ(of(field("cluster.faults[].at", 2)), "/cluster/faults/2/at_ms") << "the file has no such entry";
}

TEST_F(Places, AFieldIsInTheSectionOfItsMember) {
  EXPECT_EQ(of(field("cluster")), "/cluster");
  EXPECT_EQ(of(field("cluster.nic.ports")), "/cluster/nic/ports");
  EXPECT_EQ(of(field("cluster.nic.cables")), "none");
  EXPECT_EQ(of(field("clusters.nic.ports")), "none");
}

TEST_F(Places, ANamedFieldTakesTheKeyOfItsName) {
  EXPECT_EQ(of(core::named_field("cluster.parameters.*", "duty")), "/cluster/duty");
  EXPECT_EQ(of(core::named_field("cluster.parameters.*", "slot")), "/cluster/slot_us");
  EXPECT_EQ(of(core::named_field("cluster.parameters.*", "window")), "/cluster/window_ms");
}

TEST_F(Places, AnErrorIsPutIntoTheWordsOfTheFile) {
  const ConfigError located =
      places_.located({field("cluster.nic.ports"), "do not fit {cluster.nic.latency}", "see {cluster.other}"});
  EXPECT_EQ(located.where(), "/cluster/nic/ports");
  EXPECT_EQ(located.problem(), "do not fit /cluster/nic/latency_us");
  EXPECT_EQ(located.hint(), "see cluster.other");
  EXPECT_EQ(places_.located({field("run.iterations"), "is 0"}).where(), "run.iterations");
}

}  // namespace
}  // namespace photonrail::json
