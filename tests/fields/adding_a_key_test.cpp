// A key is one line of a table: the reader, the checks of its value, the place of errors, the schema and the page of
// reference know it from there.
#include "fields/field.hpp"
#include "fields/pages.hpp"
#include "fields/places.hpp"
#include "fields/schema.hpp"
#include "json/text.hpp"
#include "photonrail/simulate.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <array>

namespace photonrail::fields {
namespace adding_a_key_test {

struct Nic {
  std::uint32_t ports = 1;
  Duration latency{};
  double power_w = 12.0;
};

constexpr Field kOldFields[] = {
    count<&Nic::ports>("ports", 1, 64, "Ports of a NIC.").must("how many"),
    time<&Nic::latency>("latency", "ns", "From GPU to GPU.").or_else("0"),
};
// The section with one line more.
constexpr Field kNewFields[] = {
    kOldFields[0],
    kOldFields[1],
    number<&Nic::power_w>("power_w", 0.0, 100.0, "Power of a NIC.").or_else("12"),
};
constexpr Section kOld{kOldFields};
constexpr Section kNew{kNewFields};

Nic read_nic(const char* text, const Section& table) {
  const json::Json root = json::parse_json(text, "nic");
  Nic nic;
  read(json::JsonReader(root, "/cluster/nic"), table, &nic);
  return nic;
}

std::string complaint(const char* text, const Section& table) {
  return test::error_of([&] { static_cast<void>(read_nic(text, table)); }).what();
}

TEST(AddingAKey, OneLineMakesTheReader) {
  EXPECT_EQ(complaint(R"({"ports": 2, "power_w": 20})", kOld),
            "/cluster/nic/power_w: unknown key (known: ports, latency_ns)");
  EXPECT_EQ(read_nic(R"({"ports": 2, "power_w": 20})", kNew).power_w, 20.0);
  EXPECT_EQ(read_nic(R"({"ports": 2})", kNew).power_w, 12.0) << "the default is that of the member";
}

TEST(AddingAKey, OneLineMakesTheCheckWithItsPlace) {
  EXPECT_EQ(complaint(R"({"ports": 2, "power_w": 101})", kNew),
            "/cluster/nic/power_w: must be between 0 and 100, but is 101");
  EXPECT_EQ(complaint(R"({"ports": 2, "power_w": "high"})", kNew),
            "/cluster/nic/power_w: must be a number, not the string \"high\"");
}

TEST(AddingAKey, OneLineMakesThePlaceOfAFieldThatACheckNames) {
  const auto place = [](const Section& table) {
    Places places;
    places.add("cluster.nic", "/cluster/nic", nullptr, table);
    return places.pointer(core::field("cluster.nic.power_w")).value_or("none");
  };
  EXPECT_EQ(place(kOld), "none");
  EXPECT_EQ(place(kNew), "/cluster/nic/power_w");
}

TEST(AddingAKey, OneLineMakesTheSchema) {
  const json::Json before = schema(object_shape(kOld), "nic", Registries{});
  const json::Json after = schema(object_shape(kNew), "nic", Registries{});
  EXPECT_EQ(json::find_at(before, "/properties/power_w"), nullptr);
  const json::Json* const power = json::find_at(after, "/properties/power_w");
  ASSERT_NE(power, nullptr);
  EXPECT_EQ(power->canonical(), R"({"description":"Power of a NIC. In watts.","maximum":100,"minimum":0,"type":"number"})");
}

TEST(AddingAKey, OneLineMakesTheRowOfThePage) {
  EXPECT_EQ(table_of_keys(kNew, "", {}, Registries{}),
            table_of_keys(kOld, "", {}, Registries{}) + "| `power_w` | 0 to 100 | 12 | Power of a NIC. |\n");
}

}  // namespace adding_a_key_test
}  // namespace photonrail::fields
