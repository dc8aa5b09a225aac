// Typical mistakes of users, each with the part of the message that says what would do.
#pragma once

#include <string>
#include <vector>

namespace photonrail::test {

/// A change of a good scenario, sweep or command line.
struct Mistake {
  const char* what;    ///< for people
  const char* change;  ///< of the file: a JSON merge patch; of a command line: its words
  const char* says;    ///< part of the message
  int status = 2;      ///< 0: a warning
};

/// In `opus.json`: 4 servers of 2 GPUs, optical rails under Opus, an all-reduce.
[[nodiscard]] const std::vector<Mistake>& mistakes_in_scenarios();
/// In `training.json`: llama3_8b on 4 servers of 8 h200, electrical rails.
[[nodiscard]] const std::vector<Mistake>& mistakes_in_training_jobs();
/// In `sweep.json`: opus.json over a delay.
[[nodiscard]] const std::vector<Mistake>& mistakes_in_sweeps();
/// Command lines in a folder with these files.
[[nodiscard]] const std::vector<Mistake>& mistakes_on_the_command_line();

}  // namespace photonrail::test
