// The records of a goodput study's log of histories.
#pragma once

#include "photonrail/study/goodput.hpp"

#include <map>
#include <optional>
#include <string>

namespace photonrail::goodput {

/// The configurations that histories were in, with their steps; none: the job cannot go on.
using ConfigurationSteps = std::map<std::string, std::optional<Duration>>;

/// A history with what it rests on, so that what goes on with it knows as much as what ran it.
struct RecordedHistory {
  History history;
  ConfigurationSteps configurations{};  ///< empty in lines of before they had it
};
[[nodiscard]] std::string history_line(const RecordedHistory& recorded);
/// None: no such line.
[[nodiscard]] std::optional<RecordedHistory> history_of_line(const std::string& line);

}  // namespace photonrail::goodput
