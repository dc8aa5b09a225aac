// The "collectives" section, and algorithms that come as files.
#include "config/scenario_parts.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/collective/plan_file.hpp"

#include <algorithm>
#include <limits>

namespace photonrail::config {

namespace {

// A rank, or how to find one.
void read_straggler(const JsonReader& value, CollectiveSpec& spec) {
  using enum StragglerChoice;
  if (value.is_string()) {
    spec.straggler = value.choice<StragglerChoice>({{"eager", kEager}, {"predicted", kPredicted}});
    return;
  }
  spec.straggler = kKnown;
  spec.straggler_rank = RankId{value.count(0, std::numeric_limits<std::uint32_t>::max() - 1)};
}

}  // namespace

std::string read_algorithm_name(JsonReader value, const CollectiveRegistry& known) {
  return value.lookup([&](const std::string& word) {
    std::vector<std::string> words{std::string(kAutoAlgorithm)};
    for (const auto& algorithm : known.all()) words.emplace_back(algorithm->name());
    if (std::find(words.begin(), words.end(), word) != words.end()) return word;
    throw ConfigError("", "unknown collective algorithm \"" + word + "\"", suggest(word, words));
  });
}

CollectiveSpec read_collectives(JsonReader section, const std::filesystem::path& directory,
                                const CollectiveRegistry& known) {
  CollectiveSpec spec;
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    if (op == CollectiveOp::kSend) continue;  // a message has one way to travel
    if (const auto v = section.optional(name(op))) {
      spec.algorithm[static_cast<std::size_t>(i)] =
          v->is_object() ? read_algorithm_file(*v, op, directory, spec) : read_algorithm_name(*v, known);
    }
  }
  if (const auto v = section.optional("chunks")) spec.chunks = v->count(1, 1'000'000);
  if (const auto v = section.optional("straggler")) read_straggler(*v, spec);
  section.finish();
  return spec;
}

std::string read_algorithm_file(JsonReader value, CollectiveOp op, const std::filesystem::path& directory,
                                CollectiveSpec& collectives) {
  const auto msccl = value.optional("msccl");
  const auto taccl = value.optional("taccl");
  const auto chakra = value.optional("chakra");
  const auto bytes = value.optional("bytes");
  value.finish();
  if (msccl.has_value() + taccl.has_value() + chakra.has_value() != 1)
    value.fail(R"(needs exactly one of "msccl", "taccl", "chakra")");
  if (bytes && !chakra) bytes->fail("only a Chakra trace has a size", "remove it");
  if (chakra && !bytes) value.missing("bytes", "the size of the collective that the trace was written for");
  CollectiveFile read;
  try {
    if (msccl) read = read_msccl(read_path(*msccl, directory));
    if (taccl) read = read_taccl(read_path(*taccl, directory));
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
    if (chakra) {
      const Bytes size{static_cast<std::int64_t>(bytes->integer(1, kMaxBytes))};
      read = read_chakra_collective(read_path(*chakra, directory), op, size);
    }
  } catch (const ConfigError& e) {
    if (e.where().starts_with(value.pointer())) throw;
    throw e.inside(value.pointer());
  }
  if (read.op != op) value.fail("the file is an " + std::string(name(read.op)) + ", not an " + std::string(name(op)));
  std::string name(read.algorithm->name());
  if (collectives.find_own(name) == nullptr) collectives.own.push_back(std::move(read.algorithm));
  return name;
}

}  // namespace photonrail::config
