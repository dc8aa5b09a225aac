// The sections that say how ranks run: "executor", "run" and "network".
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"

#include <limits>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;

template <Dimension D>
constexpr Field share(std::string_view key) {
  return fields::own(
             key, fields::number_shape(0.0, kMaxSmShare),
             [](const Reading& at) { into<ExecutorSpec>(at).sm_share[static_cast<std::size_t>(D)] = number_of(at); },
             "The share that exchanges of this dimension hold.")
      .by("")
      .or_else("0");
}
constexpr Field kShareFields[] = {share<Dimension::kTp>("tp"), share<Dimension::kCp>("cp"),
                                  share<Dimension::kEp>("ep"), share<Dimension::kDp>("dp"),
                                  share<Dimension::kPp>("pp"), share<Dimension::kOther>("other"),
                                  share<Dimension::kKv>("kv"), share<Dimension::kRefit>("refit")};
constexpr Section kShares{kShareFields};

constexpr Word<CommLanes> kLanes[] = {{"per_communicator", CommLanes::kPerCommunicator}, {"one", CommLanes::kOne}};
constexpr Word<ConcurrentCollectives> kConcurrent[] = {{"in_turn", ConcurrentCollectives::kInTurn},
                                                       {"together", ConcurrentCollectives::kTogether}};
constexpr Field kExecutorFields[] = {
    fields::word<kLanes, &ExecutorSpec::comm_lanes>("comm_lanes", "Communication lanes of a GPU.")
        .or_else("`\"per_communicator\"`"),
    fields::word<kConcurrent, &ExecutorSpec::concurrent>("concurrent_collectives",
                                                         "Collectives of one communicator that are ready at the same time "
                                                         "run one after another, or share the links chunk by "
                                                         "chunk.")
        .by("concurrent")
        .or_else("`\"in_turn\"`"),
    fields::count<&ExecutorSpec::buffered_send>("buffered_send_bytes", 0, 0x1p50,
                                                "A send up to this size is done for its sender at once.")
        .by("buffered_send")
        .or_else("4194304"),
    fields::group<kShares>("sm_share",
                           "Share of a GPU's multiprocessors that exchanges of a dimension hold while they have bytes on "
                           "their way: computations go on with the rest (20 of 132: 0.152); 0: copy engines, or the switch "
                           "reduces.")
        .by("sm_share"),
};

constexpr std::uint32_t kMaxSpreadSeeds = 10'000;
constexpr Word<Fidelity> kFidelity[] = {{"stream", Fidelity::kStream}, {"exact", Fidelity::kExact}};
constexpr Field kRunFields[] = {
    fields::count<&RunSpec::iterations>("iterations", 1, 1'000'000, "Steps in a row.").or_else("1"),
    fields::count<&RunSpec::seed>("seed", 0, 0x1p64, "Of everything random.").or_else("1"),
    fields::word<kFidelity, &RunSpec::fidelity>("fidelity",
                                                "One flow per collective where circuits are exclusive, or every send.")
        .or_else("`\"stream\"`"),
    fields::count<&RunSpec::spread_seeds>(
        "spread_seeds", 0, kMaxSpreadSeeds,
        "Where something is drawn: how many seeds the `spread` of the result is over, the "
        "run's own and those that `repetitions` of a sweep have; 0 and 1: no spread.")
        .or_else("of `photonrail run`: 5 where the run took up to 100,000 events; else 1"),
    fields::flag<&RunSpec::folding>("folding", "Ranks that nothing tells apart are simulated once; no result changes.")
        .or_else("true"),
    fields::flag<&RunSpec::critical_path>("critical_path", "The result says what bounds the run, part by part.")
        .or_else("of `photonrail run`: true where the run takes less than a quarter of a second by estimate; else false"),
};

void check_run(const Reading& at) {
  at.section.refuse("trace", "a timeline is asked for on the command line", "photonrail run --trace");
}

constexpr Field kNetworkFields[] = {
    fields::number<&RunSpec::network_accuracy>("accuracy", 0.0, RunSpec::kMaxNetworkAccuracy,
                                               "Flows of a crowd may end by up to about this share of their duration too "
                                               "early or too late; 0: exact; above 0, no folding.")
        .by("network_accuracy")
        .or_else("0"),
};

}  // namespace

constexpr Section kExecutorSection{kExecutorFields};
constexpr Section kRunSection{kRunFields, check_run};
constexpr Section kNetworkSection{kNetworkFields};

ExecutorSpec read_executor(JsonReader section) {
  ExecutorSpec spec;
  fields::read(std::move(section), kExecutorSection, &spec);
  return spec;
}

RunSpec read_run(JsonReader section) {
  RunSpec spec;
  fields::read(std::move(section), kRunSection, &spec);
  return spec;
}

void read_network(JsonReader section, RunSpec& into) { fields::read(std::move(section), kNetworkSection, &into); }

}  // namespace photonrail::config
