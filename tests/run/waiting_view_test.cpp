// Policies that serve pairs look at FabricView::waiting, which is kept up to date, and in a view without it at the
// requests: they decide the same.
#include "photonrail/testing/tiny_job.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

/// The policy, on views without what is kept.
class WithoutWaiting : public Controller {
 public:
  explicit WithoutWaiting(std::unique_ptr<Controller> policy) : policy_(std::move(policy)) {}

  Decision decide(const FabricView& view) override {
    EXPECT_NE(view.waiting, nullptr);
    FabricView shown = view;
    shown.waiting = nullptr;
    return policy_->decide(shown);
  }

 private:
  std::unique_ptr<Controller> policy_;
};

Registries with_wrapped(const std::string& policy) {
  Registries known;
  ControllerFactory factory = known.controllers.find(policy);
  factory.name = "wrapped";
  factory.make = [make = factory.make](const ControllerSpec& spec, RailId rail, std::uint32_t gpus, std::uint32_t ports) {
    return std::make_unique<WithoutWaiting>(make(spec, rail, gpus, ports));
  };
  known.controllers.add(std::move(factory));
  return known;
}

/// All-to-alls between all and among some, and sends of random sizes that wait for nothing.
Job crowd(std::uint64_t seed, std::uint32_t ports) {
  std::mt19937_64 random(seed);
  Job job(8);
  job.scenario.cluster.nic.ports = ports;
  const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  const auto everyone = job.group(all);
  const auto some = job.group({1, 2, 4, 7});
  for (std::uint32_t tag = 0; tag < 30; ++tag) {
    const std::size_t from = random() % 8;
    const std::size_t to = (from + 1 + random() % 7) % 8;
    const auto bytes = static_cast<std::int64_t>(1 + random() % kMs);
    job.detach(from).send(from, to, bytes, tag).detach(to).receive(from, to, bytes, tag);
  }
  job.collective(everyone, all, CollectiveOp::kAllToAll, 8 * kMs);
  job.collective(some, {1, 2, 4, 7}, CollectiveOp::kAllToAll, 2 * kMs);
  return job;
}

class WaitingView : public ::testing::TestWithParam<std::string> {};

TEST_P(WaitingView, IsWhatTheRequestsSay) {
  const Registries wrapped = with_wrapped(GetParam());
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto ports = static_cast<std::uint32_t>(1 + seed % 3);
    testing::HistoryHash plain;
    testing::HistoryHash without;
    Observer* const first[] = {&plain};
    Observer* const second[] = {&without};
    Job job = crowd(seed, ports);
    job.optical(us(seed % 2 == 0 ? 20 : 2000), GetParam());
    job.run(first);
    job.scenario.controller.name = "wrapped";
    (void)simulate(job.scenario, second, wrapped);
    EXPECT_EQ(plain.value(), without.value()) << "seed " << seed;
    EXPECT_GT(plain.events(), 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, WaitingView,
                         ::testing::ValuesIn(std::vector<std::string>{"mixnet", "max_weight", "bvn", "solstice"}),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace photonrail::test
