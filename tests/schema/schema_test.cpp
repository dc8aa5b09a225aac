// The schemas that are made from the tables of fields: every file of configs/ passes, and what a reader refuses for its
// shape a schema refuses.
#include "schema/schema.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/sweep.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"
#include "support/json_schema.hpp"
#include "support/own_names.hpp"
#include "support/processor_time.hpp"
#include "support/source_dir.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

const fs::path kSource = PHOTONRAIL_SOURCE_DIR;

json schema(const std::string& format) {
  static std::map<std::string, json> made;
  json& of = made[format];
  if (of.is_null()) of = json::parse(json_schema(format));
  return of;
}

json read_commented(const fs::path& file) {
  std::ifstream in(file);
  return json::parse(in, nullptr, true, true);
}

// "sweep" of "photonrail.sweep/1".
std::string format_of(const json& file) {
  const std::string schema = file.is_object() ? file.value("schema", "") : "";
  return schema.starts_with("photonrail.") ? schema.substr(11, schema.find('/') - 11) : "";
}

std::vector<fs::path> shipped(const std::string& format) {
  std::vector<fs::path> files;
  for (const char* folder : {"configs", "docs/examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      if (entry.path().extension() == ".json" && format_of(read_commented(entry.path())) == format)
        files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Schema, EveryShippedFilePasses) {
  std::size_t files = 0;
  for (const std::string& format : schema_formats()) {
    const JsonSchema checker(schema(format));
    for (const fs::path& file : shipped(format)) {
      json content = read_commented(file);
      const std::string text = content.dump();
      if (text.find("\"oldest_first\"") != std::string::npos) continue;  // of a plug-in
      if (text.find("\"adaptive_batch\"") != std::string::npos) continue;
      if (content.contains("astra")) continue;  // its other sections come from other files
      EXPECT_EQ(checker.problem(content), "") << file;
      if (files++ % 16 != 0) continue;
      content["$schema"] = "https://example.org/schema.json";
      EXPECT_EQ(checker.problem(content), "") << file;
    }
  }
  EXPECT_GT(files, 40u);
}

/// A file that was changed in one place.
struct Mutant {
  std::string what;
  json file;
};

// The pointers of all values of `value`, itself included.
void collect(const json& value, const json::json_pointer& at, std::vector<json::json_pointer>& into) {
  into.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) collect(member, at / key, into);
  } else if (value.is_array() && !value.empty()) {
    collect(value[0], at / 0, into);  // the others are like it
  }
}

std::vector<Mutant> mutants(const json& file) {
  std::vector<json::json_pointer> places;
  collect(file, json::json_pointer(), places);
  std::vector<Mutant> all;
  for (const auto& at : places) {
    const json& value = file.at(at);
    const auto put = [&](const std::string& what, const json& other) {
      Mutant mutant{at.to_string() + " " + what, file};
      mutant.file[at] = other;
      all.push_back(std::move(mutant));
    };
    if (value.is_object()) {
      json more = value;
      more["no_such_key"] = 1;
      put("with another key", more);
      for (const auto& [key, member] : value.items()) {
        json less = value;
        less.erase(key);
        put("without " + key, less);
      }
    }
    if (!value.is_number()) put("as a number", 3);
    if (!value.is_string()) put("as a string", "x");
    if (!value.is_boolean()) put("as a flag", true);
    if (!value.is_object()) put("as an object", json::object());
    if (!value.is_array()) put("as an array", json::array());
    if (value.is_number()) {
      put("below 0", -1);
      put("as a fraction", 1.5);
      put("large", 1e30);
    }
    if (value.is_string()) put("as no word", "????????????");
  }
  return all;
}

// The reader's complaints about keys, kinds, ranges and closed lists of words. Others are about what values mean.
bool is_of_shape(const std::string& problem) {
  static const std::regex kShape(
      "^(unknown key|missing|unknown value .*|unknown collective \".*|must be (an? |true |positive|at most|between |"
      "at least).*|must not be negative.*|must be a whole number .*)");
  return std::regex_match(problem, kShape);
}

// "" where the reader takes it.
std::string complaint_of_reader(const std::string& format, const json& file, const fs::path& folder) {
  try {
    if (format == "scenario") static_cast<void>(parse_scenario(file.dump(), folder, ""));
    if (format == "model") {
      const Folder copies;
      static_cast<void>(read_model(copies.write("model.json", file.dump())));
    }
    return {};
  } catch (const ConfigError& error) {
    return error.problem();
  } catch (const std::exception& error) {
    return std::string("!") + error.what();
  }
}

// All mutants at night, every third of all files together else.
void compare_with_reader(const std::string& format, const fs::path& file, std::map<std::string, int>& counts) {
  const JsonSchema checker(schema(format));
  const int every = test_cases(1) > 1 ? 1 : 3;
  for (const Mutant& mutant : mutants(read_commented(file))) {
    if (counts["seen"]++ % every != 0) continue;
    const std::string complaint = complaint_of_reader(format, mutant.file, file.parent_path());
    const std::string problem = checker.problem(mutant.file);
    if (complaint.empty()) {
      EXPECT_EQ(problem, "") << file << mutant.what << " is accepted by the reader";
      ++counts["accepted"];
    } else if (is_of_shape(complaint)) {
      EXPECT_NE(problem, "") << file << mutant.what << ": the reader says: " << complaint;
      ++counts["refused for its shape"];
    } else {
      ++counts["refused for its meaning"];
    }
  }
}

