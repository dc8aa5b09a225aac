// Quantiles of lengths of time.
#include "photonrail/core/durations.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace photonrail {

namespace {

constexpr int kBits = 6;  // a length has 2^6 buckets for each power of two
constexpr std::uint64_t kSteps = std::uint64_t{1} << kBits;

std::size_t bucket_of(std::uint64_t length) {
  if (length < kSteps) return length;
  const int shift = static_cast<int>(std::bit_width(length)) - 1 - kBits;
  return static_cast<std::size_t>(shift + 1) * kSteps + ((length >> shift) - kSteps);
}

/// The greatest length in the bucket.
std::uint64_t end_of(std::size_t bucket) {
  if (bucket < kSteps) return bucket;
  const std::size_t shift = bucket / kSteps - 1;
  return ((kSteps + bucket % kSteps + 1) << shift) - 1;
}

}  // namespace

void DurationHistogram::add(Duration length, std::uint64_t copies) {
  PHOTONRAIL_CHECK(length >= Duration{});
  if (copies == 0) return;
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(length.count()));
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += copies;
  least_ = count_ == 0 ? length : std::min(least_, length);
  greatest_ = std::max(greatest_, length);
  count_ += copies;
}

void DurationHistogram::merge(const DurationHistogram& other) {
  if (other.count_ == 0) return;
  buckets_.resize(std::max(buckets_.size(), other.buckets_.size()));
  for (std::size_t b = 0; b < other.buckets_.size(); ++b) buckets_[b] += other.buckets_[b];
  least_ = count_ == 0 ? other.least_ : std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
  count_ += other.count_;
}

void DurationHistogram::add_growth(const DurationHistogram& before, std::uint64_t times) {
  PHOTONRAIL_CHECK(before.buckets_.size() <= buckets_.size());
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const std::uint64_t old = b < before.buckets_.size() ? before.buckets_[b] : 0;
    PHOTONRAIL_CHECK(old <= buckets_[b]);
    buckets_[b] += (buckets_[b] - old) * times;
  }
  count_ += (count_ - before.count_) * times;
}

Duration DurationHistogram::quantile(double p) const {
  PHOTONRAIL_CHECK(count_ > 0);
  if (p <= 0.0) return least_;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(p * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    seen += buckets_[b];
    if (seen >= wanted) return std::clamp(Duration{static_cast<std::int64_t>(end_of(b))}, least_, greatest_);
  }
  return greatest_;
}

}  // namespace photonrail
