// Failures of the "reliability" section: which parts, how often, what they do.
#include "studies/goodput/section/section.hpp"

#include "fields/places.hpp"
#include "formats/path.hpp"

#include <utility>

namespace photonrail::goodput {

namespace {

constexpr double kMaxTime = 1e15;
constexpr double kDay = 86400.0;

using fields::context_of;
using fields::Field;
using fields::FileContext;
using fields::folder_of;
using fields::into;
using fields::kPathShape;
using fields::Reading;
using fields::Shape;
using fields::Word;

/// A law is in the unit of the key that has it.
struct LawContext : FileContext {
  LawContext(const std::filesystem::path& folder, double seconds) : FileContext(folder), unit(seconds) {}
  double unit;
};

double seconds_of(const JsonReader& value, double unit) { return value.number(0.0, kMaxTime / unit) * unit; }

template <double RandomTime::*Member>
constexpr Field moment(std::string_view key, std::string_view law, std::string_view doc) {
  return fields::own(
             key, kRandomNumber,
             [](const Reading& at) {
               into<RandomTime>(at).*Member = seconds_of(at.value, context_of<LawContext>(at).unit);
             },
             doc)
      .only_if(law)
      .must();
}

using Law = RandomTime::Law;
constexpr Word<Law> kLaws[] = {{"constant", Law::kConstant}, {"exponential", Law::kExponential},
                               {"weibull", Law::kWeibull},   {"log_normal", Law::kLogNormal},
                               {"uniform", Law::kUniform},   {"samples", Law::kSamples}};
constexpr Field kLawFields[] = {
    fields::word<kLaws, &RandomTime::law>("distribution", "The law of the time.").must(),
    moment<&RandomTime::least_s>("least", "distribution=uniform", "The shortest time."),
    moment<&RandomTime::greatest_s>("greatest", "distribution=uniform", "The longest time."),
    fields::own(
        "values", fields::either(fields::list_shape(kRandomNumber), kPathShape),
        [](const Reading& at) {
          const double unit = context_of<LawContext>(at).unit;
          into<RandomTime>(at).samples_s = formats::inline_or_file(at.value, folder_of(at), [&](const JsonReader& list) {
            std::vector<double> samples;
            for (const JsonReader& x : list.elements()) samples.push_back(seconds_of(x, unit));
            return samples;
          });
        },
        "An array of times, or the path of a JSON file that holds one.")
        .only_if("distribution=samples")
        .must("an array of times, or the path of a JSON file that holds one"),
    moment<&RandomTime::mean_s>("mean", "distribution=constant|exponential|weibull|log_normal", "The mean."),
    fields::number<&RandomTime::shape>("shape", 0.1, 100.0, "Of Weibull's law.").only_if("distribution=weibull").must(),
    fields::number<&RandomTime::shape>("sigma", 0.0, 5.0, "Deviation of the logarithm.")
        .only_if("distribution=log_normal")
        .must(),
};

/// The values that lines of the table take from the caller.
struct FailureContext : FileContext {
  FailureContext(const ReliabilityContext& of, const JobShape& shape)
      : FileContext(of.directory), context(of), job(shape) {}
  const ReliabilityContext& context;
  const JobShape& job;
};

constexpr Field kPartFields[] = {
    fields::count<&FailureSource::servers_per_part>("servers", 1, 1'000'000, "Servers of a group that fails together."),
    fields::count<&FailureSource::parts>("parts", 1, 1U << 24, "How many such parts the cluster has."),
};

constexpr Section kParts{kPartFields};

// How many parts there are. Without a cluster in the file only what the job's section says is known.
void read_parts(const JsonReader& of, const ReliabilityContext& context, const JobShape& job, FailureSource& into) {
  const std::uint32_t ports = context.cluster ? context.cluster->nic.ports : 1;
  const std::uint32_t planes = context.cluster ? context.cluster->rail.planes : 1;
  if (of.is_object()) {
    JsonReader object = of;
    const auto group = object.optional("servers");
    const auto parts = object.optional("parts");
    object.finish();
    if (group.has_value() == parts.has_value()) of.fail("needs exactly one of \"servers\", \"parts\"");
    fields::read(of, kParts, &into);
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

constexpr Field kRateFields[] = {
    fields::known("per_1000_server_days", fields::number_shape(0.0, 1e12), "Failures of 1,000 servers in a day.")
        .or_else("of these four exactly one"),
    fields::known("fit", fields::number_shape(0.0, 1e15), "Failures of a part in 10^9 hours."),
    fields::known("mtbf_h", fields::positive_shape(kMaxTime / 3600.0), "Mean time between failures of a part."),
    fields::known("share_per_day", fields::number_shape(0.0, 1e6), "Share of the parts that fail in a day."),
};
constexpr Section kRates{kRateFields};

// Exactly one of the units in which operators give rates.
void read_rate(const Reading& at) {
  auto& source = into<FailureSource>(at);
  RandomTime& time = source.time_to_failure;
  JsonReader& section = at.section;
  fields::read_open(section, kRates, nullptr);
  const auto days = section.optional("per_1000_server_days");
  const auto fit = section.optional("fit");
  const auto mtbf = section.optional("mtbf_h");
  const auto share = section.optional("share_per_day");
  if (days.has_value() + fit.has_value() + mtbf.has_value() + share.has_value() != 1) {
    section.fail("needs exactly one of \"per_1000_server_days\", \"fit\", \"mtbf_h\", \"share_per_day\"");
  }
  const auto number = [](const std::optional<JsonReader>& value, std::size_t line) {
    return number_of(*value, kRateFields[line].shape);
  };
  if (days) {
    if (source.per_server == 0)
      days->fail("is a rate of servers", "take \"mtbf_h\", \"fit\" or \"share_per_day\" of one part");
    const double rate = number(days, 0);
    time.mean_s = rate > 0.0 ? 1000.0 * kDay * source.per_server / rate : 0.0;
  }
  if (fit) time.mean_s = number(fit, 1) > 0.0 ? 3600.0 * 1e9 / number(fit, 1) : 0.0;
  if (mtbf) time.mean_s = number(mtbf, 2) * 3600.0;
  if (share) time.mean_s = number(share, 3) > 0.0 ? kDay / number(share, 3) : 0.0;
  if (time.mean_s == 0.0 || time.mean_s > kMaxTime) time.mean_s = kMaxTime;  // a rate of 0: once in 30 million years
}

constexpr Word<Law> kPlainLaws[] = {{"exponential", Law::kExponential}, {"constant", Law::kConstant}};
constexpr Field kShapeFields[] = {
    fields::known("weibull", fields::number_shape(0.1, 100.0), "The shape of Weibull's law."),
    fields::known("log_normal", fields::number_shape(0.0, 5.0), "The deviation of the logarithm."),
};
constexpr Section kShape{kShapeFields};

void store_law(const Reading& at) {
  RandomTime& time = into<FailureSource>(at).time_to_failure;
  if (!at.value.is_object()) {
    time.law = fields::meaning<kPlainLaws>(at.value);
    return;
  }
  fields::read(at.value, kShape, nullptr);
  JsonReader object = at.value;
  const auto weibull = object.optional("weibull");
  const auto log_normal = object.optional("log_normal");
  if (weibull.has_value() == log_normal.has_value())
    at.value.fail("needs exactly one of \"weibull\" (its shape), \"log_normal\" (its sigma)");
  time.law = weibull ? Law::kWeibull : Law::kLogNormal;
  time.shape = weibull ? number_of(*weibull, kShapeFields[0].shape) : number_of(*log_normal, kShapeFields[1].shape);
}

template <Degradation Kind>
constexpr Field factor(std::string_view key, std::string_view doc) {
  return fields::own(
      key, fields::number_shape(1.0, 1e6),
      [](const Reading& at) {
        auto& source = into<FailureSource>(at);
        if (source.degradation != Degradation::kNone) at.value.fail("is the second way", "one failure degrades in one way");
        source.degradation = Kind;
        source.factor = number_of(at);
      },
      doc);
}
constexpr Field kDegradeFields[] = {
    factor<Degradation::kCompute>("compute", "Computations take this many times as long."),
    factor<Degradation::kStageCompute>("stage_compute", "Those of one pipeline stage do."),
    factor<Degradation::kUplinks>("uplinks", "The uplinks have 1 / this of their rate."),
    factor<Degradation::kNicRate>("nic_rate", "A NIC has 1 / this of its rate."),
};
constexpr Section kDegrade{kDegradeFields};
constexpr Word<Degradation> kDegradations[] = {{"port", Degradation::kPort}, {"plane", Degradation::kPlane}};

void store_degradation(const Reading& at) {
  auto& source = into<FailureSource>(at);
  if (!at.value.is_object()) {
    source.degradation = fields::meaning<kDegradations>(at.value);
    return;
  }
  fields::read(at.value, kDegrade, &source);
  if (source.degradation == Degradation::kNone) {
    at.value.fail("is empty",
                  R"({"compute": F}, {"stage_compute": F}, {"uplinks": F}, {"nic_rate": F}, "port" or "plane")");
  }
}

constexpr Word<FailureEffect> kEffects[] = {
    {"stop", FailureEffect::kStop}, {"slow", FailureEffect::kSlow}, {"silent", FailureEffect::kSilent}};
constexpr Shape kPartName = {.kind = fields::Kind::kText, .choices = "gpu|nic|port|transceiver|server|ocs|plane|rail|job"};
constexpr Shape kLawName = fields::text_shape(fields::words_of<kPlainLaws>);
constexpr Shape kDegradeName = fields::text_shape(fields::words_of<kDegradations>);
constexpr Field kFailureFields[] = {
    fields::own(
        "of", fields::either(fields::object_shape(kParts), kPartName),
        [](const Reading& at) {
          const auto& context = context_of<FailureContext>(at);
          auto& source = into<FailureSource>(at);
          read_parts(at.value, context.context, context.job, source);
          source.name = at.value.is_string() ? at.value.string() : "part";
        },
        "What fails; a group is `{\"servers\": N}`, N parts of the cluster are `{\"parts\": N}`.")
        .must("what fails: gpu, server, nic, port, ocs ..."),
    fields::text<&FailureSource::name>("name", "Its name in results.").or_else("`of`"),
    fields::include<kRates>().read_by([](const Reading& at) {
      into<FailureSource>(at).time_to_failure.law = Law::kExponential;
      read_rate(at);
    }),
    fields::own("law", fields::either(fields::object_shape(kShape), kLawName), store_law,
                "The law of the time to a failure.")
        .by("")
        .or_else("`\"exponential\"`"),
    fields::word<kEffects, &FailureSource::effect>("effect", "The job stops, is slow, or computes wrong results.")
        .or_else("`\"stop\"`"),
    fields::own("degrade", fields::either(fields::object_shape(kDegrade), kDegradeName), store_degradation,
                "With the effect `slow`: what is slow.")
        .by("degradation")
        .or_else("none"),
    random_time<&FailureSource::detection>("detection", "s", "Until the failure is known.").or_else("0"),
    random_time<&FailureSource::repair>("repair", "h", "Until the part is back.").or_else("0"),
};
constexpr fields::Alias kFailureAliases[] = {{"factor", "degrade"}, {"time_to_failure", ""}};

}  // namespace

constexpr Section kLawSection{.fields = kLawFields, .of_unit = true};
constexpr Section kFailureSection{kFailureFields, nullptr, kFailureAliases};

RandomTime random_time_of(const Reading& at) {
  const double unit = at.picoseconds / 1e12;
  if (!at.value.is_object()) return RandomTime::constant(seconds_of(at.value, unit));
  RandomTime time;
  const LawContext context(folder_of(at), unit);
  fields::read(at.value, kLawSection, &time, &context);
  return time;
}

FailureSource read_failure(JsonReader section, const ReliabilityContext& context, const JobShape& job) {
  FailureSource source;
  const FailureContext of_section(context, job);
  fields::read(std::move(section), kFailureSection, &source, &of_section);
  return source;
}

}  // namespace photonrail::goodput
