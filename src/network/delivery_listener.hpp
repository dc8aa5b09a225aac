// The interface of the network to those who send.
#pragma once

#include <cstdint>

namespace photonrail::network {

/// Notified when the last byte of a message has arrived.
class DeliveryListener {
 public:
  virtual ~DeliveryListener() = default;
  virtual void delivered(std::uint64_t tag) = 0;
  /// Notifies of several messages at once, with tags from `tag` on.
  virtual void delivered_together(std::uint64_t tag, std::uint32_t messages) {
    for (std::uint32_t m = 0; m < messages; ++m) delivered(tag + m);
  }
};

}  // namespace photonrail::network
