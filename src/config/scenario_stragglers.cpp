// The sections "stragglers", ranks that are late or slow, and "server_faults", servers that stop.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"

#include <limits>

namespace photonrail::config {

namespace {

void read_whom(const JsonReader& value, StragglerSpec& spec) {
  using enum StragglerSpec::Whom;
  if (value.is_string()) {
    spec.whom = value.choice<StragglerSpec::Whom>({{"all", kAll}, {"random", kOneAtRandom}});
    return;
  }
  spec.whom = kListed;
  for (const JsonReader& rank : value.elements()) {
    spec.ranks.push_back(RankId{rank.count(0, std::numeric_limits<std::uint32_t>::max() - 1)});
  }
  if (spec.ranks.empty()) value.fail("names no rank", "list rank numbers, or write \"all\" or \"random\"");
}

StragglerSpec read_straggler(JsonReader section, const std::filesystem::path& directory) {
  StragglerSpec spec;
  read_whom(section.child("ranks", "a list of rank numbers, \"all\" or \"random\""), spec);
  const auto slowdown = section.optional("slowdown");
  if (slowdown) spec.slowdown = slowdown->number(1.0, 1e6);
  const auto delay = section.timed("delay", "us");
  if (delay && delay->first.is_array()) {
    for (const JsonReader& step : delay->first.elements()) spec.trace.push_back(step.in_picoseconds(delay->second));
    if (spec.trace.empty()) delay->first.fail("has no entry", "give one delay for each step; they repeat");
  } else if (delay) {
    spec.delay = read_delay(delay->first, delay->second, directory);
  }
  if (const auto at = section.duration("at", "ms")) spec.at = Time{*at};
  spec.lasts = section.duration("lasts", "ms");
  if (const auto v = section.optional("stops")) spec.stops = v->boolean();
  if (spec.stops) spec.detection = section.duration("detection", "ms").value_or(Duration{});
  if (!slowdown && !delay && !spec.stops) {
    section.fail("is neither late nor slow",
                 "give it a \"delay_us\" or a \"slowdown\", or an \"at_ms\" from which it \"stops\"");
  }
  section.finish();
  return spec;
}

}  // namespace

std::vector<StragglerSpec> read_stragglers(const JsonReader& section, const std::filesystem::path& directory) {
  std::vector<StragglerSpec> stragglers;
  for (const JsonReader& straggler : section.elements()) stragglers.push_back(read_straggler(straggler, directory));
  return stragglers;
}

namespace {

ServerFault read_server_fault(JsonReader section, std::uint32_t servers) {
  ServerFault fault;
  fault.server = read_index(section.child("server", "the number of a server, from 0"), servers);
  section.read_time("at", fault.at, "ms");
  fault.lasts = section.duration("lasts", "ms");
  fault.detection = section.duration("detection", "ms").value_or(Duration{});
  if (fault.lasts && fault.detection > *fault.lasts) {
    section.fail("is over before it is detected", "a \"detection\" of at most the length of the fault");
  }
  section.finish();
  return fault;
}

}  // namespace

std::vector<ServerFault> read_server_faults(const JsonReader& section, std::uint32_t servers) {
  std::vector<ServerFault> faults;
  for (const JsonReader& fault : section.elements()) faults.push_back(read_server_fault(fault, servers));
  return faults;
}

void fail_nics(const std::vector<ServerFault>& faults, ClusterSpec& cluster) {
  const bool optical = cluster.rail.kind == RailKind::kOptical;
  for (const ServerFault& fault : faults) {
    PortFault nics;
    nics.server = fault.server;
    nics.at = fault.at;
    nics.lasts = fault.lasts;
    if (optical) nics.detection = fault.detection;
    cluster.rail.faults.push_back(nics);
  }
}

void stop_gpus(const std::vector<ServerFault>& faults, Scenario& job) {
  for (const ServerFault& fault : faults) {
    StragglerSpec gpus;
    gpus.whom = StragglerSpec::Whom::kListed;
    for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
      if (job.gpu_of_rank[r].value / job.cluster.gpus_per_server == fault.server) gpus.ranks.push_back(RankId{r});
    }
    if (gpus.ranks.empty()) continue;
    gpus.at = fault.at;
    gpus.lasts = fault.lasts;
    gpus.stops = true;
    gpus.detection = fault.detection;
    job.stragglers.push_back(std::move(gpus));
  }
}

}  // namespace photonrail::config
