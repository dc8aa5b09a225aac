// `trace info --schedule`: the pipeline schedule of a training job, played without messages.
#include "columns.hpp"
#include "commands.hpp"
#include "core/counted.hpp"
#include "photonrail/report.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "read.hpp"
#include "report/chart.hpp"

#include <fmt/format.h>

#include <array>
#include <iostream>

namespace photonrail::command {

namespace {

// Forward passes, and the two halves of backward passes, take a unit each: the backward pass has twice the FLOPs.
constexpr Duration kUnit{1};

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string title_of(const PipelineShape& shape) {
  std::string text = std::string(name(shape.schedule)) + ": " + core::counted(shape.stages, "stage");
  if (shape.chunks > 1) text += " of " + core::counted(shape.chunks, "model chunk");
  return text + ", " + std::to_string(shape.micro_batches) + " micro-batches";
}

report::Chart chart_of(const PipelineShape& shape, const PipelineTimeline& played) {
  static const std::array<report::ChartKind, 4> kKinds{{{"F", "forward", "#79aee0"},  // by PassKind
                                                        {"B", "backward", "#6bb98a"},
                                                        {"b", "backward for the input", "#a98bd0"},
                                                        {"w", "backward for the weights", "#f0b060"}}};
  report::Chart chart;
  chart.title = title_of(shape);
  chart.unit = kUnit;
  std::array<std::size_t, kKinds.size()> index{};
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {  // only those that the schedule has
    bool used = false;
    for (const auto& passes : played.stages) {
      for (const PlayedPass& pass : passes) used = used || static_cast<std::size_t>(pass.step.kind) == kind;
    }
    index[kind] = chart.kinds.size();
    if (used) chart.kinds.push_back(kKinds[kind]);
  }
  for (std::size_t s = 0; s < played.stages.size(); ++s) {
    report::ChartRow& row = chart.rows.emplace_back();
    row.label = "stage " + std::to_string(s);
    for (const auto& [step, start, end] : played.stages[s]) {
      row.bars.push_back({start, end, index[static_cast<std::size_t>(step.kind)], step.micro_batch, step.chunk});
    }
  }
  return chart;
}

// Units of time, and activations of one micro-batch in one model chunk.
std::string summary(const PipelineShape& shape, const PipelineTimeline& played) {
  std::vector<std::vector<std::string>> rows{{"stage", "in flight", "idle", "between its passes", "idle share"}};
  const double makespan = static_cast<double>(played.makespan().count());
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    const Duration idle = played.idle(s);
    rows.push_back({std::to_string(s), std::to_string(peak_in_flight(pipeline_steps(shape, s))),
                    std::to_string(idle / kUnit), std::to_string(played.bubble(s) / kUnit),
                    percent(static_cast<double>(idle.count()) / makespan)});
  }
  return in_columns(rows);
}

}  // namespace

void trace_schedule(const TraceOptions& options) {
  const PipelineShape shape = read_training(options.scenario, options.set).pipeline();
  const PipelineTimeline played = simulate_pipeline(shape, {PassTimes{kUnit, kUnit, kUnit, {}}});
  const report::Chart chart = chart_of(shape, played);
  if (!options.svg.empty()) write_file(options.svg, report::chart_svg(chart));
  std::cout << report::chart_text(chart) << '\n' << summary(shape, played);
  if (!options.svg.empty()) std::cout << "wrote " << options.svg.string() << '\n';
}

}  // namespace photonrail::command
