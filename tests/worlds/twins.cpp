#include "worlds/twins.hpp"

#include "photonrail/cluster.hpp"
#include "photonrail/controller.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace photonrail::worlds {

namespace {

enum class Measure { kNone, kTime, kRate };

// What a key measures, as its unit says.
Measure measure_of(std::string_view key) {
  if (key.ends_with("per_s") || key == "peak_tflops") return Measure::kRate;
  for (const std::string_view unit : {"_ps", "_ns", "_us", "_ms", "_s"}) {
    if (key.ends_with(unit)) return Measure::kTime;
  }
  return Measure::kNone;
}

// All numbers of a duration: one, several, or a distribution's; its sigma is the deviation of a logarithm.
void scale(Json& value, double factor) {
  if (value.is_number()) {
    value = value.get<double>() * factor;
    return;
  }
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    if (key != "sigma") scale(inner, factor);
  }
}

void scale_times(Json& value) {
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    const Measure measure = value.is_object() ? measure_of(key) : Measure::kNone;
    if (measure == Measure::kNone) {
      scale_times(inner);
    } else {
      scale(inner, measure == Measure::kTime ? 2.0 : 0.5);
    }
  }
}

bool gives(const Json& object, const std::string& key) {
  for (const auto& [name, value] : object.items()) {
    if (name.starts_with(key + "_")) return true;
  }
  return false;
}

// Times that a policy has by default are written out, so that they can be scaled. False: one has none that can be named.
bool write_out_times(Json& controller) {
  if (!controller.contains("name")) return false;
  const std::string name = controller["name"];
  const ControllerRegistry registry = ControllerRegistry::builtin();
  if (name == "coalesce") return false;  // it keeps circuits for 1 us at the least, however short a delay is
  if (name == "rotor" && !gives(controller, "slot"))
    return false;  // where switching takes no time it has a slot of its own
  for (const ControllerParameter& parameter : registry.find(name).parameters) {
    const auto* time = std::get_if<Duration>(&parameter.initial);
    if (time == nullptr || *time == Duration{} || gives(controller, parameter.key)) continue;
    controller[parameter.key + "_ps"] = time->count();
  }
  return true;
}

bool servers_are_alike(const Json& scenario) {
  if (scenario.contains("jobs") || scenario["workload"].contains("checkpoint")) return false;  // peers go by server
  const Json& cluster = scenario["cluster"];
  const Json& rail = cluster["rail"];
  if (rail.contains("pods") || cluster.contains("sites")) return false;
  if (rail["kind"] == "optical") return true;
  const std::uint32_t ports = cluster.value("/nic/ports"_json_pointer, 1u);
  return rail.value("radix", 64u) > cluster["servers"].get<std::uint32_t>() * ports;
}

// GPU of each rank, written out.
std::vector<std::uint32_t> placement_of(const Json& scenario) {
  const auto given = "/placement/rank_to_gpu"_json_pointer;
  if (scenario.contains(given)) return scenario[given];
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t r = 0; r < ranks_of(scenario); ++r) gpus.push_back(r);
  return gpus;
}

void write_ranks(Json& scenario) {
  const std::uint32_t ranks = ranks_of(scenario);
  for (const char* kind : {"collective", "moe_layer"}) {
    Json& workload = scenario["workload"];
    if (!workload.contains(kind) || workload[kind].contains("demand") || workload[kind].contains("refit")) continue;
    workload[kind]["ranks"] = ranks;
  }
}

std::uint32_t ranks_of_refit(const Json& refit) {
  const std::uint32_t training = refit["training"]["ranks"];
  const std::uint32_t engines = refit.value("engines", 1u) * refit["engine"]["ranks"].get<std::uint32_t>();
  return refit.value("colocated", false) ? std::max(training, engines) : training + engines;
}

}  // namespace

bool names_presets(const Json& cluster) {
  for (const auto& place : {"/gpu"_json_pointer, "/scale_up"_json_pointer, "/rail/switch"_json_pointer}) {
    if (cluster.contains(place) && (!cluster[place].is_object() || cluster[place].contains("preset"))) return true;
  }
  return false;
}

