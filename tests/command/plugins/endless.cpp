#include <photonrail/plugin.hpp>

#include <unistd.h>

namespace {

class Endless : public photonrail::Controller {
  photonrail::Decision decide(const photonrail::FabricView&) override {
    for (volatile bool go_on = true; go_on;) continue;
    return {};
  }
};

class Asleep : public photonrail::Controller {
  photonrail::Decision decide(const photonrail::FabricView&) override {
    while (true) ::pause();
  }
};

}  // namespace

PHOTONRAIL_PLUGIN(known) {
  known.controllers.add({"endless", "never decides", [](auto&&...) { return std::make_unique<Endless>(); }});
  known.controllers.add({"asleep", "never decides", [](auto&&...) { return std::make_unique<Asleep>(); }});
}
