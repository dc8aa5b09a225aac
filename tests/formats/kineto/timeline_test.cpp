#include "formats/kineto/timeline.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace photonrail::formats::kineto {

bool operator==(const Item& a, const Item& b) {
  return a.kind == b.kind && a.time == b.time && a.call == b.call && a.kernels == b.kernels && a.after == b.after;
}
std::ostream& operator<<(std::ostream& out, const Item& item) {
  const char* const names[] = {"block", "launch", "communication"};
  out << names[static_cast<int>(item.kind)] << " time " << item.time << " call " << item.call << " kernels " << item.kernels
      << " after";
  for (const std::uint32_t before : item.after) out << ' ' << before;
  return out;
}

namespace {

Kernel computes(Nanoseconds start, Nanoseconds end, std::uint32_t stream = 7) { return {start, end, stream, {}}; }
Kernel communicates(Nanoseconds start, Nanoseconds end, std::uint32_t call, std::uint32_t stream = 20) {
  return {start, end, stream, call};
}

Item block(Nanoseconds time, std::uint32_t kernels, std::vector<std::uint32_t> after = {}) {
  return {Item::Kind::kCompute, time, 0, kernels, std::move(after)};
}
Item launch(Nanoseconds time, std::vector<std::uint32_t> after = {}) {
  return {Item::Kind::kLaunch, time, 0, 0, std::move(after)};
}
Item communication(std::uint32_t call, std::uint32_t launched_by) {
  return {Item::Kind::kCommunication, 0, call, 0, {launched_by}};
}

using Items = std::vector<Item>;

TEST(KinetoTimeline, InOrderWithItsGaps) {
  // 100-200, 210-300 | all-reduce 305-400 | 420-500. The gaps: 10 within, 5 before the launch, 20 after the all-reduce.
  const Items items =
      make_timeline(std::vector{computes(100, 200), computes(210, 300), communicates(305, 400, 0), computes(420, 500)});
  EXPECT_EQ(items, (Items{block(200, 2), launch(5, {0}), communication(0, 1), block(100, 1, {0, 2})}));
}

TEST(KinetoTimeline, WhatBeganBeforeTheEndDoesNotWait) {
  // The kernel at 210 begins while the communication runs, the one at 310 after its end at 300.
  const Items items =
      make_timeline(std::vector{computes(0, 200), communicates(200, 300, 0), computes(210, 305), computes(310, 400)});
  // 210-305 takes 105 from the end of the block before it; 310-400 takes 95 from 305.
  EXPECT_EQ(items, (Items{block(200, 1), launch(0, {0}), communication(0, 1), block(105, 1, {0}), block(95, 1, {2, 3})}));
}

TEST(KinetoTimeline, ACommunicationDoesNotWaitForAKernelThatRuns) {
  // At 150 the kernel 100-200 runs: the communication waits for the one before it, which ended at 90.
  const Items items =
      make_timeline(std::vector{computes(0, 90), computes(100, 200), communicates(150, 400, 0), computes(200, 250)});
  EXPECT_EQ(items, (Items{block(90, 1), launch(60, {0}), communication(0, 1), block(160, 2, {0})}));
}

TEST(KinetoTimeline, StreamsThatComputeAreOneUnion) {
  // 0-100 and 50-150 on two streams are one piece of 150.
  const Items items = make_timeline(std::vector{computes(0, 100, 7), computes(50, 150, 8), communicates(150, 160, 0)});
  EXPECT_EQ(items, (Items{block(150, 2), launch(0, {0}), communication(0, 1)}));
}

TEST(KinetoTimeline, CommunicationOfTwoStreamsOverlaps) {
  // The second begins at 20, while the first runs; the third at 110, after the first and not the second.
  const Items items =
      make_timeline(std::vector{communicates(0, 100, 0, 20), communicates(20, 200, 1, 24), communicates(110, 150, 2, 20)});
  EXPECT_EQ(items, (Items{launch(0), communication(0, 0), launch(20, {0}), communication(1, 2), launch(10, {1, 2}),
                          communication(2, 4)}));
}

TEST(KinetoTimeline, ALaunchWaitsOnceForABlock) {
  const Items items = make_timeline(std::vector{computes(0, 10), communicates(10, 90, 0, 20), communicates(12, 95, 1, 24)});
  EXPECT_EQ(items, (Items{block(10, 1), launch(0, {0}), communication(0, 1), launch(2, {1}), communication(1, 3)}));
}

TEST(KinetoTimeline, KernelsOfAStreamNeverOverlap) {
  // Rounded times: the computation ends at 101, the communication after it on the same stream is said to begin at 100.
  const Items items = make_timeline(std::vector{computes(0, 101, 7), communicates(100, 200, 0, 7)});
  EXPECT_EQ(items, (Items{block(101, 1), launch(0, {0}), communication(0, 1)}));
}

TEST(KinetoTimeline, TheOrderOfTheFileDoesNotMatter) {
  const std::vector<Kernel> kernels{computes(0, 90), computes(100, 200), communicates(150, 400, 0), computes(410, 450)};
  const std::vector<Kernel> backwards(kernels.rbegin(), kernels.rend());
  EXPECT_EQ(make_timeline(kernels), make_timeline(backwards));
  EXPECT_EQ(make_timeline({}), Items{});
}

}  // namespace
}  // namespace photonrail::formats::kineto
