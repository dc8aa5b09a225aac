// `collective info|export|synthesize`: collectives as files.
#include "photonrail/collective.hpp"
#include "columns.hpp"
#include "commands.hpp"
#include "core/counted.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "read.hpp"
#include "report/replace_file.hpp"
#include "work_limit.hpp"

#include <algorithm>
#include <iostream>
#include <vector>

namespace photonrail::command {

namespace {

CollectiveOp op_named(const std::string& word) {
  if (const auto op = collective_op_from(word); op && *op != CollectiveOp::kSend) return *op;
  std::vector<std::string> known;
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    if (static_cast<CollectiveOp>(i) != CollectiveOp::kSend) known.emplace_back(name(static_cast<CollectiveOp>(i)));
  }
  throw ConfigError("--op", "unknown operation \"" + word + "\"", suggest(word, known));
}

// Into the file, or to standard output when there is none.
void put(const std::filesystem::path& out, const CollectiveCall& call, const SendPlan& plan, const std::string& called,
         const std::string& summary) {
  const auto write = msccl_writer(call, plan, called);
  if (out.empty()) return write(std::cout);
  report::replace_file(out, write);
  std::cout << summary << "wrote " << out.string() << '\n';
}

// Pairs are those that ever exchange anything: a file has no rounds, and a plan may join a pair in several.
std::string numbers(const SendPlan& plan) {
  std::vector<MemberPair> pairs;
  for (std::uint32_t r = 0; r < plan.rounds(); ++r) {
    const std::vector<MemberPair> more = plan.pairs(r);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return in_columns({{"members", std::to_string(plan.members())},
                     {"chunks", std::to_string(plan.chunk_count())},
                     {"sends", std::to_string(plan.send_count())},
                     {"pairs", std::to_string(pairs.size())},
                     {"sends in a row", std::to_string(plan.critical_sends())}});
}

}  // namespace

void collective_info(const CollectiveOptions& options) {
  const bool json = options.file.extension() == ".json";
  const CollectiveFile read = json ? read_taccl(options.file) : read_msccl(options.file);
  const auto plan =
      read.algorithm->expand({.op = read.op, .members = read.members, .size = Bytes{read.members}, .root = read.root});
  std::cout << options.file.string() << ": a correct " << name(read.op) << '\n' << numbers(*plan);
}

void collective_export(const CollectiveOptions& options, const CollectiveRegistry& known) {
  CollectiveCall call{.op = op_named(options.op), .members = options.ranks, .size = Bytes{options.bytes}};
  call.pieces = options.chunks;
  const CollectiveAlgorithm& algorithm = known.find(options.algorithm);
  if (!algorithm.supports(call.op, call.members)) {
    throw ConfigError("--algorithm",
                      options.algorithm + " cannot do " + options.op + " among " + core::counted(call.members, "member"),
                      "photonrail list collectives");
  }
  check_work(work_of_export(call, algorithm), "collective export", options.work_limit_s);
  const auto plan = algorithm.expand(call);
  const WorkEstimate work = work_of_export(*plan);
  admit_memory(work, "collective export", options.work_limit_s);
  admit(work, "collective export", options.work_limit_s);
  put(options.out, call, *plan, options.algorithm + "_" + options.op, numbers(*plan));
}

void collective_synthesize(const CollectiveOptions& options) {
  const synthesis::SynthesisTopology topology = formats::synthesis::read_synthesis_topology(options.file);
  synthesis::SynthesisOptions wanted{.op = op_named(options.op), .size = Bytes{options.bytes}, .chunks = options.chunks};
  wanted.seed = options.seed;
  wanted.tries = options.tries;
  const synthesis::SynthesisSketch sketch =
      options.sketch.empty() ? synthesis::SynthesisSketch{} : formats::synthesis::read_synthesis_sketch(options.sketch);
  const synthesis::SynthesizedCollective made =
      about(options.sketch.empty() ? options.file : options.sketch, [&] { return synthesize(topology, wanted, sketch); });
  const std::string called = "synthesized_" + options.op;
  const CollectiveCall call{.op = wanted.op, .members = topology.nodes, .size = wanted.size};
  const auto plan = made.algorithm(topology, called)->expand(call);
  put(options.out, call, *plan, called, numbers(*plan) + in_columns({{"time by the links alone", to_text(made.time)}}));
}

}  // namespace photonrail::command
