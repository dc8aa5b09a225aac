#include "run/operation_places.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace photonrail::run {

using execution::CapacityLoad;
using execution::MemberRecord;
using execution::OperationRecord;

namespace {

// A capacity that is less busy than this is not what holds bytes up.
constexpr double kBusy = 0.5;

Time end_of_operation(const OperationRecord& operation) {
  Time end{};
  for (const MemberRecord& member : operation.members) {
    if (member.done != Time::never()) end = std::max(end, member.done);
  }
  return end;
}

Place place_of(fabric::Place::Kind kind) {
  switch (kind) {
    case fabric::Place::Kind::kScaleUp:
      return Place::kScaleUp;
    case fabric::Place::Kind::kPort:
      return Place::kPort;
    case fabric::Place::Kind::kLeafUplink:
      return Place::kLeafUplink;
    case fabric::Place::Kind::kSiteLink:
      return Place::kSiteLink;
    case fabric::Place::Kind::kPodUplink:
      break;
  }
  return Place::kPodUplink;
}

}  // namespace

OperationPlaces::OperationPlaces(const execution::RunHistory& history, const execution::CapacityLoads& loads,
                                 const fabric::Fabric& fabric, const std::vector<std::uint32_t>& asked)
    : history_(history), loads_(loads), fabric_(fabric) {
  for (const std::uint32_t operation : asked) {
    for (const fabric::Place& place : fullest_of_each_kind(operation)) uses_[place];
  }
  for (const OperationRecord& operation : history.operations()) {
    if (operation.started == Time::never()) continue;
    const Time end = end_of_operation(operation);
    for (const CapacityLoad& load : loads.load_of(operation.sequence)) {
      const auto use = uses_.find(load.place);
      if (use != uses_.end()) use->second.push_back({operation.started, end, load.bytes});
    }
  }
}

std::vector<fabric::Place> OperationPlaces::fullest_of_each_kind(std::uint32_t operation) const {
  constexpr std::size_t kKinds = static_cast<std::size_t>(fabric::Place::Kind::kSiteLink) + 1;
  std::array<std::optional<CapacityLoad>, kKinds> fullest;
  for (const CapacityLoad& load : loads_.load_of(history_.operations()[operation].sequence)) {
    std::optional<CapacityLoad>& most = fullest[static_cast<std::size_t>(load.place.kind)];
    if (!most || load.bytes > most->bytes) most = load;
  }
  std::vector<fabric::Place> places;
  for (const std::optional<CapacityLoad>& load : fullest) {
    if (load) places.push_back(load->place);
  }
  return places;
}

OperationPlaces::Found OperationPlaces::find(std::uint32_t operation, Duration running) const {
  const OperationRecord& record = history_.operations()[operation];
  const Time end = end_of_operation(record);
  Found found;
  for (const fabric::Place& place : fullest_of_each_kind(operation)) {
    double bytes = 0.0;
    for (const Use& use : uses_.at(place)) {
      const Duration overlap = std::min(use.end, end) - std::max(use.start, record.started);
      const Duration length = use.end - use.start;
      if (overlap <= Duration{} || length <= Duration{}) continue;
      bytes += use.bytes * static_cast<double>(overlap.count()) / static_cast<double>(length.count());
    }
    const double seconds = to_seconds(running);
    const double busy =
        seconds > 0.0 ? std::min(1.0, bytes / (fabric_.places().rate(place).bytes_per_second * seconds)) : 0.0;
    if (busy <= found.utilisation) continue;
    found.utilisation = busy;
    found.capacity = place;
    // A circuit takes one port of a NIC, whatever the others do.
    const bool circuits = fabric_.optical() && place.kind == fabric::Place::Kind::kPort;
    const double enough = circuits ? kBusy / fabric_.spec().nic.ports : kBusy;
    found.place = busy >= enough ? place_of(place.kind) : Place::kLatency;
  }
  return found;
}

std::string OperationPlaces::name_of(const fabric::Place& capacity) const {
  const std::string number = std::to_string(capacity.number);
  const std::string gpu = fabric_.folded() ? "a GPU" : "GPU " + number;
  switch (capacity.kind) {
    case fabric::Place::Kind::kScaleUp:
      return "scale-up ports of " + gpu;
    case fabric::Place::Kind::kPort:
      return "NIC of " + gpu;
    case fabric::Place::Kind::kLeafUplink:
      return "uplinks of leaf " + number + ", rail " + std::to_string(capacity.rail);
    case fabric::Place::Kind::kSiteLink: {
      const SiteLink& link = fabric_.spec().sites.links[capacity.number / 2];
      const bool against = capacity.number % 2 != 0;
      return "link from site " + std::to_string(against ? link.b : link.a) + " to site " +
             std::to_string(against ? link.a : link.b);
    }
    case fabric::Place::Kind::kPodUplink:
      break;
  }
  return "uplinks of pod " + number + ", rail " + std::to_string(capacity.rail);
}

}  // namespace photonrail::run
