#include "astra/files/files.hpp"
#include "core/number_in.hpp"
#include "formats/input_file.hpp"
#include "json/in_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace photonrail::astra {

namespace {

using json::Json;
using json::JsonReader;

/// Keys that change no cycle of the analytical back ends, as long as nothing else asks for them.
const std::set<std::string, std::less<>> kWithoutEffect{
    "boost-mode", "trace-enabled", "track-local-mem", "local-mem-trace-filename", "local-reduction-delay", "L", "o", "g",
    "G"};

AnalyticalImplementation implementation_of(const JsonReader& place) {
  std::string word = place.string();
  AnalyticalImplementation how;
  if (word.starts_with("one")) {
    how.whole_network = true;
    word = word.substr(3);
    if (!word.empty() && word.front() >= 'A' && word.front() <= 'Z')
      word.front() = static_cast<char>(word.front() - 'A' + 'a');
  }
  if (word == "ring") return how;
  if (word == "halvingDoubling" || (word == "doubleBinaryTree" && !how.whole_network)) {
    how.algorithm =
        word == "halvingDoubling" ? AnalyticalAlgorithm::kHalvingDoubling : AnalyticalAlgorithm::kDoubleBinaryTree;
    return how;
  }
  constexpr std::string_view kDirect = "direct";
  const std::string_view window = std::string_view(word).substr(std::min(word.size(), kDirect.size()));
  how.window = core::number_in<std::uint32_t>(window).value_or(0);
  const bool numbered = how.window > 0;
  if (!word.starts_with(kDirect) || (!window.empty() && !numbered)) {
    place.fail(
        "unknown implementation \"" + place.string() + "\"",
        "ring, direct, direct4 (a window), halvingDoubling, doubleBinaryTree, oneRing, oneDirect, oneHalvingDoubling");
  }
  how.algorithm = AnalyticalAlgorithm::kDirect;
  return how;
}

void read_implementations(JsonReader& root, std::string_view key, AnalyticalImplementations& into) {
  const auto list = root.optional(key);
  if (!list) return;
  for (const JsonReader& element : list->elements()) into.push_back(implementation_of(element));
}

void refuse_what_is_not_modelled(const JsonReader& root) {
  for (const char* op : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    root.refuse(std::string(op) + "-implementation-custom", "collectives written as traces are not modelled here",
                "a scenario's /collectives/OP/chakra runs them");
  }
  root.refuse("per-node-custom-implementation", "collectives written as traces are not modelled here",
              "a scenario's /collectives/OP/chakra runs them");
}

// 0 and 1, false and true.
bool flag(const JsonReader& value) { return value.json().is_boolean() ? value.boolean() : value.number(-1e9, 1e9) != 0.0; }

void warn_of_unknown_keys(const JsonReader& root, const std::filesystem::path& file, const std::set<std::string>& read,
                          std::vector<std::string>& warnings) {
  for (const auto& [key, value] : root.members()) {
    if (read.contains(key) || kWithoutEffect.contains(key)) continue;
    warnings.push_back(file.string() + ": /" + key + ": not modelled, and not read");
  }
}

AnalyticalSystem system_of(JsonReader root, std::set<std::string>& read) {
  AnalyticalSystem system;
  const auto value = [&](const char* key) {
    read.insert(key);
    return root.optional(key);
  };
  if (const auto v = value("scheduling-policy"))
    system.order = v->choice<AnalyticalOrder>(
        {{"LIFO", AnalyticalOrder::kLifo}, {"FIFO", AnalyticalOrder::kFifo}, {"EXPLICIT", AnalyticalOrder::kExplicit}});
  if (const auto v = value("endpoint-delay")) system.endpoint_delay_ns = v->integer(0, 1'000'000'000'000);
  if (const auto v = value("active-chunks-per-dimension")) system.active_chunks = v->count(1, 1'000'000);
  if (const auto v = value("preferred-dataset-splits")) system.chunks = v->count(1, 1'000'000);
  if (const auto v = value("collective-optimization"))
    system.hierarchical_all_reduce = v->choice<bool>({{"localBWAware", true}, {"baseline", false}});
  else
    system.hierarchical_all_reduce = false;
  if (const auto v = value("local-mem-bw")) system.memory_gb_per_s = v->number(0.0, 1e12);
  if (const auto v = value("peak-perf")) system.peak_tflops = v->number(0.0, 1e12);
  if (const auto v = value("roofline-enabled")) system.roofline = flag(*v);
  if (const auto v = value("replay-only")) system.replay = flag(*v);
  if (const auto v = value("model-shared-bus"); v && flag(*v))
    v->fail("the shared memory bus (LogGP) is not modelled", "0, or photonrail's own simulation: photonrail import astra");
  for (const auto& [key, into] : {std::pair{"all-reduce-implementation", &system.all_reduce},
                                  std::pair{"all-gather-implementation", &system.all_gather},
                                  std::pair{"reduce-scatter-implementation", &system.reduce_scatter},
                                  std::pair{"all-to-all-implementation", &system.all_to_all}}) {
    read.insert(key);
    read_implementations(root, key, *into);
  }
  refuse_what_is_not_modelled(root);
  return system;
}

}  // namespace

AnalyticalSystem read_system(const std::filesystem::path& file, std::vector<std::string>& warnings) {
  return json::in_file(formats::read_file(file), file.string(), [&](const Json& text) {
    std::set<std::string> read;
    const AnalyticalSystem system = system_of(JsonReader(text), read);
    warn_of_unknown_keys(JsonReader(text), file, read, warnings);
    return system;
  });
}

void check_remote_memory(const std::filesystem::path& file) {
  json::in_file(formats::read_file(file), file.string(), [&](const Json& text) {
    JsonReader root(text);
    const JsonReader type = root.child("memory-type");
    if (type.string() != "NO_MEMORY_EXPANSION")
      type.fail("remote memory (\"" + type.string() + "\") is not modelled", "NO_MEMORY_EXPANSION");
  });
}

}  // namespace photonrail::astra
