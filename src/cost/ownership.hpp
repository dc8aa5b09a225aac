// What a cluster costs while a job runs: what was bought, over its years, what is rented by the hour, and energy.
#pragma once

namespace photonrail::cost {

/// US dollars; what is 0 is not counted.
struct OwnershipPrices {
  double gpu_usd = 0.0;       ///< of a GPU with its NIC
  double server_usd = 0.0;    ///< of a server without its GPUs
  double gpu_hour_usd = 0.0;  ///< of a GPU that is rented, with its server
  double usd_per_kwh = 0.0;
  double years = 4.0;  ///< over which all that was bought is paid, of 365 days; more than 0
};

struct OwnedCluster {
  double network_usd = 0.0;
  double gpus = 0.0;
  double servers = 0.0;
};

/// What was bought, in US dollars.
[[nodiscard]] double usd_bought(const OwnershipPrices& prices, const OwnedCluster& cluster);
/// US dollars a second, without energy.
[[nodiscard]] double usd_per_second(const OwnershipPrices& prices, const OwnedCluster& cluster);
[[nodiscard]] double usd_of_energy(const OwnershipPrices& prices, double joules);

/// What 10^6 tokens of answers take of a cluster that draws `watts` while it gives
/// ServingResult::steady_output_tokens_per_s of them: the end of a run, in which the last answers are given and nothing
/// comes, is no part of them.
[[nodiscard]] double kwh_per_million_tokens(double watts, double tokens_per_s);
[[nodiscard]] double usd_per_million_tokens(const OwnershipPrices& prices, const OwnedCluster& cluster, double watts,
                                            double tokens_per_s);

}  // namespace photonrail::cost
