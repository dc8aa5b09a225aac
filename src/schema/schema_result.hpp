// The schema of a result.
#pragma once

namespace photonrail::schema {

/// The schema of `photonrail.result/1`, which is written and not read.
[[nodiscard]] const char* result_schema();

}  // namespace photonrail::schema
