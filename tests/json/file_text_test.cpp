#include "json/file_text.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace photonrail::json {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class FileText : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path file(const std::string& text) const {
    std::ofstream(folder_ / "file", std::ios::binary) << text;
    return folder_ / "file";
  }
  [[nodiscard]] fs::path pipe() const {
    EXPECT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    return folder_ / "pipe";
  }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_file_text_" + std::to_string(::getpid()));
};

void expect_error(const fs::path& file, const std::string& what, const ReadLimits& limits = {}) {
  const ConfigError error = error_of([&] { static_cast<void>(file_text(file, limits)); });
  EXPECT_EQ(error.where(), file.string());
  EXPECT_THAT(error.problem(), HasSubstr(what));
}

TEST_F(FileText, IsTheWholeFile) {
  const std::string text(200'000, 'x');  // several pieces
  EXPECT_EQ(file_text(file(text)), text);
  EXPECT_EQ(file_text(file("")), "");
  EXPECT_EQ(file_text(file(std::string("a\0b", 3))).size(), 3);
}

TEST_F(FileText, SaysWhyThereIsNone) {
  expect_error(folder_ / "none", "no such file");
  expect_error(folder_, "is a folder, not a file");
  expect_error(file("text") / "below", "no such file");
}

TEST_F(FileText, AFileIsAtMostSoLong) {
  EXPECT_EQ(file_text(file("12345"), {.file = 5}), "12345");
  expect_error(file("123456"), "is larger than 5 bytes", {.file = 5});
}

// Its size is 0, and it has a content.
TEST_F(FileText, AFileOfTheKernelHasNoSize) { EXPECT_THAT(file_text("/proc/self/status"), HasSubstr("VmSize")); }

TEST_F(FileText, ADeviceThatNeverEndsIsRefused) {
  expect_error("/dev/zero", "is a pipe or device of more than 100000 bytes", {.pipe = 100'000});
  EXPECT_EQ(file_text("/dev/null"), "");
}

TEST_F(FileText, APipeIsReadToItsEnd) {
  const fs::path at = pipe();
  const std::string text(300'000, 'y');  // more than a pipe holds
  std::thread writer([&] {
    std::this_thread::sleep_for(50ms);  // comes late, and goes on after a pause
    std::ofstream out(at, std::ios::binary);
    out << "first" << std::flush;
    std::this_thread::sleep_for(300ms);
    out << text;
  });
  EXPECT_EQ(file_text(at, {.writer = 10'000ms}), "first" + text);
  writer.join();
}

TEST_F(FileText, APipeWithoutAWriterIsRefused) {
  expect_error(pipe(), "is a pipe that no program writes to", {.writer = 60ms});
}

TEST_F(FileText, ReadersOfPiecesNeedARegularFile) {
  require_regular(file("text"));
  for (const fs::path& other : {folder_, folder_ / "none", pipe(), fs::path("/dev/zero")}) {
    EXPECT_EQ(error_of([&] { require_regular(other); }).where(), other.string());
  }
}

}  // namespace
}  // namespace photonrail::json
