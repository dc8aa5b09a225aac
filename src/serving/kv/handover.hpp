// Brings the KV of a prompt from the engine that computed it to one that decodes.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "serving/kv/transfers.hpp"
#include "serving/serving_state.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace photonrail::serving {

class Handover {
 public:
  explicit Handover(ServingState& state) : state_(&state), transfers_(state.spec.transfer) {}

  /// A step began: with TransferSpec::open_at_prefill the KV of prompts that it begins gets its engine and is announced.
  void prompts_begin(EngineRun& engine, WorkSink& sink);
  /// A step began: with TransferSpec::When::kLayerByLayer the KV of prompts that it ends begins to go.
  void prompts_end(EngineRun& engine);
  /// The prompt is computed.
  void prompt_done(std::uint32_t number, WorkSink& sink);
  /// Gives blocks to requests whose KV is to come, in the order in which they came: the first that gets none holds up the
  /// others.
  void take_inbound(EngineRun& engine, WorkSink& sink);
  /// A message of a request ended; `attempt` is the one that it was posted in.
  void message_done(std::uint32_t number, std::uint32_t attempt, WorkSink& sink);
  /// One of its engines has failed, or both: what is on its way comes to nothing.
  void withdraw(std::uint32_t number, WorkSink& sink);
  /// It gets another decode engine, where its prompt is computed.
  void route_again(std::uint32_t number);
  /// The run is over: what was announced goes, as no launch may stay open.
  void enter_announced(WorkSink& sink);
  /// A decode engine is there again: requests that found none are routed.
  void route_stranded();

  [[nodiscard]] std::uint64_t bytes_sent() const { return transfers_.sent(); }
  /// ... and not, since the decode engine had them.
  [[nodiscard]] std::uint64_t bytes_found() const { return found_; }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  /// Requests that found no decode engine.
  [[nodiscard]] std::size_t stranded() const { return stranded_.size(); }

 private:
  [[nodiscard]] bool choose(std::uint32_t number);
  void route(std::uint32_t number);
  [[nodiscard]] std::uint64_t lacking(std::uint32_t number, std::uint32_t found) const;
  [[nodiscard]] bool is_only_token(const LiveRequest& live) const;
  void enter_announced(std::uint32_t number, WorkSink& sink);
  [[nodiscard]] std::uint64_t token(std::uint32_t number) const;
  void send(std::uint32_t number, WorkSink& sink);
  void post(std::uint32_t number, WorkSink& sink);
  void deliver(std::uint32_t number);
  void leave_outbox(std::uint32_t number, WorkSink& sink);
  [[nodiscard]] bool first_at_prefill() const { return state_->spec.transfer.first_token_at_prefill; }

  ServingState* state_;
  Transfers transfers_;
  std::uint64_t delivered_ = 0;
  std::uint64_t found_ = 0;                                  // bytes
  std::vector<std::uint32_t> stranded_;                      // computed, and no decode engine takes requests
  std::map<std::uint32_t, Transfers::Announced> announced_;  // by request
};

}  // namespace photonrail::serving
