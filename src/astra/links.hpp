// A link model says how long a message is on its way.
#pragma once

#include "astra/clock.hpp"
#include "photonrail/formats/astra.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::astra {

class Links {
 public:
  /// `arrived` is called with the number of a message as its argument. All must outlive the links.
  Links(const std::vector<AnalyticalDimension>& network, AnalyticalBackend backend, Clock& clock, engine::Action arrived);

  /// REQUIRES: from != to, bytes > 0.
  void send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint64_t message);
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  struct Dimension {
    AnalyticalDimension spec;
    double bytes_per_ns = 1.0;
    std::uint32_t stride = 1;    // between neighbours
    std::size_t first_link = 0;  // in free_at_
    std::uint32_t links = 0;     // of a rank
  };
  struct InFlight {
    std::uint64_t message = 0;
    std::uint64_t bytes = 0;
    std::uint32_t at = 0;  // rank
    std::uint32_t to = 0;
    bool in_switch = false;  // of the dimension of the next hop
  };

  [[nodiscard]] std::uint32_t place(std::uint32_t rank, const Dimension& d) const {
    return dimensions_.size() == 1 ? rank : rank / d.stride % d.spec.members;
  }
  [[nodiscard]] const Dimension& first_difference(std::uint32_t from, std::uint32_t to) const;
  void hop(std::uint64_t flight);
  void at_hop(std::uint64_t flight);
  void arrive(std::uint64_t message, std::uint64_t after);

  std::vector<Dimension> dimensions_;
  bool aware_;
  Clock& clock_;
  engine::Action arrived_;
  std::uint64_t messages_ = 0;
  std::vector<std::uint64_t> free_at_;  // by link, ns
  std::vector<InFlight> flights_;
  std::vector<std::uint64_t> unused_;  // places in flights_
};

}  // namespace photonrail::astra
