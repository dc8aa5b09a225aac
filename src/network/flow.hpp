// A message under way, and its parts: numbers of flows, of channels and of the hops of a path.
#pragma once

#include "engine/engine.hpp"
#include "photonrail/units.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <limits>

namespace photonrail::network {

using topology::CapacityId;

using FlowId = std::uint32_t;
using ChannelId = std::uint32_t;
using HopSlot = std::uint32_t;
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Bytes per picosecond: no limit.
inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The machine that a flow is with. Only this machine changes the flow.
enum class FlowState : std::uint8_t {
  kFree,       ///< FlowTable: not in use
  kWaiting,    ///< Channels: others of its channel are before it
  kExclusive,  ///< ExclusiveFlows: alone on its path
  kStanding,   ///< ExclusiveFlows: has arrived, and holds its path for the next one
  kShared,     ///< SharedFlows: has a max-min fair rate
  kEnding,     ///< EpochFlows: has a rate of its own until it ends
  kArriving    ///< Arrivals: its last byte has left
};

struct Flow {
  double remaining = 0.0;       ///< bytes; exclusive, ending: at `begin`; shared: while it has no bottleneck
  Time begin{};                 ///< exclusive: when its first byte leaves, which may be to come; shared: when it came
  Time left_at{};               ///< exclusive, ending: when the last byte leaves
  engine::EventHandle event{};  ///< exclusive: its arrival
  Duration latency{};           ///< from the last byte's departure to its arrival
  Duration overhead{};          ///< the sender's gap between two messages
  std::uint64_t tag = 0;
  ChannelId channel = kNone;
  /// Waiting, exclusive: the next of its channel; arriving, and exclusive without a channel: of those that arrive with it.
  FlowId next = kNone;
  HopSlot first_hop = 0;
  std::uint32_t hops = 0;
  /// Shared: the hop that limits it; kNone until it has been solved. Exclusive, of several parts, and standing: the serial
  /// number of its Standing; kNone: it is to be forgotten when it has arrived.
  HopSlot bottleneck = kNone;
  FlowState state = FlowState::kFree;
  std::uint16_t parts = 1;  ///< exclusive: messages that it stands for, with tags from `tag` on; see Path::parts
};

/// One capacity on the path of one flow.
struct Hop {
  CapacityId capacity;
  FlowId flow;
  std::uint32_t
      position;  ///< CapacityFlows: among the capacity's bound flows, if it is the bottleneck, else among the others
};

}  // namespace photonrail::network
