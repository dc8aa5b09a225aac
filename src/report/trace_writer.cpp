// Chrome's trace format (JSON, "traceEvents"). What happens is kept as plain records; text is made when writing.
#include "json/json.hpp"
#include "photonrail/report.hpp"
#include "report/replace_file.hpp"
#include "report/seen_tasks.hpp"
#include "report/trace_faults.hpp"
#include "report/trace_launches.hpp"
#include "report/trace_links.hpp"
#include "report/trace_requests.hpp"
#include "report/trace_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

struct TraceWriter::State {
  TraceWriter::Options options;
  report::SeenTasks seen;
  std::string cluster = "{}";  ///< JSON
  std::vector<bool> hosts{};   ///< by rank: whether it is a host of storage
  std::uint32_t ports_per_server = 1;
  std::uint32_t rails = 1;
  std::vector<ComputeEvent> computes;
  std::vector<OperationEvent> operations;
  std::vector<CircuitEvent> circuits;
  std::vector<report::FaultSpan> faults;
  std::vector<report::TracedRequests> requests;
  Time end{};  ///< the last instant that was heard of

  void heard(Time at) { end = std::max(end, at); }
};

namespace {

using report::SeenTasks;
using report::TraceText;

// Process and thread numbers start at 1: 0 is the idle process in the viewers.
constexpr std::uint32_t kComputeThread = 1;
constexpr std::uint32_t kHostThread = 2;
constexpr std::uint32_t kFirstLane = 3;
constexpr std::uint32_t kStorageThread = 1'000'000'000;  // beyond all lanes

std::uint32_t process_of(RankId rank) { return rank.value + 1; }

/// Lanes of one rank and dimension: two operations at once get two lanes, so that the spans of a thread never overlap.
class Lanes {
 public:
  std::uint32_t take() {
    const auto free = std::find(taken_.begin(), taken_.end(), false);
    const auto lane = static_cast<std::uint32_t>(free - taken_.begin());
    if (free == taken_.end()) taken_.push_back(true);
    taken_[lane] = true;
    return lane;
  }
  void release(std::uint32_t lane) { taken_[lane] = false; }
  [[nodiscard]] std::size_t count() const { return taken_.size(); }

 private:
  std::vector<bool> taken_;
};

// Rails come after the ranks, and after them what is of the whole job.
std::uint32_t rail_process(const SeenTasks& seen, RailId rail) {
  return static_cast<std::uint32_t>(seen.ranks()) + 1 + rail.value;
}

std::uint32_t lane_thread(Dimension d, std::uint32_t lane) {
  return kFirstLane + static_cast<std::uint32_t>(d) + lane * kDimensionCount;
}

/// Returns, by rank, true where its streams are shown.
std::vector<bool> shown_ranks(const SeenTasks& seen, const TraceWriter::Options& options) {
  std::vector<bool> shown(seen.ranks(), options.ranks.empty());
  for (const RankId rank : options.ranks) {
    if (rank.index() < shown.size()) shown[rank.index()] = true;
  }
  return shown;
}

void write_computes(const SeenTasks& seen, const std::vector<ComputeEvent>& events, const std::vector<bool>& shown,
                    const std::vector<bool>& hosts, TraceText& text) {
  std::vector<bool> has_host(seen.ranks());
  std::vector<bool> has_storage(seen.ranks());
  for (const ComputeEvent& event : events) {
    if (!shown[event.rank.index()]) continue;
    const std::uint32_t process = process_of(event.rank);
    if (event.stream == Stream::kStorage) {
      has_storage[event.rank.index()] = true;
      text.span({process, kStorageThread}, event.start, event.finish, "storage",
                seen.label(event.rank, event.task, event.launch, "storage"), {});
      continue;
    }
    const bool host = event.stream == Stream::kHost;
    if (host) has_host[event.rank.index()] = true;
    text.span({process, host ? kHostThread : kComputeThread}, event.start, event.finish, "compute",
              seen.label(event.rank, event.task, event.launch, "compute"), {});
  }
  for (std::size_t r = 0; r < seen.ranks(); ++r) {
    if (!shown[r]) continue;
    const std::uint32_t process = process_of(RankId{r});
    text.name_process(process, "rank " + std::to_string(r) + (hosts[r] ? " (storage host)" : ""));
    text.name_thread({process, kComputeThread}, "compute", 0);
    if (has_host[r]) text.name_thread({process, kHostThread}, "host", 1);
    if (has_storage[r]) text.name_thread({process, kStorageThread}, "network to storage", 2);
  }
}

/// Turns the states of operations into spans: waiting for peers, waiting for circuits, and the operation itself.
class OperationSpans {
 public:
  OperationSpans(const SeenTasks& seen, const std::vector<bool>& shown, const report::LitCircuits& lit, TraceText& text)
      : seen_(seen), shown_(shown), lit_(lit), text_(text), lanes_(seen.ranks()) {}

