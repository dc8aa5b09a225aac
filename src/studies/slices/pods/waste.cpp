#include "core/counted.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "studies/slices/pods/availability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace photonrail::slices {

namespace {

double log_ways(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

/// Expectation of `wasted(healthy)` over the healthy servers of a domain when `faulty` of all servers are out
/// (hypergeometric).
template <class Wasted>
double expected_waste(std::uint32_t servers, std::uint32_t domain, std::uint32_t faulty, Wasted&& wasted) {
  double sum = 0.0;
  for (std::uint32_t k = 0; k <= std::min(domain, faulty); ++k) {
    if (faulty - k > servers - domain) continue;
    const double p = std::exp(log_ways(domain, k) + log_ways(servers - domain, faulty - k) - log_ways(servers, faulty));
    sum += p * wasted(domain - k);
  }
  return sum;
}

/// Servers that fit no group in pieces of a ring. `out`: places of faulty servers, ascending.
std::uint32_t wasted_in_ring(const std::vector<std::uint32_t>& out, const WasteSpec& spec) {
  const std::uint32_t group = spec.servers_per_group;
  const auto left = [&](std::uint32_t healthy) { return healthy % group; };
  std::vector<std::uint32_t> pieces{0};  // healthy servers between cuts, from the first server on
  bool cut = false;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < out.size();) {
    std::size_t run = 1;
    while (i + run < out.size() && out[i + run] == out[i] + run) ++run;
    pieces.back() += out[i] - next;
    next = out[i] + static_cast<std::uint32_t>(run);
    // A run at the end of the ring goes on at its beginning.
    const bool at_end = next == spec.servers;
    std::size_t length = run;
    if (at_end && spec.domain.closed) {
      for (std::size_t j = 0; j < out.size() && j < i && out[j] == j; ++j) ++length;
    } else if (i == 0 && out[0] == 0 && spec.domain.closed) {
      for (std::size_t j = out.size(); j-- > run && out[j] + (out.size() - j) == spec.servers;) ++length;
    }
    if (length >= spec.domain.reach) {
      cut = true;
      pieces.push_back(0);
    }
    i += run;
  }
  pieces.back() += spec.servers - next;
  if (cut && spec.domain.closed) {  // the last piece goes on in the first
    pieces.front() += pieces.back();
    pieces.pop_back();
  }
  std::uint32_t wasted = 0;
  for (const std::uint32_t piece : pieces) wasted += left(piece);
  return wasted;
}

/// Mean over random places.
double expected_in_ring(std::uint32_t faulty, const WasteSpec& spec, RandomStream& random) {
  std::vector<std::uint32_t> places(spec.servers);
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < spec.placements; ++p) {
    std::iota(places.begin(), places.end(), 0U);
    for (std::uint32_t i = 0; i < faulty; ++i) std::swap(places[i], places[i + random.below(spec.servers - i)]);
    std::vector<std::uint32_t> out(places.begin(), places.begin() + faulty);
    std::sort(out.begin(), out.end());
    sum += wasted_in_ring(out, spec);
  }
  return static_cast<double>(sum) / spec.placements;
}

double expected_servers(std::uint32_t faulty, const WasteSpec& spec, RandomStream& random) {
  const std::uint32_t group = spec.servers_per_group;
  const std::uint32_t domain = spec.domain.servers;
  switch (spec.domain.kind) {
    case GroupDomain::Kind::kRing:
      return expected_in_ring(faulty, spec, random);
    case GroupDomain::Kind::kSwitched:
      return spec.servers / domain *
             expected_waste(spec.servers, domain, faulty, [&](auto healthy) { return healthy % group; });
    case GroupDomain::Kind::kAligned: {
      const std::uint32_t blocks = domain / group;
      const std::uint32_t rest = domain % group;
      const auto lost = [&](std::uint32_t healthy) { return healthy == group ? 0U : healthy; };
      double of_domain = blocks * (blocks == 0 ? 0.0 : expected_waste(spec.servers, group, faulty, lost));
      of_domain += expected_waste(spec.servers, rest, faulty, [](std::uint32_t healthy) { return healthy; });
      return spec.servers / domain * of_domain;
    }
  }
  return 0.0;
}

}  // namespace

double wasted_share(const std::vector<double>& faulty, const WasteSpec& spec) {
  const bool ring = spec.domain.kind == GroupDomain::Kind::kRing;
  if (spec.servers == 0 || spec.servers > 1U << 20) throw ConfigError("servers", "is " + std::to_string(spec.servers));
  if (spec.servers_per_group == 0) throw ConfigError("servers_per_group", "is 0", "from 1 on");
  if (!ring && (spec.domain.servers == 0 || spec.domain.servers > spec.servers)) {
    throw ConfigError("domain.servers", "is " + std::to_string(spec.domain.servers), "1 to the number of servers");
  }
  if (ring && (spec.domain.reach == 0 || spec.placements == 0)) throw ConfigError("domain.reach", "is 0", "from 1 on");
  if (faulty.size() > std::size_t{spec.servers} + 1) {
    throw ConfigError("faults", core::counted(faulty.size() - 1, "server") + " are out at a time, but there are " +
                                    std::to_string(spec.servers));
  }
  RandomStream random(spec.seed, "places of faulty servers");
  double sum = 0.0;
  for (std::uint32_t f = 0; f < faulty.size(); ++f) {
    if (faulty[f] > 0.0) sum += faulty[f] * expected_servers(f, spec, random);
  }
  return sum / spec.servers;
}

}  // namespace photonrail::slices
