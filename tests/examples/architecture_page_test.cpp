// The table of rooms in docs/guide/architecture.md is the one that the include lines are checked against.
#include "architecture/rooms.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace photonrail::test {
namespace {

std::string row_of(const Room& room) {
  std::string row = "| `" + room.name + "` |";
  for (const std::string& other : room.may_include) row += " " + other;
  return row + (room.may_include.empty() ? " – |" : " |");
}

TEST(ArchitecturePage, ShowsTheTableThatIsChecked) {
  std::ostringstream page;
  page << std::ifstream(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "docs/guide/architecture.md").rdbuf();
  for (const Room& room : rooms()) EXPECT_NE(page.str().find(row_of(room)), std::string::npos) << row_of(room);
}

}  // namespace
}  // namespace photonrail::test
