// A controller that is down: it decides nothing and hears nothing. When it is back it has forgotten what it knew, and the
// ranks ask anew for what they still wait for. Switches are not concerned: circuits stay, commands under way are carried
// out.
#include "control_plane/control_plane.hpp"

#include <algorithm>

namespace photonrail {

void ControlPlane::schedule_restarts() {
  const std::vector<ControllerRestart>& restarts = spec_.control.restarts;
  for (std::size_t i = 0; i < restarts.size(); ++i) {
    const Time down = engine_.now() + restarts[i].at;  // of a job that begins later: from then on
    engine_.schedule(down, Phase::kFinish, Action::to<&ControlPlane::go_down>(*this, i));
    engine_.schedule(down + restarts[i].down, Phase::kFinish, Action::to<&ControlPlane::come_up>(*this, i));
  }
}

void ControlPlane::go_down(std::uint64_t restart) {
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (spec_.control.restarts[restart].rail.value_or(RailId{r}) != RailId{r} || !fabric_.has_rail(RailId{r})) continue;
    ++rails_[r].down;
    messages_.forget(RailId{r});
  }
}

void ControlPlane::come_up(std::uint64_t restart) {
  const PlantSpec& plant = fabric_.plant().spec();
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (spec_.control.restarts[restart].rail.value_or(RailId{r}) != RailId{r} || !fabric_.has_rail(RailId{r})) continue;
    if (--rails_[r].down > 0) continue;
    rails_[r].controller = factory_.make(spec_, RailId{r}, plant.gpus_per_server, plant.nic_ports);
    rails_[r].driver = std::make_unique<PlanSequencer>(engine_, fabric_.rail(RailId{r}), messages_, RailId{r});
    rails_[r].ask_again.reset();
    fabric_.rail(RailId{r}).undrain();
    ask_again(RailId{r});
    retry_blocked(RailId{r});
    wake_controller(RailId{r}, {});
  }
}

// In the order in which they were first asked for.
void ControlPlane::ask_again(RailId id) {
  Rail& rail = rails_[id.index()];
  rail.complete = {};
  rail.gathering = {};
  std::vector<std::uint32_t> open;
  for (std::uint32_t slot = 0; slot < demands_.size(); ++slot) {
    if (demands_[slot].open && demands_[slot].rail == id) open.push_back(slot);
  }
  std::sort(open.begin(), open.end(),
            [this](std::uint32_t a, std::uint32_t b) { return demands_[a].serial < demands_[b].serial; });
  for (const std::uint32_t slot : open) {
    Demand& demand = demands_[slot];
    demand.view.asked = 0;
    demand.askers.clear();
    const Operation& op = operations_[demand.op];
    const bool by_members = std::find(demand.asked.begin(), demand.asked.end(), true) != demand.asked.end();
    if (!by_members) count_request(demand, op.rank(0));  // nobody had to ask for it: the rail told
    for (Member m = 0; m < demand.asked.size(); ++m) {
      if (demand.asked[m]) messages_.request(id, op.rank(m), slot, demand.serial);
    }
  }
}

}  // namespace photonrail
