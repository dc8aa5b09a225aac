// A plan of several rounds as tables, where it is short: what a run asks of each send is then looked up.
#pragma once

#include "photonrail/collective.hpp"

#include <memory>

namespace photonrail::collective {

/// The plan written out, or `plan` itself when it has one round, or more sends than are worth it.
[[nodiscard]] std::unique_ptr<const SendPlan> written_out(std::unique_ptr<const SendPlan> plan);

}  // namespace photonrail::collective
