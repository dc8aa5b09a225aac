// A policy with a fault: it never connects a server to one with a lower number.
#include "oldest_first.hpp"

#include <photonrail/plugin.hpp>

namespace {

class OneWay : public pr::Controller {
 public:
  OneWay() : whole_(oldest_first().make({}, pr::RailId{0}, 1, 1)) {}

  pr::Decision decide(const pr::FabricView& view) override {
    for (const auto& demand : view.requests) {
      if (!demand.blocking) continue;
      for (const pr::ServerPair pair : demand.pairs) {
        if (pair.to < pair.from) return std::nullopt;
      }
      break;
    }
    return whole_->decide(view);
  }

 private:
  std::unique_ptr<pr::Controller> whole_;
};

}  // namespace

PHOTONRAIL_PLUGIN(known) {
  known.controllers.add({"one_way", "never back", [](auto&&...) { return std::make_unique<OneWay>(); }});
}
