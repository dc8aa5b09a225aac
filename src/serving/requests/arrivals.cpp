#include "serving/requests/arrivals.hpp"

#include "core/mix64.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::serving {

namespace {

// Keys of blocks from two numbers.
std::uint64_t key_of(std::uint64_t a, std::uint64_t b) {
  return core::mix64(a * core::kMix64Step + b + 0x632be59bd9b4e019U);
}

constexpr std::uint64_t kPrefixes = 1;
constexpr std::uint64_t kHashes = 2;
constexpr std::uint64_t kSessions = 3;
constexpr std::uint64_t kClasses = 4;

}  // namespace

std::uint32_t LengthLaw::draw(RandomStream& random) const {
  double tokens = a;
  switch (kind) {
    case Kind::kConstant:
      break;
    case Kind::kUniform:
      tokens = a + std::floor(random.uniform() * (b - a + 1.0));
      break;
    case Kind::kNormal:
      tokens = a + b * random.normal();
      break;
    case Kind::kLogNormal:
      tokens = a * std::exp(b * random.normal());
      break;
  }
  return static_cast<std::uint32_t>(std::clamp(std::round(tokens), 1.0, static_cast<double>(most)));
}

std::uint32_t LengthLaw::least() const {
  const bool varies = (kind == Kind::kNormal || kind == Kind::kLogNormal) && b > 0.0;
  return static_cast<std::uint32_t>(std::clamp(varies ? 1.0 : std::round(a), 1.0, static_cast<double>(most)));
}

double LengthLaw::about_mean() const {
  double mean = a;
  if (kind == Kind::kUniform) mean = (a + b) / 2.0;
  if (kind == Kind::kLogNormal) mean = a * std::exp(b * b / 2.0);
  return std::clamp(mean, 1.0, static_cast<double>(most));
}

double RequestSpec::about_output() const {
  if (trace == nullptr || trace->rows.empty()) return output.about_mean();
  double tokens = 0.0;
  for (const TraceRow& row : trace->rows) tokens += row.output;
  return tokens / static_cast<double>(trace->rows.size());
}

double ArrivalLaw::unit_gap(RandomStream& random) const {
  switch (kind) {
    case Kind::kPoisson:
      return random.exponential();
    case Kind::kGamma: {
      const double square = shape * shape;
      return square == 0.0 ? 1.0 : std::exp(random.log_gamma(1.0 / square)) * square;
    }
    case Kind::kWeibull:
      return std::pow(random.exponential(), 1.0 / shape) / std::tgamma(1.0 + 1.0 / shape);
    case Kind::kConstant:
      break;
  }
  return 1.0;
}

namespace {

/// This is how many first turns come, and in how many seconds of the law or the trace.
struct Arriving {
  double count = 0.0;
  double seconds = 0.0;
};

Arriving arriving(const RequestSpec& requests) {
  if (requests.trace) {
    const std::uint64_t rows = std::min<std::uint64_t>(requests.count, requests.trace->rows.size());
    return {static_cast<double>(rows), rows == 0 ? 0.0 : to_seconds(requests.trace->rows[rows - 1].at)};
  }
  if (requests.concurrency > 0) return {};
  double left = static_cast<double>(requests.count) / requests.turns;  // sessions that the stages give one after another
  Arriving all;
  for (const ArrivalLaw::Stage& stage : requests.arrivals.stages) {
    const double most = stage.lasts == Duration::max() ? left : stage.per_s * to_seconds(stage.lasts);
    const double given = std::min(left, most);
    all.count += given;
    all.seconds += given / stage.per_s;
    left -= given;
  }
  return all;
}

}  // namespace

double RequestSpec::arrivals_s() const { return arriving(*this).seconds * time_factor; }

double RequestSpec::arrivals_per_s() const {
  const Arriving all = arriving(*this);
  return all.seconds > 0.0 ? all.count / (all.seconds * time_factor) : 0.0;
}

bool RequestSpec::draws() const {
  if (trace) return false;
  const auto is_drawn = [](const LengthLaw& law) { return law.kind != LengthLaw::Kind::kConstant; };
  return (concurrency == 0 && arrivals.kind != ArrivalLaw::Kind::kConstant) || is_drawn(input) || is_drawn(output) ||
         think.kind != DelayDistribution::Kind::kConstant;
}

Source::Source(const RequestSpec& spec, std::uint64_t seed, std::uint32_t block_tokens)
    : spec_(spec),
      block_tokens_(block_tokens),
      gaps_(seed, "serving arrivals"),
      lengths_(seed, "serving lengths"),
      thinking_(seed, "serving think times") {
  if (spec_.trace) {
    spec_.count = std::min<std::uint64_t>(spec_.count, spec_.trace->rows.size());
    return;
  }
  if (spec_.concurrency == 0) {
    draw_arrival();
    return;
  }
  for (std::uint32_t i = 0; i < spec_.concurrency && begun_ < spec_.count; ++i) come(Time{}, 0, 0, sessions_++);
}

