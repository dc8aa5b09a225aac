#include "studies/threads.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace photonrail::studies {

void run_in_threads(std::size_t count, const std::function<void(const std::atomic<bool>& failed)>& work) {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr first;
  const auto guarded = [&] {
    try {
      work(failed);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
      failed = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(guarded);
    guarded();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace photonrail::studies
