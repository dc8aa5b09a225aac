// What a verb is asked to do, known before it begins: what is counted, how many of it, and how long that takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail {

/// Things of one kind that take time.
struct WorkPart {
  std::string what;      ///< in the plural: "failures"
  double count = 0.0;    ///< how many of them
  double seconds = 0.0;  ///< of the processor, all of them, on one core of 2025
  std::string levers{};  ///< keys or options that make it less; may be empty
};

/// An estimate, within a factor of about five of what the processor takes.
struct WorkEstimate {
  std::vector<WorkPart> parts;
  double bytes = 0.0;  ///< of memory at most; 0: not known

  [[nodiscard]] double seconds() const;  ///< of the processor, all parts
  /// The part that takes most; an empty one where there is none.
  [[nodiscard]] WorkPart largest() const;
  /// A part of a kind that is there is added to it.
  void add(const WorkPart& part);
  /// All parts of `other`, so many times; memory is that of the larger.
  void add(const WorkEstimate& other, double times = 1.0);
  /// "failures: 1.2e+09", of the part that takes most, and memory from a gigabyte on.
  [[nodiscard]] std::string in_words() const;
};

/// "3 min", "31 h", "12 days": at least a second, "about" being said before it.
[[nodiscard]] std::string rough_time(double seconds);

/// The time that verbs of the command may take unless the user says otherwise.
inline constexpr double kWorkLimit = 24.0 * 3600.0;

/// Throws ConfigError at `where` that names the work, its time on so many threads, and what would do, where that time is
/// above `limit_s`.
void check_work(const WorkEstimate& work, const std::string& where, double limit_s, std::uint32_t threads = 1);

}  // namespace photonrail
