#include "run/folding_cache.hpp"

#include "run/foldable.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::run {

const folding::FoldingAttempt& FoldingCache::fold(std::span<const std::uint32_t> labels, bool whole_rails, bool sheets) {
  for (const Entry& entry : entries_) {
    if (entry.whole_rails == whole_rails && entry.sheets == sheets &&
        std::equal(labels.begin(), labels.end(), entry.labels.begin(), entry.labels.end()))
      return entry.attempt;
  }
  const collective::AlgorithmTable algorithms(scenario_.collectives, registries_.collectives);
  const std::vector<std::uint32_t> alike = with_gpu_models(labels, scenario_.cluster, scenario_.gpu_of_rank);
  folding::FoldingAttempt attempt =
      folding::fold({scenario_.graph, scenario_.gpu_of_rank, scenario_.cluster, algorithms, alike, whole_rails, sheets});
  return entries_.emplace_back(Entry{{labels.begin(), labels.end()}, whole_rails, sheets, std::move(attempt)}).attempt;
}

}  // namespace photonrail::run
