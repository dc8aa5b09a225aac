// An outlook says what a rail's circuits would be doing if demands were served one after the other in some order.
#pragma once

#include "control/needed_circuits.hpp"
#include "photonrail/fabric_view.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace photonrail::control {

/// Returns true when some circuit joins the pair, or will when it is switched.
[[nodiscard]] bool joined(const FabricView& view, ServerPair pair);

/// A demand, with what a decision asks of it many times.
struct ExpectedRequest {
  const CircuitRequest* request = nullptr;
  Time ready{};        ///< when its last member is expected to have asked
  Duration service{};  ///< how long circuits of the pairs carry what it sends; by CircuitRequest::bytes
};

[[nodiscard]] Duration service_time(const FabricView& view, const CircuitRequest& demand);

class ServiceEstimate {
 public:
  /// `view` must outlive the object. Circuits in use are free when their bytes are through.
  explicit ServiceEstimate(const FabricView& view);

  /// Serves the demand after all that were served before, when its ports are free and its members are ready; a circuit that
  /// is missing takes one reconfiguration. Returns when it ends.
  Time serve(const ExpectedRequest& demand);

 private:
  [[nodiscard]] PortId circuit(ServerPair pair) const;
  [[nodiscard]] PortId earliest(const std::vector<Time>& free, ServerIndex position) const;
  void join(PortId from, PortId to);

  const FabricView* view_;
  std::vector<Time> transmit_free_;  // by port
  std::vector<Time> receive_free_;
  std::vector<PortId> peer_;    // by transmit side
  std::vector<PortId> source_;  // by receive side
  std::vector<PortId> used_;    // of the demand that is served: kept for its memory
};

using ExpectedRequests = std::vector<const ExpectedRequest*>;

/// Compares sequences in which demands may be served by the lateness that each leads to.
class ServiceSequences {
 public:
  /// `view` must outlive what is asked next.
  void begin(const FabricView& view);
  /// Those of `lit` that need other circuits than the demand at one of its ports.
  [[nodiscard]] ExpectedRequests rivals_of(const ExpectedRequest& demand, const ExpectedRequests& lit);
  /// Returns true when no sequence in which some of the rivals come first is as good as those in which the demand and
  /// others of `unlit` that fit beside it do.
  [[nodiscard]] bool is_best_first(const ExpectedRequest& demand, const ExpectedRequests& rivals,
                                   const ExpectedRequests& unlit);

 private:
  /// The worst, then the sum of what is late.
  using Lateness = std::pair<Duration, Duration>;

  [[nodiscard]] ExpectedRequests batch_of(const ExpectedRequest& demand, const ExpectedRequests& unlit);
  [[nodiscard]] Lateness best_after(std::size_t first, const ExpectedRequests& rivals, const ExpectedRequests& batch,
                                    const Lateness& limit);
  [[nodiscard]] Lateness lateness(std::size_t first, const ExpectedRequests& rivals, std::size_t second,
                                  const ExpectedRequests& batch, const Lateness& limit);

  const FabricView* view_ = nullptr;
  NeededCircuits needed_;
  std::optional<ServiceEstimate> estimate_;  // of the view before anything is served; made when it is first wanted
  std::optional<ServiceEstimate> trial_;     // of a sequence: kept for its memory
};

}  // namespace photonrail::control
