// Plans in steps, as the classic algorithms are described: in a step members send to each other, and each member enters the
// next step when its sends and receives of the step are complete.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace photonrail::collective {

using Runs = std::vector<ChunkRun>;

/// Makes the last run longer where the chunk follows it, and begins another one where it does not.
void append_chunk(Runs& runs, std::uint32_t chunk);

/// The bytes of a run of chunks in a plan for `call`.
[[nodiscard]] Bytes run_bytes(const CollectiveCall& call, std::uint32_t chunk_count, ChunkRun run);

/// Writes a list. A send of a step waits for what both of its ends sent and received in the step that each was in last: a
/// member that a step leaves out does not wait for it.
class StepPlan {
 public:
  /// `call` must outlive the builder.
  StepPlan(const CollectiveCall& call, std::uint32_t chunk_count);

  /// The sends to come are of the next step.
  void step();
  /// The sends to come are of the next step, over other circuits.
  void round();
  /// Nothing is sent when `data` is empty, and nothing of what a demand has no bytes for.
  void send(Member from, Member to, const Runs& data, bool reduce = false);

  [[nodiscard]] std::unique_ptr<const SendPlan> build() &&;

 private:
  [[nodiscard]] Runs wanted(const Runs& data) const;
  void add(Member from, Member to, const Runs& data, bool reduce);

  const CollectiveCall& call_;
  std::uint32_t chunk_count_;
  SendPlanBuilder plan_;
  std::uint32_t round_ = 0;
  bool round_used_ = false;
  std::vector<std::vector<SendIndex>> last_;     ///< by member: of the last step that it was in
  std::vector<std::vector<SendIndex>> present_;  ///< by member: of this step
  std::vector<Member> active_;                   ///< members that have a send in present_
  std::vector<SendIndex> after_;
};

}  // namespace photonrail::collective
