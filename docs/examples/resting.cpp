// A policy with a parameter, as a plug-in: what OldestFirst has connected stays for `rest` before anything is changed
// again.
#include "oldest_first.hpp"

#include <photonrail/plugin.hpp>

class Resting : public pr::Controller {
 public:
  explicit Resting(pr::Duration rest) : rest_(rest) {}

  pr::Decision decide(const pr::FabricView& view) override {
    pr::Decision decision;
    if (view.now < until_) {
      decision.ask_again = until_;
      return decision;
    }
    decision = inner_->decide(view);
    if (!decision.keeps() && !decision.plan().connect.empty()) until_ = view.now + rest_;
    return decision;
  }

 private:
  std::unique_ptr<pr::Controller> inner_ = std::make_unique<OldestFirst>();
  pr::Duration rest_;
  pr::Time until_{};
};

PHOTONRAIL_PLUGIN(known) {
  pr::ControllerFactory factory{"resting", "oldest first, and rests after each change",
                                [](const pr::ControllerSpec& spec, auto&&...) {
                                  return std::make_unique<Resting>(spec.parameters.duration("rest"));
                                }};
  factory.parameters = {pr::ControllerParameter::duration("rest", pr::Duration{}, "how long circuits stay at least")};
  known.controllers.add(std::move(factory));
}
