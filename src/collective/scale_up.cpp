#include "collective/scale_up.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cstddef>

namespace photonrail::collective {

namespace {

constexpr const char* kMeasured = "nccl-tests, out of place, one server: ai-dynamo/aiconfigurator 095f58a, Apache-2.0";
constexpr const char* kTuner = "constants of NCCL's tuner (src/graph/tuning.cc at 01afd20): ring latencies of NVLink";

/// Steps of a ring, and the megabytes that each link carries.
struct RingWork {
  double steps = 0.0;
  double moved = 0.0;
  double copied = 0.0;
};

double megabytes(Bytes bytes) { return static_cast<double>(bytes.count) / 1e6; }

RingWork ring_work(CollectiveOp op, std::uint32_t ranks, Bytes bytes) {
  const double n = ranks;
  const double all = megabytes(bytes);
  if (op == CollectiveOp::kAllReduce) return {2.0 * (n - 1.0), 2.0 * (n - 1.0) / n * all, 0.0};
  return {n - 1.0, (n - 1.0) / n * all, all / n};
}

const ProtocolCost& cost_of(const ScaleUpFabric& fabric, ScaleUpProtocol protocol) {
  switch (protocol) {
    case ScaleUpProtocol::kLl:
      return fabric.ll;
    case ScaleUpProtocol::kLl128:
      return fabric.ll128;
    case ScaleUpProtocol::kSimple:
      return fabric.simple;
    case ScaleUpProtocol::kNvls:
      return fabric.nvls;
    case ScaleUpProtocol::kPairwiseLl:
      return fabric.pairwise_ll;
    case ScaleUpProtocol::kPairwiseSimple:
      return fabric.pairwise_simple;
  }
  return fabric.simple;
}

bool serves(ScaleUpProtocol protocol, CollectiveOp op) {
  const bool pairwise = protocol == ScaleUpProtocol::kPairwiseLl || protocol == ScaleUpProtocol::kPairwiseSimple;
  if (protocol == ScaleUpProtocol::kNvls) return op == CollectiveOp::kAllReduce;
  return pairwise == (op == CollectiveOp::kAllToAll);
}

/// In microseconds. REQUIRES: the fabric has the protocol, and it serves the operation.
double microseconds(const ScaleUpFabric& fabric, CollectiveOp op, std::uint32_t ranks, Bytes bytes,
                    ScaleUpProtocol protocol) {
  const ProtocolCost& cost = cost_of(fabric, protocol);
  const double n = ranks;
  if (protocol == ScaleUpProtocol::kNvls) return cost.launch_us + (1.0 + 1.0 / n) * megabytes(bytes) * cost.us_per_megabyte;
  const RingWork work = ring_work(op, ranks, bytes);
  // The small all-to-all writes a member's own share like the others.
  const double copied = protocol == ScaleUpProtocol::kPairwiseLl ? 0.0 : work.copied;
  return cost.launch_us + work.steps * cost.step_us + work.moved * cost.us_per_megabyte +
         copied * fabric.copy_us_per_megabyte;
}

void check(CollectiveOp op, std::uint32_t ranks, Bytes bytes) {
  const bool known = op == CollectiveOp::kAllReduce || op == CollectiveOp::kAllGather ||
                     op == CollectiveOp::kReduceScatter || op == CollectiveOp::kAllToAll;
  if (!known) throw ConfigError("op", "was not measured", "known: all_reduce, all_gather, reduce_scatter, all_to_all");
  if (ranks < 2) throw ConfigError("ranks", "a collective has 2 members or more");
  if (bytes.count < 0) throw ConfigError("bytes", "is below 0");
}

constexpr ScaleUpProtocol kProtocols[] = {ScaleUpProtocol::kLl,         ScaleUpProtocol::kLl128,
                                          ScaleUpProtocol::kSimple,     ScaleUpProtocol::kNvls,
                                          ScaleUpProtocol::kPairwiseLl, ScaleUpProtocol::kPairwiseSimple};

// Fitted to every second power of two of each curve from 512 bytes to 512 MiB (both element types), by the square root of
// the error of the logarithm, so that the points at which the library switches protocols too late do not bend the rest.
std::vector<ScaleUpFabric> measured_fabrics() {
  return {
      {.name = "a100",
       .ll = {8.01, 0.938, 140.0},
       .ll128 = {10.0, 1.2, 8.06},
       .simple = {15.5, 8.72, 4.5},
       .copy_us_per_megabyte = 2.08,
       .pairwise_ll = {13.5, 0.0, 25.8},
       .pairwise_simple = {29.2, 0.0, 4.9},
       .measured_ranks = 8,
       .source = kMeasured},
      {.name = "h100",
       .ll = {5.0, 0.8, 8.0},
       .ll128 = {9.38, 0.753, 3.85},
       .simple = {11.7, 4.37, 2.8},
       .copy_us_per_megabyte = 1.66,
       .nvls = {56.8, 0.0, 3.93},
       .pairwise_ll = {7.22, 0.0, 22.4},
       .pairwise_simple = {13.1, 0.0, 3.57},
       .measured_ranks = 8,
       .source = kMeasured},
      {.name = "h200",
       .ll = {4.89, 0.859, 6.46},
       .ll128 = {9.75, 0.967, 3.97},
       .simple = {15.2, 2.92, 2.8},
       .copy_us_per_megabyte = 1.23,
       .nvls = {37.6, 0.0, 3.97},
       .pairwise_ll = {8.86, 0.0, 18.3},
       .pairwise_simple = {13.3, 0.0, 3.14},
       .measured_ranks = 8,
       .source = kMeasured},
      {.name = "b200",
       .ll = {7.6, 1.24, 58.2},
       .ll128 = {8.4, 1.34, 3.51},
       .simple = {10.7, 6.4, 1.5},
       .copy_us_per_megabyte = 0.719,
       .nvls = {36.4, 0.0, 4.0},
       .pairwise_ll = {10.7, 0.0, 30.0},
       .pairwise_simple = {18.0, 0.0, 1.77},
       .measured_ranks = 8,
       .source = kMeasured},
      {.name = "gb200",
       .ll = {8.11, 1.22, 71.7},
       .ll128 = {8.91, 1.28, 3.23},
       .simple = {11.6, 6.16, 1.5},
       .copy_us_per_megabyte = 0.769,
       .nvls = {42.2, 0.0, 2.6},
       .pairwise_ll = {10.7, 0.0, 50.8},
       .pairwise_simple = {16.9, 0.0, 1.84},
       .measured_ranks = 4,
       .source = kMeasured},
  };
}

// Launch and step as published; bytes at the link rate of the datasheet, LL at 1/3 and LL128 at 0.92 of it.
std::vector<ScaleUpFabric> all_fabrics() {
  std::vector<ScaleUpFabric> fabrics = measured_fabrics();
  fabrics.push_back({.name = "nccl_tuner_h100",
                     .ll = {3.6, 0.47, 3.0 / 0.45},
                     .ll128 = {10.0, 1.9, 1.0 / 0.414},
                     .simple = {8.4, 3.4, 1.0 / 0.45},
                     .copy_us_per_megabyte = 0.0,
                     .pairwise_simple = {8.4, 0.0, 1.0 / 0.45},
                     .measured_ranks = 8,
                     .source = kTuner});
  fabrics.push_back({.name = "nccl_tuner_a100",
                     .ll = {3.6, 0.47, 3.0 / 0.235},
                     .ll128 = {10.0, 1.9, 1.0 / 0.2162},
                     .simple = {8.4, 3.4, 1.0 / 0.235},
                     .copy_us_per_megabyte = 0.0,
                     .pairwise_simple = {8.4, 0.0, 1.0 / 0.235},
                     .measured_ranks = 8,
                     .source = kTuner});
  return fabrics;
}

}  // namespace

std::string_view to_string(ScaleUpProtocol protocol) {
  constexpr std::string_view kNames[] = {"LL", "LL128", "Simple", "NVLS", "pairwise LL", "pairwise Simple"};
  return kNames[static_cast<std::size_t>(protocol)];
}

const std::vector<ScaleUpFabric>& scale_up_fabrics() {
  static const std::vector<ScaleUpFabric> kFabrics = all_fabrics();
  return kFabrics;
}

const ScaleUpFabric& scale_up_fabric(std::string_view name) {
  std::vector<std::string> known;
  for (const ScaleUpFabric& fabric : scale_up_fabrics()) {
    if (fabric.name == name) return fabric;
    known.push_back(fabric.name);
  }
  throw ConfigError("fabric", "\"" + std::string(name) + "\" was not measured", suggest(name, known));
}

bool scale_up_serves(const ScaleUpFabric& fabric, CollectiveOp op, ScaleUpProtocol protocol) {
  return serves(protocol, op) && cost_of(fabric, protocol).exists();
}

ScaleUpTime scale_up_time(const ScaleUpFabric& fabric, CollectiveOp op, std::uint32_t ranks, Bytes bytes) {
  check(op, ranks, bytes);
  constexpr std::int64_t kSmallest = 512;
  constexpr std::int64_t kLargest = std::int64_t{1} << 29;
  double least = 0.0;
  ScaleUpTime result;
  result.extrapolated = ranks > fabric.measured_ranks || bytes.count < kSmallest || bytes.count > kLargest;
  for (const ScaleUpProtocol protocol : kProtocols) {
    if (!scale_up_serves(fabric, op, protocol)) continue;
    const double time = microseconds(fabric, op, ranks, bytes, protocol);
    if (least > 0.0 && time >= least) continue;
    least = time;
    result.protocol = protocol;
  }
  result.time = round_up_picoseconds(least * 1e6);
  return result;
}

Duration scale_up_time(const ScaleUpFabric& fabric, CollectiveOp op, std::uint32_t ranks, Bytes bytes,
                       ScaleUpProtocol protocol) {
  check(op, ranks, bytes);
  if (!scale_up_serves(fabric, op, protocol)) {
    throw ConfigError("protocol",
                      "\"" + std::string(to_string(protocol)) + "\" of " + fabric.name + " does not serve this operation",
                      "all_to_all is pairwise, NVLS is for all_reduce, rings serve the others");
  }
  return round_up_picoseconds(microseconds(fabric, op, ranks, bytes, protocol) * 1e6);
}

}  // namespace photonrail::collective
