#include <photonrail/plugin.hpp>

#include <stdexcept>

namespace {

using photonrail::RankId;
using photonrail::WorkEvent;
using photonrail::WorkSink;

/// Does what a function says, and never finishes.
class Wrong : public photonrail::WorkloadAgent {
 public:
  explicit Wrong(void (*does)(const WorkEvent&, WorkSink&)) : does_(does) {}
  void on(const WorkEvent& event, WorkSink& sink) override { does_(event, sink); }
  [[nodiscard]] bool finished() const override { return false; }
  [[nodiscard]] std::vector<std::string> waiting() const override { return {"waits for Godot"}; }

 private:
  void (*does_)(const WorkEvent&, WorkSink&);
};

void add(photonrail::Registries& known, const char* name, void (*does)(const WorkEvent&, WorkSink&)) {
  known.agents.add({name, "does it wrong", [does](auto&&...) { return std::make_unique<Wrong>(does); }});
}

class WrongScheduler : public photonrail::SchedulingPolicy {
 public:
  [[nodiscard]] std::string name() const override { return "wrong"; }
  [[nodiscard]] photonrail::StepDecision decide(const photonrail::EngineView&) const override { throw 7; }
};

class EndlessScheduler : public photonrail::SchedulingPolicy {
 public:
  [[nodiscard]] std::string name() const override { return "endless"; }
  [[nodiscard]] photonrail::StepDecision decide(const photonrail::EngineView&) const override {
    for (volatile bool go_on = true; go_on;) continue;
    return {};
  }
};

}  // namespace

PHOTONRAIL_PLUGIN(known) {
  known.agents.add({"null", "is none", [](auto&&...) { return std::unique_ptr<photonrail::WorkloadAgent>{}; }});
  known.agents.add({"unmade", "cannot be made", [](auto&&...) -> std::unique_ptr<photonrail::WorkloadAgent> {
                      throw std::runtime_error("no licence today");
                    }});
  add(known, "throws", [](const WorkEvent&, WorkSink&) { throw std::out_of_range("no such thing"); });
  add(known, "throws_a_number", [](const WorkEvent&, WorkSink&) { throw 7; });
  add(known, "endless", [](const WorkEvent&, WorkSink&) {
    for (volatile bool go_on = true; go_on;) continue;
  });
  add(known, "strange_rank", [](const WorkEvent&, WorkSink& sink) {
    const RankId ranks[] = {RankId{4U}};
    sink.compute(ranks, photonrail::Duration{1});
  });
  add(known, "never_ends",
      [](const WorkEvent& event, WorkSink& sink) { sink.wake_at(event.now + photonrail::Duration{1000}); });
  add(known, "idle", [](const WorkEvent&, WorkSink&) {});
  known.schedulers.add({"none", "is none", [] { return std::shared_ptr<const photonrail::SchedulingPolicy>{}; }});
  known.schedulers.add({"wrong", "throws a number", [] { return std::make_shared<WrongScheduler>(); }});
  known.schedulers.add({"endless", "never decides", [] { return std::make_shared<EndlessScheduler>(); }});
}
