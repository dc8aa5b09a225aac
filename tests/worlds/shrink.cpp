#include "worlds/shrink.hpp"

#include <cmath>
#include <string>

namespace photonrail::worlds {

namespace {

using Pointer = Json::json_pointer;

/// Every value below, the outer ones first.
void list_places(const Json& value, const Pointer& at, std::vector<Pointer>& places) {
  if (!at.empty()) places.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) list_places(inner, at / key, places);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) list_places(value[i], at / i, places);
  }
}

Json without(const Json& scenario, const Pointer& place) {
  Json copy = scenario;
  Json& parent = copy[place.parent_pointer()];
  if (parent.is_object()) {
    parent.erase(place.back());
  } else {
    parent.erase(parent.begin() + std::stol(place.back()));
  }
  return copy;
}

std::vector<Json> smaller_values(const Json& value) {
  if (value.is_number_float()) {
    const double number = value;
    std::vector<Json> list;
    for (const double wish : {0.0, 1.0, std::floor(number), number < 2.0 ? number : number / 2}) {
      if (std::abs(wish) < std::abs(number) || (wish != number && wish == std::floor(number))) list.emplace_back(wish);
    }
    return list;
  }
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    std::vector<Json> list;
    for (const std::int64_t wish : {std::int64_t{0}, std::int64_t{1}, number / 2, number - 1}) {
      if (wish < number && wish >= 0) list.emplace_back(wish);
    }
    return list;
  }
  if (value.is_object() && value.contains("distribution")) return {Json(0), Json(10)};
  if (value.is_string() && value == "stream") return {Json("exact")};
  return {};
}

}  // namespace

std::vector<Json> simpler(const Json& scenario) {
  std::vector<Pointer> places;
  list_places(scenario, Pointer(), places);
  std::vector<Json> list;
  for (const Pointer& place : places) {
    if (place.back() == "schema") continue;
    list.push_back(without(scenario, place));
  }
  if (scenario.contains("jobs") && scenario["jobs"].is_array() &&
      scenario["jobs"].size() == 1) {  // a job alone needs no list
    Json copy = scenario;
    copy.erase("jobs");
    for (const char* key : {"workload", "placement", "stragglers", "controller"}) {
      if (scenario["jobs"][0].contains(key)) copy[key] = scenario["jobs"][0][key];
    }
    list.push_back(copy);
  }
  for (const Pointer& place : places) {
    for (const Json& value : smaller_values(scenario[place])) {
      Json copy = scenario;
      copy[place] = value;
      list.push_back(copy);
    }
  }
  return list;
}

World shrink(World world, const std::function<bool(const World&)>& still_wrong, std::uint64_t tries) {
  std::size_t skip = 0;  // after a success the search goes on where it was: what failed before will mostly fail again
  bool progress = true;
  while (progress && tries > 0) {
    progress = false;
    const std::vector<Json> candidates = simpler(world.scenario);
    for (std::size_t i = 0; i < candidates.size() && tries > 0; ++i) {
      const std::size_t at = (i + skip) % candidates.size();
      --tries;
      if (!still_wrong({world.seed, candidates[at]})) continue;
      world.scenario = candidates[at];
      skip = at;
      progress = true;
      break;
    }
  }
  return world;
}

}  // namespace photonrail::worlds
