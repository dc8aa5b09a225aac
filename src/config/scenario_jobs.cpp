// A job, and the "jobs" section: several of them on one cluster.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "core/counted.hpp"
#include "photonrail/simulate.hpp"
#include "run/scenario_check.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
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

std::vector<std::uint32_t> read_servers(const JsonReader& list, std::uint32_t count) {
  std::vector<std::uint32_t> servers;
  for (const JsonReader& server : list.elements()) {
    servers.push_back(read_index(server, count));
    if (std::count(servers.begin(), servers.end(), servers.back()) > 1) server.fail("the server is there twice");
  }
  if (servers.empty()) list.fail("names no server", "leave it out for all servers of the cluster");
  return servers;
}

Scenario read_one_job(JsonReader entry, const JobSections& defaults, const ReadContext& context, const Scenario& shared,
                      std::size_t index) {
  Scenario job;
  job.name = "job " + std::to_string(index);
  job.cluster = shared.cluster;
  job.run = shared.run;
  job.run.seed += index;
  JobSections sections = defaults;
  sections.pointer = entry.pointer();
  const auto own = [&](const char* key, std::optional<JsonReader>& section) {
    if (const auto v = entry.optional(key)) section = v;
  };
  static_cast<void>(entry.child("workload"));
  own("workload", sections.workload);
  own("placement", sections.placement);
  own("controller", sections.controller);
  own("executor", sections.executor);
  own("collectives", sections.collectives);
  own("stragglers", sections.stragglers);
  if (const auto v = entry.optional("name")) job.name = v->string();
  entry.read_time("start", job.start, "s");
  if (const auto v = entry.optional("iterations")) job.run.iterations = v->count(1, 1'000'000);
  std::vector<std::uint32_t> servers;
  if (const auto v = entry.optional("servers")) servers = read_servers(*v, shared.cluster.servers);
  entry.finish();
  read_job(sections, servers, context, job);
  return job;
}

// Of circuits that are given for the whole cluster each job has those whose ports are its own; of circuits that a job gives
// itself all must be. A circuit with an end that no job has carries nothing, and is not lit.
void deal_circuits(const std::vector<bool>& shares, std::vector<Scenario>& jobs) {
  std::map<GpuId, std::size_t> job_of;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (const GpuId gpu : jobs[j].gpu_of_rank) job_of.emplace(gpu, j);
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::vector<StaticCircuit> all = std::move(jobs[j].controller.circuits);
    jobs[j].controller.circuits.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto from = job_of.find(all[i].from);
      const auto to = job_of.find(all[i].to);
      if (from == job_of.end() || to == job_of.end()) continue;
      if (from->second != to->second || (!shares[j] && from->second != j)) {
        const auto gpu = [&](GpuId id, std::size_t job) {
          return "GPU " + std::to_string(id.value) + " of " + jobs[job].name;
        };
        throw ConfigError(
            (shares[j] ? "" : "/jobs/" + std::to_string(j)) + "/controller/circuits/" + std::to_string(i),
            "joins " + gpu(all[i].from, from->second) + " to " + gpu(all[i].to, to->second) +
                (shares[j] ? ": jobs have nothing to say to each other" : ": a job cannot have the ports of another"),
            shares[j] ? "circuits between GPUs of one job" : "circuits between GPUs of " + jobs[j].name);
      }
      if (from->second == j) jobs[j].controller.circuits.push_back(all[i]);
    }
  }
}

// Where the file has the fields of a job: in its own sections, or in those of the file that it shares.
FieldPlaces places_of(const JobSections& sections) {
  FieldPlaces places;
  const auto add = [&](const char* field, const char* key, const std::optional<JsonReader>& section,
                       std::span<const FieldKey> keys) {
    places.add(field, section ? section->pointer() : sections.pointer + "/" + key, section ? &section->json() : nullptr,
               keys);
  };
  add("graph", "workload", sections.workload, workload_keys());
  add("gpu_of_rank", "placement", sections.placement, placement_keys());
  add("controller", "controller", sections.controller, controller_keys());
  add("executor", "executor", sections.executor, executor_keys());
  add("collectives", "collectives", sections.collectives, collectives_keys());
  add("stragglers", "stragglers", sections.stragglers, stragglers_keys());
  places.add("cluster", "/cluster", nullptr, cluster_keys());
  places.add("run", "/run", nullptr, run_keys());
  places.add("pricing", "/cost", nullptr, cost_keys());
  return places;
}

}  // namespace

