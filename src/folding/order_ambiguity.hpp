// Where a folded run meets an order that the programs do not determine. Such a run is discarded, and every rank is run.
#pragma once

#include <string>
#include <string_view>

namespace photonrail::folding {

class OrderAmbiguity {
 public:
  /// The first report counts.
  void report(std::string_view why) {
    if (why_.empty()) why_ = why;
  }
  [[nodiscard]] bool found() const { return !why_.empty(); }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

}  // namespace photonrail::folding
