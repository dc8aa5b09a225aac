#include "collective/steps.hpp"

#include "collective/uniform_plan.hpp"

#include <algorithm>

namespace photonrail::collective {

namespace {

/// The first `parts` of `total` cut into `of`: see share().
std::int64_t first_shares(Bytes total, std::int64_t of, std::int64_t parts) {
  return total.count / of * parts + std::min(total.count % of, parts);
}

}  // namespace

void append_chunk(Runs& runs, std::uint32_t chunk) {
  if (!runs.empty() && runs.back().first + runs.back().count == chunk) {
    ++runs.back().count;
  } else {
    runs.push_back({chunk, 1});
  }
}

Bytes run_bytes(const CollectiveCall& call, std::uint32_t chunk_count, ChunkRun run) {
  switch (call.op) {
    case CollectiveOp::kAllReduce:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kScatter:
    case CollectiveOp::kReduce:
    case CollectiveOp::kBroadcast:
      return {first_shares(call.size, chunk_count, std::int64_t{run.first} + run.count) -
              first_shares(call.size, chunk_count, run.first)};
    default: {
      Bytes sum{};
      for (std::uint32_t c = 0; c < run.count; ++c) sum += chunk_bytes(call, chunk_count, run.first + c);
      return sum;
    }
  }
}

StepPlan::StepPlan(const CollectiveCall& call, std::uint32_t chunk_count)
    : call_(call),
      chunk_count_(chunk_count),
      plan_(call.members, chunk_count),
      last_(call.members),
      present_(call.members) {}

void StepPlan::step() {
  for (const Member m : active_) {
    last_[m].swap(present_[m]);
    present_[m].clear();
  }
  active_.clear();
}

void StepPlan::round() {
  step();
  if (round_used_) ++round_;
  round_used_ = false;
}

Runs StepPlan::wanted(const Runs& data) const {
  Runs kept;
  for (const ChunkRun& run : data) {
    for (std::uint32_t c = run.first; c < run.first + run.count; ++c) {
      if (chunk_bytes(call_, chunk_count_, c) > Bytes{}) kept.push_back({c, 1});
    }
  }
  return kept;
}

void StepPlan::send(Member from, Member to, const Runs& data, bool reduce) {
  if (call_.demand != nullptr) {
    add(from, to, wanted(data), reduce);
  } else {
    add(from, to, data, reduce);
  }
}

void StepPlan::add(Member from, Member to, const Runs& data, bool reduce) {
  if (data.empty()) return;
  Bytes bytes{};
  for (const ChunkRun& run : data) bytes += run_bytes(call_, chunk_count_, run);
  after_ = last_[from];
  after_.insert(after_.end(), last_[to].begin(), last_[to].end());
  std::sort(after_.begin(), after_.end());
  after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
  const SendIndex i = plan_.add({.from = from,
                                 .to = to,
                                 .bytes = bytes,
                                 .first_chunk = data.front().first,
                                 .chunks = data.front().count,
                                 .round = round_,
                                 .reduce = reduce},
                                after_, {data.begin() + 1, data.end()});
  for (const Member m : {from, to}) {
    if (present_[m].empty()) active_.push_back(m);
    present_[m].push_back(i);
  }
  round_used_ = true;
}

std::unique_ptr<const SendPlan> StepPlan::build() && { return std::move(plan_).build(); }

}  // namespace photonrail::collective
