#include "engine/engine.hpp"

#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace photonrail {
namespace {

/// Memory that the allocator has given out.
std::size_t bytes_in_use() {
  const auto books = ::mallinfo2();
  return books.uordblks + books.hblkhd;
}

// Goes on from instant to instant; each schedules one event for itself, in the phase after.
class Ticker {
 public:
  Ticker(engine::Engine& engine, std::uint64_t ticks) : engine_(engine), left_(ticks) {}

  void tick(std::uint64_t) {
    engine_.schedule(engine_.now(), engine::Phase::kStart, engine::Action::to<&Ticker::tock>(*this));
    if (--left_ == 0) return;
    engine_.schedule(engine_.now() + Duration{1}, engine::Phase::kFinish, engine::Action::to<&Ticker::tick>(*this));
  }
  void tock(std::uint64_t) {}

 private:
  engine::Engine& engine_;
  std::uint64_t left_;
};

// Writes down which events ran, and when.
class Log {
 public:
  explicit Log(engine::Engine& engine) : engine_(engine) {}

  void note(std::uint64_t what) {
    entries.push_back(what);
    times.push_back(engine_.now().since_start().count());
  }
  engine::EventHandle at(std::int64_t time, engine::Phase phase, std::uint64_t what) {
    return engine_.schedule(Time{time}, phase, engine::Action::to<&Log::note>(*this, what));
  }

  std::vector<std::uint64_t> entries;
  std::vector<std::int64_t> times;

