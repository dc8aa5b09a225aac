#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace photonrail::json {
namespace {

using test::error_of;
using ::testing::HasSubstr;
using ::testing::Not;

struct BrokenText {
  const char* name;
  std::string text;
  std::string where;
  std::string what;
};
std::ostream& operator<<(std::ostream& out, const BrokenText& broken) { return out << broken.name; }

class BrokenJson : public ::testing::TestWithParam<BrokenText> {};

TEST_P(BrokenJson, SaysLineColumnAndWhatIsWrong) {
  const ConfigError error = error_of([] { static_cast<void>(parse_json(GetParam().text, "f.json")); });
  EXPECT_EQ(error.where(), GetParam().where);
  EXPECT_THAT(error.what(), HasSubstr(GetParam().what));
  EXPECT_THAT(error.what(), Not(HasSubstr("json.exception")));
  EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
}

// Columns count from 1 and name the character that does not fit, or the end of the word.
INSTANTIATE_TEST_SUITE_P(
    JsonReader, BrokenJson,
    ::testing::ValuesIn(std::vector<BrokenText>{
        BrokenText{"empty", "", "f.json", "the file is empty"}, BrokenText{"blank", " \n\n", "f.json", "the file is empty"},
        BrokenText{"truncated_object", "{\n  \"a\": 1", "f.json:2:9", "the text ends too early"},
        BrokenText{"truncated_string", "{\"a", "f.json:1:4", "the text ends too early"},
        BrokenText{"nan", "{\"a\":\n NaN}", "f.json:2:2", "NaN is not a JSON value"},
        BrokenText{"infinity", "{\"a\": Infinity}", "f.json:1:7", "Infinity is not a JSON value"},
        BrokenText{"minus_infinity", "{\"a\": -Infinity}", "f.json:1:8", "-Infinity is not a JSON value"},
        BrokenText{"word", "{\"a\": yes}", "f.json:1:7", "\"yes\" is not a JSON value"},
        BrokenText{"huge", "{\"a\": 1e400}", "f.json:1:11", "the number 1e400 is too large"},
        BrokenText{"trailing_comma", "{\"a\": 1,\n}", "f.json:2:1", "a comma before '}'"},
        BrokenText{"trailing_comma_array", "[1, ]", "f.json:1:5", "a comma before ']'"},
        BrokenText{"missing_comma", "{\"a\": 1 \"b\": 2}", "f.json:1:11", "expected '}'"},
        BrokenText{"single_quotes", "{'a': 1}", "f.json:1:2", "not JSON"},
        BrokenText{"text_after", "{} {}", "f.json:1:4", "expected end of input"},
        BrokenText{"bad_utf8", "{\"a\": \"\xff\"}", "f.json:1:8", "UTF-8"},
        BrokenText{"twice", "{\"a\": {\"b\": [1, {\"c\": 1, \"c\": 2}]}}", "f.json: /a/b/1/c", "there twice"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ParseJson, AllowsCommentsAndKeepsValues) {
  const Json root = parse_json("{ // a comment\n \"a\": [1, 2.5, \"x\"] }", "f.json");
  EXPECT_EQ(root.dump(), R"({"a":[1,2.5,"x"]})");
}

TEST(JsonReader, KnowsItsPointerWithEscapes) {
  const Json root = parse_json(R"({"a/b": [{"c~d": true}]})", "f.json");
  JsonReader top(root);
  JsonReader element = top.child("a/b").elements().at(0);
  EXPECT_EQ(element.child("c~d").pointer(), "/a~1b/0/c~0d");
  EXPECT_TRUE(element.child("c~d").boolean());
}

TEST(JsonReader, AKeyThatNobodyAskedForIsAnErrorWithASuggestion) {
  const Json root = parse_json(R"({"nic": {"ports": 1, "latency_min": 3}})", "f.json");
  JsonReader nic = JsonReader(root).child("nic");
  EXPECT_EQ(nic.child("ports").count(1, 4), 1u);
  EXPECT_FALSE(nic.duration("latency"));
  const ConfigError error = error_of([&] { nic.finish(); });
  EXPECT_EQ(error.where(), "/nic/latency_min");
  EXPECT_EQ(error.problem(), "unknown key");
  EXPECT_EQ(error.hint(), "did you mean latency_ns?");
}

TEST(JsonReader, BitRatesGetTheConversion) {
  const Json root = parse_json(R"({"port_gbps": 400})", "f.json");
  const ConfigError error = error_of([&] { JsonReader(root).finish(); });
  EXPECT_THAT(error.hint(), HasSubstr("400 Gb/s is 50 GB/s"));
}

// 936.25 ns = 936 250 ps; 10 ms = 1e10 ps; 2 s = 2e12 ps; 3 ps = 3 ps; 0.5 us = 500 000 ps.
TEST(JsonReader, ReadsADurationInAnyUnit) {
  const Json root = parse_json(R"({"a_ns": 936.25, "b_ms": 10, "c_s": 2, "d_ps": 3, "e_us": 0.5})", "f.json");
  JsonReader top(root);
  EXPECT_EQ(top.duration("a"), Duration{936'250});
  EXPECT_EQ(top.duration("b"), Duration{10'000'000'000});
  EXPECT_EQ(top.duration("c"), Duration{2'000'000'000'000});
  EXPECT_EQ(top.duration("d"), Duration{3});
  EXPECT_EQ(top.duration("e"), Duration{500'000});
  EXPECT_EQ(top.duration("f"), std::nullopt);
  top.finish();
}

TEST(JsonReader, TwoUnitsOfOneDurationAreAnError) {
  const Json root = parse_json(R"({"a_ns": 1, "a_ms": 1})", "f.json");
  const ConfigError error = error_of([&] { static_cast<void>(JsonReader(root).duration("a")); });
  EXPECT_EQ(error.where(), "/a_ms");
  EXPECT_THAT(error.problem(), HasSubstr("a_ns is there too"));
}

TEST(JsonReader, WholeNumbersMayBeWrittenAsFloats) {
  const Json root = parse_json("[1e9, 4.0, 2.5, -1, 18446744073709551615, 1e300]", "f.json");
  const auto values = JsonReader(root).elements();
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  EXPECT_EQ(values[0].integer(0, kMost), 1'000'000'000u);
  EXPECT_EQ(values[1].integer(0, kMost), 4u);
  EXPECT_THAT(error_of([&] { static_cast<void>(values[2].integer(1, 9)); }).problem(),
              HasSubstr("from 1 to 9, but is 2.5"));
  EXPECT_THAT(error_of([&] { static_cast<void>(values[3].integer(0, 9)); }).problem(), HasSubstr("but is -1"));
  EXPECT_EQ(values[4].integer(0, kMost), kMost);
  EXPECT_THAT(error_of([&] { static_cast<void>(values[5].integer(0, kMost)); }).problem(), HasSubstr("1e+300"));
}

TEST(JsonReader, SaysWhatItFoundInsteadOfTheRightType) {
  const Json root = parse_json(R"({"s": "x", "n": 1, "o": {}, "l": [], "z": null})", "f.json");
  JsonReader top(root);
  const auto problem = [&](const std::function<void()>& action) { return error_of(action).problem(); };
  EXPECT_EQ(problem([&] { static_cast<void>(top.child("s").positive(9)); }), "must be a number, not the string \"x\"");
  EXPECT_EQ(problem([&] { static_cast<void>(top.child("n").string()); }), "must be a string, not 1");
  EXPECT_EQ(problem([&] { static_cast<void>(top.child("o").boolean()); }), "must be true or false, not an object");
  EXPECT_EQ(problem([&] { static_cast<void>(top.child("l").child("x")); }), "must be an object, not an array");
  EXPECT_EQ(problem([&] { static_cast<void>(top.child("z").elements()); }), "must be an array, not null");
  EXPECT_EQ(error_of([&] { static_cast<void>(top.child("gone")); }).where(), "/gone");
}

}  // namespace
}  // namespace photonrail::json
