// Degraded configurations, up to symmetry.
#include "studies/goodput/process/step_times.hpp"

#include "core/printed.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace photonrail::goodput {

namespace {

// Of a GPU's local index in its server; a NIC's ports move with their GPU.
std::uint32_t parts_per_gpu(const GoodputSpec& spec, const FailureSource& source) {
  return std::max(1U, source.per_server / std::max(1U, spec.job.gpus_per_server));
}

bool of_cluster(const GoodputSpec& spec, const DegradedPart& part) { return spec.failures[part.source].per_server == 0; }

// Takes out the parts that degrade the step alike wherever they are: of NICs only that one is slow counts, of the GPUs of a
// stage at which place.
std::vector<DegradedPart> take_everywhere(const GoodputSpec& spec, std::vector<DegradedPart>& parts) {
  const auto kind = [&](const DegradedPart& part) { return spec.failures[part.source].degradation; };
  std::vector<DegradedPart> taken;
  for (const DegradedPart& part : parts) {
    if (kind(part) == Degradation::kNicRate) taken.push_back({part.source, 0, 0, 0});
    if (kind(part) == Degradation::kStageCompute) taken.push_back({part.source, 0, part.place, 0});
  }
  std::erase_if(parts, [&](const DegradedPart& part) {
    return kind(part) == Degradation::kNicRate || kind(part) == Degradation::kStageCompute;
  });
  std::sort(taken.begin(), taken.end());
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  return taken;
}

// Replicas with the same parts down, whatever their local indices, come next to each other, the most damaged first.
void rename_replicas(const GoodputSpec& spec, std::vector<DegradedPart>& parts) {
  using Signature = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // place, source
  std::map<std::uint32_t, Signature> signature_of;
  for (const DegradedPart& part : parts) {
    if (!of_cluster(spec, part)) signature_of[part.replica].emplace_back(part.place, part.source);
  }
  std::vector<std::tuple<Signature, std::uint32_t>> order;
  for (auto& [replica, signature] : signature_of) {
    std::sort(signature.begin(), signature.end());
    order.emplace_back(signature, replica);
  }
  std::sort(order.begin(), order.end());
  std::map<std::uint32_t, std::uint32_t> renamed;
  for (std::uint32_t i = 0; i < order.size(); ++i) renamed[std::get<1>(order[i])] = i;
  for (DegradedPart& part : parts) {
    if (!of_cluster(spec, part)) part.replica = renamed[part.replica];
  }
}

// Local indices in the order in which they first occur, in all servers at once: they are rails.
void rename_rails(const GoodputSpec& spec, std::vector<DegradedPart>& parts) {
  std::map<std::uint32_t, std::uint32_t> renamed;
  for (DegradedPart& part : parts) {
    const std::uint32_t each = parts_per_gpu(spec, spec.failures[part.source]);
    const auto [rail, added] = renamed.try_emplace(part.local / each, static_cast<std::uint32_t>(renamed.size()));
    part.local = rail->second * each + part.local % each;
  }
}

}  // namespace

Configuration Configuration::canonical(const GoodputSpec& spec) const {
  Configuration result = *this;
  std::vector<DegradedPart> everywhere = take_everywhere(spec, result.parts);
  // A plane is one of a certain rail, so that rails cannot be renamed beside it.
  const bool has_planes = std::any_of(parts.begin(), parts.end(), [&](const DegradedPart& part) {
    return spec.failures[part.source].degradation == Degradation::kPlane;
  });
  rename_replicas(spec, result.parts);
  std::sort(result.parts.begin(), result.parts.end(), [](const DegradedPart& a, const DegradedPart& b) {
    return std::tie(a.replica, a.place, a.source, a.local) < std::tie(b.replica, b.place, b.source, b.local);
  });
  if (!has_planes) rename_rails(spec, result.parts);
  for (DegradedPart& part : result.parts) {
    // How many are down counts, not which.
    if (spec.failures[part.source].degradation == Degradation::kUplinks) part.place = 0;
  }
  result.parts.insert(result.parts.end(), everywhere.begin(), everywhere.end());
  std::sort(result.parts.begin(), result.parts.end());
  return result;
}

std::string Configuration::text(const GoodputSpec& spec) const {
  std::string text = "replicas " + std::to_string(spec.job.replicas - dropped) + "/" + std::to_string(spec.job.replicas);
  constexpr const char* kNames[] = {"none", "compute", "port", "plane", "uplinks", "nic_rate", "stage_compute"};
  for (const DegradedPart& part : parts) {
    const FailureSource& source = spec.failures[part.source];
    text += std::string("; ") + kNames[static_cast<int>(source.degradation)] + " x" +
            core::printed("%.17g", source.factor) + " of " + std::to_string(std::max(source.per_server, source.parts)) +
            " at " + std::to_string(part.replica) + "." + std::to_string(part.place) + "." + std::to_string(part.local);
  }
  return text;
}

}  // namespace photonrail::goodput
