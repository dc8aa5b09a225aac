#include "run/worth.hpp"

#include "photonrail/error.hpp"
#include "run/profiling_runs.hpp"
#include "run/rl_steps.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::run {

namespace {

// Integers and short decimals stay what a file would say: 50 x 11 / 10 is 55.
double more(double rate) { return rate * 11.0 / 10.0; }
Duration less(Duration time) { return Duration{(time.count() * 10 + 5) / 11}; }

bool shorten(Duration& time) {
  const Duration before = time;
  time = less(time);
  return before > Duration{};
}

bool improve_computation(Scenario& scenario) {
  std::vector<UnlikeGpus>& unlike = scenario.cluster.unlike;
  std::vector<std::vector<bool>> named(scenario.cluster.servers, std::vector<bool>(scenario.cluster.gpus_per_server));
  for (UnlikeGpus& some : unlike) {
    some.speed = more(some.speed);
    for (const std::uint32_t server : some.servers) {
      if (some.gpus.empty()) named[server].assign(named[server].size(), true);
      for (const std::uint32_t gpu : some.gpus) named[server][gpu] = true;
    }
  }
  // Servers of which no GPU is named are one entry; the others have one each.
  UnlikeGpus whole{.speed = more(1.0)};
  for (std::uint32_t s = 0; s < named.size(); ++s) {
    UnlikeGpus part{.servers = {s}, .speed = more(1.0)};
    for (std::uint32_t g = 0; g < named[s].size(); ++g) {
      if (!named[s][g]) part.gpus.push_back(g);
    }
    if (part.gpus.size() == named[s].size()) {
      whole.servers.push_back(s);
    } else if (!part.gpus.empty()) {
      unlike.push_back(std::move(part));
    }
  }
  if (!whole.servers.empty()) unlike.push_back(std::move(whole));
  return true;
}

bool improve_scale_up(Scenario& scenario) {
  ScaleUpSpec& inside = scenario.cluster.scale_up;
  inside.per_gpu.bytes_per_second = more(inside.per_gpu.bytes_per_second);
  for (ScaleUpLine& line : inside.lines) line.rate.bytes_per_second = more(line.rate.bytes_per_second);
  return scenario.cluster.gpus_per_server > 1;
}

bool improve_scale_up_latency(Scenario& scenario) {
  return scenario.cluster.gpus_per_server > 1 && shorten(scenario.cluster.scale_up.latency);
}

bool improve_ports(Scenario& scenario) {
  NicSpec& nic = scenario.cluster.nic;
  nic.per_port.bytes_per_second = more(nic.per_port.bytes_per_second);
  return scenario.cluster.servers > 1;
}

bool improve_latency(Scenario& scenario) { return scenario.cluster.servers > 1 && shorten(scenario.cluster.nic.latency); }

bool improve_overhead(Scenario& scenario) { return shorten(scenario.cluster.nic.message_overhead); }

bool improve_uplinks(Scenario& scenario) {
  RailSpec& rail = scenario.cluster.rail;
  double& share = rail.kind == RailKind::kOptical ? rail.pods.oversubscription : rail.oversubscription;
  const bool has = rail.kind == RailKind::kOptical ? rail.pods.servers > 0 : scenario.cluster.plant().two_tier();
  std::vector<Bandwidth>& rates = rail.uplinks.rates;
  for (Bandwidth& rate : rates) rate.bytes_per_second = more(rate.bytes_per_second);
  if (has && !rates.empty()) return true;
  if (!has || share <= 1.0) return false;
  share = std::max(1.0, share * 10.0 / 11.0);
  return true;
}

bool improve_switching(Scenario& scenario) {
  OpticalSwitchSpec& optical = scenario.cluster.rail.optical;
  if (scenario.cluster.rail.kind != RailKind::kOptical || optical.typical() == Duration{}) return false;
  for (Duration* const time : {&optical.reconfiguration.a, &optical.settle, &optical.link_up}) shorten(*time);
  if (optical.reconfiguration.kind != DelayDistribution::Kind::kLogNormal) shorten(optical.reconfiguration.b);
  for (Duration& sample : optical.reconfiguration.samples) shorten(sample);
  return true;
}

bool improve_control(Scenario& scenario) {
  if (scenario.cluster.rail.kind != RailKind::kOptical) return false;
  ControllerSpec& controller = scenario.controller;
  bool any = false;
  for (Duration* const time : {&controller.request, &controller.service, &controller.command, &controller.acknowledgement,
                               &controller.control.root_request, &controller.control.root_service}) {
    any = shorten(*time) || any;
  }
  return any;
}

// The rail's own switches are not what a job on electrical rails would have: the radix holds them.
bool take_electrical_rails(Scenario& scenario) {
  if (scenario.cluster.rail.kind != RailKind::kOptical) return false;
  scenario.cluster = run::on_electrical_rails(scenario.cluster);
  scenario.cluster.nic.optical_budget_db = 0.0;
  scenario.controller = ControllerSpec{};
  return true;
}

}  // namespace

