#include "astra/files/files.hpp"
#include "core/counted.hpp"
#include "formats/input_file.hpp"
#include "photonrail/error.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

namespace photonrail::astra {

namespace {

constexpr std::array<std::string_view, 4> kNetworkKeys{"topology", "npus_count", "bandwidth", "latency"};

// A list, or a single value for the single dimension.
std::vector<YAML::Node> list_at(const YAML::Node& root, std::string_view key) {
  const YAML::Node node = root[std::string(key)];
  const std::string where = "/" + std::string(key);
  if (!node.IsDefined() || node.IsNull()) throw ConfigError(where, "missing", "one value for each dimension: [ ... ]");
  if (node.IsScalar()) return {node};
  if (!node.IsSequence()) throw ConfigError(where, "must be a list", "one value for each dimension");
  std::vector<YAML::Node> values;
  for (const YAML::Node& value : node) values.push_back(value);
  return values;
}

template <class Value>
Value value_at(const YAML::Node& node, std::string_view key, std::size_t index, std::string_view what) {
  Value value{};
  if (!node.IsScalar() || !YAML::convert<Value>::decode(node, value))
    throw ConfigError("/" + std::string(key) + "/" + std::to_string(index), "must be " + std::string(what));
  return value;
}

AnalyticalShape shape_of(const YAML::Node& node, std::size_t index) {
  const auto word = value_at<std::string>(node, "topology", index, "a word");
  if (word == "Ring") return AnalyticalShape::kRing;
  if (word == "FullyConnected") return AnalyticalShape::kFullyConnected;
  if (word == "Switch") return AnalyticalShape::kSwitch;
  throw ConfigError("/topology/" + std::to_string(index), "the topology \"" + word + "\" is not modelled",
                    "Ring, FullyConnected, Switch");
}

std::vector<AnalyticalDimension> dimensions_of(const YAML::Node& root) {
  if (!root.IsMap()) throw ConfigError("", "must have the keys topology, npus_count, bandwidth and latency");
  const auto shapes = list_at(root, "topology");
  std::vector<std::vector<YAML::Node>> columns;
  for (const std::string_view key : kNetworkKeys) {
    columns.push_back(list_at(root, key));
    if (columns.back().size() == shapes.size()) continue;
    throw ConfigError("/" + std::string(key), core::counted(columns.back().size(), "value") + " for " +
                                                  core::counted(shapes.size(), "dimension") + " (/topology)");
  }
  std::vector<AnalyticalDimension> network;
  for (std::size_t d = 0; d < shapes.size(); ++d) {
    AnalyticalDimension dimension;
    dimension.shape = shape_of(columns[0][d], d);
    dimension.members = value_at<std::uint32_t>(columns[1][d], "npus_count", d, "a whole number");
    dimension.gib_per_s = value_at<double>(columns[2][d], "bandwidth", d, "a number of GB/s (2^30 bytes)");
    dimension.latency_ns = value_at<double>(columns[3][d], "latency", d, "a number of ns");
    if (dimension.members < 2) throw ConfigError("/npus_count/" + std::to_string(d), "must be 2 or more");
    if (!(dimension.gib_per_s > 0.0) || !std::isfinite(dimension.gib_per_s))
      throw ConfigError("/bandwidth/" + std::to_string(d), "must be above 0");
    if (!(dimension.latency_ns >= 0.0) || !std::isfinite(dimension.latency_ns))
      throw ConfigError("/latency/" + std::to_string(d), "must be 0 or more");
    network.push_back(dimension);
  }
  return network;
}

}  // namespace

std::vector<AnalyticalDimension> read_network(const std::filesystem::path& file, std::vector<std::string>& warnings) {
  const std::string text = formats::read_file(file);
  try {
    const YAML::Node root = YAML::Load(text);
    std::vector<AnalyticalDimension> network = dimensions_of(root);
    std::set<std::string> keys;
    for (const auto& entry : root) {
      const auto key = entry.first.Scalar();
      if (!keys.insert(key).second) throw ConfigError("/" + key, "occurs twice");
      if (std::find(kNetworkKeys.begin(), kNetworkKeys.end(), key) == kNetworkKeys.end())
        warnings.push_back(file.string() + ": /" + key + ": not modelled, and not read");
    }
    return network;
  } catch (const YAML::Exception& e) {
    throw ConfigError(file.string() + ":" + std::to_string(e.mark.line + 1), e.msg, "is it a network file (YAML)?");
  } catch (const ConfigError& e) {
    throw e.inside(file.string());
  }
}

}  // namespace photonrail::astra
