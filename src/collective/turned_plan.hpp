// Plans in steps in which every server does the same: they are written down for the first server, and those of the others
// are it, turned by so many servers. A plan of 1,024 servers takes the memory of one.
#pragma once

#include "collective/steps.hpp"
#include "photonrail/collective.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace photonrail::collective {

/// Member server * rails + rail of `servers` servers.
struct ServerGrid {
  Member servers = 1;
  Member rails = 1;
};

/// What a chunk's number says, and therefore which chunk takes its place when all servers are turned.
enum class ChunkOrder : std::uint8_t {
  kServersOfRail,  ///< rail * servers + server
  kRailsOfServer,  ///< server * rails + rail, as members are numbered
  kPairs           ///< sender * members + receiver
};

/// One message of the first server.
struct TurnedSend {
  Member rail = 0;          ///< of the sender
  Member servers_away = 0;  ///< of the receiver, in the circle
  Member to_rail = 0;
  bool reduce = false;
};

/// Writes for the first server what StepPlan writes for all. REQUIRES: all servers of the grid send the same number of
/// bytes where the first one does, and every member sends and receives in the first step.
class TurnedPlanBuilder {
 public:
  /// `call` must outlive the builder.
  TurnedPlanBuilder(const CollectiveCall& call, const ServerGrid& grid, std::uint32_t chunk_count, ChunkOrder order);

  void step();
  void round();
  void send(const TurnedSend& send, const Runs& data);

  [[nodiscard]] std::unique_ptr<const SendPlan> build() &&;

  /// A send of the first server. Those of step k are consecutive.
  struct Entry {
    TurnedSend send;
    Bytes bytes;
    std::uint32_t step;
    std::uint32_t round;
    std::uint32_t waits;
    std::uint32_t depth;  ///< sends in the longest chain that ends with it
    Runs data;
  };
  /// A send that an entry of the first server releases: an entry, of the server so far away.
  struct Released {
    std::uint32_t entry;
    Member servers_away;
    friend auto operator<=>(const Released&, const Released&) = default;
  };

 private:
  const CollectiveCall& call_;
  ServerGrid grid_;
  std::uint32_t chunk_count_;
  ChunkOrder order_;
  std::uint32_t step_ = 0;
  std::uint32_t round_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::vector<Released>> released_;
  std::vector<std::vector<Released>> last_;     ///< by rail: sends of the last step that end at the first server's member
  std::vector<std::vector<Released>> present_;  ///< by rail: of this step
};

}  // namespace photonrail::collective