std::optional<Json> twice_as_slow(const Json& scenario) {
  Json twin = scenario;
  Json& cluster = twin["cluster"];
  if (names_presets(cluster)) return std::nullopt;
  if (scenario.dump().find("\"operators\"") != std::string::npos) return std::nullopt;  // kernels have times of their own
  if (!cluster.contains("gpu")) cluster["gpu"] = {{"peak_tflops", 989}, {"memory_gb_per_s", 4800}};
  for (const auto& [part, rate, preset] :
       {std::tuple{"scale_up", "gb_per_s", 450}, std::tuple{"nic", "port_gb_per_s", 50}}) {
    if (!cluster[part].contains(rate)) cluster[part][rate] = preset;
  }
  if (twin.contains("controller") && !write_out_times(twin["controller"])) return std::nullopt;
  if (twin.contains("jobs")) {
    for (Json& job : twin["jobs"]) {
      if (job.contains("controller") && !write_out_times(job["controller"])) return std::nullopt;
    }
  }
  scale_times(twin);
  return twin;
}

std::uint32_t ranks_of(const Json& scenario) {
  const Json& workload = scenario["workload"];
  const std::uint32_t gpus =
      scenario["cluster"]["servers"].get<std::uint32_t>() * scenario["cluster"]["gpus_per_server"].get<std::uint32_t>();
  if (workload.contains("graph")) return workload["graph"]["ranks"];
  if (workload.contains("/collective/demand"_json_pointer))
    return static_cast<std::uint32_t>(workload["collective"]["demand"].size());
  if (workload.contains("/collective/refit"_json_pointer)) return ranks_of_refit(workload["collective"]["refit"]);
  for (const char* kind : {"collective", "moe_layer"}) {
    if (workload.contains(kind)) return workload[kind].value("ranks", gpus);
  }
  const Json sizes = workload["training"].value("parallelism", Json::object());
  std::uint32_t ranks = 1;
  for (const char* dimension : {"tp", "cp", "pp", "dp"}) ranks *= sizes.value(dimension, 1u);
  return ranks;
}

std::optional<Json> renamed(const Json& scenario, const std::vector<std::uint32_t>& permutation) {
  if (!servers_are_alike(scenario)) return std::nullopt;
  if (scenario.contains("placement") && !scenario["placement"].contains("rank_to_gpu")) return std::nullopt;
  Json twin = scenario;
  const std::uint32_t width = scenario["cluster"]["gpus_per_server"];
  const auto moved = [&](std::uint32_t gpu) { return permutation[gpu / width] * width + gpu % width; };
  std::vector<std::uint32_t> gpus = placement_of(scenario);
  for (std::uint32_t& gpu : gpus) gpu = moved(gpu);
  write_ranks(twin);
  twin["placement"] = {{"rank_to_gpu", gpus}};
  for (const auto& faults :
       {"/cluster/rail/faults"_json_pointer, "/cluster/scale_up/faults"_json_pointer, "/server_faults"_json_pointer}) {
    if (!twin.contains(faults)) continue;
    for (Json& fault : twin[faults]) {
      if (fault.contains("server")) fault["server"] = permutation[fault["server"].get<std::size_t>()];
    }
  }
  const auto unlike_gpus = "/cluster/unlike_gpus"_json_pointer;
  if (twin.contains(unlike_gpus)) {
    for (Json& unlike : twin[unlike_gpus]) {
      for (Json& server : unlike["servers"]) server = permutation[server.get<std::size_t>()];
    }
  }
  const auto circuits = "/controller/circuits"_json_pointer;
  if (twin.contains(circuits)) {
    for (Json& circuit : twin[circuits]) {
      circuit["from"] = moved(circuit["from"]);
      circuit["to"] = moved(circuit["to"]);
    }
  }
  const auto matrix = "/controller/matrix"_json_pointer;
  for (const char* const side : {"from", "to"}) {
    if (!twin.contains(matrix)) break;
    for (Json& server : twin[matrix][side]) server = permutation[server.get<std::size_t>()];
  }
  return twin;
}

