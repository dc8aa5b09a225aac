#include "run/simulation.hpp"

#include "fabric/uplinks.hpp"
#include "photonrail/error.hpp"
#include "run/cost_model.hpp"
#include "run/critical_path.hpp"
#include "run/served_workload.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace photonrail::run {

using fabric::Fabric;

namespace {

folding::MemberPlacement placement_of(const JobSetup& setup) {
  if (setup.folding != nullptr) return setup.folding->placement;
  return folding::MemberPlacement::of(setup.scenario.graph, setup.scenario.gpu_of_rank);
}

std::optional<execution::LaunchTable> launches_of(const JobSetup& setup) {
  if (setup.agent == nullptr) return std::nullopt;
  return std::optional<execution::LaunchTable>(std::in_place, setup.scenario.gpu_of_rank);
}

// Jobs that share a cluster have no path of their own.
std::optional<execution::RunHistory> history_of(const JobSetup& setup) {
  if (!setup.run.critical_path || setup.shared != nullptr) return std::nullopt;
  return std::optional<execution::RunHistory>(std::in_place, setup.graph(), setup.scenario.executor.buffered_send,
                                              setup.run.iterations);
}

// News of ranks is for observers of every rank alone, folded or not; the history is of what is run.
std::vector<Observer*> rank_watchers(const JobSetup& setup, std::optional<execution::RunHistory>& history) {
  const bool classes = setup.folding != nullptr && !setup.shows_classes;
  const bool watched = !classes && execution::watch_ranks(setup.observers);
  std::vector<Observer*> watchers;
  if (watched) watchers.assign(setup.observers.begin(), setup.observers.end());
  if (history) watchers.push_back(&*history);
  if (setup.recorded.steps != nullptr && setup.recorded.steps->hashed) {
    watchers.push_back(&setup.recorded.steps->hashes.emplace(setup.graph().ranks(), setup.run.iterations));
  }
  return watchers;
}

execution::RankBehaviour behaviour_of(const RankBehaviour& wanted, std::size_t ranks) {
  execution::RankBehaviour behaviour;
  behaviour.scheduled = wanted.order == OperationOrder::kScheduled;
  behaviour.yields_lanes = wanted.lanes != LaneRule::kKeep;
  behaviour.earliest_due_first = wanted.lanes == LaneRule::kYieldEarliestFirst;
  if (!wanted.announces_any()) return behaviour;
  for (std::size_t r = 0; r < ranks; ++r) behaviour.announces.push_back(wanted.announces(RankId{r}));
  return behaviour;
}

}  // namespace

Watchers::Watchers(const JobSetup& setup, const execution::LaunchTable* launches)
    : history(history_of(setup)),
      of_ranks(rank_watchers(setup, history)),
      all(setup.observers, launches),
      ranks(of_ranks, launches) {}

Simulation::Simulation(const JobSetup& setup)
    : setup_(setup),
      placement_(placement_of(setup)),
      launches_(launches_of(setup)),
      watchers_(setup, launches()),
      own_engine_(setup.shared != nullptr ? std::nullopt : std::optional<engine::Engine>(std::in_place)),
      fabric_(make_fabric()),
      algorithms_(setup.scenario.collectives, setup.registries.collectives),
      plans_(algorithms_, setup.scenario.graph.demands(), plan_options()),
      operations_(setup.graph(), placement_, fabric_, plans_, ambiguity_if_folded(), launches()),
      accounting_(setup.graph().ranks(),
                  setup.folding != nullptr ? std::span<const std::uint32_t>(setup.folding->class_of_rank)
                                           : std::span<const std::uint32_t>{},
                  setup.scenario.storage_ranks, watchers_.history ? &watchers_.peer_waits : nullptr),
      compute_(setup.cluster, gpu_of_rank(), setup.stragglers, setup.run.seed),
      control_({engine(), fabric_, operations_, accounting_, watchers_.ranks, setup_.controller,
                setup.registries.controllers.find(setup.controller.name), setup.run.seed,
                setup.shared != nullptr ? setup.shared->holder : core::Field()},
               ambiguity_if_folded()),
      executor_(setup_.graph(), executor_options(), context(), control_.service()) {
  fabric_.attach(executor_.deliveries(), control_);
  if (setup.optical() && setup.folding == nullptr) control_.seat(setup.scenario.gpu_of_rank);
  if (setup.optical() && setup.needs.has(ViewPart::kSchedule)) {
    // Who sets circuits once and forwards the rest needs a way between any two that may exchange something.
    using Unknown = control_plane::ProfiledSchedule::Unknown;
    const Unknown unknown = setup_.needs.hops > 0 ? Unknown::kAllPairs : Unknown::kNoPairs;
    control_.show_schedule({setup_.graph(), operations_, fabric_, gpu_of_rank(), *setup.profile->order, unknown});
  }
}

