// A bill of materials as JSON, in results and by itself.
#pragma once

#include "json/json.hpp"
#include "photonrail/study/cost.hpp"

namespace photonrail::report {

[[nodiscard]] json::Json to_json_array(const Bill& bill);

}  // namespace photonrail::report