std::optional<Json> with_unused_server(const Json& scenario) {
  if (!servers_are_alike(scenario)) return std::nullopt;
  if (scenario.contains("placement") && !scenario["placement"].contains("rank_to_gpu")) return std::nullopt;
  Json twin = scenario;
  write_ranks(twin);
  twin["placement"] = {{"rank_to_gpu", placement_of(scenario)}};
  twin["cluster"]["servers"] = scenario["cluster"]["servers"].get<std::uint32_t>() + 1;
  return twin;
}

bool is_decided(const Json& scenario) {
  const auto decides = [](const Json& job) {
    return job.contains("/workload/serving"_json_pointer) || job.contains("/workload/rl"_json_pointer) ||
           job.contains("/workload/agent"_json_pointer);
  };
  if (scenario.contains("agents") || decides(scenario)) return true;
  return scenario.contains("jobs") && std::any_of(scenario["jobs"].begin(), scenario["jobs"].end(), decides);
}

bool is_steady(const Json& scenario) {
  const std::string text = scenario.dump();
  for (const char* random : {"\"distribution\"", "\"loss\"", "faults\"", "\"restarts\"", "\"random\"", "\"dirichlet\"",
                             "\"zipf\"", "\"source_spread\"", "\"messages\"", "\"pip\"", "\"hash\"", "\"least_loaded\""}) {
    if (text.find(random) != std::string::npos) return false;
  }
  return true;
}

bool is_serial(const Json& scenario) {
  if (scenario.contains("jobs") || scenario.contains("stragglers")) return false;
  if (scenario["workload"].contains("checkpoint")) return false;
  return scenario["workload"].contains("collective") && !scenario["workload"]["collective"].contains("arrival_delay_us");
}

bool rings_share_wires(const Json& scenario) {
  const Json& rail = scenario["cluster"]["rail"];
  if (rail.value("kind", std::string("electrical")) != "electrical") return false;
  if (scenario.value("/cluster/nic/ports"_json_pointer, 1u) == 1) return false;
  return scenario.value("/cluster/nic/gpus"_json_pointer, 1u) > 1 || rail.value("oversubscription", 1.0) > 1.0;
}

bool may_forward(const Json& scenario) {
  const std::string name = policy_of(scenario);
  if (scenario["cluster"]["rail"].value("forwarding", false)) return true;
  if (scenario.value("/controller/paths"_json_pointer, std::string()) == "two_hop") return true;
  ControllerSpec spec;
  spec.name = name;
  return ControllerRegistry::builtin().find(name).needs_of(spec).hops > 1;
}

namespace {

// Of all links: a message crosses at most as many.
double latency_between_sites_ns(const Json& scenario) {
  double sum = 0.0;
  for (const Json& link : scenario.value("/cluster/sites/links"_json_pointer, Json::array())) {
    sum += 1e3 * link.value("latency_us", 0.0);
  }
  return sum;
}

}  // namespace

double latency_term_ps(const Json& scenario) {
  const auto ns = [&](const char* place) { return scenario.value(Json::json_pointer(place), 0.0); };
  const double message = ns("/cluster/nic/latency_ns") + ns("/cluster/nic/message_overhead_ns") +
                         ns("/cluster/scale_up/latency_ns") + ns("/cluster/rail/tier_latency_ns") +
                         1e3 * ns("/cluster/rail/pods/latency_us") + latency_between_sites_ns(scenario);
  const double steps = 2.0 * ranks_of(scenario);  // of a ring's all-reduce; trees and matchings have fewer
  const double calls =
      scenario.value("/workload/collective/repeat"_json_pointer, 1.0) * scenario.value("/run/iterations"_json_pointer, 1.0);
  const double hops = scenario.value("/cluster/rail/forwarding"_json_pointer, false) ? ranks_of(scenario) : 1.0;
  return 1e3 * message * steps * calls * hops * 2.0 + 1e4;
}

