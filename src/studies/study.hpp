// What every study is: independent points, each of which gives a record. studies/run_study.hpp runs them in threads, keeps
// the records in a log and goes on with it; studies/table.hpp makes tables of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::studies {

/// What a point needs.
struct Estimate {
  double work = 0.0;        ///< to compare points with each other; no unit
  std::uint64_t bytes = 0;  ///< what its run needs at most
  double seconds = 0.0;     ///< on one core, roughly
};

/// Asked now and then, by several threads; true: end soon, by throwing Stopped.
using Stop = std::function<bool()>;
struct Stopped {};

/// A column of a table: its name, and the cell of a record.
template <class Record>
struct Column {
  std::string name;
  std::function<std::string(const Record&)> cell;
};

template <class Record>
class Study {
 public:
  Study() = default;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;
  virtual ~Study() = default;

  /// The names of the points, in the order of tables.
  [[nodiscard]] virtual std::vector<std::string> expand() const = 0;
  /// Throws ConfigError where the point cannot run.
  [[nodiscard]] virtual Estimate estimate(std::size_t point) const = 0;
  /// Is called by several threads at once. May throw Stopped once `stop` returns true.
  [[nodiscard]] virtual Record run(std::size_t point, const Stop& stop) const = 0;
  /// None where the records have a report of another form.
  [[nodiscard]] virtual std::vector<Column<Record>> columns() const { return {}; }
};

}  // namespace photonrail::studies
