// Worlds of whole microseconds: rates, sizes and delays fit each other, so that messages leave and arrive at the instants
// at which other things begin, fail or are repaired. Where times are drawn freely, two things seldom happen at one instant.
#include "worlds/world.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace photonrail::worlds {

namespace {

double microseconds_of(std::string_view key) {
  for (const auto& [unit, microseconds] : {std::pair{"_ps", 1e-6}, {"_ns", 1e-3}, {"_us", 1.0}, {"_ms", 1e3}}) {
    if (key.ends_with(unit)) return microseconds;
  }
  return 0.0;
}

// What fails, stops or begins late does so within the first messages; other times become whole ones.
double whole_time(Dice& dice, std::string_view key, double microseconds) {
  if (key.starts_with("at_") || key.starts_with("start_")) return dice.from_to(0, 16);
  if (microseconds == 0.0) return 0.0;
  if (key.starts_with("lasts_") || key.starts_with("down_")) return dice.from_to(1, 16);
  return std::max(1.0, std::round(microseconds));
}

void make_whole(Dice& dice, std::uint32_t gpus, Json& value) {
  if (!value.is_structured()) return;
  if (value.is_object() && value.contains("distribution")) return;
  for (auto& [key, inner] : value.items()) {
    const double unit = value.is_object() ? microseconds_of(key) : 0.0;
    if (!inner.is_number()) {
      make_whole(dice, gpus, inner);
    } else if (unit > 0.0) {
      inner = whole_time(dice, key, inner.get<double>() * unit) / unit;
    } else if (std::string_view(key).ends_with("gb_per_s")) {
      inner = dice.pick<double>({1, 1, 2, 4, 8});
    } else if (key == "bytes" || key == "bytes_per_rank") {
      // 1 GB/s is 1,000 bytes a microsecond. Every rank has its part of them, and each port a part of that.
      inner = 1000 * gpus * dice.pick<std::uint32_t>({1, 2, 4, 8, 24});
    }
  }
}

}  // namespace

void draw_whole(Dice& dice, Json& scenario) {
  const Json& cluster = scenario["cluster"];
  constexpr std::uint32_t kMostGpus = 256;
  const std::uint64_t gpus = cluster["servers"].get<std::uint64_t>() * cluster["gpus_per_server"].get<std::uint64_t>();
  if (gpus > kMostGpus) return;  // one at the end of its range is left alone
  make_whole(dice, static_cast<std::uint32_t>(gpus), scenario);
}

}  // namespace photonrail::worlds