  void add(const OperationEvent& event) {
    if (!shown_[event.rank.index()]) return;
    const auto key = std::make_pair(event.rank, event.sequence);
    if (event.state == OperationEvent::State::kArrived) {
      open_[key] = {event, lanes_of(event).take()};
      return;
    }
    const auto place = open_.find(key);
    if (place == open_.end()) return;  // news of an operation that is done on this rank
    Open& open = place->second;
    close(open, event.at);
    if (open.last.state == OperationEvent::State::kRunning && event.state == OperationEvent::State::kDone)
      join(open, event.at);
    if (open.last.state == OperationEvent::State::kWaitingForCircuits) point_to_command(open, event);
    open.last = event;
    if (event.state != OperationEvent::State::kDone) return;
    lanes_of(event).release(open.lane);
    open_.erase(place);
  }

  void finish(Time end) {
    for (auto& [key, open] : open_) close(open, end);
    for (std::size_t r = 0; r < lanes_.size(); ++r) {
      for (std::size_t d = 0; d < kDimensionCount; ++d) name_lanes(RankId{r}, static_cast<Dimension>(d));
    }
  }

 private:
  struct Open {
    OperationEvent last;
    std::uint32_t lane = 0;
  };

  [[nodiscard]] const Communicator& group(const OperationEvent& event) const { return seen_.group(event.communicator); }
  Lanes& lanes_of(const OperationEvent& event) {
    return lanes_[event.rank.index()][static_cast<std::size_t>(group(event).dimension)];
  }
  [[nodiscard]] std::string label(const OperationEvent& event) const {
    return seen_.label(event.rank, event.task, event.launch, name(event.op));
  }

  [[nodiscard]] TraceText::Thread thread_of(const Open& open) const {
    return {process_of(open.last.rank), lane_thread(group(open.last).dimension, open.lane)};
  }

  // An arrow from a send to its receive, once both have been seen running.
  void join(const Open& open, Time done) {
    const Communicator& between = group(open.last);
    if (!between.point_to_point || done == open.last.at) return;
    const bool sends = open.last.rank == between.members.front();
    const End end{thread_of(open), sends ? open.last.at : done - Duration{1}};
    const auto [other, first] = ends_.try_emplace(open.last.sequence, end);
    if (first) return;
    const auto [from, to] = sends ? std::pair(end, other->second) : std::pair(other->second, end);
    if (from.at <= to.at) text_.arrow(from.thread, from.at, to.thread, to.at, "message", open.last.sequence);
    ends_.erase(other);
  }

  // An arrow to what follows a wait from the switching that ended it.
  void point_to_command(const Open& open, const OperationEvent& next) {
    if (next.state != OperationEvent::State::kRunning) return;
    const auto lit = lit_.last(next.communicator, next.at);
    if (!lit || lit->at <= open.last.at) return;  // lit before the wait began: it waited for a port
    const TraceText::Thread port{rail_process(seen_, lit->rail), lit->from.value + 1};
    text_.arrow(port, lit->at - Duration{1}, thread_of(open), next.at, "circuit", ++circuits_);
  }

  // Ends the span of the state in which the operation was.
  void close(const Open& open, Time at) {
    using State = OperationEvent::State;
    const bool nothing_waited = open.last.state != State::kRunning && at == open.last.at;
    if (nothing_waited) return;
    switch (open.last.state) {
      case State::kArrived:
        return write(open, at, "peers", "waiting for peers");
      case State::kWaitingForCircuits:
        return write(open, at, "circuits", "waiting for circuits");
      case State::kRunning:
        return write(open, at, "communication", label(open.last));
      case State::kDone:
        return;
    }
  }