Fabric Simulation::make_fabric() {
  if (setup_.shared != nullptr) {
    return {engine(), setup_.cluster, setup_.shared->fabric, setup_.shared->job, setup_.scenario.gpu_of_rank};
  }
  return {engine(),
          setup_.cluster,
          {setup_.run.seed, setup_.run.network_accuracy},
          setup_.folding != nullptr ? &setup_.folding->plant : nullptr,
          setup_.scenario.gpu_of_rank};
}

void Simulation::add_fidelity(RunResult& result) const {
  if (setup_.run.fidelity == Fidelity::kExact || plan_options().fidelity == Fidelity::kStream) return;
  if (!setup_.forwards() && setup_.scenario.graph.communicators().empty()) return;  // single sends are the same
  result.choices.emplace_back(
      std::string("fidelity: every send is simulated, because ") +
      (setup_.forwards() ? "messages may be forwarded over other GPUs" : "the controller serves pairs one by one"));
}

// A collective that is served pair by pair, or shares circuits, is not one flow a pair.
execution::PlanOptions Simulation::plan_options() const {
  const bool by_pair = setup_.optical() && setup_.needs.by_pair();
  return {.fidelity = by_pair || setup_.forwards() ? Fidelity::kExact : setup_.run.fidelity,
          .seed = setup_.run.seed,
          .costs = cost_model(setup_.scenario.cluster, setup_.scenario.controller),
          .pair_bytes = setup_.optical() && setup_.needs.weighs(),
          .grids = !setup_.scenario.cluster.scale_up.shape.crossbar()};
}

execution::ExecutorOptions Simulation::executor_options() {
  execution::ExecutorOptions options;
  options.spec = setup_.scenario.executor;
  options.behaviour = behaviour_of(setup_.needs.ranks, setup_.graph().ranks());
  options.profile.iterations = setup_.run.iterations;
  options.profile.recorded = setup_.recorded.order;
  options.ambiguity = ambiguity_if_folded();
  options.agent = setup_.agent;
  options.horizon = setup_.run.horizon;
  if (setup_.profile == nullptr) return options;
  if (setup_.profile->order) options.profile.followed = &*setup_.profile->order;
  if (setup_.profile->slack) options.slack = &*setup_.profile->slack;
  if (setup_.profile->tail && setup_.give_up) {
    options.watch = execution::TailWatch(*setup_.profile->tail, *setup_.give_up, setup_.run.iterations);
  }
  return options;
}

execution::RunContext Simulation::context() {
  return {engine(),
          fabric_,
          operations_,
          accounting_,
          compute_.stragglers,
          compute_.gpus,
          watchers_.ranks,
          watchers_.history.has_value(),
          nullptr,
          launches()};
}

void Simulation::begin_at(Time start) {
  start_ = start;
  if (start == engine().now()) return begin(0);
  engine().schedule(start, engine::Phase::kFinish, engine::Action::to<&Simulation::begin>(*this));
}

void Simulation::begin(std::uint64_t) {
  control_.begin();
  executor_.begin();
}

