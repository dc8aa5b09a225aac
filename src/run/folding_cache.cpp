#include "run/folding_cache.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::run {

const folding::FoldingAttempt& FoldingCache::fold(std::span<const std::uint32_t> labels, bool whole_rails) {
  for (const Entry& entry : entries_) {
    if (entry.whole_rails == whole_rails &&
        std::equal(labels.begin(), labels.end(), entry.labels.begin(), entry.labels.end()))
      return entry.attempt;
  }
  const collective::AlgorithmTable algorithms(scenario_.collectives, registries_.collectives);
  folding::FoldingAttempt attempt =
      folding::fold({scenario_.graph, scenario_.gpu_of_rank, scenario_.cluster, algorithms, labels, whole_rails});
  return entries_.emplace_back(Entry{{labels.begin(), labels.end()}, whole_rails, std::move(attempt)}).attempt;
}

}  // namespace photonrail::run
