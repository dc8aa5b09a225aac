// Training jobs drawn at random with experts, context parallelism, tiers, slow GPUs, several jobs and pods, under every
// policy that treats equal ranks or equal rails equally: folded or not, they end in the same result.
#include "folding/training_drawing.hpp"
#include "photonrail/simulate.hpp"
#include "support/folded.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Drawn = TrainingDrawing::Drawn;

const int kTrainingCases = static_cast<int>(test_cases(100));

struct TrainingOutcome {
  std::optional<RunResult> result;
  std::string error;
};

// Of two calls that their algorithms cannot do, the one that is met first is named.
TrainingOutcome training_outcome(TrainingDrawing& job, bool folding) {
  try {
    return {simulate(job.scenario(folding)), ""};
  } catch (const std::exception& e) {
    const std::string text = e.what();
    return {std::nullopt, text.starts_with("collectives.algorithm.") ? "an algorithm cannot do a call" : text};
  }
}

/// How many jobs with each feature were drawn and came to an end, and how many of them were folded.
struct FoldedCases {
  struct Of {
    int finished = 0;
    int folded = 0;
  };
  std::map<std::string, Of> with{};  // "": all
  std::map<std::string, int> off{};  // by what kept jobs from being folded
  int few_steps = 0;                 // ran a few of many equal steps

  // In percent of those that finished.
  int share(const std::string& feature) {
    const Of& of = with[feature];
    return of.finished == 0 ? 0 : 100 * of.folded / of.finished;
  }
};

void count(const TrainingDrawing& job, const RunResult& folded, FoldedCases& cases) {
  TrainingDrawing::Features features = job.features();
  features.insert("");
  const bool smaller = folded.folding.classes < folded.folding.ranks;
  for (const std::string& feature : features) {
    FoldedCases::Of& of = cases.with[feature];
    ++of.finished;
    if (smaller) ++of.folded;
  }
  if (!smaller) ++cases.off[folded.folding.off];
  if (ran_few_steps(folded)) ++cases.few_steps;
}

FoldedCases expect_all_fold_exactly(Drawn drawn) {
  FoldedCases cases;
  for (int i = 0; i < kTrainingCases; ++i) {
    const std::uint64_t seed = first_case() + static_cast<std::uint64_t>(i);
    TrainingDrawing job(seed, drawn);
    const TrainingOutcome folded = training_outcome(job, true);
    const TrainingOutcome unfolded = training_outcome(job, false);
    EXPECT_EQ(folded.error, unfolded.error) << "case " << seed;
    if (folded.result && unfolded.result) {
      expect_same_results(*folded.result, *unfolded.result);
      expect_same_jobs(*folded.result, *unfolded.result);
      count(job, *folded.result, cases);
    } else {
      ++cases.off["error: " + folded.error.substr(0, 60)];
    }
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "case " << seed << ", off: " << (folded.result ? folded.result->folding.off : "") << "\n"
                    << job.text();
      break;
    }
  }
  for (const auto& [why, of] : cases.off) ::testing::Test::RecordProperty("not folded: " + why, of);
  for (const auto& [feature, of] : cases.with) {
    ::testing::Test::RecordProperty("folded with " + feature,
                                    std::to_string(of.folded) + " of " + std::to_string(of.finished));
  }
  ::testing::Test::RecordProperty("few steps", cases.few_steps);
  return cases;
}

// In percent of the jobs with a feature that finished, at least so many are folded: a law on jobs that are not folded would
// say nothing. Few jobs have no shares: of six one must be folded.
void expect_shares(FoldedCases& cases, const std::map<std::string, int>& least) {
  for (const auto& [feature, share] : least) {
    SCOPED_TRACE(feature);
    const int finished = cases.with[feature].finished;
    if (kTrainingCases >= 500) {
      EXPECT_GT(finished, 5);
    }
    if (finished > 5) {
      EXPECT_GT(cases.with[feature].folded, 0);
    }
    if (finished >= 100) {
      EXPECT_GE(cases.share(feature), share);
    }
  }
}

// What makes every rank, or every rail, unlike is drawn too, and is never folded.
void expect_none(FoldedCases& cases) {
  for (const char* const feature : {"faults", "sites"}) {
    EXPECT_GT(cases.with[feature].finished, 0) << feature;
    EXPECT_EQ(cases.with[feature].folded, 0) << feature;
  }
}

TEST(FoldingProperty, TrainingJobsWithAllThatFolds) {
  FoldedCases cases = expect_all_fold_exactly(Drawn::kAll);
  EXPECT_GT(cases.with[""].finished, kTrainingCases * 3 / 4);
  expect_shares(cases, {{"", 35},
                        {"cp", 35},
                        {"experts", 25},
                        {"jobs", 30},
                        {"jobs of unlike controllers", 15},
                        {"late ranks", 12},
                        {"many steps", 35},
                        {"opus", 40},
                        {"other collectives", 25},
                        {"pods", 10},
                        {"ports", 30},
                        {"slow GPUs", 12},
                        {"tiers", 40},
                        {"unlike GPUs", 20}});
  expect_none(cases);
  EXPECT_GE(cases.few_steps, kTrainingCases / 60) << "too few had equal steps to say anything";
}

// Each rail is run as it is, pair by pair or over other GPUs, and stands for those that are equal to it.
TEST(FoldingProperty, WholeRailsUnderPoliciesThatServePairsOrForward) {
  FoldedCases cases = expect_all_fold_exactly(Drawn::kEqualRails);
  std::map<std::string, int> least{{"", 55}, {"cp", 50}, {"experts", 50}, {"slow GPUs", 30}, {"unlike GPUs", 50}};
  for (const std::string& policy : equivariant_policies(false)) least[policy] = 40;
  EXPECT_EQ(least.size(), 5u + 12) << "a new policy is drawn by itself: count it";
  expect_shares(cases, least);
  expect_none(cases);
}

}  // namespace
}  // namespace photonrail::test
