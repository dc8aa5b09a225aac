// Plans that cannot exist, each with one clear message. All throw core::FieldError about a TrainingSpec.
#pragma once

#include "core/field.hpp"
#include "photonrail/training.hpp"

#include <cstdint>
#include <string>

namespace photonrail::workload {

void require_positive(const core::Field& where, std::uint32_t value);
/// `what` says in words what is cut into `divisor` equal parts.
void require_divides(const core::Field& where, const std::string& what, std::uint64_t divisor, std::uint64_t value);

void check_model(const ModelSpec& model);
/// tp, cp, ep, pp, and how parameters are sharded, each against the model and the others.
void check_parallelism(const TrainingSpec& spec);

}  // namespace photonrail::workload
