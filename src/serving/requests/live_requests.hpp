// Requests that have come and have not ended.
#pragma once

#include "photonrail/workload/serving.hpp"
#include "serving/engine/scheduler.hpp"
#include "serving/requests/arrivals.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::serving {

/// Counts what is left to send of one request.
struct KvTransfer {
  std::uint64_t all = 0;       ///< bytes that its decode engine lacks
  std::uint64_t unsent = 0;    ///< bytes that are not posted yet
  std::uint32_t messages = 0;  ///< that are on their way
};

struct LiveRequest {
  Offer offer;
  ServedRequest times;
  KvTransfer transfer;
  Slot prefill_slot = 0;
  Slot decode_slot = 0;
  std::uint32_t generated = 0;      ///< tokens that it got from engines which failed since
  Time last_token = Time::never();  ///< of these, or of prefill
  bool placed = false;              ///< an engine has it
  bool routed = false;              ///< it has a decode engine
  bool inbound = false;             ///< which was asked for blocks
  bool reserved = false;            ///< which has blocks for it
  bool computed = false;            ///< its prompt is
  bool active = false;              ///< its KV may go: no other goes before it
  bool delivered = false;           ///< its KV is there

  /// Tokens that are computed before the next one comes.
  [[nodiscard]] std::uint32_t context() const { return offer.prompt + generated; }
  [[nodiscard]] bool has_first() const { return times.first != Time::never(); }
};

/// Numbers them; a number is another request's when one has ended.
class LiveRequests {
 public:
  /// A request's number is in the lowest bits of its id.
  static constexpr std::uint32_t kBits = 24;

  [[nodiscard]] std::uint32_t add(Offer offer);
  void remove(std::uint32_t number);
  [[nodiscard]] LiveRequest& operator[](std::uint32_t number) { return requests_[number].request; }
  [[nodiscard]] const LiveRequest& operator[](std::uint32_t number) const { return requests_[number].request; }

  /// Differs between all requests that ever had the number.
  [[nodiscard]] std::uint64_t id(std::uint32_t number) const {
    return (requests_[number].request.offer.number << kBits) | number;
  }
  [[nodiscard]] static std::uint32_t of_id(std::uint64_t id) {
    return static_cast<std::uint32_t>(id & ((std::uint64_t{1} << kBits) - 1));
  }

  /// Messages carry the attempt that they are of: those of an earlier one, or of an earlier request, count no more.
  [[nodiscard]] std::uint32_t attempt(std::uint32_t number) const { return requests_[number].attempt; }
  void begin_attempt(std::uint32_t number) { ++requests_[number].attempt; }

  /// The numbers of all that an engine has, in the order in which they came.
  [[nodiscard]] std::vector<std::uint32_t> all_placed() const;

 private:
  struct Entry {
    LiveRequest request;
    std::uint32_t attempt = 0;
    bool lives = false;
  };
  std::vector<Entry> requests_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace photonrail::serving