  void write(const Open& open, Time until, std::string_view category, const std::string& name_of_span) {
    const OperationEvent& event = open.last;
    const Task& task = seen_.task(event.rank, event.task, event.launch);
    const TraceText::Thread thread{process_of(event.rank), lane_thread(group(event).dimension, open.lane)};
    text_.span(thread, event.at, until, category, name_of_span,
               {{"op", name(event.op)}, {"group", group(event).name}, {"bytes", std::to_string(task.size().count)}});
  }

  void name_lanes(RankId rank, Dimension d) {
    const std::size_t count = lanes_[rank.index()][static_cast<std::size_t>(d)].count();
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      const std::string suffix = lane == 0 ? "" : " " + std::to_string(lane + 1);
      const auto order = 2 + static_cast<std::uint32_t>(d) * 10000 + lane;
      text_.name_thread({process_of(rank), lane_thread(d, lane)}, std::string(name(d)) + suffix, order);
    }
  }

  struct End {
    TraceText::Thread thread;
    Time at{};
  };

  const SeenTasks& seen_;
  const std::vector<bool>& shown_;
  const report::LitCircuits& lit_;
  TraceText& text_;
  std::uint64_t circuits_ = 0;                             // arrows to operations
  std::map<std::uint32_t, End> ends_;                      // of messages, by sequence: the end that came first
  std::vector<std::array<Lanes, kDimensionCount>> lanes_;  // by rank
  std::map<std::pair<RankId, std::uint32_t>, Open> open_;
};

/// A process per rail, a thread per transmit port.
class CircuitSpans {
 public:
  CircuitSpans(const SeenTasks& seen, std::uint32_t ports_per_server, TraceText& text)
      : seen_(seen), ports_per_server_(ports_per_server), text_(text) {}

  void add(const CircuitEvent& event) {
    Port& port = ports_[{event.rail, event.circuit.from}];
    const bool same = port.open && port.last.circuit == event.circuit;
    if (event.state == CircuitState::kDark && !same) return;  // the port points elsewhere already
    if (port.open) write(port.last, event.at);
    const CommunicatorId served = port.last.serves;
    port.last = event;
    port.open = event.state != CircuitState::kDark;
    if (same && event.serves.is_none()) port.last.serves = served;
  }

  void finish(Time end) {
    RailId named = RailId::none();
    for (const auto& [key, port] : ports_) {
      const auto& [rail, from] = key;
      if (port.open) write(port.last, end);
      if (rail != named) text_.name_process(process(rail), "rail " + std::to_string(rail.value) + " OCS");
      named = rail;
      text_.name_thread({process(rail), from.value + 1}, "port " + place(from), from.value);
    }
  }

 private:
  struct Port {
    CircuitEvent last;
    bool open = false;
  };

  [[nodiscard]] std::uint32_t process(RailId rail) const { return rail_process(seen_, rail); }
  [[nodiscard]] std::string place(PortId port) const {
    return std::to_string(port.value) + " (server " + std::to_string(port.value / ports_per_server_) + ")";
  }

  void write(const CircuitEvent& since, Time until) {
    if (since.at == until) return;
    const bool lit = since.state == CircuitState::kLit;
    const std::string to = std::to_string(since.circuit.to.value);
    const TraceText::Thread thread{process(since.rail), since.circuit.from.value + 1};
    const char* state = lit ? "lit" : "switching";
    const std::string label = state + (" → port " + to);
    if (since.serves.is_none()) return text_.span(thread, since.at, until, state, label, {{"to", to}});
    const Communicator& group = seen_.group(since.serves);
    text_.span(thread, since.at, until, state, label + ", group " + group.name,
               {{"to", to}, {"dimension", name(group.dimension)}});
  }

  const SeenTasks& seen_;
  std::uint32_t ports_per_server_;
  TraceText& text_;
  std::map<std::pair<RailId, PortId>, Port> ports_;
};

/// Returns, by rank, true for a host of storage.
std::vector<bool> hosts_of_storage(const Scenario& scenario) {
  std::vector<bool> hosts;
  const auto add = [&hosts](const JobSpec& job) {
    hosts.insert(hosts.end(), job.gpu_of_rank.size() - job.storage_ranks, false);
    hosts.insert(hosts.end(), job.storage_ranks, true);
  };
  if (scenario.jobs.empty()) add(scenario);
  std::for_each(scenario.jobs.begin(), scenario.jobs.end(), add);
  return hosts;
}

