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
