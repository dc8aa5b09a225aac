// Links between GPUs and the memory of their hosts, which several GPUs share behind one switch: each transfer has an equal
// part of its link, in both directions apart.
#pragma once

#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::serving {

/// One capacity. A machine whose clock the caller has.
class SharedLink {
 public:
  explicit SharedLink(Bandwidth rate) : rate_(rate.bytes_per_second) {}

  /// REQUIRES of both: the time does not go back.
  void add(Time now, Bytes bytes, std::uint64_t token);
  /// Takes a transfer that has ended by now; none where there is none.
  [[nodiscard]] std::optional<std::uint64_t> take_ended(Time now);
  /// When the next one ends, if no other comes.
  [[nodiscard]] std::optional<Time> next_end() const;

 private:
  struct Transfer {
    double end = 0.0;  // when each one has got so many bytes since the beginning
    std::uint64_t order = 0;
    std::uint64_t token = 0;
  };
  void advance(Time now);

  double rate_;
  double served_ = 0.0;  // bytes that one that was always there would have got
  Time at_{};
  std::uint64_t next_ = 0;
  std::vector<Transfer> transfers_;  // a heap, the next to end first
};

}  // namespace photonrail::serving
