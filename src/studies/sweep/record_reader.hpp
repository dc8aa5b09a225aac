// Records as results.db has them.
#pragma once

#include "studies/sweep/record.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// Texts as one cell, a line each.
[[nodiscard]] std::string lines_text(const std::vector<std::string>& lines);

class RecordReader {
 public:
  /// `version`: of the tables. `one`: only read(); else only each().
  RecordReader(SQLite::Database& database, int version, bool one);
  /// In ascending order of points; parameters in the order of the sweep.
  void each(const std::function<void(const Record&)>& use);
  [[nodiscard]] std::optional<Record> read(std::int64_t point);

 private:
  [[nodiscard]] Record take_row();

  SQLite::Statement runs_, parameters_, metrics_, phases_, windows_;
};

}  // namespace photonrail::sweep
