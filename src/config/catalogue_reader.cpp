// Prices and watts: `photonrail.catalogue/1`, and "cost" of a scenario.
#include "config/embedded_files.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "json/file_kind.hpp"
#include "json/in_file.hpp"
#include "photonrail/config.hpp"

#include <algorithm>

namespace photonrail {

namespace {

using json::JsonReader;

constexpr std::string_view kCatalogueSchema = "photonrail.catalogue/1";
namespace fields = photonrail::fields;
using fields::Field;
using fields::Section;

constexpr double kMaxAmount = 1e12;

constexpr Field kNameField[] = {fields::text<&PricedItem::name>("name", "What it is.").must()};
constexpr Section kName{kNameField};
constexpr Field kPriceFields[] = {
    fields::number<&PricedItem::usd>("usd", 0.0, kMaxAmount, "Price of one in US dollars.").must("of one, in US dollars"),
    fields::number<&PricedItem::watts>("watts", 0.0, kMaxAmount, "Power of one.").must("of one"),
    fields::text<&PricedItem::source>("source", "Where price and power come from.").must("where price and power come from"),
};
constexpr Section kPrice{kPriceFields};
constexpr Field kItemFields[] = {fields::include<kName>(), fields::include<kPrice>()};
constexpr Section kItem{kItemFields};
constexpr Field kSwitchPriceFields[] = {
    fields::include<kName>(),
    fields::count<&PricedItem::ports>("ports", 4, 1'000'000, "Ports of a switch.").must(),
    fields::include<kPrice>(),
};
constexpr Section kSwitch{kSwitchPriceFields};

template <double PriceCatalogue::*Share, std::string PriceCatalogue::*Source>
inline constexpr Field kPriceShareFields[] = {
    fields::number<Share>("share", 0.0, 1.0, "The share.").must(),
    fields::text<Source>("source", "Where the share comes from.").must("where the share comes from"),
};
constexpr Section kSpares{kPriceShareFields<&PriceCatalogue::spare_share, &PriceCatalogue::spare_source>};
constexpr Section kIdle{kPriceShareFields<&PriceCatalogue::gpu_idle_share, &PriceCatalogue::gpu_idle_source>};

constexpr fields::Word<bool> kTransceivers[] = {{"per_gpu_and_switch_port", true}, {"per_gpu", false}};
constexpr Field kArtifactFields[] = {
    fields::word<kTransceivers, &PriceCatalogue::artifact_switch_transceivers>(
        "transceivers", "How the published artifact counts transceivers.")
        .must(),
};
constexpr Section kArtifact{kArtifactFields};

constexpr Field kCatalogueFields[] = {
    fields::known("schema", fields::text_shape(), "`photonrail.catalogue/1`.").must(),
    fields::text<&PriceCatalogue::note>("note", "For people.").or_else("none"),
    fields::rate<&PriceCatalogue::port>("port_gb_per_s", "The rate of a NIC port that the parts carry.").by("port").must(),
    fields::count<&PriceCatalogue::gpus_per_server>("gpus_per_server", 1, 1024, "GPUs of a server.").must(),
    fields::part<kSwitch, &PriceCatalogue::electrical_switch>("electrical_switch", "A packet switch.").must(),
    fields::part<kSwitch, &PriceCatalogue::optical_switch>("optical_switch", "An OCS.").must(),
    fields::part<kItem, &PriceCatalogue::transceiver>("transceiver", "A transceiver.").must(),
    fields::part<kItem, &PriceCatalogue::fibre_pair>("fibre_pair", "A pair of fibres.").must(),
    fields::group<kSpares>("spares", "Spares over what is installed.").or_else("none"),
    fields::group<kIdle>("gpu_idle", "What a GPU takes that waits, as a share of its power.").or_else("not known"),
    fields::group<kArtifact>("opus_artifact", "For the rule of the published artifact.").or_else("none"),
};

}  // namespace

constexpr Section config::kCatalogueSection{kCatalogueFields};

PriceCatalogue config::read_catalogue_file(JsonReader top, std::string name) {
  json::require_schema(top, kCatalogueSchema);
  PriceCatalogue c;
  c.name = std::move(name);
  fields::read(std::move(top), kCatalogueSection, &c);
  return c;
}

namespace {

PriceCatalogue parse_catalogue(std::string_view text, std::string name, const std::string& file) {
  return json::in_file(
      text, file, [&](const json::Json& root) { return config::read_catalogue_file(JsonReader(root), std::move(name)); });
}

bool is_path(std::string_view word) { return word.ends_with(".json") || word.find('/') != std::string_view::npos; }

}  // namespace

const std::vector<PriceCatalogue>& price_catalogues() {
  static const std::vector<PriceCatalogue> catalogues = [] {
    std::vector<PriceCatalogue> list;
    for (const config::EmbeddedFile& file : config::catalogue_files()) {
      const std::string name(file.name);
      list.push_back(parse_catalogue(file.text, name, "configs/catalogues/" + name + ".json"));
    }
    return list;
  }();
  return catalogues;
}

PriceCatalogue price_catalogue(std::string_view name_or_file) {
  if (is_path(name_or_file)) {
    const std::filesystem::path file(name_or_file);
    return parse_catalogue(formats::read_file(file), file.stem().string(), file.string());
  }
  std::vector<std::string> known;
  for (const PriceCatalogue& catalogue : price_catalogues()) {
    if (catalogue.name == name_or_file) return catalogue;
    known.push_back(catalogue.name);
  }
  throw ConfigError("catalogue", "there is no catalogue \"" + std::string(name_or_file) + "\"",
                    suggest(name_or_file, known) + "; or the path of a .json file");
}

const PriceCatalogue& price_catalogue_for(Bandwidth port) {
  const std::vector<PriceCatalogue>& all = price_catalogues();
  // The slowest that carries the port, else the fastest of all.
  return *std::min_element(all.begin(), all.end(), [&](const PriceCatalogue& a, const PriceCatalogue& b) {
    const bool a_carries = a.port >= port;
    if (a_carries != (b.port >= port)) return a_carries;
    return a_carries ? a.port < b.port : a.port > b.port;
  });
}

CostRule cost_rule(std::string_view word) {
  std::vector<std::string> known;
  for (const CostRule rule : {CostRule::kPhysical, CostRule::kOpusArtifact}) {
    if (name(rule) == word) return rule;
    known.emplace_back(name(rule));
  }
  throw ConfigError("rule", "there is no rule \"" + std::string(word) + "\"", suggest(word, known));
}

namespace config {

namespace {

/// The values that lines of the table take from the cluster.
struct CostContext : FileContext {
  CostContext(const std::filesystem::path& folder, const ClusterSpec& of) : FileContext(folder), cluster(of) {}
  const ClusterSpec& cluster;
};

void store_catalogue(const fields::Reading& at) {
  const std::string word = at.value.string();
  try {
    into<Pricing>(at).catalogue = price_catalogue(is_path(word) ? read_path(at.value, folder_of(at)).string() : word);
  } catch (const ConfigError& e) {
    if (is_path(word)) throw e.inside(at.value.pointer());
    at.value.fail(e.problem(), e.hint());
  }
}

std::vector<std::string> catalogue_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const PriceCatalogue& catalogue : price_catalogues()) words.push_back(catalogue.name);
  return words;
}

std::vector<std::string> rule_words(const Registries& /*known*/) {
  return {std::string(name(CostRule::kPhysical)), std::string(name(CostRule::kOpusArtifact))};
}

constexpr Field kCostFields[] = {
    fields::own("catalogue", fields::text_shape(catalogue_words, true), store_catalogue,
                "A name of `photonrail list catalogues`, or the path of a `photonrail.catalogue/1` file.")
        .or_else("the slowest whose ports carry the NIC's rate, else the fastest"),
    fields::then([](const fields::Reading& at) {
      if (!at.section.has("catalogue"))
        into<Pricing>(at).catalogue = price_catalogue_for(context_of<CostContext>(at).cluster.nic.per_port);
    }),
    fields::own(
        "rule", fields::text_shape(rule_words),
        [](const fields::Reading& at) { into<Pricing>(at).rule = at.value.lookup(cost_rule); }, "How parts are counted.")
        .or_else("`\"physical\"`"),
    fields::own(
        "spare_share", fields::number_shape(0.0, 1.0),
        [](const fields::Reading& at) {
          into<Pricing>(at).catalogue.spare_share = number_of(at);
          into<Pricing>(at).catalogue.spare_source = "the scenario";
        },
        "Spares over what is installed, rounded up.")
        .by("catalogue.spare_share")
        .or_else("the catalogue's"),
};
// The prices are those of a catalogue, which is read from a file of its own.
constexpr Alias kCostAliases[] = {{"catalogue.*", "catalogue"}};

}  // namespace

constexpr Section kCostSection{kCostFields, nullptr, kCostAliases};

Pricing read_cost(std::optional<JsonReader> section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  if (!section) return {price_catalogue_for(cluster.nic.per_port), CostRule::kPhysical};
  Pricing pricing;
  const CostContext context(directory, cluster);
  fields::read(*std::move(section), kCostSection, &pricing, &context);
  return pricing;
}

}  // namespace config

}  // namespace photonrail
