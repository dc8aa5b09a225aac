#include "serving/requests/live_requests.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::serving {

std::uint32_t LiveRequests::add(Offer offer) {
  if (unused_.empty()) {
    PHOTONRAIL_CHECK(requests_.size() < (std::size_t{1} << kBits));
    unused_.push_back(static_cast<std::uint32_t>(requests_.size()));
    requests_.emplace_back();
  }
  const std::uint32_t number = unused_.back();
  unused_.pop_back();
  Entry& entry = requests_[number];
  entry.lives = true;
  ++entry.attempt;
  entry.request = LiveRequest{};
  ServedRequest& times = entry.request.times;
  times.number = offer.number;
  times.arrival = offer.at;
  times.prompt = offer.prompt;
  times.output = offer.output;
  times.request_class = offer.request_class;
  entry.request.offer = std::move(offer);
  return number;
}

void LiveRequests::remove(std::uint32_t number) {
  requests_[number].lives = false;
  unused_.push_back(number);
}

std::vector<std::uint32_t> LiveRequests::all_placed() const {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < requests_.size(); ++number) {
    if (requests_[number].lives && requests_[number].request.placed) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end(), [this](std::uint32_t a, std::uint32_t b) {
    return requests_[a].request.offer.number < requests_[b].request.offer.number;
  });
  return numbers;
}

}  // namespace photonrail::serving
