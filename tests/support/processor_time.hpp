// How long something takes the processor, whatever else the machine does meanwhile.
#pragma once

#include <sys/resource.h>

namespace photonrail::test {

/// Seconds that all threads of this process, or its children that have ended, have used so far.
inline double processor_seconds(bool of_children = false) {
  rusage used{};
  getrusage(of_children ? RUSAGE_CHILDREN : RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace photonrail::test
