#include "collective/uniform_plan.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <limits>
#include <string>

namespace photonrail::collective {

namespace {

void check_index(std::uint64_t count, Member members, const char* what) {
  if (count <= std::numeric_limits<std::uint32_t>::max()) return;
  throw ConfigError("",
                    "a collective of " + std::to_string(members) + " members has " + std::to_string(count) + " " + what +
                        ", more than 2^32 - 1",
                    "use fewer chunks, a smaller group or \"fidelity\": \"stream\"");
}

}  // namespace

void check_call(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  PHOTONRAIL_CHECK(algorithm.supports(call.op, call.members));
  PHOTONRAIL_CHECK(call.root < call.members);
  PHOTONRAIL_CHECK(!call.straggler || *call.straggler < call.members);
  PHOTONRAIL_CHECK(call.pieces > 0);
  PHOTONRAIL_CHECK(call.size.count >= 0);
  if (call.demand == nullptr) return;
  PHOTONRAIL_CHECK(call.op == CollectiveOp::kAllToAll && algorithm.takes_demand());
  PHOTONRAIL_CHECK(call.demand->members() == call.members);
}

Bytes multiply(Bytes bytes, std::uint64_t times) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(bytes.count, times, &product)) return {product};
  throw ConfigError("", "a collective sends " + core::counted(bytes.count, "byte") + " " + core::counted(times, "time"),
                    "that is more than 2^63 - 1 bytes: is the size in bytes?");
}

UniformPlan::UniformPlan(const PlanTotals& totals) : totals_(totals) {
  check_index(totals.chunks, totals.members, "chunks");
  check_index(totals.initial, totals.members, "initial sends");
}

SendIndex UniformPlan::send_count() const {
  check_index(totals_.sends, totals_.members, "sends");
  return static_cast<SendIndex>(totals_.sends);
}

}  // namespace photonrail::collective
