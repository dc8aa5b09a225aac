#include "photonrail/core/work.hpp"

#include "core/printed.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail {

namespace {

// Whole where it is small enough to be read, else three digits.
std::string rounded_count(double count) { return core::printed(count < 1e6 ? "%.0f" : "%.3g", count); }

std::string with_unit(double value, const char* unit) { return rounded_count(std::max(1.0, std::round(value))) + unit; }

}  // namespace

double WorkEstimate::seconds() const {
  double sum = 0.0;
  for (const WorkPart& part : parts) sum += part.seconds;
  return sum;
}

WorkPart WorkEstimate::largest() const {
  const auto found =
      std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return found == parts.end() ? WorkPart{} : *found;
}

void WorkEstimate::add(const WorkPart& part) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& own) { return own.what == part.what; });
  if (found == parts.end()) return parts.push_back(part);
  found->count += part.count;
  found->seconds += part.seconds;
}

void WorkEstimate::add(const WorkEstimate& other, double times) {
  for (const WorkPart& part : other.parts) add({part.what, part.count * times, part.seconds * times, part.levers});
  bytes = std::max(bytes, other.bytes);
}

std::string WorkEstimate::in_words() const {
  constexpr double kGigabyte = 1e9;
  const WorkPart most = largest();
  std::string text = most.what + ": " + rounded_count(most.count);
  if (bytes >= kGigabyte) text += ", memory: up to " + with_unit(bytes / kGigabyte, " GB");
  return text;
}

std::string rough_time(double seconds) {
  constexpr double kMinute = 60.0;
  constexpr double kHour = 3600.0;
  constexpr double kDay = 24 * kHour;
  constexpr double kYear = 365.25 * kDay;
  if (seconds < 90.0) return with_unit(seconds, " s");
  if (seconds < 90.0 * kMinute) return with_unit(seconds / kMinute, " min");
  if (seconds < 48.0 * kHour) return with_unit(seconds / kHour, " h");
  if (seconds < 2.0 * kYear) return with_unit(seconds / kDay, " days");
  return with_unit(seconds / kYear, " years");
}

void check_work(const WorkEstimate& work, const std::string& where, double limit_s, std::uint32_t threads) {
  const double seconds = work.seconds() / std::max(1U, threads);
  if (!(seconds > limit_s)) return;
  const std::string levers = work.largest().levers;
  throw ConfigError(where,
                    "would take about " + rough_time(seconds) + " (" + work.in_words() + "), more than the limit of " +
                        rough_time(limit_s),
                    "raise --work-limit" + (levers.empty() ? "" : ", or make less of it: " + levers));
}

}  // namespace photonrail
