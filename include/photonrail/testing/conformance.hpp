// Examines a reconfiguration policy by every law of the kit, each as a GoogleTest test of its own:
//
//     PHOTONRAIL_CONFORMANCE(MyPolicy, my_factory());
//
// makes the tests All/MyPolicy.Keeps/<law>_<policy>. The second argument is a ControllerFactory, a Subject or a vector of
// subjects; it is evaluated when the program starts.
#pragma once

#include "photonrail/testing/laws.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::testing {

using Examination = std::tuple<PolicyUnderTest, PolicyProperty>;

inline std::vector<PolicyUnderTest> as_subjects(PolicyUnderTest subject) { return {std::move(subject)}; }
inline std::vector<PolicyUnderTest> as_subjects(std::vector<PolicyUnderTest> subjects) { return subjects; }

/// "every law, every subject".
inline std::string name_of(const ::testing::TestParamInfo<Examination>& info) {
  std::string name = std::get<PolicyProperty>(info.param).name + "_" + std::get<PolicyUnderTest>(info.param).factory.name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

}  // namespace photonrail::testing

#define PHOTONRAIL_CONFORMANCE(suite, policies)                                                                \
  class suite : public ::testing::TestWithParam<photonrail::testing::Examination> {};                          \
  TEST_P(suite, Keeps) {                                                                                       \
    const auto& [subject, law] = GetParam();                                                                   \
    const std::string problem = law.problem(subject);                                                          \
    EXPECT_TRUE(problem.empty()) << "the law: " << law.summary << "\n" << problem;                             \
  }                                                                                                            \
  INSTANTIATE_TEST_SUITE_P(All, suite,                                                                         \
                           ::testing::Combine(::testing::ValuesIn(photonrail::testing::as_subjects(policies)), \
                                              ::testing::ValuesIn(photonrail::testing::laws())),               \
                           photonrail::testing::name_of)
