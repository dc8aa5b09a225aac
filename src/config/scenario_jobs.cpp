// A job, and the "jobs" section: several of them on one cluster.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "config/trace_dimensions.hpp"
#include "core/counted.hpp"
#include "photonrail/simulate.hpp"
#include "run/scenario_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace photonrail::config {

namespace {

// The job's own GPUs are numbered server by server, as those of a cluster of its own.
void move_to(const std::vector<std::uint32_t>& servers, std::uint32_t gpus_per_server, std::vector<GpuId>& gpus) {
  for (GpuId& gpu : gpus) {
    const std::size_t server = gpu.index() / gpus_per_server;
    if (server >= servers.size()) {
      gpu = GpuId::none();  // rank_to_gpu names a GPU that is not there: validation says so
      continue;
    }
    gpu = GpuId{std::size_t{servers[server]} * gpus_per_server + gpu.index() % gpus_per_server};
  }
}

// These servers as a cluster of their own: how many there are, and which of their GPUs are unlike.
ClusterSpec part_of(ClusterSpec cluster, const std::vector<std::uint32_t>& servers) {
  cluster.servers = static_cast<std::uint32_t>(servers.size());
  std::erase_if(cluster.unlike, [&](UnlikeGpus& unlike) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t s = 0; s < cluster.servers; ++s) {
      if (std::count(unlike.servers.begin(), unlike.servers.end(), servers[s]) > 0) own.push_back(s);
    }
    unlike.servers = std::move(own);
    return unlike.servers.empty();
  });
  return cluster;
}

using fields::Field;
using fields::Reading;
using fields::Shape;

/// A job and the servers that it has.
struct JobEntry {
  JobSpec job;
  std::uint32_t servers_of_cluster;
  std::vector<std::uint32_t> servers{};
};

constexpr Shape same_as(Shape shape, std::string_view section) {
  shape.same_as = section;
  return shape;
}

constexpr Shape kServerIndex = fields::whole_shape(0, 4294967294.0);
constexpr Field kJobFields[] = {
    fields::known("workload", same_as(fields::object_shape(kWorkloadSection), "/workload"),
                  "As at the top; the cluster that it sees has the job's servers only.")
        .by("graph")
        .must(),
    fields::known("placement", same_as(fields::object_shape(kPlacementSection), "/placement"), "Among the job's servers.")
        .by("gpu_of_rank")
        .or_else("rank r on its GPU r"),
    fields::known("controller", same_as(fields::object_shape(kControllerSection), "/controller"), "Of the job.")
        .or_else("that at the top"),
    fields::known("executor", same_as(fields::object_shape(kExecutorSection), "/executor"), "Of the job.")
        .or_else("that at the top"),
    fields::known("collectives", same_as(fields::object_shape(kCollectivesSection), "/collectives"), "Of the job.")
        .or_else("that at the top"),
    fields::known("stragglers", same_as(kStragglersShape, "/stragglers"), "Of the job.").or_else("none"),
    fields::text<&JobEntry::job, &JobSpec::name>("name", "No two alike.").or_else("`\"job N\"`"),
    fields::time<&JobEntry::job, &JobSpec::start>("start", "s", "When it begins.").or_else("0"),
    fields::count<&JobEntry::job, &JobSpec::run, &RunSpec::iterations>("iterations", 1, 1'000'000, "Steps in a row.")
        .by("")
        .or_else("`/run/iterations`"),
    fields::own(
        "servers", fields::list_shape(kServerIndex),
        [](const Reading& at) {
          auto& entry = into<JobEntry>(at);
          entry.servers = read_servers(at.value, entry.servers_of_cluster);
        },
        "Those of the job, in its own order.")
        .by("")
        .or_else("all"),
};
constexpr Alias kJobAliases[] = {{"jobs", "jobs"}, {"cluster", "cluster"}};
JobSpec read_one_job(JsonReader entry, const JobSections& defaults, const ReadContext& context, const Scenario& shared,
                     std::size_t index) {
  JobEntry read{{}, shared.cluster.servers};
  JobSpec& job = read.job;
  job.name = "job " + std::to_string(index);
  job.run = shared.run;
  job.run.seed += index;
  fields::read(entry, kJobSection, &read);
  JobSections sections = defaults;
  sections.pointer = entry.pointer();
  const auto own = [&](const char* key, std::optional<JsonReader>& section) {
    if (const auto v = entry.optional(key)) section = v;
  };
  own("workload", sections.workload);
  own("placement", sections.placement);
  own("controller", sections.controller);
  own("executor", sections.executor);
  own("collectives", sections.collectives);
  own("stragglers", sections.stragglers);
  read_job(sections, read.servers, context, shared.cluster, job);
  return std::move(read.job);
}