 private:
  engine::Engine& engine_;
};

TEST(Engine, RunsByTimeThenPhaseThenSequence) {
  engine::Engine engine;
  Log log(engine);
  log.at(5, engine::Phase::kSettle, 6);
  log.at(5, engine::Phase::kFinish, 3);
  log.at(5, engine::Phase::kFinish, 4);
  log.at(3, engine::Phase::kStart, 2);
  log.at(5, engine::Phase::kDecide, 5);
  log.at(3, engine::Phase::kFinish, 1);
  EXPECT_EQ(engine.run(), 6u);
  EXPECT_THAT(log.entries, ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(log.times, ::testing::ElementsAre(3, 3, 5, 5, 5, 5));
}

TEST(Engine, TheFirstInstantIsTimeZero) {
  engine::Engine engine;
  Log log(engine);
  log.at(0, engine::Phase::kStart, 2);
  log.at(0, engine::Phase::kFinish, 1);
  engine.run();
  EXPECT_THAT(log.entries, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(engine.now(), Time{});
}

// Within an instant an action of a later phase may schedule into an earlier one; it runs before what is left of the later.
struct Looper {
  engine::Engine& engine;
  Log& log;
  void start(std::uint64_t) {
    log.note(10);
    log.at(engine.now().since_start().count(), engine::Phase::kFinish, 20);
  }
};

TEST(Engine, AnEarlierPhaseOfTheSameInstantRunsBeforeTheRestOfALaterOne) {
  engine::Engine engine;
  Log log(engine);
  Looper looper{engine, log};
  engine.schedule(Time{7}, engine::Phase::kStart, engine::Action::to<&Looper::start>(looper));
  log.at(7, engine::Phase::kStart, 30);
  engine.run();
  EXPECT_THAT(log.entries, ::testing::ElementsAre(10, 20, 30));
  EXPECT_THAT(log.times, ::testing::Each(7));
}

TEST(Engine, CancelIsExact) {
  engine::Engine engine;
  Log log(engine);
  const engine::EventHandle first = log.at(1, engine::Phase::kFinish, 1);
  log.at(1, engine::Phase::kFinish, 2);
  EXPECT_TRUE(engine.cancel(first));
  EXPECT_FALSE(engine.cancel(first)) << "cancelled already";
  EXPECT_EQ(engine.pending(), 1u);
  const engine::EventHandle reused = log.at(2, engine::Phase::kFinish, 3);  // takes the freed slot
  EXPECT_FALSE(engine.cancel(first)) << "a stale handle must not hit the event that took its slot";
  engine.run();
  EXPECT_THAT(log.entries, ::testing::ElementsAre(2, 3));
  EXPECT_FALSE(engine.cancel(reused)) << "ran already";
  EXPECT_FALSE(engine.cancel(engine::EventHandle{})) << "names nothing";
}

struct Canceller {
  engine::Engine& engine;
  engine::EventHandle victim;
  void act(std::uint64_t) { EXPECT_TRUE(engine.cancel(victim)); }
};

TEST(Engine, CancelsAnEventOfTheSameInstant) {
  engine::Engine engine;
  Log log(engine);
  Canceller canceller{engine, {}};
  engine.schedule(Time{4}, engine::Phase::kFinish, engine::Action::to<&Canceller::act>(canceller));
  canceller.victim = log.at(4, engine::Phase::kStart, 1);
  engine.run();
  EXPECT_TRUE(log.entries.empty());
  EXPECT_EQ(engine.pending(), 0u);
}

TEST(Engine, RefusesThePast) {
  engine::Engine engine;
  Log log(engine);
  log.at(10, engine::Phase::kFinish, 1);
  engine.run();
  EXPECT_THROW(log.at(9, engine::Phase::kFinish, 2), InternalError);
}

// Against a sorted list: 20,000 events with many ties, a third of them cancelled, half of those late enough to compact.
TEST(Engine, AgreesWithASortedListUnderCancellation) {
  std::mt19937_64 random(7);
  engine::Engine engine;
  Log log(engine);
  std::vector<std::tuple<std::int64_t, int, std::uint64_t>> expected;
  std::vector<std::pair<engine::EventHandle, std::size_t>> handles;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto time = static_cast<std::int64_t>(random() % 500 + 1);
    const int phase = static_cast<int>(random() % engine::kPhaseCount);
    handles.emplace_back(log.at(time, static_cast<engine::Phase>(phase), i), i);
    expected.emplace_back(time, phase, i);
  }
  std::shuffle(handles.begin(), handles.end(), random);
  std::vector<bool> cancelled(expected.size(), false);
  for (std::size_t k = 0; k < 13000; ++k) {
    EXPECT_TRUE(engine.cancel(handles[k].first));
    cancelled[handles[k].second] = true;
  }
  std::vector<std::tuple<std::int64_t, int, std::uint64_t>> kept;
  for (const auto& e : expected) {
    if (!cancelled[std::get<2>(e)]) kept.push_back(e);
  }
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(engine.run(), kept.size());
  ASSERT_EQ(log.entries.size(), kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    ASSERT_EQ(log.entries[i], std::get<2>(kept[i])) << "at " << i;
    ASSERT_EQ(log.times[i], std::get<0>(kept[i])) << "at " << i;
  }
}

struct Chain {
  engine::Engine& engine;
  std::uint64_t left;
  std::uint64_t sum = 0;
  void act(std::uint64_t step) {
    sum = sum * 31 + static_cast<std::uint64_t>(engine.now().since_start().count()) + step;
    if (left-- > 0)
      engine.schedule(engine.now() + Duration{static_cast<std::int64_t>(step % 7)}, engine::Phase::kFinish,
                      engine::Action::to<&Chain::act>(*this, step + 1));
  }
};

std::uint64_t run_chain() {
  engine::Engine engine;
  Chain chain{engine, 100000};
  engine.schedule(Time{}, engine::Phase::kFinish, engine::Action::to<&Chain::act>(chain, 1));
  engine.run();
  return chain.sum;
}

TEST(Engine, TwoEnginesInTwoThreadsDoNotMeet) {
  const std::uint64_t alone = run_chain();
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::thread first([&] { a = run_chain(); });
  std::thread second([&] { b = run_chain(); });
  first.join();
  second.join();
  EXPECT_EQ(a, alone);
  EXPECT_EQ(b, alone);
}

// 500,000 instants: an entry of 8 bytes that each left behind would be 4 MB.
TEST(Engine, MemoryDoesNotGrowWithTheEventsThatInstantsScheduleForThemselves) {
  engine::Engine engine;
  Ticker ticker(engine, 500'000);
  ticker.tick(0);
  engine.run(1'000);
  const std::size_t before = bytes_in_use();
  engine.run();
  EXPECT_EQ(engine.events_run(), 999'999u);
  EXPECT_LT(bytes_in_use(), before + 100'000);
}

TEST(Engine, RunStopsAtItsLimit) {
  engine::Engine engine;
  Log log(engine);
  for (std::uint64_t i = 0; i < 5; ++i) log.at(static_cast<std::int64_t>(i), engine::Phase::kFinish, i);
  EXPECT_EQ(engine.run(2), 2u);
  EXPECT_EQ(engine.pending(), 3u);
  EXPECT_EQ(engine.events_run(), 2u);
  EXPECT_EQ(engine.run(), 3u);
}

// Schedules itself anew, so much later each time.
struct Repeater {
  engine::Engine& engine;
  std::int64_t step;
  std::uint64_t times = 0;

  void again(std::uint64_t left) {
    ++times;
    if (left > 0)
      engine.schedule(engine.now() + Duration{step}, engine::Phase::kFinish,
                      engine::Action::to<&Repeater::again>(*this, left - 1));
  }
};

TEST(Engine, EndsWithAnErrorWhereEventsRepeatWithoutTimePassing) {
  engine::Engine engine(1000);
  Repeater repeater{engine, 0};
  engine.schedule(Time{7'000'000}, engine::Phase::kFinish, engine::Action::to<&Repeater::again>(repeater, 2000));
  try {
    engine.run();
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("1000 events at 0.000007 s"));
  }
  EXPECT_EQ(repeater.times, 1000u);
}

TEST(Engine, CountsTheEventsOfEachInstantAlone) {
  engine::Engine engine(10);
  Repeater repeater{engine, 1};
  engine.schedule(Time{}, engine::Phase::kFinish, engine::Action::to<&Repeater::again>(repeater, 2000));
  EXPECT_EQ(engine.run(), 2001u);
}

}  // namespace
}  // namespace photonrail
