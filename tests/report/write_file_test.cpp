#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;

class WriteFile : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] long files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_write_" + std::to_string(::getpid()));
};

TEST_F(WriteFile, ReplacesTheOldOneAndLeavesNothingElse) {
  write_file(folder_ / "a", "old and longer");
  write_file(folder_ / "a", "new");
  EXPECT_EQ(read(folder_ / "a"), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, SaysWhatIsWrong) {
  try {
    write_file(folder_ / "absent" / "a", "x");
    FAIL() << "a folder that does not exist";
  } catch (const ConfigError& e) {
    EXPECT_EQ(e.where(), (folder_ / "absent" / "a").string());
    EXPECT_THAT(e.what(), ::testing::HasSubstr("No such file"));
  }
  EXPECT_THROW(write_file(folder_, "x"), ConfigError);
  EXPECT_EQ(files(), 0);
}

TEST_F(WriteFile, GoesThroughALinkAndLeavesADeviceADevice) {
  write_file(folder_ / "real", "old");
  fs::create_symlink(folder_ / "real", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(folder_ / "real"), "new");
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFile, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "SKIPPED, NOT CHECKED: no /dev/full here";
  EXPECT_THROW(write_file("/dev/full", std::string(1 << 16, 'x')), ConfigError);
}

}  // namespace
}  // namespace photonrail::test
