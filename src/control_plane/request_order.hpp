// The order in which complete requests have their turn.
#pragma once

#include "control_plane/request_board.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::control_plane {

/// A request for circuits that were taken away in use precedes the others, because other requests may wait for circuits
/// that its operation still holds. Requests that are complete at one instant are ordered by their programs, not by their
/// events. `one_order`: by what the programs say alone, which is the same on all rails.
[[nodiscard]] bool before(const execution::OperationTable& operations, bool one_order, const Request& a, const Request& b);

/// The same as a total order. Those that the programs do not order are in the order of their groups in the job, whatever
/// the servers are called and in whichever order the network told of their members; those of one group as they came.
[[nodiscard]] bool has_turn_before(const execution::OperationTable& operations, bool one_order, const Request& a,
                                   const Request& b);

/// Returns true when a request of the index that needs one of its ports is equal to it.
[[nodiscard]] bool is_tied(const Request& request, const RequestsByPort& by_port, const RequestBoard& board,
                           const execution::OperationTable& operations, bool one_order);

/// The same of a list in its order, in which the request may be yet to come.
[[nodiscard]] bool is_tied(const Request& request, std::span<const std::uint32_t> slots, const RequestBoard& board,
                           const execution::OperationTable& operations, bool one_order);

/// Returns true when a circuit of the decision takes away one whose other end is at a GPU that has a new circuit there too,
/// but not at each of its ports, and both are for one request, or for two that the programs do not order. Which of the
/// GPU's ports is taken then depends on who has its turn first. Never where a GPU has one port on the rail: nothing is
/// chosen.
[[nodiscard]] bool frees_for_equal(const Decision& decision, const FabricView& view, const RequestBoard& board,
                                   const execution::OperationTable& operations);

/// The complete requests of a rail in their order, then the partial ones as they came. O(n log n) where the board keeps
/// none.
[[nodiscard]] std::vector<const CircuitRequest*> in_order(const RequestBoard& board, RailId rail);

}  // namespace photonrail::control_plane
