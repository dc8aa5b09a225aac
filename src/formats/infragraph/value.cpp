// YAML as a JSON value. JSON is YAML too, and read by the parser of JSON.
#include "core/counted.hpp"
#include "formats/infragraph/infragraph.hpp"
#include "formats/input_file.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <yaml-cpp/yaml.h>

namespace photonrail::formats::infragraph {

namespace {

using json::Json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::uint64_t kMaxValues = 2'000'000;  // aliases count each time
constexpr std::size_t kMaxLevels = 32;

/// Plain scalars that are numbers or truth values become those; quoted ones stay text.
Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return Json(text);
  std::uint64_t natural = 0;
  double number = 0.0;
  bool truth = false;
  if (YAML::convert<std::uint64_t>::decode(node, natural)) return Json(natural);
  if (YAML::convert<double>::decode(node, number)) return Json(number);
  if (YAML::convert<bool>::decode(node, truth)) return Json(truth);
  return Json(text);
}

class Converter {
 public:
  Json value(const YAML::Node& node, std::size_t level) {
    if (level > kMaxLevels) throw ConfigError("", "has more than " + std::to_string(kMaxLevels) + " levels");
    if (++values_ > kMaxValues) throw ConfigError("", "has more than " + std::to_string(kMaxValues) + " values");
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const YAML::Node& element : node) list.push_back(value(element, level + 1));
      return list;
    }
    if (node.IsMap()) {
      Json object = Json::object();
      for (const auto& member : node) {
        if (!member.first.IsScalar()) throw ConfigError("", "a key is not a word");
        const std::string& key = member.first.Scalar();
        if (object.contains(key)) throw ConfigError("/" + key, "occurs twice");
        if (key == "<<") throw ConfigError("", "has a merge key (<<)", "write the keys out");
        object.insert(key, value(member.second, level + 1));
      }
      return object;
    }
    return node.IsScalar() ? scalar(node) : Json(nullptr);
  }

 private:
  std::uint64_t values_ = 0;
};

}  // namespace

Json read_value(const std::filesystem::path& file) {
  const std::string text = formats::read_file(file);
  if (text.size() > kMaxBytes)
    throw ConfigError(file.string(), "has " + core::counted(text.size(), "byte"),
                      "at most 64 MiB; slices in place of single edges");
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != std::string::npos && text[first] == '{')
    return json::parse_json(text, file.string(), kMaxValues);
  try {
    return Converter().value(YAML::Load(text), 0);
  } catch (const YAML::Exception& e) {
    throw ConfigError(file.string() + ":" + std::to_string(e.mark.line + 1), e.msg,
                      "is it an InfraGraph infrastructure (YAML or JSON)?");
  } catch (const ConfigError& e) {
    throw e.inside(file.string());
  }
}

}  // namespace photonrail::formats::infragraph
