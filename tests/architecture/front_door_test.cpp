// The front door: what a user of the library meets first is small, and every topic has a folder of its own.
#include "architecture/class_text.hpp"
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::test {
namespace {

// SimGrid's s4u has 20 headers with 31 types, LevelDB 15 with 24.
constexpr std::size_t kMaxHeaders = 24;
constexpr std::size_t kMaxTypes = 90;
constexpr std::size_t kMaxHeadersOfTheTestKit = 8;
// All that is installed. What only the command and the studies use stays in src/.
constexpr std::size_t kMaxHeadersInAll = 70;
constexpr std::size_t kMaxTypesInAll = 380;

constexpr std::string_view kFolder = "include/photonrail/";

struct FrontDoor {
  std::vector<std::string> headers;
  std::vector<std::string> types;
};

bool is_directly_in(std::string_view folder, std::string_view path) {
  return path.starts_with(folder) && path.find('/', folder.size()) == std::string_view::npos;
}

/// The headers directly in `folder`, and the types that they define in namespace photonrail.
FrontDoor front_door(std::string_view folder, const std::vector<SourceFile>& files) {
  FrontDoor door;
  for (const auto& file : files) {
    if (!is_directly_in(folder, file.path)) continue;
    door.headers.push_back(file.path);
    for (const auto& name : types_in_namespace(file.text, "photonrail")) door.types.push_back(file.path + ": " + name);
  }
  return door;
}

std::string lines(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += "\n" + name;
  return text;
}

TEST(FrontDoor, HasFewHeadersAndTypes) {
  const FrontDoor door = front_door(kFolder, sources_below(PHOTONRAIL_SOURCE_DIR, "include"));
  std::cout << "first level of include/photonrail: " << door.headers.size() << " headers, " << door.types.size()
            << " types\n";
  EXPECT_GE(door.headers.size(), 10u) << "the checker finds hardly any header";
  EXPECT_GE(door.types.size(), 50u) << "the checker finds hardly any type";
  EXPECT_LE(door.headers.size(), kMaxHeaders) << lines(door.headers);
  EXPECT_LE(door.types.size(), kMaxTypes) << lines(door.types);
}

TEST(FrontDoor, LeadsToAContractThatIsNoCopyOfTheLibrary) {
  std::size_t headers = 0;
  std::vector<std::string> types;
  for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, "include")) {
    ++headers;
    for (const char* space :
         {"photonrail", "photonrail::slices", "photonrail::goodput", "photonrail::pip", "photonrail::testing"}) {
      for (const auto& name : types_in_namespace(file.text, space)) types.push_back(file.path + ": " + name);
    }
  }
  std::cout << "include/photonrail in all: " << headers << " headers, " << types.size() << " types\n";
  EXPECT_GE(types.size(), 200u) << "the checker finds hardly any type";
  EXPECT_LE(headers, kMaxHeadersInAll);
  EXPECT_LE(types.size(), kMaxTypesInAll);
}

TEST(FrontDoor, OfTheTestKitIsSmall) {
  const FrontDoor door = front_door("include/photonrail/testing/", sources_below(PHOTONRAIL_SOURCE_DIR, "include"));
  EXPECT_GE(door.headers.size(), 1u);
  EXPECT_LE(door.headers.size(), kMaxHeadersOfTheTestKit) << lines(door.headers);
}

TEST(FrontDoor, CountsTheFirstLevelAlone) {
  const std::string text = "namespace photonrail {\nclass A {};\nstruct B {};\nusing C = A;\n}\n";
  const FrontDoor door = front_door(
      kFolder, {{"include/photonrail/a.hpp", text}, {"include/photonrail/topic/b.hpp", text}, {"src/core/c.hpp", text}});
  EXPECT_EQ(door.headers, std::vector<std::string>{"include/photonrail/a.hpp"});
  EXPECT_EQ(door.types.size(), 3u);
}

}  // namespace
}  // namespace photonrail::test
