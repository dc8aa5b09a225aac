// The table of photonrail.plan/1.
#pragma once

#include "fields/field.hpp"

namespace photonrail::plan {

extern const fields::Section kPlanSection;

}  // namespace photonrail::plan
