// The "workload/agent" section: an agent by its name, with the job beside it as the step that it launches.
#include "config/limits.hpp"
#include "config/parameters.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "core/inside.hpp"
#include "photonrail/simulate.hpp"

#include <memory>
#include <numeric>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;

struct AgentFile {
  AgentSpec spec{};
  std::uint32_t ranks = 0;
};

std::vector<std::string> agent_words(const Registries& known) {
  std::vector<std::string> names;
  for (const AgentFactory& factory : known.agents.all()) names.push_back(factory.name);
  return names;
}

std::vector<Field> agent_parameters(const Registries& known, std::deque<std::string>& texts) {
  ParameterFields all(texts);
  for (const AgentFactory& factory : known.agents.all()) all.add(factory.parameters, factory.name);
  return all.take();
}

constexpr double kLongestArrival = 4'000'000.0;  // seconds, which Time holds
constexpr fields::Shape kArrivalTime = fields::number_shape(0.0, kLongestArrival);
constexpr Field kAgentFields[] = {
    fields::known("name", fields::text_shape(agent_words), "`photonrail list agents`.").must(),
    fields::count<&AgentFile::ranks>("ranks", 1, 0x1p24, "Of the job that the agent has.")
        .or_else("those of the step; `arrivals`, and without a step: all GPUs"),
    fields::count<&AgentFile::spec, &AgentSpec::most_events>(
        "most_events", 1, 0x1p53, "An agent that is told of so many, and has not finished, ends the run with status 3.")
        .or_else("100000000"),
    fields::own(
        "at_s", fields::list_shape(kArrivalTime),
        [](const Reading& at) {
          for (const JsonReader& time : at.value.elements()) {
            static_cast<void>(time.number(0.0, kLongestArrival));
            into<AgentFile>(at).spec.times.push_back(Time{} + time.in_picoseconds(1e12));
          }
        },
        "When jobs arrive, ascending; of agents that have a use for times, as `arrivals`.")
        .or_else("none"),
};

// The groups of a trace get the dimension that their places on the first GPUs suggest.
std::shared_ptr<const TaskGraph> step_of(TaskGraph graph, const ClusterSpec& cluster) {
  std::vector<GpuId> gpus;
  for (std::size_t r = 0; r < graph.ranks(); ++r) gpus.emplace_back(r);
  graph.infer_dimensions(gpus, cluster.gpus_per_server);
  return std::make_shared<const TaskGraph>(std::move(graph));
}

}  // namespace

constexpr Section kAgentSection{kAgentFields, nullptr, {}, agent_parameters};

Workload read_agent(JsonReader section, const ClusterSpec& cluster, const AgentRegistry& known,
                    std::optional<Workload> step) {
  const AgentFactory& factory =
      section.child("name").lookup([&](const std::string& word) -> const AgentFactory& { return known.find(word); });
  AgentFile file;
  fields::read_open(section, kAgentSection, &file);
  read_parameters(section, factory.parameters, file.spec.parameters);
  section.finish();
  const bool all = factory.on_every_gpu || !step;
  std::size_t ranks = file.ranks;
  if (ranks == 0) ranks = all ? cluster.gpus() : step->graph.ranks();
  check_fit(section.pointer(), ranks, cluster);
  Workload work = step ? std::move(*step) : Workload{};
  file.spec.name = factory.name;
  file.spec.ranks_per_server = cluster.gpus_per_server;
  if (step) file.spec.step = step_of(std::move(work.graph), cluster);
  work.graph = idle_graph(ranks, file.spec.step ? file.spec.step->shared_demands() : nullptr);
  work.generated = work.generated && file.spec.step->ranks() == ranks;
  Scenario job;  // an agent of it is made once, so that what cannot be is told of the file
  job.gpu_of_rank.resize(ranks);
  bool known_before = false;
  core::inside(section.pointer(), [&] {
    work.decided = named_workload(factory, file.spec);
    known_before = work.decided->make(job, 1)->known_future().has_value();
  });
  if (!known_before) work.work.reset();
  if (known_before && section.has("most_events"))
    section.child("most_events").fail("has no effect: the agent says before the run what it does", "remove it");
  return work;
}

}  // namespace photonrail::config