// The job that has each GPU. One that runs no rank passes on what ranks of its server send: it is the server's job's,
// unless several jobs share the server.
std::map<GpuId, std::size_t> jobs_of_gpus(const std::vector<JobSpec>& jobs, std::uint32_t gpus_per_server) {
  std::map<GpuId, std::size_t> job_of;
  std::map<std::size_t, std::set<std::size_t>> in_server;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (const GpuId gpu : jobs[j].gpu_of_rank) {
      job_of.emplace(gpu, j);
      in_server[gpu.index() / gpus_per_server].insert(j);
    }
  }
  for (const auto& [server, of] : in_server) {
    for (std::size_t g = 0; g < gpus_per_server && of.size() == 1; ++g)
      job_of.emplace(GpuId{server * gpus_per_server + g}, *of.begin());
  }
  return job_of;
}

/// Where the circuits of a job are from.
struct GivenCircuits {
  bool shared;     ///< the controller of the whole cluster
  bool by_matrix;  ///< of which they are made
};

// Of circuits that are given for the whole cluster each job has those whose ports are its own; of circuits that a job gives
// itself all must be. A circuit with an end that no job has carries nothing, and is not lit.
void deal_circuits(const std::vector<GivenCircuits>& given, std::uint32_t gpus_per_server, std::vector<JobSpec>& jobs) {
  const std::map<GpuId, std::size_t> job_of = jobs_of_gpus(jobs, gpus_per_server);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::vector<StaticCircuit> all = std::move(jobs[j].controller.circuits);
    jobs[j].controller.circuits.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto from = job_of.find(all[i].from);
      const auto to = job_of.find(all[i].to);
      if (from == job_of.end() || to == job_of.end()) continue;
      if (from->second != to->second || (!given[j].shared && from->second != j)) {
        const auto gpu = [&](GpuId id, std::size_t job) {
          return "GPU " + std::to_string(id.value) + " of " + jobs[job].name;
        };
        throw ConfigError(
            (given[j].shared ? "" : "/jobs/" + std::to_string(j)) + "/controller/" +
                (given[j].by_matrix ? "matrix" : "circuits/" + std::to_string(i)),
            "joins " + gpu(all[i].from, from->second) + " to " + gpu(all[i].to, to->second) +
                (given[j].shared ? ": jobs have nothing to say to each other" : ": a job cannot have the ports of another"),
            given[j].shared ? "circuits between GPUs of one job" : "circuits between GPUs of " + jobs[j].name);
      }
      if (from->second == j) jobs[j].controller.circuits.push_back(all[i]);
    }
  }
}

// Where the file has the fields of a job: in its own sections, or in those of the file that it shares.
Places places_of(const JobSections& sections) {
  Places places;
  const auto add = [&](const char* field, const char* key, const std::optional<JsonReader>& section, const Shape& shape) {
    places.add(field, section ? section->pointer() : sections.pointer + "/" + key, section ? &section->json() : nullptr,
               shape);
  };
  add("graph", "workload", sections.workload, fields::object_shape(kWorkloadSection));
  add("gpu_of_rank", "placement", sections.placement, fields::object_shape(kPlacementSection));
  add("controller", "controller", sections.controller, fields::object_shape(kControllerSection));
  add("executor", "executor", sections.executor, fields::object_shape(kExecutorSection));
  add("collectives", "collectives", sections.collectives, fields::object_shape(kCollectivesSection));
  add("stragglers", "stragglers", sections.stragglers, kStragglersShape);
  places.add("", "", nullptr, kScenarioSection);
  return places;
}

}  // namespace

