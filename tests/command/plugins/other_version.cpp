// What a plug-in of another version answers.
#include <photonrail/plugin.hpp>

extern "C" __attribute__((visibility("default"))) void photonrail_plugin(photonrail::plugin::Call* call) {
  photonrail::plugin::set_text(call->plugin, "photonrail 0.0.9");
  call->version_differs = 1;
}
