// Degraded configurations, up to symmetry.
#include "photonrail/reliability/step_times.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace photonrail::reliability {

namespace {

// Of a GPU's local index in its server; a NIC's ports move with their GPU.
std::uint32_t parts_per_gpu(const GoodputSpec& spec, const FailureSource& source) {
  return std::max(1U, source.per_server / std::max(1U, spec.job.gpus_per_server));
}

bool of_cluster(const GoodputSpec& spec, const DegradedPart& part) { return spec.failures[part.source].per_server == 0; }

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

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

}  // namespace

Configuration Configuration::canonical(const GoodputSpec& spec) const {
  Configuration result = *this;
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
    const Degradation kind = spec.failures[part.source].degradation;
    // How many are down counts, not which; of NICs only that one is.
    if (kind == Degradation::kUplinks) part.place = 0;
    if (kind == Degradation::kNicRate) part.replica = part.place = part.local = 0;
  }
  std::sort(result.parts.begin(), result.parts.end());
  for (auto at = result.parts.begin(); at != result.parts.end();) {
    const bool again = spec.failures[at->source].degradation == Degradation::kNicRate && at != result.parts.begin() && *(at - 1) == *at;
    at = again ? result.parts.erase(at) : at + 1;
  }
  return result;
}

std::string Configuration::text(const GoodputSpec& spec) const {
  std::string text = "replicas " + std::to_string(spec.job.replicas - dropped) + "/" + std::to_string(spec.job.replicas);
  constexpr const char* kNames[] = {"none", "compute", "port", "plane", "uplinks", "nic_rate"};
  for (const DegradedPart& part : parts) {
    const FailureSource& source = spec.failures[part.source];
    text += std::string("; ") + kNames[static_cast<int>(source.degradation)] + " x" + number(source.factor) + " of " +
            std::to_string(std::max(source.per_server, source.parts)) + " at " + std::to_string(part.replica) + "." +
            std::to_string(part.place) + "." + std::to_string(part.local);
  }
  return text;
}

}  // namespace photonrail::reliability
