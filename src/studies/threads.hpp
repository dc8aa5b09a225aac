// A few threads that do the same work, and end together when one of them fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace photonrail::studies {

/// Calls `work` in `count` threads at once, one of which is the caller's, and waits for all. The first exception is thrown
/// again in the end; once there is one, `failed` is true, and `work` should return. REQUIRES: count >= 1.
void run_in_threads(std::size_t count, const std::function<void(const std::atomic<bool>& failed)>& work);

}  // namespace photonrail::studies
