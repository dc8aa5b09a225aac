// Prices and watts: `photonrail.catalogue/1`, and "cost" of a scenario.
#include "config/embedded_files.hpp"
#include "config/scenario_parts.hpp"
#include "json/file_kind.hpp"
#include "photonrail/config.hpp"

#include <algorithm>

namespace photonrail {

namespace {

using config::JsonReader;

constexpr std::string_view kCatalogueSchema = "photonrail.catalogue/1";
constexpr double kMaxAmount = 1e12;

PricedItem read_item(JsonReader section, bool has_ports) {
  PricedItem item;
  item.name = section.child("name").string();
  if (has_ports) item.ports = section.child("ports").count(4, 1'000'000);
  item.usd = section.child("usd", "of one, in US dollars").number(0.0, kMaxAmount);
  item.watts = section.child("watts", "of one").number(0.0, kMaxAmount);
  item.source = section.child("source", "where price and power come from").string();
  section.finish();
  return item;
}

void read_share(JsonReader section, double& share, std::string& source) {
  share = section.child("share").number(0.0, 1.0);
  source = section.child("source", "where the share comes from").string();
  section.finish();
}

void read_artifact(JsonReader section, bool& switch_transceivers) {
  switch_transceivers = section.child("transceivers").choice<bool>({{"per_gpu_and_switch_port", true}, {"per_gpu", false}});
  section.finish();
}

}  // namespace

PriceCatalogue config::read_catalogue_file(JsonReader top, std::string name) {
  json::require_schema(top, kCatalogueSchema);
  PriceCatalogue c;
  c.name = std::move(name);
  if (const auto v = top.optional("note")) c.note = v->string();
  c.port = top.child("port_gb_per_s").bandwidth();
  c.gpus_per_server = top.child("gpus_per_server").count(1, 1024);
  c.electrical_switch = read_item(top.child("electrical_switch"), true);
  c.optical_switch = read_item(top.child("optical_switch"), true);
  c.transceiver = read_item(top.child("transceiver"), false);
  c.fibre_pair = read_item(top.child("fibre_pair"), false);
  if (const auto v = top.optional("spares")) read_share(*v, c.spare_share, c.spare_source);
  if (const auto v = top.optional("gpu_idle")) read_share(*v, c.gpu_idle_share, c.gpu_idle_source);
  if (const auto v = top.optional("opus_artifact")) read_artifact(*v, c.artifact_switch_transceivers);
  top.finish();
  return c;
}

namespace {

PriceCatalogue parse_catalogue(std::string_view text, std::string name, const std::string& file) {
  const config::Json root = config::parse_json(text, file);
  try {
    return config::read_catalogue_file(JsonReader(root), std::move(name));
  } catch (const ConfigError& e) {
    throw e.inside(file);
  }
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

Pricing read_cost(std::optional<JsonReader> section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  if (!section) return {price_catalogue_for(cluster.nic.per_port), CostRule::kPhysical};
  Pricing pricing;
  if (const auto v = section->optional("catalogue")) {
    const std::string word = v->string();
    try {
      pricing.catalogue = price_catalogue(is_path(word) ? read_path(*v, directory).string() : word);
    } catch (const ConfigError& e) {
      if (is_path(word)) throw e.inside(v->pointer());
      v->fail(e.problem(), e.hint());
    }
  } else {
    pricing.catalogue = price_catalogue_for(cluster.nic.per_port);
  }
  if (const auto v = section->optional("rule")) pricing.rule = v->lookup(cost_rule);
  if (const auto v = section->optional("spare_share")) {
    pricing.catalogue.spare_share = v->number(0.0, 1.0);
    pricing.catalogue.spare_source = "the scenario";
  }
  section->finish();
  return pricing;
}

}  // namespace config

}  // namespace photonrail
