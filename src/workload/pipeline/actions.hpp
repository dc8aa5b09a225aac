// Actions are what each stage of a pipeline does, messages included.
#pragma once

#include "photonrail/workload/pipeline.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// One thing that a stage does: a pass, or its end of a message. `step` of a message is the pass that made it.
struct PipelineAction {
  enum class Kind : std::uint8_t { kPass, kSend, kReceive };
  Kind kind = Kind::kPass;
  PipelineStep step;
  std::uint32_t peer = 0;  ///< stage at the other end of a message

  friend bool operator==(const PipelineAction&, const PipelineAction&) = default;
};

/// Returns what every stage does, messages included, in an order that ends even when sends and receives block the stage
/// until both ends are there. By stage. Chunks that follow each other on one stage exchange nothing.
///
/// The result of a pass is sent between it and the next pass, and an input is received between the pass before its use and
/// the use. There a stage sends before it receives. Where stages would then wait for each other in a circle (two
/// neighbours in the steady state of 1F1B), one of them receives first, and if that does not end it, earlier.
[[nodiscard]] std::vector<std::vector<PipelineAction>> pipeline_actions(const PipelineShape& shape);

}  // namespace photonrail::workload
