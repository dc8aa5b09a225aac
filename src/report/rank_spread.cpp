#include "report/rank_spread.hpp"

#include "report/output.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace photonrail::report {

using json::Json;

bool has_detection(const RunResult& result) {
  return std::any_of(result.ranks.begin(), result.ranks.end(),
                     [](const RankTime& rank) { return rank.detection > Duration{}; });
}

bool has_idle(const RunResult& result) {
  return std::any_of(result.ranks.begin(), result.ranks.end(), [](const RankTime& rank) { return rank.idle > Duration{}; });
}

namespace {

struct RankSpan {
  Duration least{};
  Duration median{};
  Duration most{};
};

constexpr auto kSpan =
    outputs<RankSpan>({key<&RankSpan::least>("least", "Seconds."),
                       key<&RankSpan::median>("median", "Of an even number the lower of the two in the middle."),
                       key<&RankSpan::most>("most", "Seconds.")},
                      true);

template <Duration RankTime::*Part>
std::optional<RankSpan> span_of(const RunResult& result) {
  if (result.ranks.empty()) return std::nullopt;
  if (Part == &RankTime::detection && !has_detection(result)) return std::nullopt;
  if (Part == &RankTime::idle && !has_idle(result)) return std::nullopt;
  std::vector<Duration> times;
  times.reserve(result.ranks.size());
  for (const RankTime& rank : result.ranks) times.push_back(rank.*Part);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return RankSpan{*std::min_element(times.begin(), middle + 1), *middle, *std::max_element(middle, times.end())};
}

constexpr auto kSpans = outputs<RunResult>(
    {object<kSpan, span_of<&RankTime::compute>>("compute", "As in `per_rank_mean_s`.").always(),
     object<kSpan, span_of<&RankTime::exposed_communication>>("exposed_communication", "Likewise.").always(),
     object<kSpan, span_of<&RankTime::reconfiguration_wait>>("reconfiguration_wait", "Likewise.").always(),
     object<kSpan, span_of<&RankTime::peer_wait>>("peer_wait", "Likewise.").always(),
     object<kSpan, span_of<&RankTime::detection>>("detection", "Likewise, where it is there."),
     object<kSpan, span_of<&RankTime::idle>>("idle", "Likewise, where it is there.")});

}  // namespace

const fields::Section kRankSpreadKeys = kKeysOf<kSpans>;

Json rank_spread_json(const RunResult& result) { return written<kSpans>(result); }

}  // namespace photonrail::report
