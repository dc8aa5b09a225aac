#include "testing/setting_text.hpp"

#include "photonrail/testing/laws.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace photonrail::testing {

namespace {

// Numbers without needless zeros: 2.500000 is 2.5.
std::string plain(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

using Words = std::vector<std::pair<std::string, std::string>>;  // key, JSON value

bool is_flag(const ControllerFactory* factory, const std::string& key) {
  if (factory == nullptr) return false;
  return std::any_of(factory->parameters.begin(), factory->parameters.end(), [&](const ControllerParameter& p) {
    return p.key == key && p.kind == ControllerParameter::Kind::kFlag;
  });
}

void add_own(const ControllerSpec& spec, const ControllerFactory* factory, Words& words) {
  for (const auto& [key, value] : spec.parameters.all()) {
    if (const auto* number = std::get_if<double>(&value)) {
      words.emplace_back(key, !is_flag(factory, key) ? plain(*number) : *number != 0.0 ? "true" : "false");
    } else if (const auto* time = std::get_if<Duration>(&value)) {
      words.emplace_back(key + "_ps", std::to_string(time->count()));
    } else {
      words.emplace_back(key, '"' + std::get<std::string>(value) + '"');
    }
  }
}

std::string circuits(const ControllerSpec& spec) {
  std::string text;
  for (const StaticCircuit& c : spec.circuits) {
    text += std::string(text.empty() ? "[" : ", ") + "{ \"from\": " + std::to_string(c.from.value) +
            ", \"to\": " + std::to_string(c.to.value) + ", \"from_port\": " + std::to_string(c.from_port) +
            ", \"to_port\": " + std::to_string(c.to_port) + " }";
  }
  return text + "]";
}

}  // namespace

std::string setting_json(const ControllerSpec& spec, const ControllerFactory& factory) {
  Words words{{"name", '"' + spec.name + '"'}};
  add_own(spec, &factory, words);
  const std::pair<const char*, Duration> delays[] = {{"request_ps", spec.request},
                                                     {"service_ps", spec.service},
                                                     {"command_ps", spec.command},
                                                     {"acknowledgement_ps", spec.acknowledgement}};
  for (const auto& [key, delay] : delays) {
    if (delay > Duration{}) words.emplace_back(key, std::to_string(delay.count()));
  }
  if (!spec.circuits.empty()) words.emplace_back("circuits", circuits(spec));
  std::string text;
  for (const auto& [key, value] : words) text += (text.empty() ? "{ \"" : ", \"") + key + "\": " + value;
  return text + " }";
}

std::string describe(const ControllerSpec& setting) {
  Words words;
  add_own(setting, nullptr, words);
  std::string text = setting.name;
  for (const auto& [key, value] : words) text += " " + key + "=" + value;
  return text;
}

}  // namespace photonrail::testing
