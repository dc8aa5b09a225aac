#include "serving/requests/metrics.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail {

std::string_view name(TtftPart part) {
  constexpr std::string_view kNames[] = {"queue",    "prefill",      "block_wait",  "circuit_wait",
                                         "transfer", "decode_queue", "first_decode"};
  return kNames[static_cast<std::size_t>(part)];
}

double ServingResult::output_tokens_per_s() const {
  return makespan > Duration{} ? static_cast<double>(output_tokens) / to_seconds(makespan) : 0.0;
}

double ServingResult::requests_per_s() const {
  return makespan > Duration{} ? static_cast<double>(finished) / to_seconds(makespan) : 0.0;
}

namespace serving {

void TimeSamples::add(Duration time, std::uint64_t copies) {
  if (copies == 0) return;
  count_ += copies;
  total_ += LongTime(time).times(static_cast<std::int64_t>(copies));
  most_ = std::max(most_, time);
  if (exact() && count_ <= most_exact_) {
    all_.insert(all_.end(), copies, time);
    return;
  }
  for (const Duration earlier : all_) histogram_.add(earlier);
  all_.clear();
  all_.shrink_to_fit();
  histogram_.add(time, copies);
}

// By halving: a sum of hours has more digits than a floating-point number.
Duration TimeSamples::mean() const {
  std::int64_t least = 0;
  std::int64_t greatest = most_.count();
  while (least < greatest) {
    const std::int64_t middle = least + (greatest - least + 1) / 2;
    if (LongTime(Duration{middle}).times(static_cast<std::int64_t>(count_)) <= total_) {
      least = middle;
    } else {
      greatest = middle - 1;
    }
  }
  return Duration{least};
}

TimeSummary TimeSamples::summary() const {
  TimeSummary summary;
  summary.count = count_;
  if (count_ == 0) return summary;
  summary.mean = mean();
  std::vector<Duration> sorted = all_;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double p) {
    if (!exact()) return histogram_.quantile(p);
    const double rank = std::ceil(p * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  summary.p50 = quantile(0.5);
  summary.p90 = quantile(0.9);
  summary.p95 = quantile(0.95);
  summary.p99 = quantile(0.99);
  summary.most = most_;
  return summary;
}

std::array<Duration, kTtftPartCount> ttft_parts(const ServedRequest& r) {
  std::array<Duration, kTtftPartCount> parts{};
  const auto part = [&parts](TtftPart p) -> Duration& { return parts[static_cast<std::size_t>(p)]; };
  part(TtftPart::kQueue) = r.scheduled - r.arrival;
  if (r.delivered == Time::never() || r.first <= r.prefilled) {  // nothing was sent before its first token
    part(TtftPart::kPrefill) = r.first - r.scheduled;
    return parts;
  }
  part(TtftPart::kPrefill) = r.prefilled - r.scheduled;
  const Time may_go = std::max(r.sent, r.prefilled);
  const Time there = std::max(r.delivered, r.prefilled);
  part(TtftPart::kBlockWait) = may_go - r.prefilled;
  part(TtftPart::kTransfer) = std::min(r.wire, there - may_go);
  part(TtftPart::kCircuitWait) = there - may_go - part(TtftPart::kTransfer);
  part(TtftPart::kDecodeQueue) = r.decoding - there;
  part(TtftPart::kFirstDecode) = r.first - r.decoding;
  return parts;
}

namespace {

bool within(const SloSpec& slo, Duration ttft, Duration tpot) {
  return (!slo.ttft || ttft <= *slo.ttft) && (!slo.tpot || tpot <= *slo.tpot);
}

}  // namespace

Metrics::Metrics(const std::optional<SloSpec>& slo, std::uint64_t warm_up, const std::vector<RequestClass>& classes)
    : slo_(slo), warm_up_(warm_up) {
  for (const RequestClass& of : classes) {
    SloSpec limits = slo.value_or(SloSpec{});
    if (of.ttft) limits.ttft = of.ttft;
    if (of.tpot) limits.tpot = of.tpot;
    classes_.push_back({limits});
    result_.classes.emplace_back().name = of.name;
  }
}

// An answer that another engine goes on with begins where it decodes: its tokens come at the pace of that engine.
void Metrics::Answers::add(const ServedRequest& request) {
  const Time begins = request.decoding == Time::never() ? request.first : std::max(request.first, request.decoding);
  if (begins > last_begins) of_last = {};
  last_begins = std::max(last_begins, begins);
  for (Amount* const amount : {&all, begins == last_begins ? &of_last : nullptr}) {
    if (amount == nullptr) continue;
    ++amount->requests;
    amount->tokens += request.output;
  }
}

// Where all answers begin at once nothing is steady: then it is over the makespan.
double Metrics::Answers::per_s(std::uint64_t Amount::*what, Duration makespan) const {
  const Duration span = from < last_begins ? last_begins - from : Duration{};
  if (span > Duration{} && all.requests > of_last.requests)
    return static_cast<double>(all.*what - of_last.*what) / to_seconds(span);
  return makespan > Duration{} ? static_cast<double>(all.*what) / to_seconds(makespan) : 0.0;
}

void Metrics::offered(const Offer& offer) {
  if (offer.number >= warm_up_) answers_.from = std::min(answers_.from, offer.at);
  if (classes_.empty()) return;
  ++result_.classes[offer.request_class].offered;
  if (offer.number >= warm_up_) ++classes_[offer.request_class].counted;
}

void Metrics::refused(const Offer& offer) {
  ++result_.refused;
  if (!classes_.empty()) ++result_.classes[offer.request_class].refused;
}

void Metrics::finished_of_class(const ServedRequest& request, Duration ttft, Duration tpot) {
  OfClass& of = classes_[request.request_class];
  of.ttft.add(ttft);
  if (request.output > 1) of.tpot.add(tpot);
  if (within(of.slo, ttft, tpot)) ++of.good;
}

void Metrics::finished(const ServedRequest& request) {
  ++result_.finished;
  result_.prompt_tokens += request.prompt;
  result_.output_tokens += request.output;
  result_.restarts += request.restarts;
  if (!classes_.empty()) ++result_.classes[request.request_class].finished;
  if (result_.requests.size() < kMaxServedRows) result_.requests.push_back(request);
  if (request.number < warm_up_) return;
  answers_.add(request);
  const Duration ttft = request.first - request.arrival;
  ttft_.add(ttft);
  e2e_.add(request.last - request.arrival);
  Duration tpot{};
  if (request.output > 1) {
    tpot = (request.last - request.first) / static_cast<std::int64_t>(request.output - 1);
    tpot_.add(tpot);
  }
  const auto parts = ttft_parts(request);
  Duration sum{};
  for (int p = 0; p < kTtftPartCount; ++p) {
    parts_[static_cast<std::size_t>(p)].add(parts[static_cast<std::size_t>(p)]);
    PHOTONRAIL_CHECK(parts[static_cast<std::size_t>(p)] >= Duration{});
    sum += parts[static_cast<std::size_t>(p)];
  }
  PHOTONRAIL_CHECK(sum == ttft);
  if (request.delivered != Time::never()) transfer_.add(request.delivered - request.sent);
  if (!classes_.empty()) finished_of_class(request, ttft, tpot);
  // A request with limits of its own is good by those.
  const SloSpec* const limits = !classes_.empty() ? &classes_[request.request_class].slo : slo_ ? &*slo_ : nullptr;
  if (limits != nullptr && within(*limits, ttft, tpot)) ++good_;
}

ServingResult Metrics::result(std::uint64_t offered, Duration makespan) const {
  ServingResult result = result_;
  result.offered = offered;
  result.warm_up = std::min(offered, warm_up_);
  result.unfinished = offered - result.finished - result.refused;
  result.makespan = makespan;
  result.steady_output_tokens_per_s = answers_.per_s(&Answers::Amount::tokens, makespan);
  result.ttft = ttft_.summary();
  result.tpot = tpot_.summary();
  result.itl = gaps_.summary();
  result.e2e = e2e_.summary();
  result.transfer = transfer_.summary();
  result.exact = e2e_.exact();
  for (std::size_t p = 0; p < kTtftPartCount; ++p) result.parts[p] = parts_[p].summary();
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const OfClass& of = classes_[c];
    result.classes[c].ttft = of.ttft.summary();
    result.classes[c].tpot = of.tpot.summary();
    if (of.counted > 0) result.classes[c].share = static_cast<double>(of.good) / static_cast<double>(of.counted);
  }
  if (slo_) {
    const std::uint64_t counted = offered - result.warm_up;
    ServingResult::Slo slo{slo_->ttft, slo_->tpot};
    if (counted > 0) slo.share = static_cast<double>(good_) / static_cast<double>(counted);
    const double finished = static_cast<double>(std::max<std::uint64_t>(answers_.all.requests, 1));
    slo.per_s = static_cast<double>(good_) / finished * answers_.per_s(&Answers::Amount::requests, makespan);
    result.slo = slo;
  }
  return result;
}

}  // namespace serving

}  // namespace photonrail
