// Opus as its published simulator does it (public artifact of arXiv 2602.12521), so that published numbers can be compared
// like with like. What it does differently from `opus` is switched by keys, one for each behaviour:
//
// - granularity: "stage": a rail's configuration is a bit for each pipeline stage, data-parallel rings or circuits to the
//   neighbours; what changes a bit re-points all GPUs of that stage, and needs all of them idle. "circuit": as `opus`.
// - lock: "fabric": a request is refused while any operation of the job, inside servers too, has bytes on their way;
// "rail":
//   while a circuit of the rail is in use; "none": as `opus`.
// - retry: "own_event": a refused request is looked at again when a rank of its group ends some task of its own, however
//   long that takes; "release": as soon as anything changes.
// - retry_timeout: after so long a refused request is looked at in any case. The published simulator has no such time-out;
//   the shim of the published testbed has one of 10 s. Where nothing of the job goes on any more, requests are looked at
//   once more: the published simulator ends there without a word.
//
// Leaves out: the hang of a pair that never gets its circuit, and paths of three hops that are delivered after two. That
// every link is dark while one is re-routed is a matter of the switch (whole-switch darkness), not of the controller.
#include "control/asking.hpp"
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/outlook.hpp"
#include "control/phase_width.hpp"
#include "core/printed.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace photonrail::control {

namespace {

enum class Lock : std::uint8_t { kFabric, kRail, kNone };

class OpusArtifact : public Controller {
 public:
  explicit OpusArtifact(const ControllerSpec& spec)
      : by_stage_(spec.parameters.word("granularity") == "stage"),
        own_event_(spec.parameters.word("retry") == "own_event"),
        time_out_(spec.parameters.duration("retry_timeout")) {
    const std::string& lock = spec.parameters.word("lock");
    lock_ = lock == "fabric" ? Lock::kFabric : lock == "rail" ? Lock::kRail : Lock::kNone;
  }

  Decision decide(const FabricView& view) override {
    view_ = &view;
    if (by_stage_ && stage_of_.empty()) learn_stages();
    touched_.clear();
    width_.learn(view);
    ports_.reset();
    plan_ = {};
    bool forgotten = false;
    std::map<Request, Time> still;
    Decision decision;
    for (const bool blocking : {true, false}) {
      for (const CircuitRequest& demand : view.requests) {
        if (demand.blocking != blocking) continue;
        if (is_made(demand)) {
          keep(demand);
          continue;
        }
        const Request request{demand.id, demand.since};
        const auto before = refused_.find(request);
        const bool late = time_out_ > Duration{} && before != refused_.end() && view.now >= before->second + time_out_;
        const bool retry = before == refused_.end() || !own_event_ || demand.requester_progressed || late;
        const bool possible = !locked() && is_idle(demand);
        if (retry && possible && serve(demand)) continue;
        forgotten |= possible && !retry;
        const Time since = retry ? view.now : before->second;
        still.emplace(request, since);
        if (own_event_ && time_out_ > Duration{} && (!decision.ask_again || since + time_out_ < *decision.ask_again))
          decision.ask_again = since + time_out_;
      }
    }
    refused_ = std::move(still);
    count_forgotten(forgotten);
    if (!plan_.connect.empty()) decision.steps.push_back({plan_});
    return decision;
  }

  std::string remark(Duration makespan) const override {
    if (forgotten_ == Duration{}) return "";
    return core::printed(
        "requests lay refused for %.9g s (%.3g %% of the run) although nothing was in their way any more: an artefact of "
        "the published simulator",
        to_seconds(forgotten_), 100.0 * to_seconds(forgotten_) / to_seconds(makespan));
  }

 private:
  using Request = std::pair<RequestId, Time>;  // ids are used again

  // For how long some request lay refused although nothing was in its way any more.
  void count_forgotten(bool forgotten) {
    if (forgotten == forgotten_since_.has_value()) return;
    if (forgotten_since_) forgotten_ += view_->now - *forgotten_since_;
    forgotten_since_.reset();
    if (forgotten) forgotten_since_ = view_->now;
  }

  [[nodiscard]] bool locked() const {
    if (lock_ == Lock::kFabric) return view_->running > 0;
    if (lock_ == Lock::kNone) return false;
    return std::any_of(view_->transmit.begin(), view_->transmit.end(), [](const PortView& fibre) { return fibre.in_use; });
  }

  [[nodiscard]] bool is_made(const CircuitRequest& demand) const {
    return std::all_of(demand.pairs.begin(), demand.pairs.end(), [this](ServerPair pair) { return joined(*view_, pair); });
  }

  // The GPUs that share a data-parallel ring are a stage; the pipeline's pairs are those between stages.
  void learn_stages() {
    stage_of_.resize(view_->positions);
    std::iota(stage_of_.begin(), stage_of_.end(), ServerIndex{0});
    for (const RankSchedule& rank : view_->schedule) {
      for (const ScheduledOperation& op : rank.operations) {
        for (const ServerPair pair : op.pairs) {
          op.dimension == Dimension::kPp ? void(hops_.insert(pair)) : merge(stage_of_[pair.from], stage_of_[pair.to]);
        }
      }
    }
    list_stages();
  }

  void merge(ServerIndex a, ServerIndex b) {
    if (a == b) return;
    for (ServerIndex& stage : stage_of_) {
      if (stage == std::max(a, b)) stage = std::min(a, b);
    }
  }

