// The tables of photonrail.sweep/1.
#pragma once

#include "fields/field.hpp"

namespace photonrail::sweep {

extern const fields::Section kSweepSection;
extern const fields::Section kAxisSection;
extern const fields::Section kRangeSection;
extern const fields::Section kLogRangeSection;
extern const fields::Section kColumnSection;  ///< a column of a zip that is no list
extern const fields::Section kDerivedSection;

inline constexpr double kLargestNumber = 1e18;
inline constexpr fields::Shape kBoundShape = fields::number_shape(-kLargestNumber, kLargestNumber);
inline constexpr fields::Shape kLogBoundShape = fields::positive_shape(kLargestNumber);
inline constexpr fields::Shape kPointsShape = fields::whole_shape(2, 1e6);
inline constexpr fields::Shape kTermShape = fields::positive_shape(1e18);
inline constexpr fields::Shape kSeedShape = fields::whole_shape(0, 0x1p63);
inline constexpr fields::Shape kRepetitionsShape = fields::whole_shape(1, 1'000'000);

}  // namespace photonrail::sweep
