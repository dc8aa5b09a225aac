// From fields to JSON pointers: sections, indices, and the unit that the file has.
#include "fields/places.hpp"
#include "json/text.hpp"

#include <gtest/gtest.h>

namespace photonrail::fields {
namespace places_test {

using core::field;
using core::FieldError;

struct Nic {
  std::uint32_t ports = 1;
  Duration latency{};
};
struct Fault {
  Time at{};
};
struct Cluster {
  Nic nic;
  std::vector<Fault> faults;
};

constexpr Field kNicFields[] = {count<&Nic::ports>("ports", 1, 8, ""), time<&Nic::latency>("latency", "ns", "")};
constexpr Section kNic{kNicFields};
constexpr Field kFaultFields[] = {time<&Fault::at>("at", "ms", "")};
constexpr Section kFault{kFaultFields};
constexpr Field kClusterFields[] = {part<kNic, &Cluster::nic>("nic", ""), parts<kFault, &Cluster::faults>("faults", "")};
constexpr Alias kAliases[] = {{"parameters.slot", "slot", "us"}, {"parameters.*", "*"}};
constexpr Section kCluster{kClusterFields, nullptr, kAliases};

class PlacesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string of(const core::Field& field) const { return places_.pointer(field).value_or("none"); }

  json::Json file_ =
      json::parse_json(R"({"nic": {"latency_us": 1}, "faults": [{"at_s": 1}, {"at_ps": 1}], "window_ms": 3})", "test");
  Places places_ = [this] {
    Places places;
    places.add("cluster", "/cluster", &file_, kCluster);
    return places;
  }();
};

TEST_F(PlacesTest, AFieldHasTheUnitThatTheFileHas) {
  EXPECT_EQ(of(field("cluster.nic.latency")), "/cluster/nic/latency_us");
  EXPECT_EQ(of(field("cluster.faults[].at", 0)), "/cluster/faults/0/at_s");
  EXPECT_EQ(of(field("cluster.faults[].at", 1)), "/cluster/faults/1/at_ps");
  EXPECT_EQ(of(field("cluster.faults[].at", 2)), "/cluster/faults/2/at_ms") << "the file has no such entry";
}

TEST_F(PlacesTest, AFieldIsInTheSectionOfItsMember) {
  EXPECT_EQ(of(field("cluster")), "/cluster");
  EXPECT_EQ(of(field("cluster.nic.ports")), "/cluster/nic/ports");
  EXPECT_EQ(of(field("cluster.nic.cables")), "none");
  EXPECT_EQ(of(field("clusters.nic.ports")), "none");
}

TEST_F(PlacesTest, ANamedFieldTakesTheKeyOfItsName) {
  EXPECT_EQ(of(core::named_field("cluster.parameters.*", "duty")), "/cluster/duty");
  EXPECT_EQ(of(core::named_field("cluster.parameters.*", "slot")), "/cluster/slot_us");
  EXPECT_EQ(of(core::named_field("cluster.parameters.*", "window")), "/cluster/window_ms");
}

TEST_F(PlacesTest, AnErrorIsPutIntoTheWordsOfTheFile) {
  const ConfigError located =
      places_.located({field("cluster.nic.ports"), "do not fit {cluster.nic.latency}", "see {cluster.other}"});
  EXPECT_EQ(located.where(), "/cluster/nic/ports");
  EXPECT_EQ(located.problem(), "do not fit /cluster/nic/latency_us");
  EXPECT_EQ(located.hint(), "see cluster.other");
  EXPECT_EQ(places_.located({field("run.iterations"), "is 0"}).where(), "run.iterations");
}

}  // namespace places_test
}  // namespace photonrail::fields