const std::vector<Resource>& resources() {
  static const std::vector<Resource> table{
      {"computation", "/cluster/unlike_gpus", "x 1.1", &improve_computation},
      {"scale-up bandwidth", "/cluster/scale_up/gb_per_s", "x 1.1", &improve_scale_up},
      {"scale-up latency", "/cluster/scale_up/latency_ns", "/ 1.1", &improve_scale_up_latency},
      {"NIC ports", "/cluster/nic/port_gb_per_s", "x 1.1", &improve_ports},
      {"NIC latency", "/cluster/nic/latency_ns", "/ 1.1", &improve_latency},
      {"message overhead", "/cluster/nic/message_overhead_ns", "/ 1.1", &improve_overhead},
      {"uplinks", "/cluster/rail/oversubscription", "/ 1.1", &improve_uplinks},
      {"switching delay", "/cluster/rail/reconfiguration_ms", "/ 1.1", &improve_switching},
      {"control plane", "/controller", "times / 1.1", &improve_control},
      {"electrical rails", "/cluster/rail/kind", "in place of optical", &take_electrical_rails}};
  return table;
}

double Measure::gain_over(const Measure& base) const {
  if (base.value <= 0.0 || base.kind != kind) return 0.0;
  const double share = value / base.value;
  return kind == Kind::kRate ? share - 1.0 : 1.0 - share;
}

Measure measure_of(const RunResult& result) {
  if (result.rl && !result.rl->steps.empty()) {
    double sum = 0.0;
    for (const RlStep& step : run::middle_steps(*result.rl)) sum += to_seconds(step.step);
    return {Measure::Kind::kStep, sum / static_cast<double>(run::middle_steps(*result.rl).size())};
  }
  if (!result.serving) return {Measure::Kind::kStep, to_seconds(result.step_time())};
  const auto& search = result.serving->rate_search;
  if (search) return {Measure::Kind::kRate, search->greatest ? search->greatest->per_s : 0.0};
  return {Measure::Kind::kTtft, to_seconds(result.serving->ttft.mean)};
}

std::vector<Worth> worth_of(const Scenario& scenario, const RunResult& base, const Registries& registries) {
  std::vector<Worth> list;
  if (!scenario.jobs.empty()) return list;
  for (const Resource& resource : resources()) {
    Scenario changed = scenario;
    changed.pricing.reset();
    changed.run.critical_path = false;
    changed.run.spread_seeds = 0;
    if (!resource.improve(changed)) continue;
    Worth& worth = list.emplace_back();
    worth.resource = &resource;
    try {
      worth.measure = measure_of(simulate(changed, {}, registries));
      worth.gain = worth.measure.gain_over(measure_of(base));
    } catch (const ConfigError& error) {
      worth.error = error.problem();
    } catch (const DeadlockError&) {
      worth.error = "the job cannot finish";
    } catch (const ControllerError&) {
      worth.error = "the controller is in error";
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Worth& a, const Worth& b) { return a.gain > b.gain; });
  return list;
}

}  // namespace photonrail::run
