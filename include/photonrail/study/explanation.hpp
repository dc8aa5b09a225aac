// What bounds a run and why its numbers are what they are: the critical path, and notes.
#pragma once

#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// What carries, or holds up, bytes of an operation that is on the critical path.
enum class Place : std::uint8_t {
  kScaleUp,     ///< the scale-up ports of a GPU
  kPort,        ///< the NIC of a GPU, or the circuits from it
  kLeafUplink,  ///< all uplinks of a leaf of a rail together
  kPodUplink,   ///< all uplinks of a pod of a rail together
  kSiteLink,    ///< a link between two sites
  kLatency      ///< no capacity is half busy: latencies of messages one after another, and steps
};
/// "scale_up", "port", "leaf_uplink", "pod_uplink", "site_link", "latency"
[[nodiscard]] std::string_view name(Place place);

/// A part of the critical path: all stretches of one kind together.
struct PathPart {
  enum class Kind : std::uint8_t {
    kComputation,    ///< of `what`
    kCommunication,  ///< bytes of an operation of `dimension` are on their way, held up most at `place`
    kCircuits,       ///< an operation of `dimension` lacks only circuits; its rank's last one on a rail was of `before`
    kLane,           ///< an operation waits for the lane of another one that is not on the path
    kUnexplained     ///< none of the above: always 0 but for policies that give lanes away
  };
  Kind kind = Kind::kComputation;
  /// Computations: the class of operators, "products" or "optimizer"; without one the part of the model, "attention", or
  /// the common beginning of their names.
  std::string what{};
  std::optional<Dimension> dimension{};
  std::optional<Dimension> before{};
  std::optional<Place> place{};
  Duration time{};
  std::uint64_t stretches = 0;

  /// "computation: products", "dp over leaf_uplink", "circuits: pp -> dp"
  [[nodiscard]] std::string label() const;
};

/// The cause of a wait for peers: what the chain of causes behind the end of its wait did at that moment.
enum class WaitCause : std::uint8_t {
  kStraggler,  ///< a rank that does the same, or of the same pipeline stage, computes longer or began late
  kExperts,    ///< ... because it has more tokens for its experts
  kBubble,     ///< another pipeline stage computes
  kData,       ///< operations of other ranks, whose data come first, have bytes on their way
  kCircuits,   ///< other ranks lack only their circuits
  kLane,       ///< an operation waits for the lane of another one
  kOther
};
inline constexpr int kWaitCauseCount = 7;
/// "straggler", "uneven experts", "pipeline bubble", "data of peers", "late circuits", "lane", "other"
[[nodiscard]] std::string_view name(WaitCause cause);

/// The waits of a rank for peers by cause: RankTime::peer_wait, to the picosecond.
using PeerWaits = std::array<Duration, kWaitCauseCount>;

/// What bounds a run: the chain of causes that ends it, each stretch of time the one thing that the next waited for.
struct CriticalPath {
  std::vector<PathPart> parts;  ///< longest first; their times add up to the makespan, to the picosecond
  /// The capacity that is busiest while operations on the path use it, by its bytes.
  struct Busiest {
    Place place = Place::kPort;
    std::string name;          ///< "NIC of GPU 3", "uplinks of leaf 2, rail 0"
    double utilisation = 0.0;  ///< of its rate in that time, by the bytes of all operations then
    Duration time{};           ///< of those operations on the path
  };
  std::optional<Busiest> busiest{};
  std::vector<PeerWaits> waits{};  ///< by rank

  /// Mean over ranks, rounded down.
  [[nodiscard]] PeerWaits mean_waits() const;
  [[nodiscard]] Duration total() const;
};

/// A sentence on a number of the result: its reason, or that a setting has no effect.
struct Note {
  std::string id;    ///< "one-tier": the same for every result
  std::string key;   ///< JSON pointer of the setting that it is about; "" where there is none
  std::string text;  ///< a sentence with its number
  double value = 0.0;
};

}  // namespace photonrail
