#include "report/compare.hpp"
#include "columns.hpp"
#include "commands.hpp"

#include <iostream>

namespace photonrail::command {

void compare(const CompareOptions& options) {
  const report::Comparison comparison = report::compare_paths(options.a, options.b);
  std::cout << hung_lines(to_table(comparison, options.tolerance));
  if (!comparison.beyond(options.tolerance)) return;
  std::cout.flush();
  throw CommandError(1, options.a.string() + " and " + options.b.string() + " differ beyond the tolerance");
}

}  // namespace photonrail::command
