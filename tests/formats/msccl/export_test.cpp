// Our own plans as MSCCL XML, and back.
#include "formats/plan_file_support.hpp"
#include "support/errors.hpp"

#include <memory>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST(MscclExport, EveryBuiltInPlanComesBack) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  int plans = 0;
  for (const auto& algorithm : registry.all()) {
    for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kReduce, CollectiveOp::kAllGather,
                                  CollectiveOp::kBroadcast, CollectiveOp::kAllToAll, CollectiveOp::kReduceScatter}) {
      for (const Member members : {2u, 3u, 4u, 7u, 8u}) {
        if (!algorithm->supports(op, members)) continue;
        CollectiveCall call{.op = op, .members = members, .size = Bytes{100'003}, .pieces = 2};
        if (op == CollectiveOp::kReduce || op == CollectiveOp::kBroadcast) call.root = members - 1;
        const std::string what =
            std::string(algorithm->name()) + " " + std::string(name(op)) + " " + std::to_string(members);
        SCOPED_TRACE(what);
        const auto plan = algorithm->expand(call);
        const CollectiveFile back = parse_msccl(msccl_xml(call, *plan, what), what);
        EXPECT_EQ(back.op, op) << what;
        EXPECT_EQ(back.root, call.root) << what;
        const auto again = back.algorithm->expand(call);
        EXPECT_EQ(sent_by(*again), sent_by(*plan)) << what;
        EXPECT_EQ(again->wire_bytes(), plan->wire_bytes()) << what;
        expect_correct(call, *again, what);
        ++plans;
      }
    }
  }
  EXPECT_GT(plans, 60);
}

TEST(MscclExport, ARingTakesTheSameTimeAsItsFile) {
  const CollectiveCall call{.op = CollectiveOp::kAllReduce, .members = 6, .size = Bytes{6 << 20}};
  const auto plan = CollectiveRegistry::builtin().find("ring").expand(call);
  Scenario scenario = parse_scenario(alpha_beta("all_reduce", 6, 6 << 20, R"("ring")"), {});
  const double built_in = simulated_us(scenario);
  // 10 steps of 0.5 us + 1 MiB / 50 GiB/s.
  EXPECT_NEAR(built_in, 10 * 20.03125, 1e-4);
  const CollectiveFile file = parse_msccl(msccl_xml(call, *plan, "ring"), "ring.xml");
  scenario.collectives.own.push_back(file.algorithm);
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)] = "ring.xml";
  EXPECT_NEAR(simulated_us(scenario), built_in, 1e-4);
}

TEST(MscclExport, ACallFromAnotherRootSwapsTheTwo) {
  CollectiveCall call{.op = CollectiveOp::kBroadcast, .members = 4, .size = Bytes{1000}, .root = 1};
  const auto plan = CollectiveRegistry::builtin().find("ring").expand(call);
  const CollectiveFile file = parse_msccl(msccl_xml(call, *plan, "x"), "x.xml");
  for (Member root = 0; root < 4; ++root) {
    call.root = root;
    expect_correct(call, *file.algorithm->expand(call), "root " + std::to_string(root));
  }
}

TEST(MscclExport, WhatTheFormatHasNotIsAnError) {
  const CollectiveCall gather{.op = CollectiveOp::kGather, .members = 4, .size = Bytes{1000}};
  const auto plan = CollectiveRegistry::builtin().find("direct").expand(gather);
  EXPECT_THAT(error_of([&] { (void)msccl_xml(gather, *plan, "x"); }).what(), HasSubstr("MSCCL has no gather"));

  // A send that waits for one between two others.
  const CollectiveCall call{.op = CollectiveOp::kBroadcast, .members = 4, .size = Bytes{1000}};
  SendPlanBuilder builder(4, 1);
  const SendIndex first = builder.add({.from = 0, .to = 1, .bytes = Bytes{1000}});
  const SendIndex second = builder.add({.from = 1, .to = 3, .bytes = Bytes{1000}}, {first});
  builder.add({.from = 0, .to = 2, .bytes = Bytes{1000}}, {second});
  const auto odd = std::move(builder).build();
  EXPECT_THAT(error_of([&] { (void)msccl_xml(call, *odd, "x"); }).what(),
              HasSubstr("a send from member 0 waits for one between members 1 and 3"));
}

TEST(MscclExport, AWrongPlanIsNotWritten) {
  const CollectiveCall call{.op = CollectiveOp::kBroadcast, .members = 3, .size = Bytes{1000}};
  SendPlanBuilder builder(3, 1);
  builder.add({.from = 0, .to = 1, .bytes = Bytes{1000}});
  const auto plan = std::move(builder).build();
  EXPECT_THAT(error_of([&] { (void)msccl_xml(call, *plan, "x"); }).what(), HasSubstr("output of GPU 2 is empty"));
}

}  // namespace
}  // namespace photonrail::test
