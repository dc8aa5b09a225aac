// The tasks of a small case: one list from which both the graph and its text are made.
#pragma once

#include "photonrail/testing/fuzz.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace photonrail::testing {

struct CaseTask {
  std::uint32_t rank = 0;
  std::string id;
  const FuzzCall* call = nullptr;  ///< null: a computation
  std::string group;               ///< of a collective
  Duration compute{};
  std::string after{};  ///< a task of the rank, or none
};

struct CaseTasks {
  std::map<std::string, std::vector<std::uint32_t>> groups;  ///< communicators, by name
  std::vector<CaseTask> tasks;                               ///< in the order of issue
};

/// `fuzz_case` must outlive it.
[[nodiscard]] CaseTasks tasks_of(const FuzzCase& fuzz_case);
[[nodiscard]] TaskGraph graph_of(const FuzzCase& fuzz_case);

}  // namespace photonrail::testing