// One collective whose messages may leave at once, on switches that nothing points: its end follows those of its flows. The
// ends of other jobs also follow what a rank, a policy or a queue does first.
double accuracy_slack_ps(const Json& scenario, const RunResult& within) {
  constexpr double kOfOrderly = 0.2;  // of the accuracy; the greatest that was found is 0.074
  constexpr double kOfOrders = 0.1;   // besides the accuracy; the greatest that was found with it is 0.06
  constexpr double kRounding = 1e-6;
  const auto makespan = static_cast<double>(within.makespan.count());
  if (within.engine.epochs == 0) return 1000.0 + kRounding * makespan;
  const double accuracy = scenario.value("/network/accuracy"_json_pointer, 0.0);
  const bool orderly = is_serial(scenario) && policy_of(scenario) == "electrical";
  return 1000.0 + makespan * (orderly ? kOfOrderly * accuracy : accuracy + kOfOrders);
}

namespace {

double greatest_number(const Json& value) {
  if (value.is_number()) return value;
  double greatest = 0.0;
  if (value.is_structured()) {
    for (const auto& [key, inner] : value.items()) greatest = std::max(greatest, greatest_number(inner));
  }
  return greatest;
}

// Of a distribution a value that it practically never exceeds: of a logarithm's the median times e to the power of 5 sigma.
double greatest_time(const Json& value) {
  if (value.is_object() && value.contains("sigma")) {
    return value["median"].get<double>() * std::exp(5.0 * value["sigma"].get<double>());
  }
  return value.is_object() ? 8.0 * greatest_number(value) : greatest_number(value);
}

double unit_ps(std::string_view key) {
  for (const auto& [unit, picoseconds] : {std::pair{"_ps", 1.0}, {"_ns", 1e3}, {"_us", 1e6}, {"_ms", 1e9}}) {
    if (key.ends_with(unit)) return picoseconds;
  }
  return 1e12;
}

}  // namespace

double all_times_ps(const Json& value) {
  double sum = 0.0;
  if (!value.is_structured()) return sum;
  for (const auto& [key, inner] : value.items()) {
    const Measure measure = value.is_object() ? measure_of(key) : Measure::kNone;
    if (measure == Measure::kTime) {
      sum += greatest_time(inner) * unit_ps(key);
    } else if (key == "commands_per_s") {
      sum += 1e12 / inner.get<double>();
    } else if (measure == Measure::kNone) {
      sum += all_times_ps(inner);
    }
  }
  return sum;
}

double least_rate(const Json& scenario) {
  const Json& cluster = scenario["cluster"];
  const ClusterSpec usual;  // what a file does not say
  double rate = std::min(cluster.value("/nic/port_gb_per_s"_json_pointer, usual.nic.per_port.bytes_per_second / 1e9),
                         cluster.value("/scale_up/gb_per_s"_json_pointer, usual.scale_up.per_gpu.bytes_per_second / 1e9));
  for (const Json& fault : cluster.value("/rail/faults"_json_pointer, Json::array())) rate *= fault.value("rate", 1.0);
  for (const Json& line : cluster.value("/scale_up/curve"_json_pointer, Json::array())) {
    if (line.is_object()) rate = std::min(rate, line.value("gb_per_s", rate));
  }
  rate /= cluster.value("/nic/gpus"_json_pointer, 1.0);
  for (const Json& uplink : cluster.value("/rail/uplinks/gb_per_s"_json_pointer, Json::array())) {
    rate = std::min(rate, uplink.get<double>());
  }
  if (cluster.contains("/rail/uplinks"_json_pointer)) rate /= 64;  // uplinks are parts of a leaf's bandwidth
  for (const Json& link : cluster.value("/sites/links"_json_pointer, Json::array())) {
    rate = std::min(rate, link.value("gb_per_s", rate));
  }
  if (cluster.contains("/scale_up/faults"_json_pointer)) rate /= 2;  // what slow links keep, at least
  if (cluster.value("/scale_up/pooled"_json_pointer, false)) {
    rate = std::min(rate, cluster.value("/scale_up/gb_per_s"_json_pointer, 450.0) / 6);  // six links at the most
  }
  for (const char* place : {"/rail/oversubscription", "/rail/pods/oversubscription"}) {
    rate /= std::max(1.0, cluster.value(Json::json_pointer(place), 1.0));
  }
  return rate * 1e9 / 1e12;
}

std::string policy_of(const Json& scenario) {
  if (scenario.contains("jobs") && scenario["jobs"].is_array()) return "";
  return scenario.value("/controller/name"_json_pointer, std::string("electrical"));
}

}  // namespace photonrail::worlds
