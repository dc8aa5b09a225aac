// The launches of an agent's workload on a timeline: a track for each kind, with as many lanes as launches were open at
// once.
#pragma once

#include "report/seen_tasks.hpp"
#include "report/trace_text.hpp"

#include <cstdint>

namespace photonrail::report {

/// Launches that did not end last until `end`. Writes nothing where there are none.
void write_launches(const SeenTasks& seen, std::uint32_t process, Time end, TraceText& text);

}  // namespace photonrail::report
