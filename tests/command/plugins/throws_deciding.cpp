#include <photonrail/plugin.hpp>

namespace {

class Throws : public photonrail::Controller {
  photonrail::Decision decide(const photonrail::FabricView&) override { throw 7; }
};

}  // namespace

PHOTONRAIL_PLUGIN(known) {
  known.controllers.add({"mine", "throws a number", [](auto&&...) { return std::make_unique<Throws>(); }});
}
