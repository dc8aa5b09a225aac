// Results out: JSON, a table for people, a timeline for Perfetto.
#pragma once

#include "photonrail/observer.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// `photonrail.result/1`, keys in a fixed order.
[[nodiscard]] std::string to_json(const RunResult& result);

/// Runs side by side: step time, where it goes, reconfigurations and how much was hidden, traffic by dimension.
/// `colour`: with terminal colours. `width`: columns of the terminal; fewer than 60 count as 60.
[[nodiscard]] std::string to_table(std::span<const RunResult> results, bool colour = false, int width = 100);

/// For people, four significant digits and a unit: "1.234 ms"; "16.78 MB", in powers of 1000.
[[nodiscard]] std::string to_text(Duration d);
[[nodiscard]] std::string to_text(Bytes b);

/// Writes `text` to `file` by way of a temporary file beside it, so that `file` is the old one or complete; a device or
/// pipe is written directly. Throws ConfigError when it cannot.
void write_file(const std::filesystem::path& file, std::string_view text);

/// A timeline in Chrome's trace format, which Perfetto opens: a track per rank stream, a track per OCS port that shows
/// lit, switching and the group it serves. Give it to simulate() as an observer, then write(). It keeps what it needs of
/// the scenario. Of a run that failed it shows what happened until then.
class TraceWriter : public Observer {
 public:
  /// Holds what of a run the timeline shows.
  struct Options {
    std::vector<RankId> ranks;  ///< whose streams are shown; empty: all. Rails are always shown
  };

  explicit TraceWriter(Options options = {});
  ~TraceWriter() override;

  void begin(const Scenario& scenario) override;
  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void circuit(const CircuitEvent& event) override;
  void communicator(CommunicatorId id, const Communicator& group) override;
  void launched(const LaunchEvent& event) override;
  void launch_done(const LaunchEvent& event) override;
  void end(Time makespan) override;

  /// Shows the requests that ended in the run, or in its job of this name, each by its number. Call it before write().
  void served(const ServingResult& result, std::string_view job = {});
  /// Throws ConfigError when the file cannot be written.
  void write(const std::filesystem::path& file) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace photonrail