TEST(Schema, MutatedScenariosAreJudgedAsTheReaderDoes) {
  std::map<std::string, int> counts;
  for (const fs::path& file : shipped("scenario")) {
    const json content = read_commented(file);
    if (content.contains("astra")) continue;  // the reader adds what ASTRA-sim's inputs say before it looks
    // A large task graph takes a while to make, once for every mutant.
    const double before = processor_seconds();
    if (!complaint_of_reader("scenario", content, file.parent_path()).empty()) continue;
    if (processor_seconds() - before > 0.004) continue;
    compare_with_reader("scenario", file, counts);
  }
  for (const auto& [what, count] : counts) std::cout << count << ' ' << what << '\n';
  EXPECT_GT(counts["accepted"], 100);
  EXPECT_GT(counts["refused for its shape"], 1000);
}

TEST(Schema, MutatedModelsAndSweepsAreJudgedAsTheReaderDoes) {
  std::map<std::string, int> counts;
  for (const fs::path& file : shipped("model")) compare_with_reader("model", file, counts);
  EXPECT_GT(counts["refused for its shape"], 300);
}

TEST(Schema, SaysRangesUnitsAndWords) {
  const json scenario = schema("scenario");
  EXPECT_EQ(scenario["$schema"], "https://json-schema.org/draft/2020-12/schema");
  const json& cluster = scenario["properties"]["cluster"];
  EXPECT_THAT(cluster["required"], ::testing::UnorderedElementsAre("servers", "gpus_per_server"));
  EXPECT_EQ(cluster["properties"]["servers"], json({{"type", "integer"},
                                                    {"minimum", 1},
                                                    {"maximum", 1000000},
                                                    {"description", "Servers, each a scale-up domain."}}));
  EXPECT_EQ(cluster["properties"]["nic"]["properties"]["port_gb_per_s"]["description"],
            "Rate of a port in each direction. In 10^9 bytes per second.");
  EXPECT_EQ(cluster["properties"]["rail"]["properties"]["kind"]["enum"], json({"electrical", "optical"}));
  EXPECT_THAT(scenario["properties"]["controller"]["properties"]["name"]["enum"].get<std::vector<std::string>>(),
              ::testing::Contains("opus"));
}

TEST(Schema, HasTheNamesAndKeysOfTheCaller) {
  const json own = json::parse(json_schema("scenario", own_names()));
  EXPECT_THAT(own["properties"]["controller"]["properties"]["name"]["enum"].get<std::vector<std::string>>(),
              ::testing::Contains("lights_once"));
  EXPECT_TRUE(own["properties"]["controller"]["properties"].contains("hold_us"));
  EXPECT_FALSE(schema("scenario")["properties"]["controller"]["properties"].contains("hold_us"));
}

TEST(Schema, AnUnknownFormatIsAnError) {
  EXPECT_THAT(error_of([] { static_cast<void>(json_schema("scenarios")); }).what(), HasSubstr("did you mean scenario?"));
}

TEST(Schema, FilesMayNameTheirSchemaAndHaveComments) {
  const fs::path file = kSource / "configs/quickstart.json";
  json content = read_commented(file);
  content["$schema"] = "scenario.schema.json";
  const std::string text = "// why\n" + content.dump();
  EXPECT_EQ(parse_scenario(text, file.parent_path(), "s").name, content["name"]);
  content["cluster"]["$schema"] = "x";
  EXPECT_THROW(static_cast<void>(parse_scenario(content.dump(), file.parent_path(), "s")), ConfigError);
}

std::string text_of_page(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// To make them anew: for each page FILE, photonrail schema --page FILE > new && mv new FILE.
TEST(Schema, PagesOfReferenceHaveTheTablesOfTheFields) {
  std::size_t tables = 0;
  for (const auto& entry : fs::directory_iterator(kSource / "docs/reference")) {
    if (entry.path().extension() != ".md") continue;
    const std::string page = text_of_page(entry.path());
    if (page.find("<!-- keys ") == std::string::npos) continue;
    ++tables;
    EXPECT_EQ(page_with_keys(page), page) << entry.path();
  }
  EXPECT_GE(tables, 6u);
}

void collect_keys(const json& of, std::set<std::string>& keys) {
  if (of.is_object() && of.contains("properties") && of["properties"].is_object()) {
    for (const auto& [key, inner] : of["properties"].items()) keys.insert(key);
  }
  if (!of.is_structured()) return;
  for (const json& inner : of) collect_keys(inner, keys);
}

// Every key of a format says what it means; conditions, which name keys too, have no type.
void expect_descriptions(const json& of, const std::string& at) {
  if (!of.is_structured()) return;
  if (of.is_object() && of.contains("properties") && of.value("type", json()) == "object") {
    for (const auto& [key, inner] : of["properties"].items()) {
      if (key == "$schema" || inner.contains("$ref")) continue;
      EXPECT_TRUE(inner.contains("description")) << at << "/" << key;
    }
  }
  for (const auto& [key, inner] : of.items()) expect_descriptions(inner, at + "/" + key);
}

TEST(Schema, EveryKeySaysWhatItMeans) {
  for (const std::string& format : schema_formats()) {
    expect_descriptions(schema(format), format);
  }
}

// What a result says has its place in the pages.
TEST(Schema, EveryKeyOfAResultIsInThePages) {
  std::string pages;
  for (const auto& entry : fs::directory_iterator(kSource / "docs/reference")) pages += text_of_page(entry.path());
  std::set<std::string> told;
  const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
  std::istringstream in(pages);
  std::string text;
  for (bool ticked = false; std::getline(in, text, '`'); ticked = !ticked) {
    if (!ticked) continue;
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) told.insert(at->str());
  }
  std::set<std::string> keys;
  collect_keys(schema("result"), keys);
  ASSERT_GT(keys.size(), 50u);
  for (const std::string& key : keys) EXPECT_TRUE(told.contains(key)) << key;
}

}  // namespace
}  // namespace photonrail::test
