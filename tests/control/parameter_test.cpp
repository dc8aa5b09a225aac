#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

using ::testing::HasSubstr;

ControllerFactory factory() {
  ControllerFactory factory;
  factory.name = "mine";
  factory.parameters = {ControllerParameter::count("width", 2, 1, 4, "circuits of a pair"),
                        ControllerParameter::duration("slot", Duration{3'000'000}, "how long"),
                        ControllerParameter::word("paths", {"direct", "two_hop"}, "ways"),
                        ControllerParameter::flag("forward", true, "over others")};
  return factory;
}

std::string complaint(const std::string& key, ParameterValue value) {
  ControllerSpec spec;
  spec.parameters.set(key, std::move(value));
  try {
    (void)factory().complete(spec);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(ControllerParameter, WhatIsNotGivenIsAsTheTableSays) {
  ControllerSpec spec;
  spec.parameters.set("width", 3.0);
  const ControllerSpec complete = factory().complete(spec);
  EXPECT_EQ(complete.parameters.count("width"), 3u);
  EXPECT_EQ(complete.parameters.duration("slot"), Duration{3'000'000});
  EXPECT_EQ(complete.parameters.word("paths"), "direct");
  EXPECT_TRUE(complete.parameters.flag("forward"));
}

TEST(ControllerParameter, SaysWhatIsWrong) {
  EXPECT_THAT(complaint("width", 5.0), HasSubstr("controller.parameters.width: must be between 1 and 4"));
  EXPECT_THAT(complaint("width", 1.5), HasSubstr("whole number"));
  EXPECT_THAT(complaint("width", std::string("two")), HasSubstr("must be a number"));
  EXPECT_THAT(complaint("slot", Duration{-1}), HasSubstr("at least 0 us"));
  EXPECT_THAT(complaint("paths", std::string("three_hop")), HasSubstr("direct, two_hop"));
  EXPECT_THAT(complaint("widht", 1.0), HasSubstr("did you mean width?"));
}

TEST(ControllerParameter, DescribesItself) {
  std::string text;
  for (const ControllerParameter& parameter : factory().parameters) text += parameter.describe() + "; ";
  EXPECT_EQ(text, "width = 2; slot_us = 3; paths = direct|two_hop; forward = true; ");
}

}  // namespace
}  // namespace photonrail
