// A key of results is one line of a table: the writer, the schema and the page of reference know it from there.
#include "fields/pages.hpp"
#include "fields/schema.hpp"
#include "photonrail/simulate.hpp"
#include "report/output.hpp"

#include <gtest/gtest.h>

namespace photonrail::report {
namespace adding_a_result_key_test {

struct Link {
  std::string name;
  double busy = 0.0;
  std::optional<Duration> repaired{};
};
struct Network {
  std::uint64_t flows = 0;
  std::vector<Link> links{};
};

constexpr auto kName = key<&Link::name>("name", "Its name.");
constexpr auto kBusy = key<&Link::busy>("busy", "From 0 to 1.");
constexpr auto kOldLink = outputs<Link>({kName, kBusy});
// The table with one line more.
constexpr auto kNewLink = outputs<Link>({kName, kBusy, key<&Link::repaired>("repaired_s", "When it was repaired.")});

constexpr auto kOld = outputs<Network>(
    {key<&Network::flows>("flows", "How many."), objects<kOldLink, &Network::links>("links", "Each.").in_lists_only()});
constexpr auto kNew = outputs<Network>(
    {key<&Network::flows>("flows", "How many."), objects<kNewLink, &Network::links>("links", "Each.").in_lists_only()});

const Network kNetwork{3, {{"a", 0.5}, {"b", 0.25, std::chrono::milliseconds(1500)}}};

TEST(AddingAResultKey, OneLineMakesTheWriter) {
  EXPECT_EQ(written<kOld>(kNetwork).dump(), R"({"flows":3,"links":[{"name":"a","busy":0.5},{"name":"b","busy":0.25}]})");
  EXPECT_EQ(written<kNew>(kNetwork).dump(),
            R"({"flows":3,"links":[{"name":"a","busy":0.5},{"name":"b","busy":0.25,"repaired_s":1.5}]})")
      << "a key without a value is left out";
  EXPECT_EQ(written<kNew>(kNetwork, false).dump(), R"({"flows":3})");
}

TEST(AddingAResultKey, OneLineMakesTheSchema) {
  const auto schema_of = [](const fields::Section& keys) {
    return fields::schema(fields::object_shape(keys), "network", Registries{});
  };
  const json::Json before = schema_of(kKeysOf<kOld>);
  const json::Json after = schema_of(kKeysOf<kNew>);
  const char* const place = "/properties/links/items/properties/repaired_s";
  EXPECT_EQ(json::find_at(before, place), nullptr);
  const json::Json* const repaired = json::find_at(after, place);
  ASSERT_NE(repaired, nullptr);
  EXPECT_EQ(repaired->canonical(), R"({"description":"When it was repaired. In seconds.","minimum":0,"type":"number"})");
  // It need not be there, and later versions may write further keys.
  EXPECT_EQ(json::find_at(after, "/properties/links/items/required")->dump(), R"(["name","busy"])");
  EXPECT_EQ(json::find_at(after, "/properties/links/items/additionalProperties"), nullptr);
}

TEST(AddingAResultKey, OneLineMakesTheRowOfThePage) {
  const auto page_of = [](const fields::Section& keys) { return fields::table_of_keys(keys, "", {}, Registries{}); };
  const std::string row = "| `links/[]/repaired_s` | 0 and more | When it was repaired. |\n";
  EXPECT_EQ(page_of(kKeysOf<kNew>), page_of(kKeysOf<kOld>) + row);
}

// What of a value may be null is there, and what another part adds is in the schema alone.
constexpr auto kOthers =
    outputs<Link>({key<[](const Link& link) { return OrNull<Duration>{link.repaired}; }>("repaired_s", "Null: never."),
                   key<[](const Link& link) { return link.busy - 1.0; }>("spare", "Below 0.").of_either_sign(),
                   added_later<Link>("seal", fields::text_shape(), "A checksum.")});

TEST(AddingAResultKey, KindsFollowFromWhatIsWritten) {
  EXPECT_EQ(written<kOthers>(kNetwork.links[0]).dump(), R"({"repaired_s":null,"spare":-0.5})");
  const json::Json schema = fields::schema(fields::object_shape(kKeysOf<kOthers>), "link", Registries{});
  EXPECT_EQ(json::find_at(schema, "/properties/repaired_s/anyOf")->canonical(),
            R"([{"minimum":0,"type":"number"},{"type":"null"}])");
  EXPECT_EQ(json::find_at(schema, "/properties/spare/minimum"), nullptr);
  EXPECT_TRUE(json::find_at(schema, "/properties")->contains("seal"));
  EXPECT_EQ(json::find_at(schema, "/required")->dump(), R"(["repaired_s","spare"])");
}

}  // namespace adding_a_result_key_test
}  // namespace photonrail::report
