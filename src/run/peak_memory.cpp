#include "run/peak_memory.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace photonrail::run {

namespace {

constexpr double kKibInMb = 1024.0;

// Returns what the system counts: the greater of this program's peak and that of the program that started it.
double counted() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / kKibInMb;
}

// Returns the peak of this program alone, where Linux tells it.
double own() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / kKibInMb;
  }
  return counted();
}

}  // namespace

// Reading the file takes 20 us, as long as a small run: it is read while the other's peak may be the greater.
double peak_rss_mb() {
  static const double before = counted();
  static const bool inherited = own() < before;
  const double now = counted();
  return inherited && now <= before ? own() : now;
}

}  // namespace photonrail::run
