// The order of a rank's kernels as dependencies: a pure function of the times in the trace.
#pragma once

#include "formats/kineto/trace.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::formats::kineto {

/// One step of a rank's program.
struct Item {
  enum class Kind : std::uint8_t {
    kCompute,       ///< kernels one after another, with the gaps between them, on the GPU
    kLaunch,        ///< on the host: from when the next communication could have begun until it did
    kCommunication  ///< takes as long as the network needs
  };
  Kind kind = Kind::kCompute;
  Nanoseconds time = 0;              ///< compute and launch
  std::uint32_t call = 0;            ///< communication: index into Trace::calls
  std::uint32_t kernels = 0;         ///< compute
  std::vector<std::uint32_t> after;  ///< items, by position
};

/// **Rule**: an item waits for everything that had ended when it began, and for nothing that had not. So what overlapped in
/// the trace may overlap, and what was in order, by a stream, an event or chance, stays in order. Kernels that compute, on
/// whatever stream, are one sequence (their union). An item lasts from the end of the last that it waits for until its own
/// end (compute) or begin (launch): idle time is kept, and with communication as long as in the trace the program takes as
/// long as the trace. Launches are a sequence too, that of the host.
[[nodiscard]] std::vector<Item> make_timeline(std::span<const Kernel> kernels);

}  // namespace photonrail::formats::kineto
