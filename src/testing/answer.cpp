#include "photonrail/testing/policy_kit.hpp"

#include <memory>
#include <utility>

namespace photonrail::testing {

namespace {

ServerPair pair_of(const FabricView& view, Circuit circuit) {
  return {view.position(circuit.from), view.position(circuit.to)};
}

void note(std::string& first, std::string problem) {
  if (first.empty()) first = std::move(problem);
}

class Overheard : public Controller {
 public:
  Overheard(std::unique_ptr<Controller> policy, Transcript& transcript)
      : policy_(std::move(policy)), transcript_(transcript) {}

  Decision decide(const FabricView& view) override {
    if (transcript_.asked == transcript_.most) throw Restless{};
    ++transcript_.asked;
    Decision decision = policy_->decide(view);
    if (!decision.keeps()) transcript_.changes.push_back(judge(view, decision));
    return decision;
  }

 private:
  std::unique_ptr<Controller> policy_;
  Transcript& transcript_;
};

}  // namespace

Answer judge(const FabricView& view, const Decision& decision) {
  Answer answer;
  answer.at = view.now;
  answer.rail = view.rail;
  answer.keeps = decision.keeps();
  bool later = false;  // what the circuits will be by then, this does not know
  for (const Step& step : decision.steps) {
    note(answer.no_matching, matching_problem(view, step.plan));
    later = later || step.when == When::kDrained || (step.when == When::kAt && step.at > view.now);
    if (!later && !step.preempt) note(answer.torn_down, teardown_problem(view, step.plan));
    for (const Circuit circuit : step.plan.connect) answer.connects.push_back(pair_of(view, circuit));
    if (!later) {
      for (const Circuit circuit : darkened_by(view, step.plan)) answer.darkens.push_back(pair_of(view, circuit));
    }
    later = true;
  }
  if (decision.timetable) {
    for (const CircuitPlan& round : decision.timetable->rounds) {
      note(answer.no_matching, matching_problem(view, round));
      for (const Circuit circuit : round.connect) answer.connects.push_back(pair_of(view, circuit));
    }
  }
  return answer;
}

Answer ask(Controller& policy, const FabricView& view) { return judge(view, policy.decide(view)); }

ControllerFactory overheard(ControllerFactory factory, Transcript& transcript) {
  factory.make = [make = std::move(factory.make), &transcript](const ControllerSpec& spec, RailId rail,
                                                               std::uint32_t gpus_per_server, std::uint32_t ports_per_gpu) {
    return std::make_unique<Overheard>(make(spec, rail, gpus_per_server, ports_per_gpu), transcript);
  };
  return factory;
}

}  // namespace photonrail::testing
