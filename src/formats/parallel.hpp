// A few threads over many files.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace photonrail::formats {

/// Beyond that, the disk and the allocator set the pace of reading files.
inline constexpr std::size_t kMaxReaders = 4;

/// Calls work(0) .. work(count - 1), at most `most` at a time, and no more than there are cores. What is thrown in the end
/// is what the lowest index threw, whatever the timing.
template <class Work>
void for_each_index(std::size_t count, const Work& work, std::size_t most = kMaxReaders) {
  std::vector<std::exception_ptr> problems(count);
  std::atomic<std::size_t> next{0};
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        problems[i] = std::current_exception();
      }
    }
  };
  {
    const std::size_t wanted = std::min({count, most, std::size_t{std::thread::hardware_concurrency()}});
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(take_turns);
    take_turns();
  }
  for (const auto& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
}

}  // namespace photonrail::formats
