// DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1, figure 5). Stages s and stages - 1 - s do the same with the two
// directions exchanged: `near` is the direction whose micro-batches enter at the nearer end of the pipeline, `far` the
// other.
#include "workload/pipeline/order.hpp"

#include <algorithm>
#include <array>

namespace photonrail::workload {

namespace {

class DualPipe {
 public:
  DualPipe(const PipelineShape& shape, std::uint32_t stage)
      : near_(stage < shape.stages / 2 ? 0 : 1),
        far_(1 - near_),
        per_direction_(shape.micro_batches / 2),
        from_end_(std::min(stage, shape.stages - 1 - stage)),
        from_middle_(shape.stages / 2 - 1 - from_end_),
        main_(per_direction_ - shape.stages + from_end_ + 1) {
    steps_.reserve(std::size_t{3} * shape.micro_batches);
  }

  std::vector<PipelineStep> steps() {
    warm_up();
    steady();
    cool_down();
    return std::move(steps_);
  }

 private:
  void warm_up() {
    for (std::uint32_t i = 0; i < 2 * from_middle_; ++i) forward(near_);
    for (std::uint32_t i = 0; i <= from_end_; ++i) {
      forward(near_);
      forward(far_);
    }
    for (std::uint32_t i = 0; i < from_middle_; ++i) {
      backward_input(far_);
      weight();
      forward(far_);
    }
  }

  void steady() {
    for (std::uint32_t i = 0; i < main_; ++i) {
      // The two middle stages keep their first pair apart: its forward result is waited for.
      const bool apart = i == 0 && from_middle_ == 0;
      forward(near_, !apart);
      backward(far_);
      forward(far_, true);
      backward(near_);
    }
    for (std::uint32_t i = 0; i < from_middle_; ++i) {
      backward(far_);
      forward(far_, true);
      backward(near_);
    }
  }

  // The later half of the backward passes of both directions is split; their weight parts fill the end.
  void cool_down() {
    const std::uint32_t both = 2 * (from_end_ + 1);
    for (std::uint32_t i = 0; i < both; ++i) {
      const std::uint32_t direction = i % 2 == 0 ? far_ : near_;
      if (i > from_end_) {
        backward_input(direction);
      } else {
        backward(direction);
      }
    }
    for (std::uint32_t i = 0; i < from_middle_; ++i) {
      weight();
      backward_input(near_);
    }
    while (weights_done_ < split_.size()) weight();
  }

  void forward(std::uint32_t direction, bool overlaps_next = false) {
    steps_.push_back({PassKind::kForward, number(direction, forwards_[direction]++), direction, overlaps_next});
  }
  void backward(std::uint32_t direction) {
    steps_.push_back({PassKind::kBackward, number(direction, backwards_[direction]++), direction});
  }
  void backward_input(std::uint32_t direction) {
    split_.push_back({PassKind::kBackwardInput, number(direction, backwards_[direction]++), direction});
    steps_.push_back(split_.back());
  }
  void weight() {  // of the oldest split backward pass
    steps_.push_back(split_[weights_done_++]);
    steps_.back().kind = PassKind::kBackwardWeight;
  }
  [[nodiscard]] std::uint32_t number(std::uint32_t direction, std::uint32_t i) const {
    return direction * per_direction_ + i;
  }

  std::uint32_t near_;
  std::uint32_t far_;
  std::uint32_t per_direction_;
  std::uint32_t from_end_;     // stages between this one and the nearer end
  std::uint32_t from_middle_;  // stages between this one and the middle
  std::uint32_t main_;         // rounds of two overlapped pairs
  std::array<std::uint32_t, 2> forwards_{};
  std::array<std::uint32_t, 2> backwards_{};
  std::vector<PipelineStep> split_;  // backward passes whose weight part comes later
  std::size_t weights_done_ = 0;
  std::vector<PipelineStep> steps_;
};

}  // namespace

std::vector<PipelineStep> dualpipe_steps(const PipelineShape& shape, std::uint32_t stage) {
  return DualPipe(shape, stage).steps();
}

}  // namespace photonrail::workload
