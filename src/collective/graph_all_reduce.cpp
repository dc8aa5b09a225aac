#include "collective/scale_up.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::collective {

namespace {

constexpr std::size_t kSizes = 23;  // 256 bytes, doubled up to 1 GiB

struct MeasuredAllReduce {
  std::string_view gpu;
  std::uint32_t ranks;
  std::array<double, kSizes> us;
};

// TensorRT-LLM's own kernel in a CUDA graph, bfloat16: ai-dynamo/aiconfigurator 095f58a, Apache-2.0.
constexpr MeasuredAllReduce kMeasuredAllReduces[] = {
    {"a100", 4, {4.045, 3.994, 4.035, 4.239, 4.71,  6.011, 6.318, 6.011, 6.031, 7.342, 9.37, 13.87,
                 23.11, 48.26, 69.95, 112.5, 185.5, 291.4, 549.1, 1004,  1927,  3724,  7250}},
    {"a100", 8, {4.372, 4.588, 4.588, 4.782, 6.062, 7.997, 8.376, 8.356, 9.001, 11.72, 16.28, 28.25,
                 83.22, 53.59, 75.86, 128.8, 216.8, 374.5, 603.4, 1174,  2176,  4230,  8264}},
    {"b200", 4, {4.757, 4.802, 5.043, 5.041, 5.344, 5.075, 5.524, 5.431, 5.394, 5.361, 5.786, 7.155,
                 9.659, 14.58, 26.79, 47.12, 72.7,  123.1, 188.7, 368.4, 715.2, 1371,  2597}},
    {"b200", 8, {5.04,  4.967, 5.377, 5.666, 5.783, 5.635, 5.933, 6.093, 5.986, 6.342, 7.93, 10.94,
                 17.78, 30.38, 39.42, 55.35, 84.76, 146.6, 278.8, 397.8, 718.7, 1338,  2580}},
    {"gb200", 4, {4.64,  4.667, 4.718, 4.911, 4.903, 4.897, 4.95,  5.012, 4.989, 5.131, 5.686, 7.012,
                  9.467, 14.61, 26.76, 49.44, 74.79, 124.6, 190.9, 366,   715.1, 1346,  2571}},
    {"h100", 4, {2.796, 2.864, 2.906, 3.017, 3.137, 3.141, 3.271, 3.445, 3.683, 4.263, 5.478, 7.924,
                 12.91, 26.13, 39.74, 63.75, 100.7, 174.9, 329.2, 618.9, 1192,  2305,  4534}},
    {"h100", 8, {3.23,  3.072, 3.169, 3.409, 3.528, 3.541, 3.559, 3.839, 4.595, 6.205, 10.17, 17.6,
                 25.96, 35.48, 51.9,  79.43, 122.3, 197.2, 322.5, 575.5, 1090,  2109,  4008}},
    {"h200", 4, {2.791, 2.886, 2.95,  3.1,   3.156, 3.178, 3.206, 3.319, 3.611, 4.178, 5.428, 7.731,
                 12.85, 21.93, 35.94, 57.76, 99.82, 172.8, 322.4, 616.6, 1183,  2310,  4553}},
    {"h200", 8, {3.047, 3.075, 3.169, 3.432, 3.511, 3.504, 3.488, 3.902, 4.58, 6.393, 10.11, 17.78,
                 25.74, 30.5,  47.47, 76.69, 121.4, 194.4, 317.2, 562.5, 1054, 2047,  4003}},
};

/// Share of the tensor that each link of a ring, or of a reduce-scatter and an all-gather, carries.
double carried(std::uint32_t ranks) { return 2.0 * (ranks - 1.0) / ranks; }

}  // namespace

std::vector<std::pair<double, double>> graph_all_reduce(std::string_view gpu, std::uint32_t ranks) {
  const MeasuredAllReduce* nearest = nullptr;  // the smallest that holds so many, else the largest
  for (const MeasuredAllReduce& measured : kMeasuredAllReduces) {
    if (measured.gpu == gpu && (nearest == nullptr || nearest->ranks < ranks)) nearest = &measured;
  }
  std::vector<std::pair<double, double>> points;
  if (nearest == nullptr || ranks < 2) return points;
  double bytes = 256.0 * carried(nearest->ranks) / carried(ranks);
  for (const double us : nearest->us) {
    points.emplace_back(bytes, us);
    bytes *= 2.0;
  }
  return points;
}

}  // namespace photonrail::collective
