#include "fabric/switch_commands.hpp"

#include <algorithm>

namespace photonrail::fabric {

// A command is divided into parts, one for each switch that it changes (planes, pods): these switch at times of their own,
// and the command is done when all parts are. Without a queue at the switches all times are known at once, and no event is
// needed between the decision and the light.
SentCommand SwitchCommands::send(const CircuitPlan& change, std::uint32_t begun, const CommandTimes& times) {
  const std::uint32_t id = first_ + static_cast<std::uint32_t>(commands_.size());
  commands_.push_back({{}, begun, 0, times.after});
  split(id, change);
  return {id, send_parts(times.reached)};
}

// Returns how many circuits of the cluster this one stands for.
std::int64_t SwitchCommands::copies_of(Circuit circuit) const {
  if (copies_.empty()) return 1;
  return copies_[rail_.plant.gpu(circuits_.server(circuit.from), rail_.id.value).index()];
}

// Every switch on the way of a new circuit has its part of the command, and so has that of a transmit side left dark.
void SwitchCommands::split(std::uint32_t id, const CircuitPlan& change) {
  const RailSwitches& switches = shared_.switches;
  split_.clear();
  for (const Circuit circuit : change.connect) {
    const std::uint32_t from = switches.of(circuit.from);
    const std::uint32_t to = switches.of(circuit.to);
    parts_[part_of(id, from)].circuits += copies_of(circuit);
    if (to != from) static_cast<void>(part_of(id, to));
    command(id).circuits.push_back({circuit, from == to ? 1u : 2u});
  }
  for (const PortId from : change.disconnect) static_cast<void>(part_of(id, switches.of(from)));
  command(id).parts = static_cast<std::uint32_t>(split_.size());
}

// When all of them are usable, if that is known.
std::optional<Time> SwitchCommands::send_parts(Time reached) {
  engine::Engine& engine = rail_.engine;
  const bool queue = shared_.switches.queue();
  Time usable{};
  for (const std::uint32_t part : split_) {
    parts_[part].reached = reached;
    if (!queue) {
      usable = std::max(usable, carry_out(part, reached));
    } else if (reached > engine.now()) {
      engine.schedule(reached, engine::Phase::kFinish, engine::Action::to<&SwitchCommands::arrive>(*this, part));
    } else {
      arrive(part);
    }
  }
  if (queue) return std::nullopt;
  return usable;
}

std::uint32_t SwitchCommands::part_of(std::uint32_t command, std::uint32_t which) {
  for (const std::uint32_t part : split_) {
    if (parts_[part].at == which) return part;
  }
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint32_t part = free_parts_.back();
  free_parts_.pop_back();
  parts_[part] = {command, which, 0, {}};
  split_.push_back(part);
  return part;
}

void SwitchCommands::arrive(std::uint64_t part) {
  engine::Engine& engine = rail_.engine;
  const Time begins = shared_.switches.arrive(parts_[part].at, parts_[part].reached, engine.now());
  if (begins <= engine.now()) {
    static_cast<void>(carry_out(static_cast<std::uint32_t>(part), begins));
    return;
  }
  engine.schedule(begins, engine::Phase::kFinish, engine::Action::to<&SwitchCommands::begin>(*this, part));
}

void SwitchCommands::begin(std::uint64_t part) {
  static_cast<void>(carry_out(static_cast<std::uint32_t>(part), rail_.engine.now()));
}

// Returns when the circuits can be used. Of a timetable, that and the beginning may lie in the past.
Time SwitchCommands::carry_out(std::uint32_t index, Time begins) {
  engine::Engine& engine = rail_.engine;
  const Part part = parts_[index];
  const Time lit = begins + shared_.switches.draw(part.at, begins);
  transitions_.add_dark_time(lit - begins, part.circuits);
  const auto at = [&engine](Time time, const engine::Action& action) {
    engine.schedule(std::max(time, engine.now()), engine::Phase::kFinish, action);
  };
  if (rail_.spec.optical.darkness == DarkScope::kSwitch) {
    if (begins > engine.now()) {
      at(begins, engine::Action::to<&SwitchCommands::pause_switch>(*this, part.at));
    } else {
      pause_switch(part.at);
    }
    at(lit, engine::Action::to<&SwitchCommands::resume_switch>(*this, part.at));
  }
  const Time usable = lit + command(part.command).after;
  at(usable, engine::Action::to<&SwitchCommands::light>(*this, index));
  return usable;
}

// A circuit is lit when the last switch on its way is done with it.
void SwitchCommands::light(std::uint64_t index) {
  const Part part = parts_[index];
  free_parts_.push_back(static_cast<std::uint32_t>(index));
  const RailSwitches& switches = shared_.switches;
  std::vector<Circuit> done;
  std::erase_if(command(part.command).circuits, [&](Wanted& wanted) {
    const Circuit circuit = wanted.circuit;
    if (switches.of(circuit.from) != part.at && switches.of(circuit.to) != part.at) return false;
    if (--wanted.switches > 0) return false;
    done.push_back(circuit);
    return true;
  });
  transitions_.light(done, command(part.command).begun);
  if (--command(part.command).parts > 0) return;
  finish(part.command);
  notifier_.command_done(part.command);
}

// Memory follows the commands under way: months of steps have millions.
void SwitchCommands::finish(std::uint32_t id) {
  command(id) = {};
  command(id).done = true;
  for (; !commands_.empty() && commands_.front().done; ++first_) commands_.pop_front();
}

// The bytes of all circuits on the switch stand still, those of other jobs too. All jobs' circuits are looked up before any
// is paused, since afterwards they no longer count as lit.
void SwitchCommands::pause_switch(std::uint64_t which) {
  const auto at = static_cast<std::uint32_t>(which);
  std::vector<std::vector<Circuit>> lit;
  for (const CircuitTransitions* job : shared_.jobs) lit.push_back(job->lit_on(at));
  shared_.switches.go_dark(at);
  for (std::size_t j = 0; j < lit.size(); ++j) shared_.jobs[j]->pause(lit[j]);
}

void SwitchCommands::resume_switch(std::uint64_t which) {
  const auto at = static_cast<std::uint32_t>(which);
  shared_.switches.come_back(at);
  for (CircuitTransitions* job : shared_.jobs) job->resume(at);
}

}  // namespace photonrail::fabric
