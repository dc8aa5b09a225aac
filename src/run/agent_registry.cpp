// The agents that scenarios may name.
#include "photonrail/error.hpp"
#include "photonrail/workload/registry.hpp"
#include "run/name_table.hpp"
#include "workload/agents.hpp"

#include <utility>

namespace photonrail {

using workload::ArrivingJob;
using workload::JobPlacement;

namespace {

AgentFactory repeat() {
  AgentFactory factory{"repeat", "launches the step again and again, as a job without an agent runs it", {}};
  factory.parameters = {ControllerParameter::count("steps", 1, 1, 1'000'000, "Steps in a row.")};
  factory.needs_step = true;
  factory.make = [](const AgentSpec& spec, std::size_t ranks, std::uint64_t) {
    if (spec.step->ranks() != ranks) {
      throw ConfigError(
          "ranks", "the step has " + std::to_string(spec.step->ranks()) + " ranks and the job " + std::to_string(ranks),
          "remove \"ranks\"");
    }
    return std::make_unique<workload::RepeatedStep>(spec.step, spec.parameters.count("steps"));
  };
  return factory;
}

// The times of the list, or so many at a rate; the two exclude each other.
std::vector<Time> arrivals_of(const AgentSpec& spec, std::uint64_t seed) {
  const std::uint32_t jobs = spec.parameters.count("jobs");
  const double per_s = spec.parameters.number("per_s");
  const bool drawn = jobs > 0 || per_s > 0.0;
  if (!spec.times.empty() && drawn)
    throw ConfigError("at_s", "says when jobs arrive, and so do \"jobs\" and \"per_s\"", "keep one of them");
  if (spec.times.empty() && (jobs == 0 || per_s <= 0.0))
    throw ConfigError("", "says no arrivals", "give \"at_s\", or \"jobs\" and \"per_s\"");
  return drawn ? workload::poisson_arrivals(per_s, jobs, seed) : spec.times;
}

AgentFactory arrivals() {
  AgentFactory factory{"arrivals", "jobs of the step arrive and run on free ranks, first come, first served", {}};
  factory.parameters = {
      ControllerParameter::count("jobs", 0, 0, 10'000'000, "How many arrive; of a Poisson process."),
      ControllerParameter::number("per_s", 0.0, 0.0, 1e9, "Jobs a second on average."),
      ControllerParameter::count("steps", 1, 1, 1'000'000, "Of a job, in a row."),
      ControllerParameter::word("placement", {"lowest_ranks", "whole_servers"}, "Which free ranks a job gets.")};
  factory.needs_step = factory.takes_times = factory.on_every_gpu = true;
  factory.launches = [](const AgentSpec& spec) {
    const double jobs = spec.times.empty() ? spec.parameters.number("jobs") : static_cast<double>(spec.times.size());
    return jobs * spec.parameters.number("steps");
  };
  factory.make = [](const AgentSpec& spec, std::size_t ranks, std::uint64_t seed) {
    if (spec.step->ranks() > ranks) {
      throw ConfigError(
          "ranks", "a job has " + std::to_string(spec.step->ranks()) + " ranks, and there are " + std::to_string(ranks),
          "raise \"ranks\"");
    }
    const bool servers = spec.parameters.word("placement") == "whole_servers";
    const JobPlacement placement =
        servers ? workload::whole_servers(spec.ranks_per_server) : JobPlacement(workload::lowest_free_ranks);
    if (servers && placement(spec.step->ranks(), std::vector<bool>(ranks, true)).empty()) {
      throw ConfigError(
          "placement",
          "a job of " + std::to_string(spec.step->ranks()) + " ranks does not fit the whole servers of the job",
          "name lowest_ranks");
    }
    std::vector<ArrivingJob> jobs;
    for (const Time at : arrivals_of(spec, seed)) jobs.push_back({at, spec.step, spec.parameters.count("steps")});
    return std::make_unique<workload::Arrivals>(std::move(jobs), placement);
  };
  return factory;
}

}  // namespace

AgentRegistry AgentRegistry::builtin() {
  AgentRegistry registry;
  registry.add(repeat());
  registry.add(arrivals());
  return registry;
}

void AgentRegistry::add(AgentFactory factory) { run::add_name("agent", "Agent", std::move(factory), factories_); }

const AgentFactory& AgentRegistry::find(std::string_view name) const { return run::find_name("agent", name, factories_); }

}  // namespace photonrail
