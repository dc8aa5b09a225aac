// The page says what is in each room of the table that the include lines are checked against.
#include "architecture/rooms.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace photonrail::test {
namespace {

TEST(ArchitecturePage, SaysWhatIsInEachRoom) {
  std::ostringstream page;
  page << std::ifstream(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "docs/guide/architecture.md").rdbuf();
  for (const Room& room : rooms()) EXPECT_NE(page.str().find("| `" + room.name + "` | "), std::string::npos) << room.name;
}

}  // namespace
}  // namespace photonrail::test
