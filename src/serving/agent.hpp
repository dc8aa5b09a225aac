// Serves requests on the ranks of a job: engines as launches of computations, KV as messages between their ranks.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "photonrail/workload/serving.hpp"
#include "serving/fleet/fleet.hpp"
#include "serving/kv/handover.hpp"
#include "serving/serving_state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::serving {

class ServingAgent : public WorkloadAgent {
 public:
  explicit ServingAgent(const ServingSpec& spec);

  void on(const WorkEvent& event, WorkSink& sink) final;
  [[nodiscard]] bool finished() const final;
  [[nodiscard]] std::vector<std::string> waiting() const final;
  [[nodiscard]] std::vector<std::string> kinds() const final;
  [[nodiscard]] bool announces() const final { return spec_.apart() && spec_.transfer.open_at_prefill; }

  /// Requests that finished or were refused, of so many.
  [[nodiscard]] std::uint64_t ended() const { return state_.metrics.ended(); }
  [[nodiscard]] std::uint64_t requests() const { return source_.requests(); }
  /// What the run gave, after it.
  [[nodiscard]] ServingResult result() const;

 private:
  void timer(std::uint64_t token, WorkSink& sink);
  void launch_done(std::uint64_t token, WorkSink& sink);
  void gather(WorkSink& sink);
  void arrive(Offer offer);
  void begin(std::uint32_t number);
  void begin_again(std::uint32_t number);
  void begin_stranded();
  [[nodiscard]] Request first_request(std::uint32_t number) const;
  [[nodiscard]] bool can_ever_run(const Request& request, const Request& first) const;
  [[nodiscard]] bool sheds(const Offer& offer, const EngineRun& engine) const;
  void begin_step(std::uint32_t engine, WorkSink& sink);
  void note_step(EngineRun& engine);
  void end_step(std::uint32_t engine, WorkSink& sink);
  void count_gaps(const EngineRun& engine, const StepEnd& end);
  void token_after_move(std::uint32_t number);
  void prompt_done(std::uint32_t number, WorkSink& sink);
  void complete(std::uint32_t number, Duration longest_gap);
  void drop(std::uint32_t number);
  [[nodiscard]] std::size_t whose_kv_goes(std::uint32_t engine) const;

  const ServingSpec spec_;
  Source source_;
  ServingState state_;
  Handover handover_;
  Fleet fleet_;
  std::vector<std::uint32_t> stranded_;  // no engine takes requests
  struct Progress {
    std::optional<Time> next_arrival{};  // that a timer is set for
    bool gathering = false;
    bool over = false;  // the horizon has come
  } progress_;
};

}  // namespace photonrail::serving
