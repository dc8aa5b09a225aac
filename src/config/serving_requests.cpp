// "workload/serving/requests": what is asked for, by laws or by a trace.
#include "config/scenario_parts.hpp"
#include "config/scenario_serving.hpp"
#include "config/sections.hpp"
#include "formats/serving/request_traces.hpp"

#include <memory>
#include <string>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;
using serving::ArrivalLaw;
using serving::LengthLaw;
using serving::RequestClass;
using serving::RequestSpec;

constexpr Word<LengthLaw::Kind> kLengthLaws[] = {{"uniform", LengthLaw::Kind::kUniform},
                                                 {"normal", LengthLaw::Kind::kNormal},
                                                 {"log_normal", LengthLaw::Kind::kLogNormal}};
constexpr double kMaxTokens = 1 << 24;
constexpr Field kLengthFields[] = {
    fields::word<kLengthLaws, &LengthLaw::kind>("distribution", "The law of the number.").must(),
    fields::number<&LengthLaw::a>("least", 1, kMaxTokens, "The smallest.").only_if("distribution=uniform").must(),
    fields::number<&LengthLaw::b>("greatest", 1, kMaxTokens, "The greatest.").only_if("distribution=uniform").must(),
    fields::number<&LengthLaw::a>("mean", 1, kMaxTokens, "Before cuts.").only_if("distribution=normal").must(),
    fields::number<&LengthLaw::b>("deviation", 0, kMaxTokens, "Before cuts.").only_if("distribution=normal").must(),
    fields::number<&LengthLaw::a>("median", 1, kMaxTokens, "Before cuts.").only_if("distribution=log_normal").must(),
    fields::number<&LengthLaw::b>("sigma", 0, 4, "Of the logarithm.").only_if("distribution=log_normal").must(),
    fields::count<&LengthLaw::most>("most", 1, kMaxTokens, "Longer ones are cut to this.").or_else("2^24"),
};
constexpr fields::Section kLengths{kLengthFields, [](const Reading& at) {
                                     const auto& law = into<LengthLaw>(at);
                                     if (law.kind == LengthLaw::Kind::kUniform && law.b < law.a)
                                       at.section.fail_at("greatest", "must not be less than \"least\"");
                                   }};
constexpr Shape kLengthNumber = fields::whole_shape(1, kMaxTokens);
constexpr Shape kLengthShape = fields::either(fields::object_shape(kLengths), kLengthNumber);

template <LengthLaw RequestSpec::*Member>
constexpr Field length(std::string_view key, std::string_view doc) {
  return fields::own(
      key, kLengthShape,
      [](const Reading& at) {
        LengthLaw& law = into<RequestSpec>(at).*Member;
        if (at.value.is_object()) {
          fields::read(at.value, kLengths, &law);
        } else {
          law.a = static_cast<double>(at.value.integer(1, static_cast<std::uint64_t>(kMaxTokens)));
        }
      },
      doc);
}

constexpr Word<ArrivalLaw::Kind> kProcesses[] = {{"poisson", ArrivalLaw::Kind::kPoisson},
                                                 {"gamma", ArrivalLaw::Kind::kGamma},
                                                 {"weibull", ArrivalLaw::Kind::kWeibull},
                                                 {"constant", ArrivalLaw::Kind::kConstant}};
constexpr Field kStageFields[] = {
    fields::positive<&ArrivalLaw::Stage::per_s>("per_s", 1e7, "Requests a second.").must(),
    fields::time<&ArrivalLaw::Stage::lasts>("lasts", "s", "How long.").must(),
};
constexpr fields::Section kStages{kStageFields};
constexpr Field kArrivalFields[] = {
    fields::word<kProcesses, &ArrivalLaw::kind>("process", "The law of the gaps between requests.")
        .or_else("`\"poisson\"`"),
    fields::number<&ArrivalLaw::shape>("cv", 0.01, 100, "Deviation of gaps over their mean.")
        .only_if("process=gamma")
        .must(),
    fields::number<&ArrivalLaw::shape>("shape", 0.05, 100, "Of the law.").only_if("process=weibull").must(),
    fields::own(
        "per_s", fields::positive_shape(1e7),
        [](const Reading& at) { into<ArrivalLaw>(at).stages.front().per_s = number_of(at); }, "Requests a second.")
        .by("")
        .must_if("!stages"),
    fields::own(
        "stages", fields::list_shape(fields::kObjectOf<kStages>),
        [](const Reading& at) {
          auto& stages = into<ArrivalLaw>(at).stages;
          stages.clear();
          for (const JsonReader& stage : at.value.elements()) fields::read(stage, kStages, &stages.emplace_back());
          if (stages.empty()) at.value.fail("has no stages", "or give \"per_s\"");
        },
        "Rates one after another in place of one; no requests come after the last.")
        .or_else("none"),
};
constexpr fields::Section kArrivals{kArrivalFields};

