// Who had which accelerators when: a picture of a pod over time.
#pragma once

#include "studies/slices/pods/scheduling.hpp"
#include "studies/slices/pods/wiring.hpp"

#include <string>

namespace photonrail::slices {

/// A complete SVG file: a row for each cube (PodSpec::block) in row-major order, time to the right; each run of a job is a
/// bar in the rows of its cubes, as high as its share of the cube, with the job, its shape and its end as a tool tip;
/// outages of servers are dark. Where `fabric` has circuits, arcs at the beginning of a run join the cubes that the
/// circuits of its slice join. Above the rows: the share of the pod that is in slices, and the number of circuits. Bars and
/// circuits are those of runs whose slices were kept.
[[nodiscard]] std::string slice_map_svg(const ScheduleResult& result, const PodSpec& pod, SliceFabric fabric,
                                        const std::string& title);

}  // namespace photonrail::slices
