#include "rl/schedule.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::rl {

void ModeSpec::validate() const {
  using core::field;
  require(batch > 0, field("batch"), "must be at least 1");
  require(steps > 0, field("steps"), "must be at least 1");
  require(ahead >= 0.0 && ahead <= 1000.0, field("ahead"), "must be from 0 to 1000");
  require(!shared || ahead == 0.0, field("shared"),
          "leaves generation no GPUs of its own, but the mode generates beside training",
          "remove it, or use the mode \"on_policy\"");
  require(std::ceil(ahead) <= oldest, field("oldest"),
          "of " + core::counted(oldest, "version") + " drops samples that are begun " +
              core::counted(static_cast<std::uint64_t>(std::ceil(ahead)), "version") + " ahead: training starves",
          "raise it to that, or lower {ahead}");
}

std::uint64_t Schedule::may_begin() const {
  if (refitting_ || (mode_.shared && training_)) return 0;
  const double due = static_cast<double>(mode_.batch) * (engines_ + 1.0 + mode_.ahead);
  const double all = static_cast<double>(mode_.batch) * mode_.steps;
  const double most = std::floor(std::min(due, all)) + static_cast<double>(dropped_);
  if (most <= static_cast<double>(begun_)) return 0;
  const std::uint64_t left = static_cast<std::uint64_t>(most) - begun_;
  if (mode_.partial) return left;
  return in_flight() > 0 ? 0 : std::min<std::uint64_t>(left, mode_.batch);
}

std::uint64_t Schedule::begin(std::uint64_t samples) {
  PHOTONRAIL_CHECK(samples > 0 && samples <= may_begin());
  version_of_.resize(begun_ + samples, engines_);
  begun_ += samples;
  return begun_ - samples;
}

void Schedule::complete(std::uint64_t sample) {
  ++complete_;
  queue_.insert(mode_.in_order ? std::lower_bound(queue_.begin(), queue_.end(), sample) : queue_.end(), sample);
}

std::uint64_t Schedule::fresh() const {
  return static_cast<std::uint64_t>(
      std::count_if(queue_.begin(), queue_.end(), [this](std::uint64_t s) { return !too_old(s); }));
}

// On shared GPUs the whole batch is there when no sample is in flight.
bool Schedule::may_train() const {
  if (training_ || refitting_ || trained_ >= mode_.steps || queue_.size() < mode_.batch) return false;
  if (mode_.shared && in_flight() > 0) return false;
  return mode_.in_order ? first_are_complete() : fresh() >= mode_.batch;
}

// No sample before the last of them is in flight.
bool Schedule::first_are_complete() const {
  std::uint32_t found = 0;
  for (std::uint64_t i = 0; found < mode_.batch; ++i) {
    if (i == queue_.size() || queue_[i] != taken_ + i) return false;
    found += too_old(queue_[i]) ? 0 : 1;
  }
  return true;
}

TakenBatch Schedule::train() {
  PHOTONRAIL_CHECK(may_train());
  TakenBatch taken;
  while (taken.samples.size() < mode_.batch) {
    const std::uint64_t sample = queue_.front();
    queue_.pop_front();
    ++taken_;
    if (too_old(sample)) {
      ++taken.dropped;
      continue;
    }
    taken.samples.push_back(sample);
    taken.staleness.push_back(trained_ - version_of_[sample]);
  }
  dropped_ += taken.dropped;
  training_ = true;
  return taken;
}

void Schedule::trained() {
  PHOTONRAIL_CHECK(training_);
  training_ = false;
  ++trained_;
}

// The weights of the last step go to the engines too: the next job generates with them.
bool Schedule::may_refit() const {
  return !refitting_ && engines_ < trained_ && (mode_.partial || in_flight() == 0) && !(mode_.shared && training_);
}

void Schedule::refit() {
  PHOTONRAIL_CHECK(may_refit());
  refitting_ = true;
  sent_ = trained_;
}

void Schedule::refitted() {
  PHOTONRAIL_CHECK(refitting_);
  refitting_ = false;
  engines_ = sent_;
}

}  // namespace photonrail::rl
