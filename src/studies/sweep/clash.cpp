#include "studies/sweep/clash.hpp"

#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "studies/sweep/axis.hpp"

#include <algorithm>
#include <string_view>

namespace photonrail::sweep {

namespace {

bool is_below(std::string_view pointer, std::string_view above) {
  return pointer.size() > above.size() && pointer.starts_with(above) && pointer[above.size()] == '/';
}

// Also the same duration in another unit.
bool is_same(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::string_view stem = json::stem_of_duration(a);
  return !stem.empty() && stem == json::stem_of_duration(b);
}

std::string shown(const Override& set) {
  constexpr std::size_t kMaxValue = 40;
  const std::string value = set.value.size() <= kMaxValue ? set.value : set.value.substr(0, kMaxValue) + "...";
  return set.pointer + " to " + value;
}

}  // namespace

bool overwrites(const Override& later, const Override& earlier) {
  if (is_same(later.pointer, earlier.pointer) || is_below(earlier.pointer, later.pointer)) return true;
  if (!is_below(later.pointer, earlier.pointer)) return false;
  const auto value = json::parse_if_json(earlier.value);
  if (!value || !(value->is_object() || value->is_array())) return true;  // nothing can be below what is no object
  return json::find_at(*value, later.pointer.substr(earlier.pointer.size())) != nullptr;
}

const Override* overwritten(std::span<const Override> set, const Override& later) {
  const auto found =
      std::find_if(set.begin(), set.end(), [&](const Override& earlier) { return overwrites(later, earlier); });
  return found == set.end() ? nullptr : &*found;
}

std::string clash_text(const Override& later, const Override& earlier) {
  return "sets " + shown(later) + " where another parameter has set " + shown(earlier) +
         ": a row would say what did not run";
}

}  // namespace photonrail::sweep
