#include "serving/kv/lending.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace photonrail::serving {

Lending::Lending(std::span<EngineRun> engines) : engines_(engines), donors_(engines.size()), borrowed_(engines.size()) {
  for (std::uint32_t e = 0; e < engines.size(); ++e) {
    const auto& offload = engines[e].pool().offload;
    if (!offload || !offload->donor_pool) continue;
    std::vector<std::uint32_t> all;
    for (std::uint32_t d = 0; d < engines.size(); ++d) {
      if (engines[d].pool_number() == *offload->donor_pool) all.push_back(d);
    }
    std::vector<std::uint32_t> near;
    std::copy_if(all.begin(), all.end(), std::back_inserter(near),
                 [&](std::uint32_t d) { return engines[d].place().server == engines[e].place().server; });
    const std::vector<std::uint32_t>& among = near.empty() ? all : near;
    donors_[e] = among[engines[e].number() % among.size()];
  }
}

std::uint64_t Lending::donor_blocks(std::uint32_t engine, std::uint64_t blocks) const {
  const double each = engines_[engine].pool().block_bytes / engines_[*donors_[engine]].pool().block_bytes;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(blocks) * each));
}

bool Lending::safe_point(std::uint32_t engine) {
  if (!donors_[engine]) return false;
  EngineRun& donor = engines_[*donors_[engine]];
  Scheduler& borrower = engines_[engine].scheduler();
  if (!donor.runs()) return false;
  if (donor.scheduler().step().lacks_blocks) {
    if (borrowed_[engine] == 0) return false;
    give_back(engine);
    return true;
  }
  const OffloadSpec& offload = *engines_[engine].pool().offload;
  const KvBlocks& blocks = donor.scheduler().blocks();
  const auto keeps = static_cast<std::uint64_t>(offload.keep * static_cast<double>(blocks.total()));
  std::uint64_t more = offload.blocks - std::min(offload.blocks, borrowed_[engine]);
  if (blocks.free() <= keeps || more == 0) return false;
  const double each = donor.pool().block_bytes / engines_[engine].pool().block_bytes;
  more = std::min(more, static_cast<std::uint64_t>(static_cast<double>(blocks.free() - keeps) * each));
  const std::uint64_t before = donor_blocks(engine, borrowed_[engine]);
  if (more == 0 || !donor.scheduler().blocks().lend(donor_blocks(engine, borrowed_[engine] + more) - before)) return false;
  borrowed_[engine] += more;
  borrower.set_swap_room(borrowed_[engine]);
  return false;
}

void Lending::give_back(std::uint32_t engine) {
  engines_[engine].scheduler().set_swap_room(0);
  engines_[*donors_[engine]].scheduler().blocks().take_back(donor_blocks(engine, borrowed_[engine]));
  borrowed_[engine] = 0;
}

std::vector<std::uint32_t> Lending::debtors(std::uint32_t donor) const {
  std::vector<std::uint32_t> debtors;
  if (engines_[donor].scheduler().blocks().lent() == 0 || !engines_[donor].scheduler().step().lacks_blocks) return debtors;
  for (std::uint32_t e = 0; e < engines_.size(); ++e) {
    if (donors_[e] == donor && borrowed_[e] > 0) debtors.push_back(e);
  }
  return debtors;
}

void Lending::lost(std::uint32_t engine) {
  if (donors_[engine]) {
    if (borrowed_[engine] > 0)
      engines_[*donors_[engine]].scheduler().blocks().take_back(donor_blocks(engine, borrowed_[engine]));
    borrowed_[engine] = 0;
  }
  for (std::uint32_t e = 0; e < engines_.size(); ++e) {
    if (donors_[e] != engine) continue;
    borrowed_[e] = 0;
    engines_[e].scheduler().set_swap_room(0);
  }
}

}  // namespace photonrail::serving
