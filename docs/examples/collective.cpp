// A collective of one's own: an all-gather in which every member sends its shard straight to every other one. The plan is
// written as a list; the replay of the test kit proves it.
#include "photonrail/collective.hpp"
#include "photonrail/testing/replay.hpp"

#include <iostream>

namespace pr = photonrail;

namespace {

class Star : public pr::CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "star"; }
  std::string_view summary() const override { return "all-gather: every shard goes straight to every member"; }
  bool supports(pr::CollectiveOp op, pr::Member) const override { return op == pr::CollectiveOp::kAllGather; }

  std::unique_ptr<const pr::SendPlan> expand(const pr::CollectiveCall& call) const override {
    pr::SendPlanBuilder plan(call.members, call.members);  // one chunk a member: its shard
    for (pr::Member shift = 1; shift < call.members; ++shift) {
      for (pr::Member from = 0; from < call.members; ++from) {
        const pr::Member to = (from + shift) % call.members;
        // Each shift is a matching, so it is a round: an optical rail lights it, then the next.
        plan.add({.from = from, .to = to, .bytes = call.size, .first_chunk = from, .round = shift - 1});
      }
    }
    return std::move(plan).build();
  }
};

}  // namespace

int main() {
  const Star star;
  for (pr::Member members = 2; members <= 33; ++members) {
    const pr::CollectiveCall call{.op = pr::CollectiveOp::kAllGather, .members = members, .size = pr::Bytes{1000}};
    const auto report = pr::testing::replay(call, *star.expand(call), {.by_rounds = true});
    if (report.correct) continue;
    std::cerr << members << " members: " << report.problem << '\n';
    return 1;
  }
  std::cout << "right for 2 to 33 members\n";
}
