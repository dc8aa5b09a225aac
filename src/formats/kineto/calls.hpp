// A call is what an NCCL kernel's arguments mean: operation, bytes, members.
#pragma once

#include "formats/kineto/trace.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <string>

namespace photonrail::formats::kineto {

enum class Way : std::uint8_t { kCollective, kSend, kReceive };

struct Meaning {
  Way way = Way::kCollective;
  CollectiveOp op = CollectiveOp::kSend;
  Bytes size{};  ///< in the convention of CollectiveCall
};

/// `members`: of the call's group. Throws ConfigError with an empty `where`: an unknown collective or dtype (known ones are
/// listed), a missing count, more than 1 PiB, or an all-to-all of unequal parts, which is not simulated.
[[nodiscard]] Meaning meaning_of(const Call& call, std::size_t members);

/// The dimension that a group's description names ("mesh_dp_shard": dp); kOther when it names none.
[[nodiscard]] Dimension dimension_of(std::string_view description);

}  // namespace photonrail::formats::kineto
