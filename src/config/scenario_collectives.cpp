// The "collectives" section, and algorithms that come as files.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/simulate.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

/// The values that lines of the table take from the caller.
struct CollectivesContext : FileContext {
  CollectivesContext(const std::filesystem::path& folder, const CollectiveRegistry& names)
      : FileContext(folder), known(names) {}
  const CollectiveRegistry& known;
};

constexpr Word<StragglerChoice> kStragglers[] = {{"eager", StragglerChoice::kEager},
                                                 {"predicted", StragglerChoice::kPredicted}};

// A rank, or how to find one.
void store_straggler(const Reading& at) {
  auto& spec = into<CollectiveSpec>(at);
  if (at.value.is_string()) {
    spec.straggler = fields::meaning<kStragglers>(at.value);
    return;
  }
  spec.straggler = StragglerChoice::kKnown;
  spec.straggler_rank = RankId{whole_of(at.value, kRankShape)};
}

template <CollectiveOp Op>
constexpr Field algorithm(std::string_view key, std::string_view standard) {
  return fields::own(
             key, kAlgorithmShape,
             [](const Reading& at) {
               const auto& context = context_of<CollectivesContext>(at);
               auto& spec = into<CollectiveSpec>(at);
               spec.algorithm[static_cast<std::size_t>(Op)] =
                   at.value.is_object() ? read_algorithm_file(at.value, Op, context.directory, spec)
                                        : read_algorithm_name(at.value, context.known);
             },
             "Its algorithm: a name of `photonrail list collectives`, `\"auto\"` (whichever is predicted to be the "
             "fastest, "
             "call by call), or a file.")
      .by("")
      .or_else(standard);
}

constexpr Shape kStragglerWord = fields::text_shape(fields::words_of<kStragglers>);
constexpr Field kCollectivesFields[] = {
    algorithm<CollectiveOp::kAllReduce>("all_reduce", "`\"ring\"`"),
    algorithm<CollectiveOp::kReduce>("reduce", "`\"ring\"`"),
    algorithm<CollectiveOp::kAllGather>("all_gather", "`\"ring\"`"),
    algorithm<CollectiveOp::kGather>("gather", "`\"direct\"`"),
    algorithm<CollectiveOp::kScatter>("scatter", "`\"direct\"`"),
    algorithm<CollectiveOp::kBroadcast>("broadcast", "`\"ring\"`"),
    algorithm<CollectiveOp::kAllToAll>("all_to_all", "`\"pairwise\"`"),
    algorithm<CollectiveOp::kReduceScatter>("reduce_scatter", "`\"ring\"`"),
    algorithm<CollectiveOp::kBarrier>("barrier", "`\"ring\"`"),
    fields::count<&CollectiveSpec::chunks>("chunks", 1, 1'000'000, "Pipelined pieces of a collective.").or_else("1"),
    fields::own(
        "straggler", fields::either(kStragglerWord, kRankShape), store_straggler,
        "The member that `stragglar` takes to be late: a rank (groups without it: as eager), the one that is missing "
        "last, or the one that came last before.")
        .by("straggler_rank")
        .or_else("`\"eager\"`"),
};
constexpr Alias kCollectivesAliases[] = {{"algorithm.*", "*"}};

constexpr Field kAlgorithmFileFields[] = {
    fields::known("msccl", kPathShape, "A file of MSCCL XML.").or_else("one of the three"),
    fields::known("taccl", kPathShape, "An algorithm of TACCL, as JSON."),
    fields::known("chakra", kPathShape, "The prefix of a collective written as sends and receives."),
    fields::known("bytes", fields::whole_shape(1, 0x1p50),
                  "The size that the trace was written for, counted as in `workload/collective/bytes`.")
        .must_later("chakra"),
};

}  // namespace

constexpr Section kAlgorithmFileSection{kAlgorithmFileFields};
constexpr Section kCollectivesSection{kCollectivesFields, nullptr, kCollectivesAliases};

std::vector<std::string> algorithm_words(const Registries& known) {
  std::vector<std::string> words{std::string(kAutoAlgorithm)};
  for (const auto& algorithm : known.collectives.all()) words.emplace_back(algorithm->name());
  return words;
}

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
  const CollectivesContext context(directory, known);
  fields::read(std::move(section), kCollectivesSection, &spec, &context);
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
    if (chakra) {
      const Bytes size{static_cast<std::int64_t>(whole_of(*bytes, kAlgorithmFileFields[3].shape))};
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
