#include <photonrail/plugin.hpp>

PHOTONRAIL_PLUGIN(known) {
  known.controllers.add(
      {"mine", "gives no controller", [](auto&&...) -> std::unique_ptr<photonrail::Controller> { return nullptr; }});
}
