#include "cost/ownership.hpp"

namespace photonrail::cost {

namespace {

constexpr double kSecondsAYear = 365.0 * 86400.0;
constexpr double kSecondsAnHour = 3600.0;
constexpr double kJoulesAKwh = 3.6e6;
constexpr double kMillion = 1e6;

}  // namespace

double usd_bought(const OwnershipPrices& prices, const OwnedCluster& cluster) {
  return cluster.network_usd + cluster.gpus * prices.gpu_usd + cluster.servers * prices.server_usd;
}

double usd_per_second(const OwnershipPrices& prices, const OwnedCluster& cluster) {
  return cluster.gpus * prices.gpu_hour_usd / kSecondsAnHour + usd_bought(prices, cluster) / (prices.years * kSecondsAYear);
}

double usd_of_energy(const OwnershipPrices& prices, double joules) { return joules / kJoulesAKwh * prices.usd_per_kwh; }

double kwh_per_million_tokens(double watts, double tokens_per_s) { return watts / tokens_per_s * kMillion / kJoulesAKwh; }

double usd_per_million_tokens(const OwnershipPrices& prices, const OwnedCluster& cluster, double watts,
                              double tokens_per_s) {
  return (usd_per_second(prices, cluster) + usd_of_energy(prices, watts)) / tokens_per_s * kMillion;
}

}  // namespace photonrail::cost
