// A bill of materials as JSON, in results and by itself.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/study/cost.hpp"

#include <cstdint>

namespace photonrail::report {

extern const fields::Section kBillLineKeys;
[[nodiscard]] json::Json to_json_array(const Bill& bill);
/// Installed switches of all tiers.
[[nodiscard]] std::uint64_t switches_of(const Bill& bill);

}  // namespace photonrail::report
