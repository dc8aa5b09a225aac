// The value, its text and its pointers. nlohmann/json by itself says what the text must be.
#include "json/json.hpp"
#include "json/text.hpp"
#include "photonrail/core/random.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace photonrail::json {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string random_text(RandomStream& random) {
  static const std::vector<std::string> kPieces{"a",    "B",   "/",       "~", " ", "\\\"",
                                                "\\\\", "\\n", "\\u0001", "é", "→", "\x7f"};
  std::string text = "\"";
  for (std::uint64_t n = random.below(6); n > 0; --n) text += kPieces[random.below(kPieces.size())];
  return text + "\"";
}

std::string random_number(RandomStream& random) {
  switch (random.below(5)) {
    case 0:
      return std::to_string(random.next());
    case 1:
      return std::to_string(static_cast<std::int64_t>(random.next()));
    case 2:
      return std::to_string(random.below(100)) + ".5";
    case 3:
      return "-0";
    default: {  // any double
      const double x = std::bit_cast<double>(random.next());
      return std::isfinite(x) ? nlohmann::json(x).dump() : "1e300";
    }
  }
}

// Keys are numbered so that none comes twice, and come in an order that is not theirs.
std::string random_document(RandomStream& random, int depth) {
  const auto kind = random.below(depth == 0 ? 4 : 6);
  if (kind == 0) return random_text(random);
  if (kind == 1) return random_number(random);
  if (kind < 4) return random.below(2) == 0 ? "null" : "true";
  std::string text = kind == 4 ? "[" : "{";
  const std::uint64_t n = random.below(depth == 3 ? 40 : 5);  // more keys than are searched one by one
  for (std::uint64_t i = 0; i < n; ++i) {
    if (i > 0) text += ",";
    if (kind == 5) text += "\"k" + std::to_string(i * 7919 % 1009) + "\":";
    text += random_document(random, depth - 1);
  }
  return text + (kind == 4 ? "]" : "}");
}

TEST(JsonText, IsWrittenAsNlohmannWritesIt) {
  RandomStream random(7, "documents");
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_document(random, 3);
    const Json value = parse_json(text, "f.json");
    const auto ordered = nlohmann::ordered_json::parse(text);
    ASSERT_EQ(value.dump(), ordered.dump()) << text;
    ASSERT_EQ(value.dump(2), ordered.dump(2)) << text;
    ASSERT_EQ(value.canonical(), nlohmann::json::parse(text).dump()) << text;
    ASSERT_EQ(value, parse_json(value.dump(), "f.json")) << text;
    const Json copy = value;
    ASSERT_EQ(copy, value);
  }
}

TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(Json("a\xff"
                 "b")
                .dump(),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, NumbersKeepTheirKind) {
  const Json values = parse_json("[18446744073709551615, -9223372036854775808, 1.0, -0]", "f.json");
  EXPECT_EQ(values.elements()[0].natural(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(values.elements()[1].integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(values.elements()[2].is_double());
  EXPECT_EQ(values.dump(), "[18446744073709551615,-9223372036854775808,1.0,0]");
}

TEST(Json, EqualityKnowsNeitherTheOrderOfKeysNorTheKindOfANumber) {
  EXPECT_EQ(parse_json(R"({"a": 1, "b": [2.0]})", "f"), parse_json(R"({"b": [2], "a": 1.0})", "f"));
  EXPECT_NE(parse_json(R"({"a": 1})", "f"), parse_json(R"({"a": 1, "b": null})", "f"));
  EXPECT_NE(parse_json("[1]", "f"), parse_json("[1, 1]", "f"));
  EXPECT_NE(Json("1"), Json(1));
  EXPECT_NE(Json(nullptr), Json(false));
  EXPECT_NE(Json(std::numeric_limits<std::uint64_t>::max()), Json(-1));
}

TEST(Json, IsBuiltFromValues) {
  Json value{{"a", 1}, {"b", {{"c", "text"}}}, {"d", std::vector<int>{1, -2}}};
  value["e"]["f"] = true;
  value["b"]["c"] = nullptr;
  value["g"].push_back(2.5);
  EXPECT_EQ(value.dump(), R"({"a":1,"b":{"c":null},"d":[1,-2],"e":{"f":true},"g":[2.5]})");
  value = Json(value.find("b")->dump());  // a part of the value, while it is replaced
  EXPECT_EQ(value, R"({"c":null})");
}

TEST(Json, ManyKeysAreFound) {
  Json value = Json::object();
  for (int i = 0; i < 5000; ++i) value["key " + std::to_string(i)] = i;
  EXPECT_EQ(value.size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(*value.find("key " + std::to_string(i)), i);
  EXPECT_FALSE(value.contains("key 5000"));
  const Json copy = value;
  EXPECT_EQ(*copy.find("key 4999"), 4999);
}

TEST(JsonPointer, FollowsRfc6901) {
  const Json root = parse_json(R"({"a/b": {"c~d": [10, {"": 20}]}})", "f");
  EXPECT_EQ(*find_at(root, "/a~1b/c~0d/0"), 10);
  EXPECT_EQ(*find_at(root, "/a~1b/c~0d/1/"), 20);
  EXPECT_EQ(find_at(root, ""), &root);
  for (const char* nothing : {"/a", "/a~1b/c~0d/2", "/a~1b/c~0d/00", "/a~1b/c~0d/-1", "/a~1b/c~0d/-", "/a~1b/c~0d/0/x",
                              "/a~1b/c~0d/99999999999999999999"}) {
    EXPECT_EQ(find_at(root, nothing), nullptr) << nothing;
  }
  EXPECT_THAT(split_pointer("/a~01/~1"), ElementsAre("a~1", "/"));
}

TEST(JsonPointer, ABrokenOneIsAnError) {
  EXPECT_THAT(error_of([] { static_cast<void>(split_pointer("/a~2b")); }).what(), HasSubstr("~ needs 0 or 1 after it"));
  EXPECT_THAT(error_of([] { static_cast<void>(split_pointer("/a~")); }).what(), HasSubstr("~ needs 0 or 1 after it"));
  EXPECT_THAT(error_of([] { static_cast<void>(split_pointer("a")); }).what(), HasSubstr("must begin with '/'"));
  std::string deep;
  for (std::size_t i = 0; i < kMaxDepth; ++i) deep += "/a";
  EXPECT_EQ(split_pointer(deep).size(), kMaxDepth);
  EXPECT_THAT(error_of([&] { static_cast<void>(split_pointer(deep + "/a")); }).what(), HasSubstr("more than 128 keys"));
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonLimits, NestingIsLimited) {
  EXPECT_EQ(parse_json(nested(kMaxDepth), "f.json").dump(), nested(kMaxDepth));
  const ConfigError error = error_of([] { static_cast<void>(parse_json(nested(1'000'000), "f.json")); });
  EXPECT_EQ(error.where(), "f.json");
  EXPECT_EQ(error.problem(), "is nested more than 128 levels deep");
  EXPECT_FALSE(parse_if_json(nested(kMaxDepth + 1)));
  std::istringstream stream(nested(kMaxDepth + 1));
  EXPECT_EQ(error_of([&] { static_cast<void>(parse_listed(stream, "f", "list", [](const Json&) {})); }).problem(),
            "is nested more than 128 levels deep");
}

TEST(JsonLimits, ValuesAreCounted) {
  EXPECT_EQ(parse_json("[1, {\"a\": 2}]", "f.json", 4).size(), 2u);  // the array, 1, the object, 2
  const ConfigError error = error_of([] { static_cast<void>(parse_json("[1, {\"a\": 2}]", "f.json", 3)); });
  EXPECT_EQ(error.what(), std::string("f.json: has more than 3 values"));
}

TEST(ParseListed, GivesTheElementsAndKeepsTheRest) {
  std::istringstream in(R"({"a": [{"n": 1}], "list": [{"n": [2]}, {"n": 3, "list": [{}]}], "b": {"list": [{"n": 4}]}})");
  std::vector<std::string> elements;
  const Json rest = parse_listed(in, "f", "list", [&](const Json& value) { elements.push_back(value.dump()); });
  EXPECT_THAT(elements, ElementsAre(R"({"n":[2]})", R"({"n":3,"list":[{}]})"));
  EXPECT_EQ(rest.dump(), R"({"a":[{"n":1}],"list":[],"b":{"list":[{"n":4}]}})");
}

TEST(ParseListed, SaysTheByte) {
  std::istringstream in(R"({"list": [{"n" 1}]})");
  const ConfigError error = error_of([&] { static_cast<void>(parse_listed(in, "f.json", "list", [](const Json&) {})); });
  EXPECT_THAT(error.what(), HasSubstr("f.json: byte 15: not JSON"));
}

}  // namespace
}  // namespace photonrail::json
