// A bill of materials as JSON, in results and by itself.
#pragma once

#include "photonrail/cost.hpp"

#include <nlohmann/json.hpp>

namespace photonrail::report {

[[nodiscard]] nlohmann::ordered_json to_json_array(const Bill& bill);

}  // namespace photonrail::report
