// The peak of this program's memory.
#pragma once

namespace photonrail::run {

/// MB (2^20 bytes) of resident memory, so far.
[[nodiscard]] double peak_rss_mb();

}  // namespace photonrail::run
