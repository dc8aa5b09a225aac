// The fuzzers' entry points over seeds, kept inputs and mutations of both: each is read, or refused by a ConfigError.
// PHOTONRAIL_TEST_CASES: mutations for each entry.
#include "fuzz/entry.hpp"
#include "fuzz/memory_limit.hpp"
#include "fuzz/mutation.hpp"
#include "support/processor_time.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace photonrail::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCases = 60;   // in the gate
constexpr double kSlowSeconds = 20.0;  // of the processor: the machine may be busy
constexpr rlim_t kMemory = rlim_t{3} << 30;

std::uint64_t cases() {
  const char* const wanted = std::getenv("PHOTONRAIL_TEST_CASES");
  return wanted == nullptr ? kCases : std::strtoull(wanted, nullptr, 10);
}
std::uint64_t seed() {
  const char* const wanted = std::getenv("PHOTONRAIL_TEST_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

class Fuzz : public ::testing::TestWithParam<Entry> {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // A finding is kept beside the program, to be looked at and put into the corpus.
  void check(const std::string& data, const std::string& what) {
    write(last_, data);  // of what does not come back
    const double started = test::processor_seconds();
    const std::string problem = verdict(GetParam(), data, folder_);
    const double seconds = test::processor_seconds() - started;
    if (seconds > slowest_seconds_) {
      slowest_seconds_ = seconds;
      slowest_ = data;
    }
    if (problem.empty() && seconds < kSlowSeconds) return;
    const fs::path kept = kept_file(what);
    write(kept, data);
    ADD_FAILURE() << what << ": " << (problem.empty() ? std::to_string(seconds) + " s" : problem) << "; kept in " << kept;
  }

  // Of many cases, the one that took longest is worth a look.
  void keep_slowest() const {
    const fs::path kept = kept_file("slowest-of-seed-" + std::to_string(seed()));
    write(kept, slowest_);
    std::cout << GetParam() << ": " << cases() << " cases; the slowest took " << slowest_seconds_ << " s; kept in " << kept
              << '\n';
  }

  [[nodiscard]] static fs::path kept_file(const std::string& what) {
    return fs::temp_directory_path() / ("fuzz-" + std::string(GetParam().name) + "-" + what);
  }

  double slowest_seconds_ = 0.0;
  std::string slowest_;
  fs::path folder_ = fs::temp_directory_path() / ("photonrail_fuzz_" + std::to_string(::getpid()));
  fs::path last_ =
      fs::temp_directory_path() / ("fuzz-" + std::string(GetParam().name) + "-last-" + std::to_string(::getpid()));
  MemoryLimit memory_{kMemory};
};

std::vector<std::string> kept_inputs(const char* entry) {
  std::vector<fs::path> files;
  const fs::path folder = fs::path(PHOTONRAIL_SOURCE_DIR) / "tests/fuzz/corpus" / entry;
  if (fs::exists(folder)) {
    for (const auto& file : fs::directory_iterator(folder)) files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& file : files) inputs.push_back(content(file));
  return inputs;
}

TEST_P(Fuzz, ReadsOrRefuses) {
  std::vector<std::string> inputs = GetParam().seeds(folder_);
  ASSERT_FALSE(inputs.empty());
  ASSERT_EQ(verdict(GetParam(), inputs.front(), folder_), "");
  for (std::string& kept : kept_inputs(GetParam().name)) inputs.push_back(std::move(kept));
  for (std::size_t i = 0; i < inputs.size(); ++i) check(inputs[i], "input-" + std::to_string(i));
  RandomStream random(seed(), GetParam().name);
  for (std::uint64_t i = 0; i < cases(); ++i) {
    std::string data = inputs[random.below(inputs.size())];
    const std::string& other = inputs[random.below(inputs.size())];
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) mutate(data, other, random);
    check(data, "seed-" + std::to_string(seed()) + "-case-" + std::to_string(i));
    if (::testing::Test::HasFailure() && cases() <= kCases) return;
  }
  fs::remove(last_);
  if (cases() > kCases) keep_slowest();
}

// The first seed of each entry is sound: were it refused, its mutations would show little.
TEST_P(Fuzz, TheFirstSeedIsRead) {
  const std::vector<std::string> seeds = GetParam().seeds(folder_);
  EXPECT_NO_THROW(GetParam().read(seeds.front(), folder_));
}

INSTANTIATE_TEST_SUITE_P(Entries, Fuzz, ::testing::ValuesIn(entries()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace photonrail::fuzz
