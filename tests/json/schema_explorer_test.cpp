#include "json/schema.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail::test {
namespace {

// How often a small format is read while it is explored from these examples.
int reads_of_exploration(const std::vector<photonrail::json::Json>& examples) {
  int count = 0;
  static_cast<void>(photonrail::json::explore(
      [&](const photonrail::json::Json& root, photonrail::json::ReadObserver& observer) {
        ++count;
        photonrail::json::JsonReader top(root, {}, &observer);
        static_cast<void>(top.child("kind").word({"one", "two"}));
        if (const auto v = top.optional("on")) static_cast<void>(v->boolean());
        top.finish();
      },
      examples));
  return count;
}

// Most of the time of a schema goes into files that an exploration makes more than once.
TEST(SchemaExplorer, AFileThatWasExploredIsNotExploredAgain) {
  photonrail::json::Json example = photonrail::json::Json::object();
  example["kind"] = "one";
  example["on"] = true;
  EXPECT_EQ(reads_of_exploration({example, example}), reads_of_exploration({example}));
}

}  // namespace
}  // namespace photonrail::test
