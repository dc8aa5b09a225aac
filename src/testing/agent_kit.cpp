#include "photonrail/testing/agent_kit.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::testing {

class AgentKit::Sink final : public WorkSink {
 public:
  Sink(WorkloadAgent& agent, std::size_t ranks) : agent_(agent), ranks_(ranks) {}

  LaunchId launch(const Fragment& fragment, LaunchLabel label) override {
    AgentCall& call = add(AgentCall::Kind::kGraph, fragment.ranks, label);
    call.graph = fragment.graph;
    call.entered = call.ranks;
    return call.id;
  }
  LaunchId open(const Fragment& fragment, LaunchLabel label) override {
    AgentCall& call = add(AgentCall::Kind::kGraph, fragment.ranks, label);
    call.graph = fragment.graph;
    return call.id;
  }
  void enter(LaunchId launch, RankId rank) override {
    AgentCall& call = before_entry(launch, rank);
    call.entered.push_back(rank);
    call.at = now_;
  }
  void announce(LaunchId launch, RankId rank) override { before_entry(launch, rank).announced.push_back(rank); }
  LaunchId compute(std::span<const RankId> ranks, Duration time, LaunchLabel label, Stream) override {
    AgentCall& call = add(AgentCall::Kind::kCompute, ranks, label);
    call.time = time;
    call.entered = call.ranks;
    return call.id;
  }
  LaunchId collective(std::span<const RankId> ranks, CollectiveOp, Bytes size, Dimension, LaunchLabel label) override {
    AgentCall& call = add(AgentCall::Kind::kCollective, ranks, label);
    call.size = size;
    call.entered = call.ranks;
    return call.id;
  }
  LaunchId send(RankId from, RankId to, Bytes size, LaunchLabel label, Dimension) override {
    const std::array<RankId, 2> ends{from, to};
    AgentCall& call = add(AgentCall::Kind::kSend, ends, label);
    call.size = size;
    call.entered = call.ranks;
    return call.id;
  }
  void wake_at(Time at, std::uint64_t token) override {
    if (at < now_) throw ConfigError("workload", "sets a timer for a time that has passed");
    const auto behind = std::upper_bound(timers_.begin(), timers_.end(), at,
                                         [](Time time, const auto& timer) { return time < timer.first; });
    timers_.insert(behind, {at, token});
  }
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] std::size_t ranks() const override { return ranks_; }

  void tell(const WorkEvent& event) {
    now_ = event.now;
    agent_.on(event, *this);
  }
  bool wake() {
    if (timers_.empty()) return false;
    const auto [at, token] = timers_.front();
    timers_.erase(timers_.begin());
    tell({.kind = WorkEvent::Kind::kTimer, .now = at, .token = token});
    return true;
  }
  void end(LaunchId launch, Time at) {
    while (!timers_.empty() && timers_.front().first < at) wake();
    const AgentCall call = find(launch);
    std::erase_if(open_, [launch](const AgentCall& other) { return other.id == launch; });
    WorkEvent event{WorkEvent::Kind::kRankDone, at, launch, RankId::none(), call.label.token, call.at};
    for (const RankId rank : call.ranks) {
      event.rank = rank;
      if (agent_.hears_ranks()) tell(event);
    }
    event.kind = WorkEvent::Kind::kLaunchDone;
    event.rank = RankId::none();
    tell(event);
  }

  [[nodiscard]] AgentCall& find(LaunchId id) {
    const auto found = std::ranges::find_if(open_, [id](const AgentCall& call) { return call.id == id; });
    if (found == open_.end()) throw ConfigError("workload", "launch " + std::to_string(id.value) + " is not open");
    return *found;
  }

  WorkloadAgent& agent_;
  std::size_t ranks_;
  Time now_{};
  std::vector<AgentCall> open_;
  std::vector<std::pair<Time, std::uint64_t>> timers_;  // ascending
  std::uint32_t launched_ = 0;

 private:
  AgentCall& before_entry(LaunchId launch, RankId rank) {
    AgentCall& call = find(launch);
    const bool member = std::ranges::count(call.ranks, rank) > 0;
    if (!member || std::ranges::count(call.entered, rank) > 0) {
      throw ConfigError("workload",
                        "rank " + std::to_string(rank.value) + " may not enter launch " + std::to_string(launch.value));
    }
    return call;
  }
  AgentCall& add(AgentCall::Kind kind, std::span<const RankId> ranks, LaunchLabel label) {
    if (ranks.empty()) throw ConfigError("workload", "launches something on no rank");
    for (const RankId rank : ranks) {
      if (rank.index() < ranks_) continue;
      throw ConfigError("workload",
                        "launches something on rank " + std::to_string(rank.value) + ", which its job does not have");
    }
    AgentCall call{
        .kind = kind, .id = LaunchId{launched_++}, .label = label, .ranks = {ranks.begin(), ranks.end()}, .at = now_};
    return open_.emplace_back(std::move(call));
  }
};

AgentKit::AgentKit(WorkloadAgent& agent, std::size_t ranks) : sink_(std::make_unique<Sink>(agent, ranks)) {}
AgentKit::~AgentKit() = default;

void AgentKit::begin() { sink_->tell({.kind = WorkEvent::Kind::kBegin, .now = sink_->now_}); }
void AgentKit::end(LaunchId launch, Time at) { sink_->end(launch, at); }
bool AgentKit::wake() { return sink_->wake(); }
Time AgentKit::now() const { return sink_->now_; }
const std::vector<AgentCall>& AgentKit::open() const { return sink_->open_; }
std::uint32_t AgentKit::launched() const { return sink_->launched_; }

// What ends first is told first; of equal times the older launch, and launches before timers. Launches that ranks have yet
// to enter wait.
Time AgentKit::run(const std::function<Duration(const AgentCall&)>& takes) {
  begin();
  while (!sink_->agent_.finished() || !open().empty()) {
    const AgentCall* next = nullptr;
    Time at = Time::never();
    for (const AgentCall& call : open()) {
      if (call.entered.size() < call.ranks.size()) continue;
      const Time end = std::max(call.at + takes(call), now());
      if (end >= at) continue;
      next = &call;
      at = end;
    }
    if (!sink_->timers_.empty() && sink_->timers_.front().first < at) {
      wake();
    } else if (next != nullptr) {
      end(LaunchId{next->id}, at);
    } else if (!wake()) {
      break;
    }
  }
  return now();
}

}  // namespace photonrail::testing
