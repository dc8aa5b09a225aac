#include "report/ccl_bench.hpp"

#include "json/json.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "report/intervals.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace photonrail::report {

namespace {

using report::Intervals;
using report::length;
using report::overlap;

constexpr std::size_t kOps = CclBenchMetrics::kOps;
constexpr std::array<CollectiveOp, kOps> kOpOf{CollectiveOp::kAllReduce, CollectiveOp::kAllGather,
                                               CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll};
constexpr std::array<std::string_view, kOps> kNames{"allreduce", "allgather", "reducescatter", "alltoall"};
constexpr double kGb = 1e9;

std::size_t index_of(CollectiveOp op) {
  return static_cast<std::size_t>(std::find(kOpOf.begin(), kOpOf.end(), op) - kOpOf.begin());
}

// Bytes of the bus-bandwidth convention: factor x full tensor.
double bus_bytes(CollectiveOp op, double size, double members) {
  if (op == CollectiveOp::kAllReduce) return 2.0 * (members - 1.0) / members * size;
  if (op == CollectiveOp::kAllGather) return (members - 1.0) * size;  // (n-1)/n x n shards
  return (members - 1.0) / members * size;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

std::optional<double> percent(double part, double whole) {
  return whole > 0.0 ? std::optional(100.0 * part / whole) : std::nullopt;
}

double flops_of_step(const TaskGraph& graph) {
  std::vector<double> of_program;
  for (const Program& program : graph.programs()) {
    double sum = 0.0;
    for (const Task& task : program.tasks()) sum += task.flops;
    of_program.push_back(sum);
  }
  double flops = 0.0;
  for (std::size_t r = 0; r < graph.ranks(); ++r) flops += of_program[graph.program_of(RankId{r}).index()];
  return flops;
}

struct RankKernels {
  Intervals compute;
  Intervals communication;
  std::array<Intervals, kDimensionCount> by_dimension;
  Duration communication_sum{};  // kernels that overlap count each
  Duration compute_sum{};
  std::vector<Time> step_ends;
};

}  // namespace

struct CclBenchObserver::State {
  const Scenario* scenario = nullptr;  // from begin() to end() only
  std::vector<RankKernels> ranks;
  std::map<std::pair<RankId, std::uint32_t>, Time> reached;  // rank and operation
  struct Lane {
    Time free{};
    CommunicatorId last{};  // whose operation ended there last
    Time entered{};         // since when it has been that communicator's
  };
  std::map<std::pair<RankId, CommunicatorId>, Lane> lanes;  // "none" where all share one
  std::array<std::vector<double>, kOps> bandwidths;         // GB/s
  CclBenchMetrics metrics;