constexpr Field kPrefixFields[] = {
    fields::count<&serving::SharedPrefix::groups>("groups", 1, 1e9, "Different beginnings, each as likely.").must(),
    fields::count<&serving::SharedPrefix::tokens>("tokens", 1, kMaxTokens, "Of a beginning, at most the prompt.").must(),
};
constexpr fields::Section kPrefix{kPrefixFields};

constexpr Field kClassFields[] = {
    fields::text<&RequestClass::name>("name", "In results.").must(),
    fields::positive<&RequestClass::share>("share", 1e6, "Of arrivals, in proportion to the others.").or_else("1"),
    fields::count<&RequestClass::priority>("priority", 0, 1e6, "With `order` `priority`: less is sooner.").or_else("0"),
    fields::time<&RequestClass::ttft>("ttft", "ms", "In place of that of `slo`.").or_else("that of `slo`"),
    fields::time<&RequestClass::tpot>("tpot", "ms", "In place of that of `slo`.").or_else("that of `slo`"),
    fields::count<&RequestClass::shed_above>("shed_above", 1, 1e9, "Refused where so many wait at its engine.")
        .or_else("never"),
};
constexpr fields::Section kRequestClass{kClassFields, [](const Reading& at) {
                                          if (into<RequestClass>(at).name.find_first_of(",\"\n\r") != std::string::npos)
                                            at.section.fail_at("name", "is a cell of requests.csv", "letters and digits");
                                        }};

constexpr std::string_view kWithTrace = "the trace says it";
constexpr Field kRequestFields[] = {
    fields::own(
        "trace", kPathShape,
        [](const Reading& at) {
          into<RequestSpec>(at).trace =
              std::make_shared<serving::Trace>(formats::read_request_trace(read_path(at.value, folder_of(at))));
          into<RequestSpec>(at).count = into<RequestSpec>(at).trace->rows.size();
        },
        "A trace: Azure's, BurstGPT's or Mooncake's columns, or `arrival_ms,input_tokens,output_tokens`.")
        .or_else("none"),
    fields::own(
        "rate_factor", fields::positive_shape(1e6),
        [](const Reading& at) { into<RequestSpec>(at).time_factor = 1.0 / number_of(at); },
        "So many times the rate of the trace or of `arrivals`: times are divided by it.")
        .refuse_unless("!concurrency", "a closed loop has no rate")
        .by("time_factor")
        .or_else("1"),
    fields::count<&RequestSpec::concurrency>("concurrency", 1, 1e7, "Clients, each with one request at a time.")
        .refuse_unless("!trace", kWithTrace)
        .or_else("none"),
    fields::part<kArrivals, &RequestSpec::arrivals>("arrivals", "When requests come, whatever becomes of those before.")
        .refuse_unless("!trace&!concurrency", "the trace or the concurrency says it")
        .must_if("!trace&!concurrency", "when requests come: \"arrivals\", \"concurrency\" or \"trace\""),
    fields::own_time(
        "think", "ms", fields::kTimeUnits, kDelayShape,
        [](const Reading& at) { into<RequestSpec>(at).think = read_delay(at.value, at.picoseconds, folder_of(at)); },
        "Of a client or session, between an answer and its next request.")
        .or_else("0"),
    fields::count<&RequestSpec::turns>("turns", 1, 1e6, "Requests of a session; each prompt begins with all before it.")
        .refuse_unless("!trace", kWithTrace)
        .or_else("1"),
    length<&RequestSpec::input>("input", "Tokens of a prompt; in a session those that are new.")
        .refuse_unless("!trace", kWithTrace)
        .must_if("!trace"),
    length<&RequestSpec::output>("output", "Tokens of an answer.").refuse_unless("!trace", kWithTrace).must_if("!trace"),
    fields::part<kPrefix, &RequestSpec::prefix>("prefix", "Prompts that begin alike.")
        .refuse_unless("!trace", kWithTrace)
        .or_else("none"),
    fields::parts<kRequestClass, &RequestSpec::classes>("classes",
                                                        "Kinds of requests with limits and priorities of their own.")
        .or_else("none"),
    fields::count<&RequestSpec::count>("count", 1, 1e12, "How many; of a trace at most its rows.")
        .or_else("1000, or the whole trace"),
};

}  // namespace

constexpr fields::Section kServedRequestsSection{kRequestFields};

}  // namespace photonrail::config
