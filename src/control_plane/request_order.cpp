#include "control_plane/request_order.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace photonrail::control_plane {

using execution::Operation;
using execution::OperationTable;

namespace {

bool share_a_port(const Request& a, const Request& b) {
  const std::span<const ServerPair> others = b.pairs.pairs();
  const std::span<const ServerPair> own = a.pairs.pairs();
  return std::any_of(others.begin(), others.end(), [&](ServerPair o) {
    return std::any_of(own.begin(), own.end(), [&](ServerPair pair) { return pair.from == o.from || pair.to == o.to; });
  });
}

// Tells whether each port of the GPU is `is_taken`: then none of them is chosen.
template <class IsTaken>
bool takes_all(const FabricView& view, ServerIndex gpu, const IsTaken& is_taken) {
  for (std::uint32_t nic_port = 0; nic_port < view.ports_per_gpu; ++nic_port) {
    if (!is_taken(view.port(gpu, nic_port))) return false;
  }
  return true;
}

// Taking `a` darkens a circuit whose port `b` may then have, in place of one that `connect` leaves as it is.
bool frees(const FabricView& view, std::span<const Circuit> connect, Circuit a, Circuit b) {
  const auto receives = [&](PortId port) { return std::ranges::any_of(connect, [=](Circuit c) { return c.to == port; }); };
  const auto sends = [&](PortId port) { return std::ranges::any_of(connect, [=](Circuit c) { return c.from == port; }); };
  const PortId led = view.transmit[a.from.index()].peer;
  const PortId came = view.receive[a.to.index()];
  const ServerIndex to = view.position(b.to);
  const ServerIndex from = view.position(b.from);
  return (!led.is_none() && view.position(led) == to && !takes_all(view, to, receives)) ||
         (!came.is_none() && view.position(came) == from && !takes_all(view, from, sends));
}

}  // namespace

bool before(const OperationTable& operations, bool one_order, const Request& a, const Request& b) {
  const auto key = [&](const Request& d) {
    const Operation& operation = operations[d.op];
    const execution::OperationKey& op = operation.key;
    const Time complete = one_order ? Time{} : d.view.complete;
    const std::uint32_t sequence = one_order ? operation.sequence : 0;
    return std::tuple{!d.missed, complete,         op.iteration, d.tasks.first, d.tasks.last,
                      op.tag,    d.view.dimension, d.round,      sequence};
  };
  return key(a) < key(b);
}

bool has_turn_before(const OperationTable& operations, bool one_order, const Request& a, const Request& b) {
  if (before(operations, one_order, a, b)) return true;
  if (before(operations, one_order, b, a)) return false;
  return std::pair{a.view.communicator, a.listed} < std::pair{b.view.communicator, b.listed};
}

bool is_tied(const Request& request, const RequestsByPort& by_port, const RequestBoard& board,
             const OperationTable& operations, bool one_order) {
  const auto tied = [&](const CircuitRequest* view) {
    const Request& other = board[view->id.value];
    return !before(operations, one_order, other, request) && !before(operations, one_order, request, other);
  };
  return std::any_of(request.view.pairs.begin(), request.view.pairs.end(), [&](ServerPair pair) {
    const auto senders = by_port.senders(pair.from);
    const auto receivers = by_port.receivers(pair.to);
    return std::any_of(senders.begin(), senders.end(), tied) || std::any_of(receivers.begin(), receivers.end(), tied);
  });
}

bool is_tied(const Request& request, std::span<const std::uint32_t> slots, const RequestBoard& board,
             const OperationTable& operations, bool one_order) {
  const auto [first, last] =
      std::equal_range(slots.begin(), slots.end(), request.view.id.value,
                       [&](std::uint32_t a, std::uint32_t b) { return before(operations, one_order, board[a], board[b]); });
  return std::any_of(first, last, [&](std::uint32_t slot) { return share_a_port(request, board[slot]); });
}

bool frees_for_equal(const Decision& decision, const FabricView& view, const RequestBoard& board,
                     const OperationTable& operations) {
  if (view.ports_per_gpu == 1) return false;
  const auto serves = [&](const CircuitRequest& request, Circuit c) {
    return std::ranges::find(request.pairs, ServerPair{view.position(c.from), view.position(c.to)}) != request.pairs.end();
  };
  const auto equal = [&](const CircuitRequest& one, const CircuitRequest& other) {
    const Request& a = board[one.id.value];
    const Request& b = board[other.id.value];
    return !before(operations, view.one_order, a, b) && !before(operations, view.one_order, b, a);
  };
  const auto for_equal = [&](Circuit a, Circuit b) {
    return std::ranges::any_of(view.requests, [&](const CircuitRequest& one) {
      return serves(one, a) && std::ranges::any_of(view.requests, [&](const CircuitRequest& other) {
               return serves(other, b) && equal(one, other);
             });
    });
  };
  return std::ranges::any_of(decision.steps, [&](const Step& step) {
    const std::vector<Circuit>& connect = step.plan.connect;
    return std::ranges::any_of(connect, [&](Circuit a) {
      return std::ranges::any_of(connect,
                                 [&](Circuit b) { return !(a == b) && frees(view, connect, a, b) && for_equal(a, b); });
    });
  });
}

std::vector<const CircuitRequest*> in_order(const RequestBoard& board, RailId rail) {
  std::vector<const CircuitRequest*> complete;
  for (const std::uint32_t slot : board.complete(rail).slots()) complete.push_back(&board[slot].view);
  std::vector<const CircuitRequest*> partial;
  for (const std::uint32_t slot : board.partial(rail).slots()) partial.push_back(&board[slot].view);
  if (const RequestsByPort* by_port = board.complete(rail).by_port()) {
    std::sort(complete.begin(), complete.end(), [&](const auto* a, const auto* b) { return by_port->precedes(*a, *b); });
    std::sort(partial.begin(), partial.end(),
              [&](const auto* a, const auto* b) { return board[a->id.value].listed < board[b->id.value].listed; });
  }
  complete.insert(complete.end(), partial.begin(), partial.end());
  return complete;
}

}  // namespace photonrail::control_plane
