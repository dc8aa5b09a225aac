// The agents of a factory, whose errors name them.
#include "control/complete_parameters.hpp"
#include "core/guarded.hpp"
#include "photonrail/error.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/workload/registry.hpp"

#include <algorithm>
#include <utility>

namespace photonrail {

namespace {

// Measured: 1.1 us a launch of one all-reduce among eight ranks on electrical rails, 4.2 over circuits.
constexpr double kSecondsALaunch = 0.5e-6;
constexpr double kSecondsALaunchedTask = 0.3e-6;

/// An agent under the rules of named_workload().
class NamedAgent final : public WorkloadAgent {
 public:
  NamedAgent(std::unique_ptr<WorkloadAgent> inner, std::string who, std::uint64_t most_events)
      : inner_(std::move(inner)), who_(std::move(who)), most_events_(most_events) {}

  void on(const WorkEvent& event, WorkSink& sink) override {
    core::guarded(who_, "on()", [&] { inner_->on(event, sink); });
    if (++told_ < most_events_ || finished()) return;
    std::vector<std::string> lines{who_ + " was told of " + std::to_string(told_) + " events by " +
                                   std::to_string(to_seconds(event.now)) +
                                   " s and is not finished; most_events allows more"};
    for (std::string& line : waiting()) lines.push_back(std::move(line));
    throw DeadlockError(std::move(lines));
  }
  [[nodiscard]] bool finished() const override {
    return core::guarded(who_, "finished()", [&] { return inner_->finished(); });
  }
  [[nodiscard]] std::vector<std::string> waiting() const override {
    return core::guarded(who_, "waiting()", [&] { return inner_->waiting(); });
  }
  [[nodiscard]] std::vector<std::string> kinds() const override {
    return core::guarded(who_, "kinds()", [&] { return inner_->kinds(); });
  }
  [[nodiscard]] bool hears_ranks() const override {
    return core::guarded(who_, "hears_ranks()", [&] { return inner_->hears_ranks(); });
  }
  [[nodiscard]] bool announces() const override {
    return core::guarded(who_, "announces()", [&] { return inner_->announces(); });
  }
  [[nodiscard]] std::optional<KnownFuture> known_future() const override {
    return core::guarded(who_, "known_future()", [&] { return inner_->known_future(); });
  }
  void report(RunResult& result) const override {
    core::guarded(who_, "report()", [&] { inner_->report(result); });
  }

 private:
  std::unique_ptr<WorkloadAgent> inner_;
  std::string who_;
  std::uint64_t most_events_;
  std::uint64_t told_ = 0;
};

class NamedWorkload final : public Workload {
 public:
  NamedWorkload(const AgentFactory& factory, AgentSpec spec) : factory_(factory), spec_(std::move(spec)) {}

  [[nodiscard]] std::string name() const override { return factory_.name; }
  [[nodiscard]] std::unique_ptr<WorkloadAgent> make(const Scenario& scenario, std::uint64_t seed) const override {
    const std::string who = "the agent " + factory_.name;
    std::unique_ptr<WorkloadAgent> agent =
        core::guarded(who, "AgentFactory::make", [&] { return factory_.make(spec_, scenario.gpu_of_rank.size(), seed); });
    if (agent == nullptr) throw ConfigError(who, "AgentFactory::make returned no agent");
    return std::make_unique<NamedAgent>(std::move(agent), who, spec_.most_events);
  }
  [[nodiscard]] WorkEstimate work() const override {
    WorkEstimate work;
    if (!factory_.launches || spec_.step == nullptr) return work;
    const double launches =
        core::guarded("the agent " + factory_.name, "AgentFactory::launches", [&] { return factory_.launches(spec_); });
    const auto tasks = static_cast<double>(spec_.step->task_count());
    work.add({"launches", launches, launches * (kSecondsALaunch + tasks * kSecondsALaunchedTask)});
    return work;
  }

 private:
  AgentFactory factory_;
  AgentSpec spec_;
};

}  // namespace

AgentSpec AgentFactory::complete(const AgentSpec& spec) const {
  const std::string who = "the agent " + name;
  if (needs_step && spec.step == nullptr)
    throw ConfigError("", who + " launches a step, and none is given", "give the workload a job beside the agent");
  if (!spec.times.empty() && !takes_times) throw ConfigError("at_s", who + " has no use for times", "remove them");
  if (!std::is_sorted(spec.times.begin(), spec.times.end())) throw ConfigError("at_s", "must ascend", "sort the times");
  AgentSpec whole = spec;
  whole.parameters = control::complete_parameters(parameters, spec.parameters, who, "agent.parameters.*");
  return whole;
}

std::shared_ptr<const Workload> named_workload(const AgentFactory& factory, const AgentSpec& spec) {
  return std::make_shared<NamedWorkload>(factory, factory.complete(spec));
}

}  // namespace photonrail