  [[nodiscard]] bool counts(RankId rank) const { return rank.index() < ranks.size(); }
  void kernel(const OperationEvent& event, Time reached_at);
  void count_volumes();
  void count_times(Time makespan);
  void count_windows();
};

// The kernel of an operation that is done on a rank.
void CclBenchObserver::State::kernel(const OperationEvent& event, Time reached_at) {
  const TaskGraph& graph = scenario->graph;
  const bool one_lane = scenario->executor.comm_lanes == CommLanes::kOne;
  const Communicator& group = graph.communicators()[event.communicator.index()];
  Lane& lane = lanes[{event.rank, one_lane ? CommunicatorId::none() : event.communicator}];
  if (lane.last != event.communicator) lane.entered = lane.free;
  lane.last = event.communicator;
  const bool together = scenario->executor.concurrent == ConcurrentCollectives::kTogether && !group.point_to_point;
  const Time from = std::max(reached_at, together ? lane.entered : lane.free);
  lane.free = event.at;
  RankKernels& rank = ranks[event.rank.index()];
  rank.communication.add(from, event.at);
  rank.by_dimension[static_cast<std::size_t>(group.dimension)].add(from, event.at);
  rank.communication_sum += event.at - from;
  const std::size_t op = index_of(event.op);
  if (op == kOps || from == event.at) return;
  const auto size = static_cast<double>(graph.program(event.rank).task(event.task).size().count);
  const double members = static_cast<double>(group.members.size());
  bandwidths[op].push_back(bus_bytes(event.op, size, members) / to_seconds(event.at - from) / kGb);
}

void CclBenchObserver::State::count_volumes() {
  for (const Task& task : scenario->graph.program(RankId{0}).tasks()) {
    if (task.kind != TaskKind::kCollective) continue;
    const double gb = static_cast<double>(task.size().count) / kGb;
    metrics.collective_vol_total_gb += gb;
    if (const std::size_t op = index_of(task.op); op < kOps) metrics.collective_vol_gb[op] += gb;
  }
  for (std::size_t op = 0; op < kOps; ++op) {
    if (!bandwidths[op].empty()) metrics.bandwidth_utilization[op] = median(bandwidths[op]);
  }
}

void CclBenchObserver::State::count_times(Time makespan) {
  const double steps = scenario->run.iterations;
  metrics.avg_step_time_s = to_seconds(makespan) / steps;
  const double peak = scenario->cluster.peak_tflops(std::span(scenario->gpu_of_rank).first(ranks.size())) * 1e12;
  const double flops = flops_of_step(scenario->graph);
  if (flops > 0.0) metrics.mfu = percent(flops, peak * metrics.avg_step_time_s);
  double compute = 0.0, communication = 0.0, overlap_sum = 0.0;
  std::size_t communicating = 0;
  std::vector<double> active, communicated;
  for (const RankKernels& rank : ranks) {
    compute += to_seconds(rank.compute_sum);
    communication += to_seconds(rank.communication_sum);
    const Duration together = overlap(rank.compute, rank.communication);
    communicated.push_back(to_seconds(length(rank.communication)));
    active.push_back(to_seconds(length(rank.compute) + length(rank.communication) - together));
    metrics.total_communication_time_s += communicated.back() / steps / static_cast<double>(ranks.size());
    if (const auto share = percent(to_seconds(together), communicated.back())) {
      overlap_sum += *share;
      ++communicating;
    }
  }
  metrics.communication_fraction = percent(communication, compute + communication);
  if (communicating > 0) metrics.compute_comm_overlap = overlap_sum / static_cast<double>(communicating);
  const auto [least_active, most_active] = std::minmax_element(active.begin(), active.end());
  if (*least_active > 0.0) metrics.load_imbalance_ratio = *most_active / *least_active;
  const auto [least, most] = std::minmax_element(communicated.begin(), communicated.end());
  if (*most > 0.0) metrics.straggler = (*most - *least) / *most;
}

void CclBenchObserver::State::count_windows() {
  metrics.traffic_window.assign(scenario->run.iterations, {});
  for (const RankKernels& rank : ranks) {
    Time from{};
    for (std::size_t step = 0; step < rank.step_ends.size(); ++step) {
      CclBenchMetrics::Window& window = metrics.traffic_window[step];
      const auto seconds = [&](Dimension d) {
        const Intervals& kernels = rank.by_dimension[static_cast<std::size_t>(d)];
        return to_seconds(kernels.length(from, rank.step_ends[step])) / static_cast<double>(ranks.size());
      };
      window.tp_s += seconds(Dimension::kTp);
      window.dp_s += seconds(Dimension::kDp);
      window.pp_s += seconds(Dimension::kPp);
      window.other_s += seconds(Dimension::kCp) + seconds(Dimension::kEp) + seconds(Dimension::kOther);
      from = rank.step_ends[step];
    }
  }
}

CclBenchObserver::CclBenchObserver() : state_(std::make_unique<State>()) {}
CclBenchObserver::~CclBenchObserver() = default;

void CclBenchObserver::begin(const Scenario& scenario) {
  *state_ = State{};
  state_->scenario = &scenario;
  state_->ranks.resize(scenario.graph.ranks() - scenario.storage_ranks);  // hosts of storage are no GPUs, and come last
}

void CclBenchObserver::compute(const ComputeEvent& event) {
  if (event.stream != Stream::kGpu || !state_->counts(event.rank)) return;
  RankKernels& rank = state_->ranks[event.rank.index()];
  rank.compute.add(event.start, event.finish);
  rank.compute_sum += event.finish - event.start;
}

void CclBenchObserver::operation(const OperationEvent& event) {
  if (event.launch != kNoLaunch) {
    throw ConfigError("workload", "CCL-Bench measures a step that repeats, and an agent's workload has none");
  }
  if (!state_->counts(event.rank)) return;
  const auto key = std::pair{event.rank, event.sequence};
  if (event.state == OperationEvent::State::kArrived) {
    state_->reached[key] = event.at;
    return;
  }
  if (event.state != OperationEvent::State::kDone) return;
  const auto found = state_->reached.find(key);
  if (found == state_->reached.end()) return;
  state_->kernel(event, found->second);
  state_->reached.erase(found);
}

void CclBenchObserver::iteration(RankId rank, std::uint32_t, Time at) {
  if (state_->counts(rank)) state_->ranks[rank.index()].step_ends.push_back(at);
}

void CclBenchObserver::end(Time makespan) {
  state_->count_volumes();
  state_->count_times(makespan);
  state_->count_windows();
  state_->scenario = nullptr;
}

const CclBenchMetrics& CclBenchObserver::metrics() const { return state_->metrics; }

double scale_up_bw_utility(const Scenario& scenario, const RunResult& result, const Registries& known) {
  Scenario faster = scenario;
  faster.run.spread_seeds.reset();
  faster.cluster.scale_up.per_gpu.bytes_per_second *= 2.0;
  // As many iterations in both, so that their makespans compare as their means do.
  const auto now = static_cast<double>(result.makespan.count());
  return now > 0.0 ? 100.0 * (now - static_cast<double>(simulate(faster, {}, known).makespan.count())) / now : 0.0;
}

std::string to_json(const CclBenchMetrics& m) {
  using json::Json;
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json all;
  all["schema"] = "photonrail.ccl_bench/1";
  all["avg_step_time"] = m.avg_step_time_s;
  all["mfu"] = or_null(m.mfu);
  all["communication_fraction"] = or_null(m.communication_fraction);
  all["total_communication_time"] = m.total_communication_time_s;
  all["compute_comm_overlap"] = or_null(m.compute_comm_overlap);
  for (std::size_t op = 0; op < kOps; ++op) {
    all["bandwidth_utilization_" + std::string(kNames[op])] = or_null(m.bandwidth_utilization[op]);
  }
  for (std::size_t op = 0; op < kOps; ++op) {
    all["collective_vol_" + std::string(kNames[op]) + "_gb"] = m.collective_vol_gb[op];
  }
  all["collective_vol_total_gb"] = m.collective_vol_total_gb;
  all["load_imbalance_ratio"] = or_null(m.load_imbalance_ratio);
  all["straggler"] = or_null(m.straggler);
  all["traffic_window"] = Json::array();
  for (const CclBenchMetrics::Window& w : m.traffic_window) {
    all["traffic_window"].push_back({{"tp", w.tp_s}, {"dp", w.dp_s}, {"pp", w.pp_s}, {"other", w.other_s}});
  }
  all["scale_up_bw_utility"] = or_null(m.scale_up_bw_utility);
  return all.dump(2) + "\n";
}

}  // namespace photonrail::report
