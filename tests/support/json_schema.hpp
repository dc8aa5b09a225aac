// Checks a JSON value against a JSON Schema (2020-12), as far as the keywords go that photonrail writes. Any other keyword
// is an error, so that none is passed over.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace photonrail::test {

class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json schema) : root_(std::move(schema)) {}

  /// What is wrong with the value, or "".
  [[nodiscard]] std::string problem(const nlohmann::json& value) const;

 private:
  nlohmann::json root_;
};

}  // namespace photonrail::test
