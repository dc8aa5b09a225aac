#include "studies/slices/pods/availability.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::slices {

namespace {

constexpr std::uint32_t kMaxCubes = 65'536;

double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

void check_slice(const CubePod& pod, std::uint32_t cubes) {
  pod.check();
  if (cubes > 0 && cubes <= pod.cubes) return;
  throw ConfigError("slice", "has " + std::to_string(cubes) + " of " + std::to_string(pod.cubes) + " cubes");
}

}  // namespace

void CubePod::check() const {
  const auto share = [](double x) { return x >= 0.0 && x <= 1.0; };
  if (cubes == 0 || cubes > kMaxCubes) throw ConfigError("cubes", "is " + std::to_string(cubes), "1 to 65536");
  if (hosts_per_cube == 0) throw ConfigError("hosts_per_cube", "is 0", "16 for a cube of 64 accelerators");
  if (!share(host_availability)) throw ConfigError("host_availability", "is not in [0, 1]");
  if (!share(switches_up)) throw ConfigError("switches_up", "is not in [0, 1]");
}

std::vector<double> CubePod::up_probabilities() const {
  check();
  const double up = std::pow(host_availability, hosts_per_cube);
  std::vector<double> p(std::size_t{cubes} + 1, 0.0);
  if (up <= 0.0 || up >= 1.0) {
    p[up <= 0.0 ? 0 : cubes] = 1.0;
    return p;
  }
  for (std::uint32_t k = 0; k <= cubes; ++k) {
    p[k] = std::exp(log_choose(cubes, k) + k * std::log(up) + (cubes - k) * std::log1p(-up));
  }
  return p;
}

double fit_probability(const CubePod& pod, std::uint32_t wanted) {
  const std::vector<double> p = pod.up_probabilities();
  double sum = 0.0;
  for (std::size_t k = wanted; k < p.size(); ++k) sum += p[k];
  return pod.switches_up * std::min(sum, 1.0);
}

double goodput_with_switches(const CubePod& pod, std::uint32_t cubes_of_slice) {
  check_slice(pod, cubes_of_slice);
  const std::vector<double> p = pod.up_probabilities();
  double cubes = 0.0;
  for (std::uint32_t k = 0; k <= pod.cubes; ++k) cubes += p[k] * (k / cubes_of_slice * cubes_of_slice);
  return pod.switches_up * cubes / pod.cubes;
}

double goodput_fixed(const CubePod& pod, std::uint32_t cubes_of_slice) {
  check_slice(pod, cubes_of_slice);
  const double slice_up = std::pow(pod.host_availability, double{1} * pod.hosts_per_cube * cubes_of_slice);
  return pod.cubes / cubes_of_slice * slice_up * cubes_of_slice / pod.cubes;
}

std::vector<double> faulty_server_shares(const std::vector<ServerFault>& faults) {
  if (faults.empty()) throw ConfigError("faults", "there are none");
  std::vector<ServerFault> sorted = faults;
  std::sort(sorted.begin(), sorted.end(), [](const ServerFault& a, const ServerFault& b) {
    return std::pair(a.server, a.start_days) < std::pair(b.server, b.start_days);
  });
  std::vector<std::pair<double, int>> changes;  // day and number of servers that go out
  double end = 0.0;                             // of the present outage of a server
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const ServerFault& fault = sorted[i];
    if (!(fault.end_days >= fault.start_days) || fault.start_days < 0.0) {
      throw ConfigError("faults", "server " + std::to_string(fault.server) + " has a fault that ends before it starts");
    }
    const bool continues = i > 0 && sorted[i - 1].server == fault.server && fault.start_days <= end;
    const double from = continues ? end : fault.start_days;
    if (fault.end_days > from || !continues) {
      changes.emplace_back(from, 1);
      changes.emplace_back(std::max(from, fault.end_days), -1);
    }
    end = continues ? std::max(end, fault.end_days) : fault.end_days;
  }
  std::sort(changes.begin(), changes.end());
  std::vector<double> shares;
  double at = 0.0;
  int out = 0;
  for (const auto& [day, change] : changes) {
    shares.resize(std::max<std::size_t>(shares.size(), static_cast<std::size_t>(std::max(out, 0)) + 1), 0.0);
    if (day > at) shares[static_cast<std::size_t>(std::max(out, 0))] += day - at;
    at = std::max(at, day);
    out += change;
  }
  if (!(at > 0.0)) throw ConfigError("faults", "last no time");
  for (double& share : shares) share /= at;
  return shares;
}

}  // namespace photonrail::slices
