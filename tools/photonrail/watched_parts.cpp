#include "watched_parts.hpp"

#include "core/guarded.hpp"
#include "photonrail/error.hpp"
#include "watch.hpp"

#include <memory>
#include <utility>

namespace photonrail::command {

namespace {

class WatchedController : public Controller {
 public:
  WatchedController(std::unique_ptr<Controller> inner, const std::string& name)
      : inner_(std::move(inner)), name_(name), calls_(name, "decide()") {}

  Decision decide(const FabricView& view) override {
    return calls_.during([&] {
      try {
        return inner_->decide(view);
      } catch (const std::exception&) {
        throw;
      } catch (...) {
        throw ControllerError(name_ + ": decide() threw something that is no std::exception");
      }
    });
  }
  std::string remark(Duration makespan) const override { return inner_->remark(makespan); }

 private:
  std::unique_ptr<Controller> inner_;
  std::string name_;
  WatchedCalls calls_;
};

template <class Call>
decltype(auto) watched_call(WatchedCalls& calls, const std::string& who, const char* method, Call&& call) {
  return calls.during([&]() -> decltype(auto) { return core::guarded(who, method, call); });
}

class WatchedAgent : public WorkloadAgent {
 public:
  WatchedAgent(std::unique_ptr<WorkloadAgent> inner, const std::string& name)
      : inner_(std::move(inner)), name_(name), calls_(name, "on()") {}

  void on(const WorkEvent& event, WorkSink& sink) override {
    watched_call(calls_, name_, "on()", [&] { inner_->on(event, sink); });
  }
  bool finished() const override {
    return watched_call(calls_, name_, "finished()", [&] { return inner_->finished(); });
  }
  std::vector<std::string> waiting() const override {
    return watched_call(calls_, name_, "waiting()", [&] { return inner_->waiting(); });
  }
  std::vector<std::string> kinds() const override {
    return watched_call(calls_, name_, "kinds()", [&] { return inner_->kinds(); });
  }
  bool hears_ranks() const override { return inner_->hears_ranks(); }
  bool announces() const override {
    return watched_call(calls_, name_, "announces()", [&] { return inner_->announces(); });
  }
  std::optional<KnownFuture> known_future() const override {
    return watched_call(calls_, name_, "known_future()", [&] { return inner_->known_future(); });
  }
  void report(RunResult& result) const override {
    watched_call(calls_, name_, "report()", [&] { inner_->report(result); });
  }

 private:
  std::unique_ptr<WorkloadAgent> inner_;
  std::string name_;
  mutable WatchedCalls calls_;
};

class WatchedScheduler : public SchedulingPolicy {
 public:
  WatchedScheduler(std::shared_ptr<const SchedulingPolicy> inner, const std::string& name)
      : inner_(std::move(inner)), name_(name), calls_(name, "decide()") {}

  std::string name() const override { return inner_->name(); }
  StepDecision decide(const EngineView& view) const override {
    return watched_call(calls_, name_, "decide()", [&] { return inner_->decide(view); });
  }

 private:
  std::shared_ptr<const SchedulingPolicy> inner_;
  std::string name_;
  mutable WatchedCalls calls_;
};

}  // namespace

ControllerFactory watched(ControllerFactory factory, const std::string& plugin) {
  if (!factory.make) return factory;  // a bound
  const std::string name = plugin + ": controller \"" + factory.name + "\"";
  factory.make = [make = std::move(factory.make), name](const ControllerSpec& spec, RailId rail, std::uint32_t gpus,
                                                        std::uint32_t ports) -> std::unique_ptr<Controller> {
    std::unique_ptr<Controller> inner;
    try {
      inner = make(spec, rail, gpus, ports);
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      throw ControllerError(name + ": ControllerFactory::make threw something that is no std::exception");
    }
    if (inner == nullptr) throw ControllerError(name + ": ControllerFactory::make returned no controller");
    return std::make_unique<WatchedController>(std::move(inner), name);
  };
  return factory;
}

AgentFactory watched(AgentFactory factory, const std::string& plugin) {
  const std::string name = plugin + ": agent \"" + factory.name + "\"";
  factory.make = [make = std::move(factory.make), name](const AgentSpec& spec, std::size_t ranks,
                                                        std::uint64_t seed) -> std::unique_ptr<WorkloadAgent> {
    auto inner = core::guarded(name, "AgentFactory::make", [&] { return make(spec, ranks, seed); });
    if (inner == nullptr) throw ConfigError(name, "AgentFactory::make returned no agent");
    return std::make_unique<WatchedAgent>(std::move(inner), name);
  };
  return factory;
}

SchedulerFactory watched(SchedulerFactory factory, const std::string& plugin) {
  const std::string name = plugin + ": scheduler \"" + factory.name + "\"";
  factory.make = [make = std::move(factory.make), name]() -> std::shared_ptr<const SchedulingPolicy> {
    auto inner = core::guarded(name, "SchedulerFactory::make", make);
    if (inner == nullptr) throw ConfigError(name, name + ": SchedulerFactory::make returned no scheduler");
    return std::make_shared<WatchedScheduler>(std::move(inner), name);
  };
  return factory;
}

}  // namespace photonrail::command
