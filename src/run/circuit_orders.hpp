// The orders in which fibres carry transfers: a search for the least end of a relaxed job over all of them.
//
// A fibre is on one peer at a time. Of p + 1 transfers to different peers, which p fibres carry, two share a fibre, so that
// their last bytes leave at least the dark time apart. Where the relaxed job has them closer together, one of the two comes
// later: the search tries each that may, and its least end is a bound on all of them. (docs/models/lower-bound.md)
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/fabric_view.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"
#include "run/bound_terms.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::run {

/// The fibres of a GPU in one direction.
struct Fibres {
  RailId rail;
  ServerIndex server = 0;
  bool transmit = true;

  friend auto operator<=>(const Fibres&, const Fibres&) = default;
};

/// What an operation sends from one member to another in a round.
struct TransferId {
  CommunicatorId communicator;
  std::uint32_t tag = 0;
  std::uint32_t match = 0;
  std::uint32_t iteration = 0;
  std::uint32_t round = 0;
  Member from = 0;
  Member to = 0;

  friend auto operator<=>(const TransferId&, const TransferId&) = default;
  [[nodiscard]] bool same_operation(const TransferId& o) const {
    return std::tie(communicator, tag, match, iteration) == std::tie(o.communicator, o.tag, o.match, o.iteration);
  }
};

/// A transfer over the fibres of one of its ends.
struct Transfer {
  TransferId id;
  Fibres fibres;
  ServerIndex peer = 0;
  Time first{};  ///< its first byte leaves
  Time until{};  ///< its last byte has left
  Bytes bytes{};
};

/// Times before which the last bytes of transfers have not left.
using TransferFloors = std::map<TransferId, Time>;

/// A relaxed run: each time is a lower bound on what it is in every run that keeps to the floors.
struct RelaxedRun {
  Time end{};
  std::vector<Transfer> transfers;  ///< one for each end of a transfer
};

class CircuitOrders {
 public:
  using Evaluate = std::function<RelaxedRun(const TransferFloors&)>;

  /// `evaluate` is called at most `most` times.
  CircuitOrders(const BoundTerms& terms, Evaluate evaluate, std::size_t most)
      : terms_(terms), evaluate_(std::move(evaluate)), left_(most) {}

  /// The floors of the order that ends first, of those that were looked at; every other one ends no earlier than a run with
  /// these floors. `free`: the run without floors.
  [[nodiscard]] TransferFloors search(RelaxedRun free);

 private:
  struct Order {
    TransferId first;
    TransferId second;
  };
  struct Node {
    RelaxedRun run;
    TransferFloors floors;
    std::vector<Order> orders;
  };
  /// Transfers of which two share a fibre, and that are too close together for that.
  using Conflict = std::vector<TransferId>;

  [[nodiscard]] Conflict conflict(const RelaxedRun& run) const;
  [[nodiscard]] Conflict first_of(const std::vector<const Transfer*>& by_until) const;
  [[nodiscard]] Node with(const Node& node, const Order& order);
  /// Returns true when it raised a floor.
  [[nodiscard]] bool raise(const RelaxedRun& run, const std::vector<Order>& orders, TransferFloors& floors) const;

  const BoundTerms terms_;
  const Evaluate evaluate_;
  std::size_t left_;
};

}  // namespace photonrail::run
