// Sends KV from engine to engine as messages of the job, which take the same way as any others: over rails, circuits and
// controllers.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "photonrail/workload/serving.hpp"
#include "serving/fleet/engine_run.hpp"
#include "serving/fleet/pools.hpp"
#include "serving/fleet/waves.hpp"
#include "serving/requests/live_requests.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::serving {

class Transfers {
 public:
  explicit Transfers(const TransferSpec& spec) : spec_(spec) {}

  /// Bytes of a prompt of so many tokens.
  [[nodiscard]] std::uint64_t bytes(std::uint32_t tokens) const;
  /// ... of which so many go before the prompt is computed.
  [[nodiscard]] std::uint64_t early(std::uint64_t bytes) const {
    return spec_.layers <= 1 ? 0 : bytes / spec_.layers * (spec_.layers - 1);
  }
  /// Messages that their ranks have announced and not entered.
  struct Announced {
    struct Message {
      LaunchId launch;
      RankId from;
      RankId to;
    };
    std::vector<Message> messages;
    std::uint64_t bytes = 0;
    std::uint64_t all = 0;  ///< with those that go after the prompt is computed
  };
  /// As post(), for `all` bytes or the early ones of them, which go later, by enter(): under a policy that provisions
  /// circuits are asked for now.
  [[nodiscard]] Announced announce(std::uint64_t all, bool only_early, const EngineRun& from, const EngineRun& to,
                                   std::uint64_t token, WorkSink& sink) const;
  /// They go now, of the bytes that are unsent.
  void enter(KvTransfer& transfer, const Announced& announced, WorkSink& sink);
  /// Posts `bytes` from the ranks of one engine to those of another; events have `token`.
  void post(KvTransfer& transfer, std::uint64_t bytes, const EngineRun& from, const EngineRun& to, std::uint64_t token,
            WorkSink& sink);
  /// What they take with the network to itself.
  [[nodiscard]] Duration alone(std::uint64_t bytes, const EngineRun& from, const EngineRun& to) const;

  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  TransferSpec spec_;
  std::uint64_t sent_ = 0;
};

}  // namespace photonrail::serving
