#include "control_plane/request_channel.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail::control_plane {

namespace {

RandomStream stream(std::uint64_t seed, const char* what, std::size_t rail) {
  return {seed, std::string(what) + " of rail " + std::to_string(rail)};
}

}  // namespace

Duration deliver(const MessageSpec& spec, Duration own, RandomStream& random, const char* what, RailId rail) {
  if (spec.reliable()) return own;
  Duration first = kLongest;
  std::uint32_t sent = 0;
  for (;; ++sent) {
    const bool again = spec.timeout > Duration{} && (!spec.retries || sent <= *spec.retries);
    const Duration begin = spec.timeout * sent;
    if (sent > 0 && (!again || begin >= first)) break;
    if (random.uniform() >= spec.loss) first = std::min(first, begin + own + spec.delay.draw(random));
  }
  if (first < kLongest) return first;
  throw DeadlockError({"the controller of rail " + std::to_string(rail.value) + ": " + what + " was sent " +
                       core::counted(sent, "time") + " and lost each time; it is not sent again (messages, retries)"});
}

RequestChannel::RequestChannel(engine::Engine& engine, const ControllerSpec& spec, std::size_t rails, std::uint64_t seed)
    : engine_(engine), spec_(spec), free_at_(rails) {
  for (std::size_t r = 0; r < rails; ++r) {
    rails_.push_back({stream(seed, "requests", r), stream(seed, "commands", r), stream(seed, "acknowledgements", r)});
  }
}

// Searches the entries: of those that name the rank, the last counts.
Duration RequestChannel::way(RankId rank) const {
  Duration way = spec_.request;
  for (const ShimSpec& shim : spec_.control.shims) {
    if (shim.request && std::find(shim.ranks.begin(), shim.ranks.end(), rank) != shim.ranks.end()) way = *shim.request;
  }
  return way;
}

void RequestChannel::request(RailId rail, RankId rank, std::uint32_t slot, std::uint32_t serial) {
  const Duration travel =
      deliver(spec_.control.messages, way(rank), rails_[rail.index()].requests, "the request of a rank", rail);
  if (travel == Duration{} && spec_.service == Duration{}) return listener_->request_served(slot, serial, rank, false);
  post({slot, serial, rail, rank, rails_[rail.index()].epoch, false}, travel);
}

void RequestChannel::ask_root(RailId rail, RankId rank, std::uint32_t slot, std::uint32_t serial) {
  const ControlPlaneSpec& control = spec_.control;
  const Duration travel =
      deliver(control.messages, control.root_request, rails_[rail.index()].requests, "the request to the root", rail);
  if (travel == Duration{} && control.root_service == Duration{})
    return listener_->request_served(slot, serial, rank, true);
  post({slot, serial, rail, rank, rails_[rail.index()].epoch, true}, travel);
}

void RequestChannel::post(const Message& message, Duration travel) {
  if (free_messages_.empty()) {
    free_messages_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t at = free_messages_.back();
  free_messages_.pop_back();
  messages_[at] = message;
  engine_.schedule(engine_.now() + travel, engine::Phase::kFinish, engine::Action::to<&RequestChannel::arrived>(*this, at));
}

void RequestChannel::arrived(std::uint64_t at) {
  const Message& message = messages_[at];
  if (message.epoch != rails_[message.rail.index()].epoch) return free_messages_.push_back(static_cast<std::uint32_t>(at));
  const bool one = spec_.control.placement == ControllerPlacement::kOne;
  Time& free_at = message.to_root ? root_free_at_ : free_at_[one ? 0 : message.rail.index()];
  free_at = std::max(free_at, engine_.now()) + (message.to_root ? spec_.control.root_service : spec_.service);
  engine_.schedule(free_at, engine::Phase::kFinish, engine::Action::to<&RequestChannel::served>(*this, at));
}

void RequestChannel::served(std::uint64_t at) {
  const Message message = messages_[at];
  free_messages_.push_back(static_cast<std::uint32_t>(at));
  if (message.epoch != rails_[message.rail.index()].epoch) return;
  listener_->request_served(message.slot, message.serial, message.from, message.to_root);
}

Duration RequestChannel::command(RailId rail) {
  return deliver(spec_.control.messages, spec_.command, rails_[rail.index()].commands, "a command", rail);
}

Duration RequestChannel::acknowledgement(RailId rail) {
  return deliver(spec_.control.messages, spec_.acknowledgement, rails_[rail.index()].acknowledgements, "an acknowledgement",
                 rail);
}

void RequestChannel::forget(RailId rail) {
  ++rails_[rail.index()].epoch;
  free_at_[spec_.control.placement == ControllerPlacement::kOne ? 0 : rail.index()] = engine_.now();
}

}  // namespace photonrail::control_plane