std::optional<Time> Source::next() const {
  if (spec_.trace) {
    if (taken_ >= spec_.count) return std::nullopt;
    return stretched(spec_.trace->rows[taken_].at);
  }
  if (coming_.empty()) return std::nullopt;
  return coming_.top().at;
}

Time Source::stretched(Time at) const {
  return spec_.time_factor == 1.0 ? at : Time{from_seconds(to_seconds(at) * spec_.time_factor)};
}

Offer Source::take() {
  PHOTONRAIL_CHECK(next().has_value());
  Offer offer;
  if (spec_.trace) {
    const Time at = *next();
    offer = of_trace(spec_.trace->rows[taken_]);
    offer.at = at;
  } else {
    const Coming coming = coming_.top();
    coming_.pop();
    offer = draw(coming);
    if (spec_.concurrency == 0 && coming.turn == 0) draw_arrival();
  }
  offer.number = taken_++;
  if (!spec_.classes.empty()) add_class(offer);
  return offer;
}

Offer Source::of_trace(const TraceRow& row) {
  Offer offer;
  offer.prompt = row.prompt;
  offer.output = row.output;
  offer.priority = row.priority;
  offer.content = key_of(kSessions, taken_);
  if (row.hashes.empty()) return offer;
  const std::uint32_t each = spec_.trace->hash_tokens / block_tokens_;
  const std::uint32_t full = row.prompt / block_tokens_;  // a part of a block is nothing that another one can use
  offer.keys.reserve(full);
  for (std::uint32_t i = 0; i < full && i / each < row.hashes.size(); ++i) {
    offer.keys.push_back(key_of(key_of(kHashes, row.hashes[i / each]), i % each));
  }
  return offer;
}

Offer Source::draw(const Coming& coming) {
  Offer offer;
  offer.at = coming.at;
  offer.turn = coming.turn;
  offer.session = coming.session;
  const std::uint64_t prompt = std::uint64_t{coming.history} + spec_.input.draw(lengths_);
  offer.prompt = static_cast<std::uint32_t>(std::min<std::uint64_t>(prompt, 1U << 30));
  offer.output = spec_.output.draw(lengths_);
  offer.content = key_of(kSessions, coming.session);
  if (spec_.prefix.groups > 0) add_prefix(offer);
  return offer;
}

void Source::add_prefix(Offer& offer) {
  // All turns of a session have the beginning of the first: its group follows from its content.
  const std::uint64_t group = offer.content % spec_.prefix.groups;
  const std::uint32_t blocks = std::min(spec_.prefix.tokens, offer.prompt) / block_tokens_;
  for (std::uint32_t i = 0; i < blocks; ++i) offer.keys.push_back(key_of(key_of(kPrefixes, group), i));
}

// All turns of a session are of one class: it follows from their content.
void Source::add_class(Offer& offer) const {
  double all = 0.0;
  for (const RequestClass& of : spec_.classes) all += of.share;
  double left = static_cast<double>(key_of(kClasses, offer.content) >> 11) * 0x1p-53 * all;
  std::uint32_t chosen = 0;
  while (chosen + 1 < spec_.classes.size() && left >= spec_.classes[chosen].share) left -= spec_.classes[chosen++].share;
  offer.request_class = chosen;
  offer.priority = spec_.classes[chosen].priority;
}

namespace {

constexpr double kLastArrival = 4.6e6;  // seconds: half of what Time holds

Time later(Time at, double seconds) {
  if (to_seconds(at) + seconds < kLastArrival) return at + from_seconds(seconds);
  throw ConfigError("", "the arrivals of requests go on for more than 53 days, half of what simulated time holds",
                    "a greater rate, or fewer requests");
}

}  // namespace

void Source::draw_arrival() {
  if (begun_ >= spec_.count) return;
  double gap = spec_.arrivals.unit_gap(gaps_);  // in requests, of which each stage gives so many a second
  while (stage_ < spec_.arrivals.stages.size()) {
    const ArrivalLaw::Stage& stage = spec_.arrivals.stages[stage_];
    const bool endless = stage.lasts == Duration::max();
    const double left = endless ? 0.0 : to_seconds(stage_begin_ + stage.lasts - last_) * stage.per_s;
    if (endless || gap < left) {
      last_ = later(last_, gap / stage.per_s);
      come(stretched(last_), 0, 0, sessions_++);
      return;
    }
    gap -= left;
    stage_begin_ += stage.lasts;
    last_ = stage_begin_;
    ++stage_;
  }
}

void Source::come(Time at, std::uint32_t turn, std::uint32_t history, std::uint64_t session) {
  coming_.push({at, begun_++, turn, history, session});
}

void Source::ended(const Offer& offer, Time now) {
  if (spec_.trace || begun_ >= spec_.count) return;
  const bool more = offer.turn + 1 < spec_.turns;
  if (!more && spec_.concurrency == 0) return;
  const Time at = now + spec_.think.draw(thinking_);
  if (more) {
    come(at, offer.turn + 1, offer.prompt + offer.output, offer.session);
  } else {
    come(at, 0, 0, sessions_++);
  }
}

}  // namespace photonrail::serving
