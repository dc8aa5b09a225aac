// What the rounds of operations want of the rails, kept for groups that call the same plan of several rounds again and
// again.
#pragma once

#include "control_plane/rail_circuits.hpp"
#include "execution/operation.hpp"
#include "fabric/fabric.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

struct RoundLinks {
  struct Crossing {
    MemberPair pair;
    std::optional<fabric::RailCrossing> over;  ///< none within a server
  };
  std::vector<Crossing> crossings;       ///< ascending by pair
  std::map<RailId, RailCircuits> rails;  ///< the same by rail
  std::uint32_t participants = 0;        ///< members that send or receive in the round
};

class RoundCircuits {
 public:
  /// The fabric must outlive the object.
  explicit RoundCircuits(const fabric::Fabric& fabric) : fabric_(fabric) {}

  /// Null: those of the round are not kept, and are to be found anew. Else valid until the next call.
  [[nodiscard]] const RoundLinks* of(const execution::Operation& op, std::uint32_t round);

 private:
  struct Known {
    const execution::RunnablePlan* plan = nullptr;
    std::vector<RoundLinks> rounds;  // empty ones are not known yet
  };

  static constexpr std::size_t kMaxCrossings = std::size_t{1} << 18;  // some 20 MB

  [[nodiscard]] RoundLinks make(const execution::Operation& op, std::uint32_t round) const;

  const fabric::Fabric& fabric_;
  std::vector<std::vector<Known>> known_;  // by communicator
  std::size_t crossings_ = 0;              // that are kept
};

}  // namespace photonrail::control_plane
