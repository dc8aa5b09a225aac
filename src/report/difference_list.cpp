#include "report/difference_list.hpp"

#include "core/counted.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace photonrail::report {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double relative(double a, double b) {
  if (a == b) return 0.0;
  return a == 0.0 ? std::copysign(kInfinite, b) : (b - a) / std::abs(a);
}

}  // namespace

void DifferenceList::numbers(const std::string& place, double a, double b, bool judged) {
  if (Difference* worst = count(place, judged, relative(a, b))) {
    worst->before = number("%.9g", a);
    worst->after = number("%.9g", b);
  }
}

void DifferenceList::texts(const std::string& place, std::string_view a, std::string_view b, bool judged) {
  if (Difference* worst = count(place, judged, a == b ? 0.0 : kInfinite)) {
    worst->before = a;
    worst->after = b;
  }
}

Difference* DifferenceList::count(const std::string& place, bool judged, double relative) {
  ++comparison_.values;
  const auto [found, first] = at_.try_emplace(place, comparison_.differences.size());
  if (first) comparison_.differences.push_back({place, {}, {}, 0.0, 0, 0, judged});
  Difference& d = comparison_.differences[found->second];
  ++d.of;
  if (relative == 0.0) return nullptr;
  if (d.values++ > 0 && std::abs(relative) <= std::abs(d.relative)) return nullptr;
  d.relative = relative;
  return &d;
}

Comparison DifferenceList::take() {
  std::erase_if(comparison_.differences, [](const Difference& d) { return d.values == 0; });
  return std::move(comparison_);
}

namespace {

bool is_beyond(const Difference& d, double tolerance) { return d.judged && std::abs(d.relative) > tolerance; }

std::string change_of(const Difference& d) {
  std::string text = std::isinf(d.relative) ? "other" : number("%+.4g %%", 100.0 * d.relative);
  if (d.of > 1) text += " (" + std::to_string(d.values) + " of " + std::to_string(d.of) + ")";
  return text;
}

// The widest of one of the columns of a table, at least 1.
template <typename Text>
std::size_t widest(const std::vector<Difference>& differences, Text text) {
  std::size_t width = 1;
  for (const Difference& d : differences) width = std::max(width, columns(text(d)));
  return width;
}

}  // namespace

bool Comparison::beyond(double tolerance) const {
  return std::any_of(differences.begin(), differences.end(), [&](const Difference& d) { return is_beyond(d, tolerance); });
}

std::string to_table(const Comparison& comparison, double tolerance) {
  constexpr std::size_t kMaxValue = 14;
  const std::vector<Difference>& all = comparison.differences;
  const std::size_t value = std::max(widest(all, [](const Difference& d) { return fit(d.before, kMaxValue); }),
                                     widest(all, [](const Difference& d) { return fit(d.after, kMaxValue); }));
  const std::size_t change = std::max(std::size_t{6}, widest(all, change_of));
  const std::size_t room = kTerminalColumns - (2 + 3 * 2 + 2 * value + change);
  const std::size_t place = std::min(room, widest(all, [](const Difference& d) { return d.place; }));
  std::string text;
  if (!all.empty()) {
    text += "  " + pad_right("", place) + "  " + pad_left("A", value) + "  " + pad_left("B", value) + "  change\n";
  }
  std::size_t beyond = 0;
  for (const Difference& d : all) {
    const bool marked = is_beyond(d, tolerance);
    beyond += marked ? 1 : 0;
    text += std::string(marked     ? "! "
                        : d.judged ? "  "
                                   : "~ ") +
            pad_right(fit(d.place, place), place) + "  " + pad_left(fit(d.before, kMaxValue), value) + "  " +
            pad_left(fit(d.after, kMaxValue), value) + "  " + change_of(d) + "\n";
  }
  return text + core::counted(comparison.values, "value") + ", " + std::to_string(comparison.differences.size()) +
         " places differ, " + std::to_string(beyond) + " beyond " + number("%g", 100.0 * tolerance) +
         " % (!); ~: not judged; (1 of 2): the worst of those at a place\n";
}

}  // namespace photonrail::report