void Simulation::run() {
  watchers_.all.notify([this](Observer& observer) { observer.begin(setup_.scenario); });
  begin_at(engine().now());
  do {
    while (!ambiguity_.found() && engine().run(setup_.give_up ? kEventsOfRehearsal : kEventsBetweenProgress) > 0) {
      if (setup_.give_up && (executor_.is_late() || (!finished() && engine().now() > *setup_.give_up))) throw GaveUp{};
      const auto [done, of] = requests_done(setup_.agent).value_or(std::pair(tasks_done(), tasks()));
      watchers_.all.notify([&](Observer& o) { o.progress(done, of, engine().now()); });
    }
  } while (!ambiguity_.found() && !finished() && stand_still());
  if (!ambiguity_.found() && !finished()) throw DeadlockError(stuck());
}

bool Simulation::stand_still() {
  if (!control_.stand_still()) return false;
  if (setup_.recorded.stood_still != nullptr) *setup_.recorded.stood_still = true;
  return true;
}

void Simulation::report(RunResult& result) {
  const std::vector<Time>& ends = executor_.ends();
  const folding::Folding* folding = setup_.folding;
  execution::Accounts accounts = accounting_.finish(ends.back());
  result.ranks = std::move(accounts.ranks);
  result.traffic = accounts.traffic;
  if (setup_.recorded.steps != nullptr) setup_.recorded.steps->means = accounts.means;
  result.windows = std::move(accounts.windows);
  result.operation_times = std::move(accounts.operation_times);
  result.circuit_waits = std::move(accounts.circuit_waits);
  result.start = start_;
  result.makespan = ends.back() - start_;
  if (launches_) {
    launches_->idle().divide(result.ranks);
    result.launches = launches_->totals();
  }
  // Until then it had nothing to do.
  for (RankTime& rank : result.ranks) (launches_ ? rank.idle : rank.peer_wait) -= start_.since_start();
  for (std::size_t i = 0; !launches_ && i < ends.size(); ++i)
    result.iterations.push_back(ends[i] - (i > 0 ? ends[i - 1] : start_));
  control_.summarize(folding != nullptr ? folding->rail_image : std::vector<RailId>{}, result.reconfigurations);
  result.choices = plans_.choices();
  add_fidelity(result);
  result.utilisation = utilisation(accounts.rail_bytes, result);
  for (const std::string& line : control_.remarks(result.makespan)) result.warnings.push_back(line);
  result.reconfigurations.critical_path = executor_.last_cause().reconfigurations;
  if (setup_.shared == nullptr) {
    result.engine.events = engine().events_run();
    result.engine.sends = fabric_.network().messages();
    result.engine.network_accuracy = setup_.run.network_accuracy;
    result.engine.epochs = fabric_.network().epochs().epochs();
    result.engine.flows_in_epochs = fabric_.network().epochs().flows();
  }
  if (watchers_.history) result.critical_path = path(ends.back());
  if (setup_.agent != nullptr) setup_.agent->report(result);
  watchers_.all.notify([&ends](Observer& observer) { observer.end(ends.back()); });
}

// Ranks of a class wait for the same.
CriticalPath Simulation::path(Time end) const {
  CriticalPath path =
      critical_path({*watchers_.history, executor_.loads(), operations_, fabric_, watchers_.peer_waits}, end);
  if (setup_.folding != nullptr) {
    std::vector<PeerWaits> of_class = std::move(path.waits);
    path.waits.clear();
    for (const std::uint32_t c : setup_.folding->class_of_rank) path.waits.push_back(of_class[c]);
  }
  path.waits.resize(path.waits.size() - setup_.scenario.storage_ranks);
  return path;
}