namespace {

bool has_consecutive_ranks(const Communicator& group) {
  for (std::size_t i = 1; i < group.members.size(); ++i) {
    if (group.members[i].index() != group.members[i - 1].index() + 1) return false;
  }
  return true;
}

// Why what the placement says of a group of a trace is doubtful; empty: it is not. Ranks are usually numbered with tp
// innermost.
std::string doubt(const Communicator& group, std::size_t ranks, bool default_placement) {
  const auto meant = named_dimension(group.name);
  if (meant && *meant != group.dimension) return "though its name says " + std::string(name(*meant));
  const bool spread = group.dimension == Dimension::kDp || group.dimension == Dimension::kOther;
  if (meant || !default_placement || !spread || group.members.size() == ranks || !has_consecutive_ranks(group)) return {};
  return "though its ranks are consecutive, as those of tp usually are";
}

// The groups of a trace that have no dimension get that which the placement suggests; a doubtful one is told.
void infer_dimensions(const JobSections& sections, std::uint32_t gpus_per_server, JobSpec& job) {
  const json::Json& workload = sections.workload->json();
  const bool trace = workload.contains("chakra") || workload.contains("kineto");
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < job.graph.communicators().size(); ++i) {
    const Communicator& c = job.graph.communicators()[i];
    if (c.dimension == Dimension::kOther && c.members.size() > 1 && !c.point_to_point) open.push_back(i);
  }
  job.graph.infer_dimensions(job.gpu_of_rank, gpus_per_server);
  if (!trace) return;
  refine_dimensions(open, job.graph);
  std::size_t doubtful = 0;
  std::string first;
  for (const std::size_t i : open) {
    const Communicator& c = job.graph.communicators()[i];
    const std::string why = doubt(c, job.graph.ranks(), !sections.placement);
    if (why.empty() || ++doubtful > 1) continue;
    first = "group \"" + c.name + "\" of the trace (ranks " + std::to_string(c.members.front().index()) + " to " +
            std::to_string(c.members.back().index()) + ") counts as " + std::string(name(c.dimension)) + " by " +
            (sections.placement ? "its placement" : "the default placement, rank r on GPU r") + " with " +
            core::counted(gpus_per_server, "GPU") + " a server, " + why;
  }
  if (doubtful == 0) return;
  const std::string more = doubtful == 1 ? "" : " (" + core::counted(doubtful, "such group") + ")";
  job.graph.warn(first + more +
                 (workload.contains("chakra") ? "; name dimensions in /workload/chakra/dimensions, or give /placement"
                                              : "; give /placement"));
}

}  // namespace

std::vector<std::uint32_t> read_servers(const JsonReader& list, std::uint32_t count) {
  std::vector<std::uint32_t> servers;
  for (const JsonReader& server : list.elements()) {
    servers.push_back(read_index(server, count));
    if (std::count(servers.begin(), servers.end(), servers.back()) > 1) server.fail("the server is there twice");
  }
  if (servers.empty()) list.fail("names no server", "leave it out for all servers of the cluster");
  return servers;
}

void read_job(const JobSections& sections, const std::vector<std::uint32_t>& servers, const ReadContext& context,
              const ClusterSpec& cluster, JobSpec& into) {
  const auto& [directory, known, graphs] = context;
  into.controller = read_controller(sections.controller, cluster, directory, known.controllers);
  if (sections.executor) into.executor = read_executor(*sections.executor);
  if (sections.collectives) into.collectives = read_collectives(*sections.collectives, directory, known.collectives);
  if (sections.stragglers) into.stragglers = read_stragglers(*sections.stragglers, directory);
  Placement placement = sections.placement ? read_placement(*sections.placement) : Placement{};
  if (!sections.placement) placement.pointer = sections.pointer + "/placement";
  const ClusterSpec part = servers.empty() ? cluster : part_of(cluster, servers);
  Workload work = read_workload(*sections.workload, directory, part, placement, into.collectives, known, graphs);
  into.graph = std::move(work.graph);
  into.workload = std::move(work.decided);
  into.memory = std::move(work.memory);
  into.work = work.work;
  into.gpu_of_rank = place(placement, into.graph.ranks(), work.generated);
  if (!servers.empty()) move_to(servers, cluster.gpus_per_server, into.gpu_of_rank);
  try {
    run::check_job(into, cluster);
  } catch (const core::FieldError& e) {
    throw places_of(sections).located(e);
  }
  infer_dimensions(sections, cluster.gpus_per_server, into);
  read_checkpoint(*sections.workload, work.state, !sections.pointer.empty(), cluster, into);
}

constexpr Section kJobSection{kJobFields, nullptr, kJobAliases};

std::vector<JobSpec> read_jobs(const JsonReader& list, const JobSections& defaults, const ReadContext& context,
                               const Scenario& shared) {
  std::vector<JobSpec> jobs;
  std::vector<GivenCircuits> given;  // by job
  const std::vector<JsonReader> entries = list.elements();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    jobs.push_back(read_one_job(entries[i], defaults, context, shared, i));
    std::optional<JsonReader> controller = JsonReader(entries[i]).optional("controller");
    const bool shared_one = !controller;
    if (shared_one) controller = defaults.controller;
    given.push_back({shared_one, controller && controller->optional("matrix")});
  }
  deal_circuits(given, shared.cluster.gpus_per_server, jobs);
  return jobs;
}

}  // namespace photonrail::config
