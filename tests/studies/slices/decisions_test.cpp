// Placement decisions of the public allocator of RFold (arXiv 2510.03891), case for case.
#include "photonrail/study/slices/allocator.hpp"
#include "support/shared_data.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace photonrail::slices {
namespace {

using nlohmann::json;

/// A pod with the accelerators idle of which the hexadecimal map, most significant bit first, has a 1.
Pod pod_of(const Shape& torus, std::uint32_t block, const std::string& map) {
  PodSpec spec;
  spec.torus = torus;
  spec.block = block;
  Pod pod(spec);
  std::vector<std::uint32_t> busy;
  for (std::uint32_t i = 0; i < pod.size(); ++i) {
    const int digit = std::stoi(map.substr(i / 4, 1), nullptr, 16);
    if ((digit >> (3 - i % 4) & 1) == 0) busy.push_back(i);
  }
  pod.take(busy);
  return pod;
}

Shape shape_of(const json& sides) {
  const auto values = sides.get<std::vector<std::uint32_t>>();
  return Shape::of(values);
}

/// What of a decision is not as the case expects it; "" when nothing is.
std::string difference(const json& expected, const SliceDecision& decision, const Pod& pod) {
  if (expected["decision"] == "reject") {
    if (decision.placement) return "placed, but a refusal is expected";
    const std::string reason = decision.reason == RefusalReason::kResource ? "resource" : "shape";
    return reason == expected["reason"] ? "" : "refused for " + reason;
  }
  if (!decision.placement) return "refused";
  const Placement& slice = *decision.placement;
  if (expected.contains("shape") && slice.shape.sides != shape_of(expected["shape"]).sides) {
    return "shape " + slice.shape.text();
  }
  std::set<std::uint32_t> ours(slice.accelerators.begin(), slice.accelerators.end());
  if (ours.size() != expected["nodes"].get<std::size_t>()) return std::to_string(ours.size()) + " accelerators";
  if (!expected.contains("placement")) return "";
  std::set<std::uint32_t> theirs;
  for (const json& at : expected["placement"]) {
    Coordinates place{};
    std::copy(at.begin(), at.end(), place.begin());
    theirs.insert(pod.spec().torus.index(place));
  }
  return ours == theirs ? "" : "other accelerators";
}

TEST(Decisions, AreThoseOfThePublicAllocator) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json cases = json::parse(std::ifstream(data / "slices/decisions.json")).at("cases");
  const AllocatorRegistry known = AllocatorRegistry::builtin();
  std::size_t compared = 0;
  for (const json& one : cases) {
    const Pod pod = pod_of(shape_of(one["dims"]), one["block"].get<std::uint32_t>(), one["idle"].get<std::string>());
    ASSERT_EQ(pod.idle_count(), one["idle_count"].get<std::uint32_t>()) << one["id"];
    const auto allocator = known.find(one["policy"].get<std::string>()).make(pod.spec());
    const SliceDecision decision = allocate(*allocator, pod, SliceRequest::box(shape_of(one["job_shape"])));
    EXPECT_EQ(difference(one["expect"], decision, pod), "")
        << one["id"] << ' ' << one["policy"] << ' ' << one["dims"] << ' ' << one["job_shape"];
    ++compared;
  }
  EXPECT_GE(compared, 197u);
}

}  // namespace
}  // namespace photonrail::slices