// Adds what the events do not say: which GPU is where, -1 for one without a rank; and which ranks are hosts of storage.
std::string cluster_text(const Scenario& scenario, const std::vector<bool>& hosts) {
  const ClusterSpec& cluster = scenario.cluster;
  std::vector<std::int64_t> rank_of_gpu(std::size_t{cluster.servers} * cluster.gpus_per_server, -1);
  for (std::size_t rank = 0; rank < scenario.gpu_of_rank.size(); ++rank) {
    rank_of_gpu.at(scenario.gpu_of_rank[rank].index()) = static_cast<std::int64_t>(rank);
  }
  json::Json text = {{"schema", "photonrail.trace/1"},
                     {"servers", cluster.servers},
                     {"gpus_per_server", cluster.gpus_per_server},
                     {"ports", std::max(1U, cluster.nic.ports)},
                     {"optical", cluster.rail.kind == RailKind::kOptical},
                     {"rank_of_gpu", rank_of_gpu}};
  json::Json ranks = json::Json::array();
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank]) ranks.push_back(rank);
  }
  if (ranks.size() > 0) text["storage_hosts"] = std::move(ranks);
  return text.dump();
}

}  // namespace

TraceWriter::TraceWriter(Options options) : state_(std::make_unique<State>()) { state_->options = std::move(options); }
TraceWriter::~TraceWriter() = default;

void TraceWriter::begin(const Scenario& scenario) {
  TraceWriter::Options options = std::move(state_->options);
  *state_ = State{};
  state_->options = std::move(options);
  state_->seen.begin(scenario.graph);
  state_->hosts = hosts_of_storage(scenario);
  state_->hosts.resize(scenario.graph.ranks());
  state_->cluster = cluster_text(scenario, state_->hosts);
  state_->faults = report::faults_of(scenario);
  state_->rails = scenario.cluster.gpus_per_server;
  state_->ports_per_server = std::max(1U, scenario.cluster.nic.ports);
}

void TraceWriter::compute(const ComputeEvent& event) {
  state_->computes.push_back(event);
  state_->heard(event.finish);
}

void TraceWriter::operation(const OperationEvent& event) {
  state_->operations.push_back(event);
  state_->heard(event.at);
}

void TraceWriter::circuit(const CircuitEvent& event) {
  state_->circuits.push_back(event);
  state_->heard(event.at);
}

void TraceWriter::communicator(CommunicatorId id, const Communicator& group) { state_->seen.communicator(id, group); }

void TraceWriter::launched(const LaunchEvent& event) { state_->seen.launched(event); }

void TraceWriter::launch_done(const LaunchEvent& event) { state_->seen.launch_done(event); }

void TraceWriter::end(Time makespan) { state_->heard(makespan); }

void TraceWriter::served(const ServingResult& result, std::string_view job) {
  report::TracedRequests& of = state_->requests.emplace_back();
  of.job = job;
  for (const ServingResult::Engine& engine : result.engines) of.pools.push_back(engine.pool);
  of.rows = result.requests;
}

void TraceWriter::write(const std::filesystem::path& file) const {
  report::replace_file(file, [this](std::ostream& out) {
    TraceText text(out, state_->cluster);
    const std::vector<bool> shown = shown_ranks(state_->seen, state_->options);
    const report::LitCircuits lit(state_->circuits);
    write_computes(state_->seen, state_->computes, shown, state_->hosts, text);
    OperationSpans operations(state_->seen, shown, lit, text);
    for (const OperationEvent& event : state_->operations) operations.add(event);
    operations.finish(state_->end);
    CircuitSpans circuits(state_->seen, state_->ports_per_server, text);
    for (const CircuitEvent& event : state_->circuits) circuits.add(event);
    circuits.finish(state_->end);
    report::write_lit_ports(state_->circuits, rail_process(state_->seen, RailId{0U}), text);
    const std::uint32_t job = rail_process(state_->seen, RailId{state_->rails});
    if (!state_->operations.empty()) text.name_process(job, "job");
    report::write_bytes_in_flight(state_->seen, state_->operations, job, text);
    report::write_faults(state_->faults, job + 1, state_->end, text);
    report::write_launches(state_->seen, job + 2, state_->end, text);
    std::uint32_t process = job + 3;
    std::uint64_t arrows = 0;
    for (const report::TracedRequests& of : state_->requests) report::write_requests(of, process++, arrows, text);
  });
}

}  // namespace photonrail
