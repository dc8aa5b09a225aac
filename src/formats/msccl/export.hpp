// A plan of ours as an MSCCL program.
#pragma once

#include "formats/msccl/program.hpp"

namespace photonrail::formats::msccl {

/// One thread block for each pair that sends and one for each that receives, steps in an order that the dependencies allow,
/// a nop for each dependency beyond the first of a step. All-to-all: out of place, what only passes through a GPU in
/// scratch; everything else in place. The rounds of a plan are lost: the format has none. Throws ConfigError when the
/// format has no such operation, or when a send waits for one that neither reaches nor leaves its sender.
[[nodiscard]] Program to_program(const CollectiveCall& call, const SendPlan& plan);

}  // namespace photonrail::formats::msccl
