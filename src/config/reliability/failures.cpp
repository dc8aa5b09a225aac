// Failures of the "reliability" section: which parts, how often, what they do.
#include "config/reliability_parts.hpp"
#include "config/scenario_parts.hpp"

#include <utility>

namespace photonrail::config {

namespace {

using reliability::Degradation;
using reliability::FailureEffect;
using reliability::FailureSource;
using reliability::RandomTime;

constexpr double kMaxTime = 1e15;
constexpr double kDay = 86400.0;

RandomTime read_law(JsonReader value, double unit, const std::filesystem::path& directory) {
  using enum RandomTime::Law;
  RandomTime time;
  if (!value.is_object()) return RandomTime::constant(value.number(0.0, kMaxTime / unit) * unit);
  time.law = value.child("distribution")
                 .choice<RandomTime::Law>({{"constant", kConstant},
                                           {"exponential", kExponential},
                                           {"weibull", kWeibull},
                                           {"log_normal", kLogNormal},
                                           {"uniform", kUniform},
                                           {"samples", kSamples}});
  if (time.law == kUniform) {
    time.least_s = value.child("least").number(0.0, kMaxTime / unit) * unit;
    time.greatest_s = value.child("greatest").number(0.0, kMaxTime / unit) * unit;
  } else if (time.law == kSamples) {
    time.samples_s = inline_or_file(value.child("values", "an array of times, or the path of a JSON file that holds one"),
                                    directory, [&](const JsonReader& list) {
                                      std::vector<double> samples;
                                      for (const JsonReader& x : list.elements())
                                        samples.push_back(x.number(0.0, kMaxTime / unit) * unit);
                                      return samples;
                                    });
  } else {
    time.mean_s = value.child("mean").number(0.0, kMaxTime / unit) * unit;
  }
  if (time.law == kWeibull) time.shape = value.child("shape").number(0.1, 100.0);
  if (time.law == kLogNormal) time.shape = value.child("sigma").number(0.0, 5.0);
  value.finish();
  return time;
}

// How many parts there are. Without a cluster in the file only what the job's section says is known.
void read_parts(const JsonReader& of, const ReliabilityContext& context, const reliability::JobShape& job,
                FailureSource& into) {
  const std::uint32_t ports = context.cluster ? context.cluster->nic.ports : 1;
  const std::uint32_t planes = context.cluster ? context.cluster->rail.planes : 1;
  if (of.is_object()) {
    JsonReader object = of;
    const auto group = object.optional("servers");
    const auto parts = object.optional("parts");
    object.finish();
    if (group.has_value() == parts.has_value()) of.fail("needs exactly one of \"servers\", \"parts\"");
    if (group) into.servers_per_part = group->count(1, 1'000'000);
    if (parts) into.parts = parts->count(1, 1U << 24);
    return;
  }
  const std::string word = of.string();
  if (word == "gpu" || word == "nic")
    into.per_server = job.gpus_per_server;
  else if (word == "port" || word == "transceiver")
    into.per_server = job.gpus_per_server * ports;
  else if (word == "server")
    into.per_server = 1;
  else if (word == "ocs" || word == "plane")
    into.parts = job.gpus_per_server * planes;
  else if (word == "rail")
    into.parts = job.gpus_per_server;
  else if (word == "job")
    into.parts = 1;
  else
    of.fail("unknown value \"" + word + "\"; a group is {\"servers\": N}, N parts of the cluster are {\"parts\": N}",
            suggest(word, {"gpu", "nic", "port", "transceiver", "server", "ocs", "plane", "rail", "job"}));
}

// Exactly one of the units in which operators give rates.
void read_rate(JsonReader& section, const FailureSource& parts, RandomTime& into) {
  const auto days = section.optional("per_1000_server_days");
  const auto fit = section.optional("fit");
  const auto mtbf = section.optional("mtbf_h");
  const auto share = section.optional("share_per_day");
  if (days.has_value() + fit.has_value() + mtbf.has_value() + share.has_value() != 1) {
    section.fail("needs exactly one of \"per_1000_server_days\", \"fit\", \"mtbf_h\", \"share_per_day\"");
  }
  if (days) {
    if (parts.per_server == 0)
      days->fail("is a rate of servers", "take \"mtbf_h\", \"fit\" or \"share_per_day\" of one part");
    const double rate = days->number(0.0, 1e12);
    into.mean_s = rate > 0.0 ? 1000.0 * kDay * parts.per_server / rate : 0.0;
  }
  if (fit) into.mean_s = fit->number(0.0, 1e15) > 0.0 ? 3600.0 * 1e9 / fit->number(0.0, 1e15) : 0.0;
  if (mtbf) into.mean_s = mtbf->positive(kMaxTime / 3600.0) * 3600.0;
  if (share) into.mean_s = share->number(0.0, 1e6) > 0.0 ? kDay / share->number(0.0, 1e6) : 0.0;
  if (into.mean_s == 0.0 || into.mean_s > kMaxTime) into.mean_s = kMaxTime;  // a rate of 0: once in 30 million years
}

void read_law_of_failures(const JsonReader& law, RandomTime& into) {
  if (!law.is_object()) {
    into.law = law.choice<RandomTime::Law>(
        {{"exponential", RandomTime::Law::kExponential}, {"constant", RandomTime::Law::kConstant}});
    return;
  }
  JsonReader object = law;
  const auto weibull = object.optional("weibull");
  const auto log_normal = object.optional("log_normal");
  object.finish();
  if (weibull.has_value() == log_normal.has_value())
    law.fail("needs exactly one of \"weibull\" (its shape), \"log_normal\" (its sigma)");
  into.law = weibull ? RandomTime::Law::kWeibull : RandomTime::Law::kLogNormal;
  into.shape = weibull ? weibull->number(0.1, 100.0) : log_normal->number(0.0, 5.0);
}

void read_degradation(JsonReader section, FailureSource& into) {
  if (!section.is_object()) {
    into.degradation = section.choice<Degradation>({{"port", Degradation::kPort}, {"plane", Degradation::kPlane}});
    return;
  }
  constexpr std::pair<const char*, Degradation> kKinds[] = {{"compute", Degradation::kCompute},
                                                            {"stage_compute", Degradation::kStageCompute},
                                                            {"uplinks", Degradation::kUplinks},
                                                            {"nic_rate", Degradation::kNicRate}};
  for (const auto& [key, kind] : kKinds) {
    const auto factor = section.optional(key);
    if (!factor) continue;
    if (into.degradation != Degradation::kNone) factor->fail("is the second way", "one failure degrades in one way");
    into.degradation = kind;
    into.factor = factor->number(1.0, 1e6);
  }
  section.finish();
  if (into.degradation == Degradation::kNone) {
    section.fail("is empty", R"({"compute": F}, {"stage_compute": F}, {"uplinks": F}, {"nic_rate": F}, "port" or "plane")");
  }
}

}  // namespace

std::optional<RandomTime> read_random_time(JsonReader& section, std::string_view stem,
                                           const std::filesystem::path& directory) {
  std::optional<RandomTime> found;
  for (const auto& [suffix, unit] : {std::pair{"_s", 1.0}, {"_h", 3600.0}, {"_d", kDay}}) {
    const std::string key = std::string(stem) + suffix;
    const auto value = section.optional(key);
    if (!value) continue;
    if (found) value->fail("is there in two units", "remove one of them");
    found = read_law(*value, unit, directory);
  }
  return found;
}

FailureSource read_failure(JsonReader section, const ReliabilityContext& context, const reliability::JobShape& job) {
  FailureSource source;
  const JsonReader of = section.child("of", "what fails: gpu, server, nic, port, ocs ...");
  read_parts(of, context, job, source);
  source.name = of.is_string() ? of.string() : "part";
  if (const auto v = section.optional("name")) source.name = v->string();
  source.time_to_failure.law = RandomTime::Law::kExponential;
  read_rate(section, source, source.time_to_failure);
  if (const auto v = section.optional("law")) read_law_of_failures(*v, source.time_to_failure);
  if (const auto v = section.optional("effect")) {
    source.effect = v->choice<FailureEffect>(
        {{"stop", FailureEffect::kStop}, {"slow", FailureEffect::kSlow}, {"silent", FailureEffect::kSilent}});
  }
  if (const auto v = section.optional("degrade")) read_degradation(*v, source);
  if (const auto v = read_random_time(section, "detection", context.directory)) source.detection = *v;
  if (const auto v = read_random_time(section, "repair", context.directory)) source.repair = *v;
  section.finish();
  return source;
}

}  // namespace photonrail::config
