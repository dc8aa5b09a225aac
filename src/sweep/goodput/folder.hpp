// The files of a goodput study: histories and simulated steps, line by line.
#pragma once

#include "photonrail/study/goodput.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace photonrail::sweep {

/// A file to which whole lines are appended. A line that was cut off by the death of a process is not one.
class LineFile {
 public:
  /// `head` is the first line; a file with another one is an error. An empty path: nothing is written.
  LineFile(std::filesystem::path path, const std::string& head);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }  ///< that were there, without the head
  /// Safe to be killed in. Throws ConfigError.
  void add(const std::string& line);

 private:
  std::filesystem::path path_;
  std::vector<std::string> lines_;
  int file_ = -1;
};

/// The configurations that histories were in, with their steps; none: the job cannot go on.
using ConfigurationSteps = std::map<std::string, std::optional<Duration>>;

/// A history with what it rests on, so that what goes on with it knows as much as what ran it.
struct RecordedHistory {
  reliability::History history;
  ConfigurationSteps configurations{};  ///< empty in lines of before they had it
};
[[nodiscard]] std::string history_line(const RecordedHistory& recorded);
/// None: no such line.
[[nodiscard]] std::optional<RecordedHistory> history_of_line(const std::string& line);

}  // namespace photonrail::sweep
