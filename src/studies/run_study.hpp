// Runs the points of a study, and goes on with the records that a folder has.
#pragma once

#include "studies/pool.hpp"
#include "studies/record_log.hpp"
#include "studies/study.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::studies {

/// Runs these points of the study and gives each record to `keep`, one at a time.
template <class Record, class Keep>
void run_points(const Study<Record>& study, std::vector<PendingPoint> points, const Pool& pool, const Keep& keep) {
  pool.run(std::move(points), [&](std::size_t point, const Stop& stop) -> std::function<void()> {
    return [&keep, point, record = study.run(point, stop)]() mutable { keep(point, std::move(record)); };
  });
}

/// The log of the records of a study.
template <class Record>
struct StudyLog {
  std::filesystem::path file{};                                         ///< empty: nothing is written
  std::string head{};                                                   ///< another one in the file is an error
  std::function<std::string(std::size_t point, const Record&)> line{};  ///< an object of JSON
  /// None where the line is no record of the study.
  std::function<std::optional<std::pair<std::size_t, Record>>(const std::string& line)> record{};
};

struct StudyEnd {
  std::size_t resumed = 0;            ///< records that the log had
  std::vector<std::string> damage{};  ///< a sentence for each line that was altered; its point ran again
};

/// Gives `keep` the records that the log has, and runs and records the other points. `progress`: how many of how many there
/// are, first those of the log.
template <class Record, class Keep>
StudyEnd run_study(const Study<Record>& study, const StudyLog<Record>& log, const Pool& pool, const Keep& keep,
                   const std::function<void(std::size_t done, std::size_t of)>& progress = {}) {
  const std::size_t of = study.expand().size();
  RecordLog file(log.file, log.head);
  StudyEnd end{0, file.damage()};
  std::vector<bool> there(of);
  for (const std::string& line : file.records()) {
    auto found = log.record(line);
    if (!found || found->first >= of || there[found->first]) continue;
    there[found->first] = true;
    ++end.resumed;
    keep(found->first, std::move(found->second));
  }
  std::size_t done = end.resumed;
  const auto tell = [&] {
    if (progress) progress(done, of);
  };
  tell();
  std::vector<PendingPoint> points;
  for (std::size_t p = 0; p < of; ++p) {
    if (!there[p]) points.push_back({p, study.estimate(p)});
  }
  run_points(study, std::move(points), pool, [&](std::size_t point, Record&& record) {
    if (!log.file.empty()) file.add(log.line(point, record));
    keep(point, std::move(record));
    ++done;
    tell();
  });
  return end;
}

}  // namespace photonrail::studies
