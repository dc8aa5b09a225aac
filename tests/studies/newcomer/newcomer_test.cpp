// What a newcomer adds is one file of 60 lines: the study of link_budget.hpp has estimates, threads, a log that is gone on
// with, and tables from the shared machinery.
#include "photonrail/error.hpp"
#include "report/text.hpp"
#include "studies/newcomer/link_budget.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using link_budget::LinkBudget;
using link_budget::Margin;

/// Counts which points run.
class CountedBudget : public LinkBudget {
 public:
  using LinkBudget::LinkBudget;
  Margin run(std::size_t point, const studies::Stop& stop) const override {
    const std::lock_guard lock(mutex_);
    ran_.push_back(point);
    return LinkBudget::run(point, stop);
  }
  [[nodiscard]] std::vector<std::size_t> taken() const { return std::exchange(ran_, {}); }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::size_t> ran_;
};

class Newcomer : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Margins by point, as the log and the run give them.
  studies::StudyEnd run(const LinkBudget& study, const studies::Pool& pool = {}) {
    margins_.clear();
    return studies::run_study(study, link_budget::log_in(folder_), pool,
                              [this](std::size_t point, Margin&& margin) { margins_[point] = margin; });
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("newcomer_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::map<std::size_t, Margin> margins_;
};

TEST_F(Newcomer, WritesAStudyOfSixtyLines) {
  std::ifstream file(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "tests/studies/newcomer/link_budget.hpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  std::istringstream lines(text);
  std::size_t code = 0;
  for (std::string line; std::getline(lines, line);) {
    code += !line.empty() && !line.starts_with("//") && !line.starts_with("#") ? 1U : 0U;
  }
  EXPECT_LE(code, 60u);
}

// 0 dBm - (-8 dBm) - n x 2.5 dB is 5.5, 3, 0.5 and -2 dB.
TEST_F(Newcomer, HasTables) {
  const LinkBudget study(photonrail::json::parse_json(R"({"switches": 4, "switch_loss_db": 2.5})", "budget.json"));
  run(study);
  const auto columns = study.columns();
  std::string csv = studies::csv_head(columns);
  std::vector<std::vector<std::string>> rows{studies::head_cells(columns)};
  for (const auto& [point, margin] : margins_) {
    csv += studies::csv_row(columns, margin);
    rows.push_back(studies::row_cells(columns, margin));
  }
  EXPECT_EQ(csv, "switches,margin_db\n1,5.5\n2,3.0\n3,0.5\n4,-2.0\n");
  EXPECT_EQ(report::in_columns(rows),
            "switches  margin_db\n1               5.5\n2               3.0\n3               0.5\n4              -2.0\n");
}

TEST_F(Newcomer, RefusesWhatTheTableOfFieldsDoes) {
  EXPECT_THROW(LinkBudget(photonrail::json::parse_json(R"({"switch": 4})", "budget.json")), ConfigError);
  EXPECT_THROW(LinkBudget(photonrail::json::parse_json(R"({"switches": 65})", "budget.json")), ConfigError);
}

TEST_F(Newcomer, GoesOnWhereItWasStopped) {
  const CountedBudget study(photonrail::json::parse_json("{}", "budget.json"));
  studies::Pool three;
  three.stop = [this] { return margins_.size() == 3; };
  EXPECT_EQ(run(study, three).resumed, 0u);
  // The longest first: the estimate of point p is p.
  EXPECT_EQ(study.taken(), (std::vector<std::size_t>{7, 6, 5}));
  studies::Pool threads;
  threads.threads = 3;
  EXPECT_EQ(run(study, threads).resumed, 3u);
  const auto second = study.taken();
  EXPECT_EQ(std::set<std::size_t>(second.begin(), second.end()), (std::set<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(margins_.size(), 8u);
  EXPECT_EQ(run(study).resumed, 8u);
  EXPECT_TRUE(study.taken().empty());
}

TEST_F(Newcomer, RunsWhatAnAlteredLineHadAgain) {
  const CountedBudget study(photonrail::json::parse_json("{}", "budget.json"));
  run(study);
  static_cast<void>(study.taken());
  std::string text;
  {
    std::ifstream file(folder_ / "points.jsonl");
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  text[text.find("\"db\":2.0") + 5] = '3';  // point 3: 8 - 4 x 1.5 dB
  std::ofstream(folder_ / "points.jsonl") << text;
  const studies::StudyEnd end = run(study);
  EXPECT_EQ(end.resumed, 7u);
  EXPECT_EQ(end.damage.size(), 1u);
  EXPECT_EQ(study.taken(), std::vector<std::size_t>{3});
  EXPECT_DOUBLE_EQ(margins_.at(3).db, 2.0);
}

// Five points of 400 bytes in 1,000: never more than two at once. One of 5,000 runs alone.
TEST(PoolOfPoints, KeepsToItsMemory) {
  std::atomic<int> in_flight{0};
  std::atomic<int> most{0};
  std::atomic<bool> alone{true};
  std::vector<studies::PendingPoint> points{{9, {1.0, 5'000, 0.0}}};
  for (std::size_t p = 0; p < 5; ++p) points.push_back({p, {0.0, 400, 0.0}});
  std::size_t kept = 0;
  const studies::Pool pool{4, 1'000, [] { return false; }};
  pool.run(points, [&](std::size_t point, const studies::Stop&) -> std::function<void()> {
    const int now = ++in_flight;
    if (point == 9 && now > 1) alone = false;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::yield();
    --in_flight;
    return [&kept] { ++kept; };
  });
  EXPECT_EQ(kept, 6u);
  EXPECT_LE(most, 2);
  EXPECT_TRUE(alone);
}

// The record of a result is slow to go, so that between the error and the end of its thread the others have many turns.
TEST(PoolOfPoints, EndsWithTheFirstError) {
  const studies::Pool pool{4, 1'000, [] { return false; }};
  const auto leave_slowly = [](const int* record) {
    for (int turn = 0; turn < 20; ++turn) std::this_thread::yield();
    delete record;
  };
  for (int repetition = 0; repetition < 30; ++repetition) {
    std::size_t kept = 0;
    const auto work = [&](std::size_t, const studies::Stop&) -> std::function<void()> {
      return [&kept, record = std::shared_ptr<int>(new int, leave_slowly)] {
        if (++kept == 3) throw ConfigError("disk", "is full");
      };
    };
    EXPECT_THROW(pool.run(std::vector<studies::PendingPoint>(100), work), ConfigError);
    ASSERT_EQ(kept, 3u) << "nothing is kept after it, repetition " << repetition;
  }
}

}  // namespace
}  // namespace photonrail::test
