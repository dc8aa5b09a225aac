// The tables of the sections of scenario files, beside their readers (scenario_*.cpp). Each has the name of its section.
#pragma once

#include "config/json_reader.hpp"
#include "fields/field.hpp"
#include "fields/files.hpp"
#include "fields/places.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace photonrail::config {

using fields::Alias;
using fields::context_of;
using fields::FileContext;
using fields::folder_of;
using fields::in_section;
using fields::into;
using fields::kPathShape;
using fields::Places;
using fields::Section;

extern const Section kGpuSection;
extern const Section kNicSection;
extern const Section kScaleUpSection;
extern const Section kDelaySection;  ///< a distribution of delays, in the unit of its key
extern const Section kRailSection;
extern const Section kClusterSection;
extern const Section kControllerSection;
extern const Section kControlPlaneSection;  ///< the keys of every controller of optical rails
extern const Section kExecutorSection;
extern const Section kCollectivesSection;
extern const Section kRunSection;
extern const Section kNetworkSection;
extern const Section kPlacementSection;
extern const Section kStragglerSection;
extern const Section kServerFaultSection;
extern const Section kJobSection;
extern const Section kWorkloadSection;
extern const Section kTrainingSection;
extern const Section kParallelismSection;      ///< "workload/training/parallelism"
extern const Section kTrainingOptionsSection;  ///< "workload/training" but for its model and its batch
extern const Section kOperatorsSection;
extern const Section kOverlapSection;
extern const Section kModelSection;       ///< "workload/training/model"
extern const Section kModelFileSection;   ///< photonrail.model/1
extern const Section kCollectiveSection;  ///< "workload/collective"
extern const Section kMoeTrafficSection;  ///< how the tokens of a mixture of experts move
extern const Section kMoeSection;         ///< ... with the sizes of its layer
extern const Section kMoeLayerSection;
extern const Section kAgentSection;  ///< "workload/agent"
extern const Section kServingSection;
extern const Section kServedEngineSection;  ///< "workload/serving/engine"
extern const Section kRefitSection;         ///< "workload/collective/refit"
extern const Section kWeightLayoutSection;  ///< how ranks divide the weights of a model
extern const Section kRlSection;            ///< "workload/rl"
extern const Section kCheckpointSection;
extern const Section kGraphSection;      ///< photonrail.graph/1
extern const Section kCatalogueSection;  ///< photonrail.catalogue/1
extern const Section kCostSection;
extern const Section kScenarioSection;

/// "distribution" and its keys, or a number, in the unit of the key.
inline constexpr fields::Shape kDelayNumber = fields::time_shape();
inline constexpr fields::Shape kDelayShape = fields::either(fields::object_shape(kDelaySection), kDelayNumber);
/// The fabrics of servers that are known by name.
[[nodiscard]] std::vector<std::string> scale_up_words(const Registries& known);
inline constexpr fields::Shape kScaleUpName = fields::text_shape(scale_up_words);
inline constexpr fields::Shape kScaleUpShape = fields::either(fields::object_shape(kScaleUpSection), kScaleUpName);
inline constexpr fields::Shape kStragglersShape = fields::list_shape(fields::kObjectOf<kStragglerSection>);
inline constexpr fields::Shape kServerFaultsShape = fields::list_shape(fields::kObjectOf<kServerFaultSection>);
inline constexpr fields::Shape kJobsShape = fields::list_shape(fields::kObjectOf<kJobSection>);
/// The names of algorithms of collectives, and "auto".
[[nodiscard]] std::vector<std::string> algorithm_words(const Registries& known);
extern const Section kAlgorithmFileSection;  ///< an algorithm that comes as a file
inline constexpr fields::Shape kAlgorithmName = fields::text_shape(algorithm_words);
inline constexpr fields::Shape kAlgorithmShape =
    fields::either(fields::object_shape(kAlgorithmFileSection), kAlgorithmName);
/// The collectives but for messages.
[[nodiscard]] std::vector<std::string> op_words(const Registries& known);
/// The models that are known by name.
[[nodiscard]] std::vector<std::string> model_words(const Registries& known);
/// A traffic matrix: rows of bytes.
inline constexpr fields::Shape kDemandNumber = fields::whole_shape(0, 0x1p50);
inline constexpr fields::Shape kDemandRow = fields::list_shape(kDemandNumber);
inline constexpr fields::Shape kDemandShape = fields::list_shape(kDemandRow);
/// The formats of an element.
[[nodiscard]] std::vector<std::string> precision_words(const Registries& known);
inline constexpr fields::Shape kRankShape = fields::whole_shape(0, 4294967294.0);

}  // namespace photonrail::config
