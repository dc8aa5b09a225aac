// This check tells whether a job's rails and controller treat equal ranks equally, so that ranks may be folded.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/execution.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace photonrail::run {

/// Returns what ties ranks together that the classes of a folding know nothing of, or treats them differently; "" when
/// nothing does. `ranks`: of the job. `rehearsal`: of RehearsalRun::as_symmetric, for which a policy that rehearses may be
/// taken to treat equal ranks equally; Rehearsals says why.
[[nodiscard]] std::string why_not_foldable(const ClusterSpec& cluster, const ControllerSpec& controller,
                                           const ControllerFactory& factory, std::size_t ranks, bool rehearsal = false);

/// Returns the cluster as a job on these GPUs sees it that shares no rail's uplinks: where all are in one pod, without
/// pods.
[[nodiscard]] ClusterSpec seen_by(const ClusterSpec& cluster, std::span<const GpuId> gpus);

/// Returns true when circuits of a folded run may have sheets: FoldingInput::sheets.
[[nodiscard]] bool may_have_sheets(const ClusterSpec& cluster, const ControllerFactory& factory);

/// Returns true, of a job that is foldable, when its policy treats equal rails equally, and not equal ranks
/// (FoldingInput::whole_rails).
[[nodiscard]] bool folds_whole_rails(const ClusterSpec& cluster, const ControllerFactory& factory, bool rehearsal);

/// Returns true when each straggler concerns the same ranks by the same amounts in every run: nothing about it is drawn.
[[nodiscard]] bool are_fixed(std::span<const StragglerSpec> stragglers);

/// The speeds of unlike GPUs (ClusterSpec::unlike) as ranks that are slow, or fast, in every step.
[[nodiscard]] std::vector<StragglerSpec> gpu_speeds(const ClusterSpec& cluster, std::span<const GpuId> gpu_of_rank);

/// Indexed by rank: ranks that the same listed stragglers concern have one label. Empty where no straggler lists ranks.
/// REQUIRES: are_fixed(stragglers).
[[nodiscard]] std::vector<std::uint32_t> straggler_labels(std::span<const StragglerSpec> stragglers, std::size_t ranks);

/// `labels`, of ranks, or empty, made different for ranks on different models of GPUs (UnlikeGpus::gpu).
[[nodiscard]] std::vector<std::uint32_t> with_gpu_models(std::span<const std::uint32_t> labels, const ClusterSpec& cluster,
                                                         std::span<const GpuId> gpu_of_rank);

/// The same stragglers with the classes of their ranks. REQUIRES: ranks of a class have one label.
[[nodiscard]] std::vector<StragglerSpec> folded_stragglers(std::span<const StragglerSpec> stragglers,
                                                           std::span<const std::uint32_t> class_of_rank);

}  // namespace photonrail::run