Utilisation Simulation::utilisation(Bytes rail_bytes, const RunResult& result) const {
  const ClusterSpec& cluster = setup_.scenario.cluster;
  const double gpus = static_cast<double>(setup_.scenario.gpu_of_rank.size() - setup_.scenario.storage_ranks);
  const double seconds = to_seconds(result.makespan);
  if (seconds <= 0.0) return {};
  Bytes all{};
  for (const DimensionTraffic& traffic : result.traffic) all += traffic.bytes;
  const double ports = gpus * cluster.nic.ports;
  Utilisation share;
  share.rail_ports = static_cast<double>(rail_bytes.count) / (ports * cluster.nic.per_port.bytes_per_second * seconds);
  share.scale_up =
      static_cast<double>(all.count - rail_bytes.count) / (gpus * cluster.scale_up.of_gpu().bytes_per_second * seconds);
  share.switching = to_seconds(result.reconfigurations.dark_port) / (ports * seconds);
  add_uplinks(seconds, share);
  add_site_links(seconds, share);
  return share;
}

void Simulation::add_site_links(double seconds, Utilisation& share) const {
  for (const SiteLink& link : setup_.scenario.cluster.sites.links) {
    share.site_links.push_back({link.a, link.b});
    share.site_links.push_back({link.b, link.a});
  }
  if (share.site_links.empty()) return;
  for (const execution::CapacityLoad& load : executor_.loads().totals()) {
    if (!load.place.is_between_sites()) continue;
    Utilisation::Link& link = share.site_links[load.place.number];
    link.busy = load.bytes / (fabric_.places().rate(load.place).bytes_per_second * seconds);
    link.bytes = Bytes{static_cast<std::int64_t>(load.bytes + 0.5)};
  }
}

// The mean is over the leaves, or pods, that the job has GPUs in; what it has none in carries nothing of it.
void Simulation::add_uplinks(double seconds, Utilisation& share) const {
  if (!fabric_.places().has_uplinks()) return;
  // Uplinks as fast as all NICs below them limit no flow, and ranks that share them may be folded.
  if (!fabric_.optical() && !fabric::uplinks_bind(fabric_.places().plant.spec())) return;
  std::set<fabric::Place> uplinks;
  for (const GpuId gpu : setup_.scenario.gpu_of_rank) uplinks.insert(fabric_.places().uplink_of(gpu));
  Utilisation::Uplinks all{.count = uplinks.size(), .members = executor_.loads().members_over_an_uplink()};
  for (const execution::CapacityLoad& load : executor_.loads().totals()) {
    if (!load.place.is_uplink()) continue;
    const double busy = load.bytes / (fabric_.places().rate(load.place).bytes_per_second * seconds);
    all.mean += busy / static_cast<double>(uplinks.size());
    all.busiest = std::max(all.busiest, busy);
  }
  add_single_uplinks(seconds, all);
  share.uplinks = all;
}

// Several jobs share them: the bytes of one are not told apart.
void Simulation::add_single_uplinks(double seconds, Utilisation::Uplinks& all) const {
  const fabric::UplinkRoutes* const routes = fabric_.shared().uplink_routes();
  if (setup_.shared != nullptr || routes == nullptr) return;
  double sum = 0.0;
  for (const fabric::UplinkLoad& load : routes->loads()) {
    const double busy = static_cast<double>(std::max(load.up, load.down).count) / (load.rate.bytes_per_second * seconds);
    all.single.push_back({load.rail, load.leaf, load.uplink, busy, load.up, load.down});
    sum += busy;
  }
  all.single_mean = sum / static_cast<double>(all.single.size());
  std::ranges::stable_sort(all.single, std::greater{}, &Utilisation::Uplink::busy);
  all.single.resize(std::min(all.single.size(), Utilisation::Uplinks::kMaxSingle));
}

std::vector<GpuId> Simulation::gpu_of_rank() const {
  std::vector<GpuId> gpus = setup_.scenario.gpu_of_rank;
  if (setup_.folding == nullptr) return gpus;
  gpus.resize(setup_.graph().ranks());
  for (std::size_t r = setup_.scenario.gpu_of_rank.size(); r-- > 0;)
    gpus[setup_.folding->class_of_rank[r]] = setup_.scenario.gpu_of_rank[r];
  return gpus;
}

}  // namespace photonrail::run
