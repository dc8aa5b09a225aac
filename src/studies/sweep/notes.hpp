// Notes of a whole sweep: which settings have no effect at which of its points, and which values of a parameter coincide.
#pragma once

#include "photonrail/study/explanation.hpp"
#include "studies/sweep/manifest.hpp"
#include "studies/sweep/record.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// The metrics that say which notes a run has: "note." and the id, with the note's number.
inline constexpr const char* kNoteMetric = "note.";

/// Is given all records, in any order.
class SweepNotes {
 public:
  /// `manifest` must outlive the object.
  explicit SweepNotes(const Manifest& manifest) : manifest_(manifest), codes_(manifest.parameters.size()) {}

  void add(const Record& record);
  /// Notes of points, by id; what they took where that was long; then parameters of which two values or more take the same
  /// time wherever both were run.
  [[nodiscard]] std::vector<Note> all() const;

 private:
  struct Kind {
    std::uint64_t points = 0;
    std::string first;
    double least = 0.0;
    double most = 0.0;
  };
  /// A point that was simulated.
  struct Timed {
    std::vector<std::uint32_t> values;  // by parameter: a code; 0: its axis is absent
    double step_s = 0.0;
    double makespan_s = 0.0;
    std::vector<double> answers;  // of months, served requests and reinforcement learning
    bool switches = false;
    bool waits = false;  // for circuits
    std::vector<std::string> notes;
  };
  [[nodiscard]] Note note_of(const std::string& id, const Kind& kind) const;
  void add_time(std::vector<Note>& notes) const;
  void add_coincidences(std::size_t parameter, std::vector<Note>& notes) const;
  [[nodiscard]] std::string reason(std::size_t parameter, const std::vector<std::uint32_t>& values) const;

  const Manifest& manifest_;
  std::uint64_t points_ = 0;
  double seconds_ = 0.0;  // of all points, and of the longest
  double longest_s_ = 0.0;
  std::string longest_;
  std::map<std::string, Kind> kinds_;  // by id
  std::vector<std::map<std::string, std::uint32_t>> codes_;
  std::vector<Timed> timed_;
};

/// notes.json: what the notes of the sweep are now, for the page and for Python.
void write_notes(const std::filesystem::path& directory, const std::vector<Note>& notes);

}  // namespace photonrail::sweep
