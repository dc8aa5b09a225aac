// Whether a job's rails and controller treat equal ranks equally, so that ranks may be folded.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/controller.hpp"

#include <string>

namespace photonrail::run {

/// What ties ranks together that the classes of a folding know nothing of, or treats them differently; "" when nothing does.
/// `rehearsal`: a policy that rehearses may be taken to treat equal ranks equally; Runner::rehearse() says why.
[[nodiscard]] std::string why_not_foldable(const ClusterSpec& cluster, const ControllerSpec& controller,
                                           const ControllerFactory& factory, bool rehearsal = false);

}  // namespace photonrail::run
