// One entry under libFuzzer: PHOTONRAIL_FUZZ_ENTRY is its name.
#include "fuzz/entry.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace {

const photonrail::fuzz::Entry& entry() {
  for (const auto& one : photonrail::fuzz::entries()) {
    if (std::strcmp(one.name, PHOTONRAIL_FUZZ_ENTRY) == 0) return one;
  }
  std::abort();
}

const std::filesystem::path& folder() {
  static const std::filesystem::path made = [] {
    auto path = std::filesystem::temp_directory_path() / ("photonrail_fuzz_" + std::to_string(::getpid()));
    std::filesystem::create_directories(path);
    return path;
  }();
  return made;
}

}  // namespace

// `fuzz_NAME -seeds=DIR` would be a flag of libFuzzer's: the seeds are written where PHOTONRAIL_FUZZ_SEEDS says.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* const into = std::getenv("PHOTONRAIL_FUZZ_SEEDS")) {
    std::filesystem::create_directories(into);
    const auto seeds = entry().seeds(folder());
    for (std::size_t i = 0; i < seeds.size(); ++i)
      photonrail::fuzz::write(std::filesystem::path(into) / ("seed-" + std::to_string(i)), seeds[i]);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string problem = photonrail::fuzz::verdict(entry(), {reinterpret_cast<const char*>(data), size}, folder());
  if (problem.empty()) return 0;
  std::cerr << PHOTONRAIL_FUZZ_ENTRY << ": " << problem << "\n";
  std::abort();
}
