// Results of months of failures and of slices as rows of the table of a page.
#pragma once

#include "report/page_sources.hpp"

#include <filesystem>

namespace photonrail::report {

/// Adds what `photonrail goodput --out` or `photonrail allocate --out` wrote to the folder, a row a scenario or stream, and
/// its pictures as details. Nothing where the folder is neither. Throws ConfigError on damaged files.
[[nodiscard]] bool read_study_result(const std::filesystem::path& folder, PageTables& tables);

}  // namespace photonrail::report
