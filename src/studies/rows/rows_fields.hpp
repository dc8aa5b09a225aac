// The table of photonrail.rows/1.
#pragma once

#include "fields/field.hpp"

namespace photonrail::rows {

extern const fields::Section kRowsSection;

}  // namespace photonrail::rows
