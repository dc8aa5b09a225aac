#include "control/port_colouring.hpp"

#include <utility>

namespace photonrail::control {

PortColouring::PortColouring(std::uint32_t ports_per_gpu, std::vector<bool> transmit, std::vector<bool> receive)
    : ports_(ports_per_gpu),
      transmit_(std::move(transmit)),
      receive_(std::move(receive)),
      sends_(transmit_.size(), 0),
      receives_(receive_.size(), 0) {}

bool PortColouring::free(ServerPair pair, std::uint32_t port) const {
  const std::size_t from = at(pair.from, port);
  const std::size_t to = at(pair.to, port);
  return transmit_[from] && receive_[to] && sends_[from] == 0 && receives_[to] == 0;
}

void PortColouring::put(std::size_t index, std::uint32_t port) {
  Coloured& c = pairs_[index];
  c.port = port;
  sends_[at(c.pair.from, port)] = receives_[at(c.pair.to, port)] = static_cast<std::uint32_t>(index) + 1;
}

bool PortColouring::add(ServerPair pair, std::optional<std::uint32_t> preferred) {
  std::optional<std::uint32_t> port;
  if (preferred && free(pair, *preferred)) port = preferred;
  for (std::uint32_t p = 0; p < ports_ && !port; ++p) {
    if (free(pair, p)) port = p;
  }
  for (std::uint32_t wanted = 0; wanted < ports_ && !port; ++wanted) {
    const std::size_t from = at(pair.from, wanted);
    if (!transmit_[from] || sends_[from] != 0 || !receive_[at(pair.to, wanted)]) continue;
    for (std::uint32_t other = 0; other < ports_ && !port; ++other) {
      if (swap(pair, wanted, other)) port = wanted;
    }
  }
  if (!port) return false;
  pairs_.push_back({pair, *port});
  put(pairs_.size() - 1, *port);
  return true;
}

// `wanted` is free at the sender, `other` at the receiver: the pairs on the path of both that begins at the receiver change
// places. It never comes to the sender, at which no pair has `wanted`.
bool PortColouring::swap(ServerPair pair, std::uint32_t wanted, std::uint32_t other) {
  if (!receive_[at(pair.to, other)] || receives_[at(pair.to, other)] != 0) return false;
  std::vector<std::size_t> path;
  std::uint32_t next = receives_[at(pair.to, wanted)];
  for (bool at_receiver = true; next != 0; at_receiver = !at_receiver) {
    const std::size_t index = next - 1;
    path.push_back(index);
    const ServerPair moved = pairs_[index].pair;
    const std::uint32_t port = at_receiver ? other : wanted;  // that it moves to
    if (!transmit_[at(moved.from, port)] || !receive_[at(moved.to, port)]) return false;
    next = at_receiver ? sends_[at(moved.from, port)] : receives_[at(moved.to, port)];
  }
  for (const std::size_t index : path) {
    const Coloured& c = pairs_[index];
    sends_[at(c.pair.from, c.port)] = receives_[at(c.pair.to, c.port)] = 0;
  }
  for (const std::size_t index : path) put(index, pairs_[index].port == wanted ? other : wanted);
  return true;
}

Circuit PortColouring::circuit(std::size_t i) const {
  const Coloured& c = pairs_[i];
  return {PortId{c.pair.from * ports_ + c.port}, PortId{c.pair.to * ports_ + c.port}};
}

}  // namespace photonrail::control
