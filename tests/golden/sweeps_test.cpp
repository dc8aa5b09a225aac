// Every point of every sweep in configs/sweeps is a scenario, and those at its ends run.
#include "golden/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Point {
  std::map<std::string, Json> parameters;
  std::vector<Override> patch;
};

std::vector<Json> numbers(const Json& axis) {
  std::vector<Json> list;
  if (axis.contains("values")) return axis["values"];
  const bool ratio = axis.contains("log_range");
  const Json& range = axis[ratio ? "log_range" : "range"];
  const double from = range["from"];
  const double to = range["to"];
  const int steps = range.contains("points") ? range["points"].get<int>() - 1
                                             : static_cast<int>(std::lround((to - from) / range["step"].get<double>()));
  for (int i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    list.push_back(ratio ? from * std::pow(to / from, part) : from + (to - from) * part);
  }
  return list;
}

void add(Point& point, const std::string& pointer, const Json& value) { point.patch.push_back({pointer, value.dump()}); }

std::vector<Point> options(const Json& axis) {
  std::vector<Point> list;
  if (axis.contains("variants")) {
    for (const auto& [label, patch] : axis["variants"].items()) {
      list.push_back({{{axis["name"], label}}, {}});
      for (const auto& [pointer, value] : patch.items()) add(list.back(), pointer, value);
    }
  } else if (axis.contains("zip")) {
    for (const auto& [pointer, values] : axis["zip"].items()) {
      list.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) add(list[i], pointer, values[i]);
    }
  } else {
    for (const Json& value : numbers(axis)) {
      list.push_back({{{axis.value("name", axis["pointer"].get<std::string>()), value}}, {}});
      add(list.back(), axis["pointer"], value);
    }
  }
  return list;
}

bool holds(const Json& condition, const Point& point) {
  for (const auto& [name, wanted] : condition.items()) {
    const auto found = point.parameters.find(name);
    if (found == point.parameters.end()) return false;
    const Json all = wanted.is_array() ? wanted : Json::array({wanted});
    if (std::find(all.begin(), all.end(), found->second) == all.end()) return false;
  }
  return true;
}

std::vector<Point> points(const Json& sweep) {
  std::vector<Point> all(1);
  for (const Json& axis : sweep["axes"]) {
    std::vector<Point> more;
    for (const Point& before : all) {
      if (axis.contains("when") && !holds(axis["when"], before)) {
        more.push_back(before);
        continue;
      }
      for (const Point& option : options(axis)) {
        Point point = before;
        point.parameters.insert(option.parameters.begin(), option.parameters.end());
        point.patch.insert(point.patch.end(), option.patch.begin(), option.patch.end());
        more.push_back(std::move(point));
      }
    }
    all = std::move(more);
  }
  return all;
}

Scenario scenario_at(const fs::path& file, const Json& sweep, const Point& point) {
  const bool inside = sweep["base"].is_object();
  const fs::path base = inside ? file : file.parent_path() / sweep["base"].get<std::string>();
  Json root = inside ? sweep["base"] : Json::parse(std::ifstream(base), nullptr, true, true);
  std::vector<Override> patch = point.patch;
  for (const Override& set : patch) root[Json::json_pointer(set.pointer)] = Json::parse(set.value);
  for (const Json& derived : sweep.value("derived", Json::array())) {
    double value = 1.0;
    for (const Json& term : derived["product"]) {
      value *= term.is_string() ? root.at(Json::json_pointer(term.get<std::string>())).get<double>() : term.get<double>();
    }
    patch.push_back({derived["pointer"], Json(value).dump()});
  }
  const Json start = inside ? sweep["base"] : Json::parse(std::ifstream(base), nullptr, true, true);
  return parse_scenario(start.dump(), base.parent_path(), file.filename().string(), patch);
}

std::vector<std::string> sweep_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(configs() / "sweeps")) files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  return files;
}

class ReadySweeps : public ::testing::TestWithParam<std::string> {};

TEST_P(ReadySweeps, EveryPointIsAScenarioAndTheEndsRun) {
  const fs::path file = configs() / "sweeps" / (GetParam() + ".json");
  const Json sweep = Json::parse(std::ifstream(file));
  EXPECT_EQ(sweep["schema"], "photonrail.sweep/1");
  EXPECT_FALSE(sweep["why"].get<std::string>().empty());
  const std::vector<Point> all = points(sweep);
  EXPECT_GE(all.size(), 10u);
  std::vector<Scenario> ends;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Scenario scenario = scenario_at(file, sweep, all[i]);
    EXPECT_TRUE(scenario.pricing.has_value());
    if (i == 0 || i + 1 == all.size()) ends.push_back(std::move(scenario));
  }
  ASSERT_EQ(ends.size(), 2u);
  const RunResult first = simulate(ends[0]);
  const RunResult last = simulate(ends[1]);
  expect_balanced(first);
  expect_balanced(last);
  EXPECT_NE(first.makespan, last.makespan) << "what varies changes nothing";
  EXPECT_TRUE(first.cost && last.cost);
}

INSTANTIATE_TEST_SUITE_P(Every, ReadySweeps, ::testing::ValuesIn(sweep_files()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace photonrail::test
