// Pairs over ports of equal numbers, as an edge colouring of a bipartite graph: senders on one side, receivers on the
// other.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::control {

class PortColouring {
 public:
  /// Which fibres may be taken, by PortId.
  PortColouring(std::uint32_t ports_per_gpu, std::vector<bool> transmit, std::vector<bool> receive);

  /// Gives the pair a port number that is free at both ends, moving pairs that were added before to other numbers where it
  /// must. While all fibres may be taken, it finds one for as long as no position has more partners than ports (König
  /// 1916). `preferred`: tried first. False: there is none, and nothing changed.
  bool add(ServerPair pair, std::optional<std::uint32_t> preferred = {});

  [[nodiscard]] std::size_t pairs() const { return pairs_.size(); }
  /// The circuit of the pair that was added i-th.
  [[nodiscard]] Circuit circuit(std::size_t i) const;

 private:
  struct Coloured {
    ServerPair pair;
    std::uint32_t port = 0;
  };
  [[nodiscard]] std::size_t at(ServerIndex position, std::uint32_t port) const {
    return std::size_t{position} * ports_ + port;
  }
  [[nodiscard]] bool free(ServerPair pair, std::uint32_t port) const;
  bool swap(ServerPair pair, std::uint32_t wanted, std::uint32_t other);
  void put(std::size_t index, std::uint32_t port);

  std::uint32_t ports_;
  std::vector<bool> transmit_;
  std::vector<bool> receive_;
  std::vector<Coloured> pairs_;
  std::vector<std::uint32_t> sends_;     // by transmit port: the index of its pair and 1, or 0
  std::vector<std::uint32_t> receives_;  // by receive port
};

}  // namespace photonrail::control
