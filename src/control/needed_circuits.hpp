// The circuits that some demands need, by server, which tells at once whether a further demand can have its own beside
// them.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <span>
#include <vector>

namespace photonrail::control {

class NeededCircuits {
 public:
  void clear();
  void add(std::span<const ServerPair> pairs);
  /// Returns true when one of the pairs and a pair that was added have the sender or the receiver in common, but not both.
  [[nodiscard]] bool conflict(std::span<const ServerPair> pairs) const;

 private:
  /// The servers that a server is joined with in one direction.
  struct Partners {
    ServerIndex only = 0;
    bool any = false;
    bool several = false;

    void add(ServerIndex server);
    [[nodiscard]] bool has_other(ServerIndex server) const { return any && (several || only != server); }
  };

  std::vector<Partners> receivers_;  // by sender
  std::vector<Partners> senders_;    // by receiver
  std::vector<ServerPair> added_;
};

}  // namespace photonrail::control
