// A bound on the memory of the process while it is in scope, so that a file that asks for too much is found out.
#pragma once

#include "support/sanitizers.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace photonrail::fuzz {

class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t bytes) {
#if !PHOTONRAIL_SANITIZED  // the shadow is larger than any limit
    if (::getrlimit(RLIMIT_AS, &before_) != 0) return;
    rlimit limit = before_;
    limit.rlim_cur = std::min(limit.rlim_max, bytes);
    set_ = ::setrlimit(RLIMIT_AS, &limit) == 0;
#else
    static_cast<void>(bytes);
#endif
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() {
    if (set_) ::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  rlimit before_{};
  bool set_ = false;
};

}  // namespace photonrail::fuzz
