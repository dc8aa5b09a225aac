// Serves requests on the ranks of a job: engines as launches of computations, KV as messages between their ranks.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "photonrail/workload/serving.hpp"
#include "serving/arrivals.hpp"
#include "serving/engine_run.hpp"
#include "serving/metrics.hpp"
#include "serving/pools.hpp"
#include "serving/transfers.hpp"

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

  /// What the run gave, after it.
  [[nodiscard]] ServingResult result() const;

 private:
  /// A request that has not ended.
  struct Live {
    Offer offer;
    ServedRequest times;
    KvTransfer transfer;
    Slot prefill_slot = 0;
    Slot decode_slot = 0;
    bool routed = false;    // it has a decode engine
    bool reserved = false;  // which has blocks for it
    bool computed = false;  // its prompt is
    bool active = false;    // its KV may go: no other goes before it
  };

  void timer(std::uint64_t token, WorkSink& sink);
  void take_arrivals(WorkSink& sink);
  void arrive(Offer offer);
  [[nodiscard]] Request request_of(const Live& live, std::uint32_t number) const;
  [[nodiscard]] std::uint32_t choose(std::span<const std::uint32_t> engines, RoutePolicy policy, const Request& request,
                                     const EngineRun* from);
  void touch(std::uint32_t engine);
  void gather(WorkSink& sink);
  void begin_step(std::uint32_t engine, WorkSink& sink);
  void note_step(EngineRun& engine, Time now);
  void end_step(std::uint32_t engine, Time now, WorkSink& sink);
  void count_gaps(const EngineRun& engine, const StepEnd& end, Time now);
  void prompt_done(std::uint32_t number, Time now, WorkSink& sink);
  void route_to_decode(std::uint32_t number, Time now);
  void take_inbound(EngineRun& engine, WorkSink& sink);
  void send(std::uint32_t number, WorkSink& sink);
  void post(std::uint32_t number, WorkSink& sink);
  void prompts_end(EngineRun& engine);
  void message_done(std::uint32_t number, Time now, WorkSink& sink);
  void delivered(std::uint32_t number, Time now);
  void complete(std::uint32_t number, Time now, Duration longest_gap);
  void drop(std::uint32_t number, Time now);

  const ServingSpec spec_;
  const bool apart_;
  Source source_;
  Transfers transfers_;
  Metrics metrics_;
  std::vector<EngineRun> engines_;
  std::vector<std::uint32_t> first_engines_;  // that take arrivals
  std::vector<std::uint32_t> decode_engines_;
  std::vector<Live> live_;
  std::vector<std::uint32_t> unused_;
  std::vector<std::uint32_t> touched_;  // engines that may begin a step
  struct Progress {
    Time now{};
    std::optional<Time> next_arrival{};  // that a timer is set for
    bool gathering = false;
    bool over = false;  // the horizon has come
    std::uint64_t turns = 0;
    std::uint64_t transfers = 0;
    Time signals_at = Time::never();
  } progress_;
  std::vector<EngineSignal> signals_;  // as routers know them
  RandomStream routes_;
};

}  // namespace photonrail::serving
