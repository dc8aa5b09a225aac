// Collects what differs, place by place.
#pragma once

#include "report/compare.hpp"

#include <map>
#include <string>
#include <string_view>

namespace photonrail::report {

class DifferenceList {
 public:
  /// Two numbers at `place`. Of several at one place the worst is kept.
  void numbers(const std::string& place, double a, double b, bool judged);
  /// Two values that are no numbers, or one that the other side lacks.
  void texts(const std::string& place, std::string_view a, std::string_view b, bool judged);

  [[nodiscard]] Comparison take();

 private:
  /// The place, when this difference is the worst of it so far.
  Difference* count(const std::string& place, bool judged, double relative);

  Comparison comparison_;
  std::map<std::string, std::size_t> at_;  // of each place in comparison_.differences, also of those that are equal
};

}  // namespace photonrail::report