  // Positions of a stage of one are not listed: a request names them.
  void list_stages() {
    std::map<ServerIndex, std::vector<ServerIndex>> all;
    for (ServerIndex position = 0; position < view_->positions; ++position) {
      if (stage_of_[position] == position) continue;
      all[stage_of_[position]].push_back(position);
    }
    for (auto& [first, members] : all) {
      members.push_back(first);
      stages_.emplace(first, std::move(members));
    }
  }

  // All pairs that come with the demand's: the same hop of the other data-parallel ranks, as far as the ports go.
  [[nodiscard]] std::vector<ServerPair> pairs_with(const CircuitRequest& demand) const {
    std::vector<ServerPair> pairs(demand.pairs.begin(), demand.pairs.end());
    if (!by_stage_ || demand.dimension != Dimension::kPp) return pairs;
    std::vector<std::uint32_t> out(view_->positions, 0);
    std::vector<std::uint32_t> in(view_->positions, 0);
    for (const ServerPair pair : pairs) {
      ++out[pair.from];
      ++in[pair.to];
    }
    const ServerPair own = demand.pairs.front();
    for (const ServerPair hop : hops_) {
      const bool same = stage_of_[hop.from] == stage_of_[own.from] && stage_of_[hop.to] == stage_of_[own.to];
      if (!same || hop == own || out[hop.from] >= view_->ports_per_gpu || in[hop.to] >= view_->ports_per_gpu) continue;
      ++out[hop.from];
      ++in[hop.to];
      pairs.push_back(hop);
    }
    return pairs;
  }

  // Its circuits are there, and it is about to take them.
  void keep(const CircuitRequest& demand) {
    for (const ServerPair pair : demand.pairs) touched_.insert({pair.from, pair.to});
  }

  [[nodiscard]] bool busy(PortId from) const {
    const PortView& fibre = view_->transmit[from.index()];
    return fibre.in_use || (!fibre.peer.is_none() && !fibre.lit);
  }

  // Returns true when the position has a fibre that this instant's plan may not touch.
  [[nodiscard]] bool occupied(ServerIndex position) const {
    if (touched_.contains(position)) return true;
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      const PortId port = view_->port(position, p);
      const PortId source = view_->receive[port.index()];
      if (busy(port) || (!source.is_none() && busy(source))) return true;
    }
    return false;
  }

  // The positions of the pairs and those of their stages.
  [[nodiscard]] std::set<ServerIndex> concerned_by(const std::vector<ServerPair>& pairs) const {
    std::set<ServerIndex> concerned;
    for (const ServerPair pair : pairs) {
      for (const ServerIndex position : {pair.from, pair.to}) {
        if (!concerned.insert(position).second || !by_stage_) continue;
        const auto stage = stages_.find(stage_of_[position]);
        if (stage != stages_.end()) concerned.insert(stage->second.begin(), stage->second.end());
      }
    }
    return concerned;
  }

  [[nodiscard]] bool is_idle(const CircuitRequest& demand) const {
    const std::set<ServerIndex> concerned = concerned_by(pairs_with(demand));
    return std::none_of(concerned.begin(), concerned.end(), [this](ServerIndex position) { return occupied(position); });
  }

  bool serve(const CircuitRequest& demand) {
    const std::vector<ServerPair> pairs = pairs_with(demand);
    if (!ports_) ports_.emplace().begin(*view_);
    if (!ports_->serve_all(pairs, width_.of(*view_, demand), plan_.connect)) return false;
    touched_.merge(concerned_by(pairs));
    return true;
  }

  const bool by_stage_;
  const bool own_event_;
  const Duration time_out_;
  Lock lock_ = Lock::kNone;
  std::optional<FreePorts> ports_;  // of this decision, if it has come to serve a request
  PhaseWidth width_;
  std::optional<Time> forgotten_since_;
  Duration forgotten_{};
  const FabricView* view_ = nullptr;
  std::vector<ServerIndex> stage_of_;
  std::map<ServerIndex, std::vector<ServerIndex>> stages_;  // of several positions, by the first
  std::set<ServerPair> hops_;
  std::map<Request, Time> refused_;  // and when
  std::set<ServerIndex> touched_;    // positions
  CircuitPlan plan_;
};

std::unique_ptr<Controller> make_opus_artifact(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<OpusArtifact>(spec);
}

PolicyNeeds opus_artifact_needs(const ControllerSpec& spec) {
  const ParameterValues& values = spec.parameters;
  PolicyNeeds needs{.view = {ViewPart::kScheduleWithPorts}, .ranks = asking_of(values)};
  needs.view.add(ViewPart::kSchedule, values.word("granularity") == "stage")
      .add(ViewPart::kTaskEvents, values.word("lock") == "fabric" || values.word("retry") == "own_event");
  return needs;
}

}  // namespace

ControllerFactory opus_artifact_factory() {
  ControllerFactory factory;
  factory.name = "opus_artifact";
  factory.summary = "Opus as its published simulator does it, each of its ways switched by a key (arXiv 2602.12521)";
  factory.make = make_opus_artifact;
  factory.needs = opus_artifact_needs;
  // As published a refused request is forgotten until its rank's own next event, however late that is.
  factory.examine = [](std::vector<ControllerSpec>& settings) {
    for (ControllerSpec& setting : settings) setting.parameters.set("retry", std::string("release"));
  };
  using P = ControllerParameter;
  factory.parameters = with_asking({
      P::word("granularity", {"stage", "circuit"}, "what a request re-points"),
      P::word("lock", {"fabric", "rail", "none"}, "what must be idle for it"),
      P::word("retry", {"own_event", "release"}, "when a refused request is looked at again"),
      P::duration("retry_timeout", Duration{}, "after so long it is in any case; 0: never (the testbed's shim: 10 s)"),
  });
  return factory;
}

}  // namespace photonrail::control
