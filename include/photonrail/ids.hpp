// Strong identifiers. All are dense and start at 0, so that they index arrays.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace photonrail {

template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}

  friend constexpr auto operator<=>(const Id&, const Id&) = default;
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  [[nodiscard]] static constexpr Id none() { return Id{std::numeric_limits<std::uint32_t>::max()}; }
  [[nodiscard]] constexpr bool is_none() const { return *this == none(); }
};

using RankId = Id<struct RankTag>;                  ///< a process of the job
using GpuId = Id<struct GpuTag>;                    ///< server * gpus_per_server + local index
using RailId = Id<struct RailTag>;                  ///< the GPUs of one local index; rail = local index
using PortId = Id<struct PortTag>;                  ///< on one rail: server * NIC ports + NIC port
using TaskId = Id<struct TaskTag>;                  ///< position in a rank's program
using CommunicatorId = Id<struct CommunicatorTag>;  ///< index into TaskGraph::communicators()
using ProgramId = Id<struct ProgramTag>;
using RequestId = Id<struct DemandTag>;

}  // namespace photonrail