namespace {

// The dimension that a group's name begins with, as "tp.0" or "DP_3" do.
std::optional<Dimension> named_dimension(const std::string& group) {
  std::string word;
  for (const char c : group) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return dimension_from(word);
}

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
void infer_dimensions(const JobSections& sections, Scenario& job) {
  const json::Json& workload = sections.workload->json();
  const bool trace = workload.contains("chakra") || workload.contains("kineto");
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < job.graph.communicators().size(); ++i) {
    const Communicator& c = job.graph.communicators()[i];
    if (c.dimension == Dimension::kOther && c.members.size() > 1 && !c.point_to_point) open.push_back(i);
  }
  job.graph.infer_dimensions(job.gpu_of_rank, job.cluster.gpus_per_server);
  if (!trace) return;
  std::size_t doubtful = 0;
  std::string first;
  for (const std::size_t i : open) {
    const Communicator& c = job.graph.communicators()[i];
    const std::string why = doubt(c, job.graph.ranks(), !sections.placement);
    if (why.empty() || ++doubtful > 1) continue;
    first = "group \"" + c.name + "\" of the trace (ranks " + std::to_string(c.members.front().index()) + " to " +
            std::to_string(c.members.back().index()) + ") counts as " + std::string(name(c.dimension)) + " by " +
            (sections.placement ? "its placement" : "the default placement, rank r on GPU r") + " with " +
            core::counted(job.cluster.gpus_per_server, "GPU") + " a server, " + why;
  }
  if (doubtful == 0) return;
  const std::string more = doubtful == 1 ? "" : " (" + core::counted(doubtful, "such group") + ")";
  job.graph.warn(first + more +
                 (workload.contains("chakra") ? "; name dimensions in /workload/chakra/dimensions, or give /placement"
                                              : "; give /placement"));
}

}  // namespace

void read_job(const JobSections& sections, const std::vector<std::uint32_t>& servers, const ReadContext& context,
              Scenario& into) {
  const auto& [directory, known, graphs] = context;
  into.controller = read_controller(sections.controller, into.cluster.rail.kind, directory, known.controllers);
  if (sections.executor) into.executor = read_executor(*sections.executor);
  if (sections.collectives) into.collectives = read_collectives(*sections.collectives, directory, known.collectives);
  if (sections.stragglers) into.stragglers = read_stragglers(*sections.stragglers, directory);
  Placement placement = sections.placement ? read_placement(*sections.placement) : Placement{};
  if (!sections.placement) placement.pointer = sections.pointer + "/placement";
  const ClusterSpec part = servers.empty() ? into.cluster : part_of(into.cluster, servers);
  Workload work =
      read_workload(*sections.workload, directory, part, placement, into.collectives, known.collectives, graphs);
  into.graph = std::move(work.graph);
  into.memory = std::move(work.memory);
  into.work = work.work;
  into.gpu_of_rank = place(placement, into.graph.ranks(), work.generated);
  if (!servers.empty()) move_to(servers, into.cluster.gpus_per_server, into.gpu_of_rank);
  try {
    run::check_job(into);
  } catch (const core::FieldError& e) {
    throw places_of(sections).located(e);
  }
  infer_dimensions(sections, into);
  read_checkpoint(*sections.workload, work.state, !sections.pointer.empty(), into);
}

std::vector<Scenario> read_jobs(const JsonReader& list, const JobSections& defaults, const ReadContext& context,
                                const Scenario& shared) {
  std::vector<Scenario> jobs;
  std::vector<bool> shares;  // by job: whether its controller is that of the whole cluster
  const std::vector<JsonReader> entries = list.elements();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    jobs.push_back(read_one_job(entries[i], defaults, context, shared, i));
    shares.push_back(!JsonReader(entries[i]).optional("controller"));
  }
  deal_circuits(shares, jobs);
  return jobs;
}

}  // namespace photonrail::config
