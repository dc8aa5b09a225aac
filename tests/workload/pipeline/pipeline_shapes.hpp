// Shapes that the tests of pipeline schedules go through.
#pragma once

#include "photonrail/workload/pipeline.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace photonrail {

inline void PrintTo(const PipelineShape& shape, std::ostream* out) {
  *out << name(shape.schedule) << " stages " << shape.stages << " chunks " << shape.chunks << " micro-batches "
       << shape.micro_batches;
}

namespace test {

/// Every schedule, over several stages, chunks and micro-batches: fewer than stages, as many, and more.
inline std::vector<PipelineShape> pipeline_shapes() {
  using enum PipelineSchedule;
  std::vector<PipelineShape> shapes;
  for (const std::uint32_t p : {1u, 2u, 3u, 4u, 6u, 8u}) {
    for (const std::uint32_t m : {1u, 2u, p - 1, p, p + 1, 2 * p, 2 * p + 2, 4 * p}) {
      if (m == 0) continue;
      for (const auto schedule : {kGPipe, kOneFOneB, kBreadthFirst, kZeroBubbleH1, kZeroBubbleH2}) {
        shapes.push_back({schedule, p, 1, m});
      }
      shapes.push_back({kBreadthFirst, p, 3, m});
      if (m % p == 0) shapes.push_back({kInterleaved, p, 2, m});
      if (m % p == 0) shapes.push_back({kInterleaved, p, 3, m});
      if (p % 2 == 0 && m % 2 == 0 && m >= 2 * p) shapes.push_back({kDualPipe, p, 1, m});
    }
  }
  return shapes;
}

/// "F0 F1 b0 w0 ...": b and w are the parts of a split backward pass; ".1" is the chunk, where it is not 0; '+' joins
/// passes that overlap.
inline std::string written(const std::vector<PipelineStep>& steps) {
  std::string text;
  for (const PipelineStep& s : steps) {
    text += "FBbw"[static_cast<std::size_t>(s.kind)] + std::to_string(s.micro_batch);
    if (s.chunk != 0) text += "." + std::to_string(s.chunk);
    text += s.overlaps_next ? "+" : " ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace test
}  // namespace photonrail
