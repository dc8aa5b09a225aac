// The interface of the network to those who send.
#pragma once

#include <cstdint>

namespace photonrail::network {

/// Notified when the last byte of a message has arrived.
class DeliveryListener {
 public:
  virtual ~DeliveryListener() = default;
  virtual void delivered(std::uint64_t tag) = 0;
};

}  // namespace photonrail::network
