// Conditions of tables: keys that only some objects have, and keys that some must have.
#include "fields/field.hpp"
#include "json/text.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace photonrail::fields {
namespace read_test {

struct Fault {
  bool slow = false;
  double rate = 1.0;
  std::optional<std::uint32_t> port{};
};

constexpr Word<bool> kKinds[] = {{"failed", false}, {"slow", true}};
constexpr Field kFields[] = {
    word<kKinds, &Fault::slow>("kind", "").must(),
    number<&Fault::rate>("rate", 0.0, 1.0, "").only_if("kind=slow").must("the share that is left"),
    count<&Fault::port>("port", 0, 7, "").refuse_unless("kind=failed", "a slow fault is of a whole NIC", "remove it"),
};
constexpr Section kFault{kFields};

std::string complaint(const char* text) {
  const json::Json root = json::parse_json(text, "fault");
  Fault fault;
  try {
    read(json::JsonReader(root, "/f"), kFault, &fault);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return {};
}

TEST(ReadFields, AKeyMayDependOnAWord) {
  EXPECT_EQ(complaint(R"({"kind": "slow", "rate": 0.5})"), "");
  EXPECT_EQ(complaint(R"({"kind": "slow"})"), "/f/rate: missing (the share that is left)");
  EXPECT_EQ(complaint(R"({"kind": "failed", "rate": 0.5})"), "/f/rate: unknown key (known: kind, port)");
}

TEST(ReadFields, AKeyMayBeRefusedWithAReason) {
  EXPECT_EQ(complaint(R"({"kind": "failed", "port": 1})"), "");
  EXPECT_EQ(complaint(R"({"kind": "slow", "rate": 7, "port": 1})"), "/f/port: a slow fault is of a whole NIC (remove it)");
}

json::Json object(const char* text) { return json::parse_json(text, "object"); }

TEST(ReadFields, ConditionsAreOfWordsFlagsAndPresence) {
  EXPECT_TRUE(Condition("*").holds(object("{}")));
  EXPECT_FALSE(Condition("").holds(object("{}")));
  EXPECT_TRUE(Condition("a").holds(object(R"({"a": 1})")));
  EXPECT_TRUE(Condition("!a&!b").holds(object(R"({"c": 1})")));
  EXPECT_FALSE(Condition("!a&!b").holds(object(R"({"b": 1})")));
  EXPECT_TRUE(Condition("a=x|y").holds(object(R"({"a": "y"})")));
  EXPECT_FALSE(Condition("a=x|y").holds(object(R"({"a": "z"})")));
  EXPECT_TRUE(Condition("a=|y").holds(object("{}"))) << "the empty word stands for no such key";
  EXPECT_TRUE(Condition("!a=x").holds(object("{}")));
  EXPECT_TRUE(Condition("stops=true").holds(object(R"({"stops": true})")));
  EXPECT_FALSE(Condition("stops=true").holds(object(R"({"stops": false})")));
}

}  // namespace read_test
}  // namespace photonrail::fields
