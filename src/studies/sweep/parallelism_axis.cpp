#include "studies/sweep/parallelism_axis.hpp"

#include "config/scenario_parts.hpp"
#include "photonrail/training.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace photonrail::sweep {

namespace {

constexpr const char* kTraining = "/workload/training";

std::vector<std::uint32_t> divisors(std::uint32_t n) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t d = 1; d <= n; ++d) {
    if (n % d == 0) list.push_back(d);
  }
  return list;
}

Choice choice_of(const ParallelismSpec& p) {
  Choice choice;
  const std::array<std::pair<const char*, std::uint32_t>, 4> sizes{
      {{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp}, {"dp", p.dp}}};
  for (const auto& [name, size] : sizes) {
    const Json value = static_cast<std::int64_t>(size);
    choice.parameters.emplace_back(name, value);
    choice.patch.push_back({std::string(kTraining) + "/parallelism/" + name, value.canonical()});
  }
  return choice;
}

// The base's placement names the dimensions that its job has: those that a factorisation adds take the places that they
// have without a placement. Empty: it needs no more names.
std::string whole_order(const Json& base) {
  const Json* const given = json::find_at(base, "/placement/order");
  if (given == nullptr || !given->is_array()) return {};
  Json::Array order = given->elements();
  const auto at = [&](const char* name) {
    return std::find_if(order.begin(), order.end(), [&](const Json& j) { return j.is_string() && j.string() == name; });
  };
  const std::size_t before = order.size();
  const char* inner = nullptr;
  for (const char* name : {"tp", "cp", "dp", "pp"}) {
    if (at(name) == order.end()) order.insert(inner == nullptr ? order.begin() : at(inner) + 1, Json(name));
    inner = name;
  }
  return order.size() == before ? std::string() : Json(order).canonical();
}

}  // namespace

Axis read_parallelism_axis(const JsonReader& value, const Json& base, const std::filesystem::path& directory) {
  if (value.string() != "all") value.fail("\"" + value.string() + "\" is no set of factorisations", "\"all\"");
  if (json::find_at(base, kTraining) == nullptr)
    value.fail("is for a training job, and the base has none", "an axis of \"variants\"");
  json::JsonReader top(base);
  const ClusterSpec cluster = config::read_cluster(top.child("cluster"), directory);
  TrainingSpec spec = config::read_training_spec_of_file(base, directory);
  Axis axis;
  axis.names = {"tp", "cp", "pp", "dp"};
  std::string problem;
  const std::string order = whole_order(base);
  const std::uint32_t gpus = cluster.gpus();
  for (const std::uint32_t tp : divisors(cluster.gpus_per_server)) {
    for (const std::uint32_t cp : divisors(gpus / tp)) {
      for (const std::uint32_t pp : divisors(gpus / tp / cp)) {
        ParallelismSpec& p = spec.parallelism;
        p.tp = tp;
        p.cp = cp;
        p.pp = pp;
        p.dp = gpus / tp / cp / pp;
        try {
          spec.validate();
          axis.choices.push_back(choice_of(p));
          if (!order.empty()) axis.choices.back().patch.push_back({"/placement/order", order});
        } catch (const ConfigError& error) {
          problem = error.problem();
        }
      }
    }
  }
  if (axis.choices.empty())
    value.fail("no factorisation of " + std::to_string(gpus) + " GPUs is valid: " + problem,
               "another job, or other servers");
  return axis;
}

}  // namespace photonrail::sweep
