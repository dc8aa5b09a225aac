// Many measured steps at once: photonrail calibrate --rows.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/simulate.hpp"

#include <filesystem>
#include <string>

namespace photonrail::command {

struct RowsOptions {
  std::filesystem::path file;      ///< photonrail.rows/1
  bool fit = false;                ///< a factor for each GPU with rows to fit
  std::filesystem::path markdown;  ///< empty: none
  std::filesystem::path svg;       ///< empty: none
  double max_median = 0.0;         ///< per cent; 0: any
  double work_limit_s = kWorkLimit;
};
void run_measured_rows(const RowsOptions& options, const Registries& known);

}  // namespace photonrail::command
