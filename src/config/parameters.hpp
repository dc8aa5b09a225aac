// The keys that a part of a scenario has of its own: a policy, or an agent.
#pragma once

#include "config/json_reader.hpp"
#include "fields/field.hpp"
#include "photonrail/control/parameter.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::config {

/// Reads those that are there.
void read_parameters(JsonReader& section, const std::vector<ControllerParameter>& parameters, ParameterValues& into);

/// The keys of all parts as fields, each with the names of those that have it.
class ParameterFields {
 public:
  /// `texts` keeps what the fields refer to.
  explicit ParameterFields(std::deque<std::string>& texts) : texts_(texts) {}

  void add(const std::vector<ControllerParameter>& parameters, const std::string& owner);
  void add(fields::Field field, const std::string& owner, const std::vector<std::string>& words);
  [[nodiscard]] std::vector<fields::Field> take() { return std::move(all_); }

 private:
  std::deque<std::string>& texts_;
  std::vector<fields::Field> all_;
};

}  // namespace photonrail::config
