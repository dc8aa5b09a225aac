#include "run/peak_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail {
namespace {

TEST(PeakMemory, GrowsWithWhatIsTouchedAndDoesNotShrink) {
  const double before = run::peak_rss_mb();
  EXPECT_GT(before, 1.0);
  // Of this program's own peak: tests that ran before may have had more.
  const auto bytes = static_cast<std::size_t>((before + 64.0) * 1024.0 * 1024.0);
  { const std::vector<char> touched(bytes, 1); }
  const double after = run::peak_rss_mb();
  EXPECT_GT(after, before + 60.0);
  EXPECT_GE(run::peak_rss_mb(), after);
}

}  // namespace
}  // namespace photonrail
