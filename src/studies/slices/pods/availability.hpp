// Availability is what failures leave of a pod: slices of cubes with and without optical switches between them, and
// accelerators that are healthy but fit no group.
#pragma once

#include <cstdint>
#include <vector>

namespace photonrail::slices {

/// A pod of equal cubes. A cube is up when all its hosts are; hosts fail independently.
struct CubePod {
  std::uint32_t cubes = 64;           ///< 1 to 65,536
  std::uint32_t hosts_per_cube = 16;  ///< from 1 on
  double host_availability = 0.99;    ///< share of time that a host is up, in [0, 1]
  /// Probability that no optical switch is down; 1: slices route around failed switches.
  double switches_up = 1.0;

  void check() const;  ///< throws ConfigError for fields out of range
  /// P(exactly `up` cubes are up).
  [[nodiscard]] std::vector<double> up_probabilities() const;
};

/// P(a slice of so many cubes fits) when any cubes that are up make a slice: switches_up * P(Binomial >= wanted).
[[nodiscard]] double fit_probability(const CubePod& pod, std::uint32_t wanted);

/// Expected share of the pod's accelerators in whole slices of so many cubes, in [0, 1]. With switches any cubes that are
/// up make a slice, E[floor(K / c)] c / cubes; fixed wiring has floor(cubes / c) groups of cubes that must all be up.
/// Throws ConfigError for a slice of no cube or of more than there are.
[[nodiscard]] double goodput_with_switches(const CubePod& pod, std::uint32_t cubes_of_slice);
[[nodiscard]] double goodput_fixed(const CubePod& pod, std::uint32_t cubes_of_slice);

/// A server is out of service for an interval, in days.
struct ServerFault {
  std::uint32_t server = 0;
  double start_days = 0.0;
  double end_days = 0.0;
};

/// Share of the time for which so many servers are out, by number; overlapping faults of a server count once. From 0 to the
/// last end. Throws ConfigError for faults that end before they start, or no faults.
[[nodiscard]] std::vector<double> faulty_server_shares(const std::vector<ServerFault>& faults);

/// Describes how servers are joined for tensor-parallel groups.
struct GroupDomain {
  enum class Kind : std::uint8_t {
    kSwitched,  ///< domains of servers, any healthy ones of a domain make a group; what is left over of all servers is
                ///< unused
    kAligned,   ///< the same with fixed sub-blocks: one faulty server loses its sub-block
    kRing,      ///< one ring over all; a server reaches `reach` next ones, so that `reach` faulty in a row cut it
  };
  Kind kind = Kind::kSwitched;
  std::uint32_t servers = 8;  ///< of a domain; switched: as many as there are is one big switch
  std::uint32_t reach = 2;    ///< ring
  bool closed = true;         ///< ring; false: the last server is not joined to the first
};

struct WasteSpec {
  std::uint32_t servers = 400;
  std::uint32_t servers_per_group = 4;  ///< tensor parallelism / accelerators of a server
  GroupDomain domain{};
  std::uint32_t placements = 60;  ///< ring: random places of the faulty servers, the rest is exact
  std::uint64_t seed = 1;
};

/// Healthy servers that fit no group, as a share of all servers, mean over time; the faulty ones are at uniformly random
/// places. `faulty`: faulty_server_shares(). Source of the definitions: InfiniteHBD (arXiv 2502.03885).
[[nodiscard]] double wasted_share(const std::vector<double>& faulty, const WasteSpec& spec);

}  // namespace photonrail::slices
