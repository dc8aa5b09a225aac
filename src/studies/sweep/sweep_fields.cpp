#include "studies/sweep/sweep_fields.hpp"

namespace photonrail::sweep {

namespace {

using fields::Field;
using fields::known;
using fields::Shape;

constexpr Shape kText = fields::text_shape();
constexpr Shape kAny{};

constexpr Field kRangeFields[] = {
    known("from", kBoundShape, "The first value.").must(),
    known("to", kBoundShape, "The last value, or its bound.").must(),
    known("step", kBoundShape, "From value to value.").or_else("of `step` and `points` one is needed"),
    known("points", kPointsShape, "How many values."),
    known("whole", fields::flag_shape(), "Rounded to whole numbers.").or_else("false"),
};
constexpr Field kLogRangeFields[] = {
    known("from", kLogBoundShape, "The first value.").must(),
    known("to", kLogBoundShape, "The last value.").must(),
    known("points", kPointsShape, "How many values, of which each is the same multiple of the one before.").must(),
    known("whole", fields::flag_shape(), "Rounded to whole numbers.").or_else("false"),
};

constexpr Field kColumnFields[] = {
    known("range", fields::object_shape(kRangeSection), "Values at equal distances.")
        .or_else("of `range` and `log_range` one is needed"),
    known("log_range", fields::object_shape(kLogRangeSection), "Values at equal ratios."),
};
constexpr Shape kColumnRange = fields::object_shape(kColumnSection);
constexpr Shape kValues = fields::list_shape(kAny);
constexpr Shape kColumn = fields::either(kColumnRange, kValues);
constexpr Shape kPatch = fields::map_shape(kAny);

constexpr Field kAxisValuesFields[] = {
    known("values", kValues, "Any values, of which no two are alike.")
        .or_else("of `values`, `range`, `log_range`, `zip` and `variants` one is needed"),
    known("range", fields::object_shape(kRangeSection), "Values at equal distances."),
    known("log_range", fields::object_shape(kLogRangeSection), "Values at equal ratios."),
    known("zip", fields::map_shape(kColumn), "Pointers with equally long lists of values that change together."),
    known("variants", fields::map_shape(kPatch), "Names, each with the pointers and values that it sets."),
    known("when", fields::map_shape(kAny), "Parameters of axes above, and the values with which this axis counts.")
        .or_else("always"),
};
constexpr fields::Section kAxisValues{kAxisValuesFields};

constexpr Field kAxisFields[] = {
    known("pointer", kText, "What the values set, as a JSON pointer.").only_if("!zip&!variants").must(),
    known("name", kText, "The name of the parameter.")
        .only_if("!zip")
        .must_if("variants")
        .or_else("the last key of the pointer"),
    fields::include<kAxisValues>(),
};
constexpr Field kSweepAxisFields[] = {
    known("pointer", kText, "What the values set, as a JSON pointer.").only_if("!zip&!variants&!parallelism").must(),
    known("name", kText, "The name of the parameter.")
        .only_if("!zip&!parallelism")
        .must_if("variants")
        .or_else("the last key of the pointer"),
    fields::include<kAxisValues>(),
    known("parallelism", {.kind = fields::Kind::kText, .choices = "all"},
          "Alone: each tp (within a server), cp, pp and dp whose product is the number of GPUs, where the job is valid."),
};
constexpr fields::Section kSweepAxis{kSweepAxisFields};

constexpr Shape kTerm = fields::either(kText, kTermShape);
constexpr Shape kTerms = fields::list_shape(kTerm);
constexpr Field kDerivedFields[] = {
    known("pointer", kText, "What the value sets, as a JSON pointer.").must(),
    known("product", kTerms, "Pointers and numbers that are multiplied.").must(),
    known("divided_by", kTerms, "Pointers and numbers that the product is divided by.").or_else("1"),
    known("name", kText, "The name of the parameter.").or_else("the last key of the pointer"),
    known("round", {.kind = fields::Kind::kText, .choices = "up|none"}, "What is done where the value is not whole.")
        .or_else("an error"),
};

constexpr Shape kAxis = fields::object_shape(kSweepAxis);
constexpr Shape kDerived = fields::object_shape(kDerivedSection);
constexpr Shape kCondition = fields::map_shape(kAny);
constexpr Field kSweepFields[] = {
    known("schema", kText, "`photonrail.sweep/1`.").must(),
    known("name", kText, "Its name in reports.").or_else("that of the file"),
    known("why", kText, "What the sweep is for.").or_else("`\"\"`"),
    known("base", kAny, "The scenario that the points change, or the path of its file.").must(),
    known("axes", fields::list_shape(kAxis), "What is varied; the points are the product of the axes.").or_else("`[]`"),
    known("derived", fields::list_shape(kDerived), "Values that follow from others of the scenario.").or_else("`[]`"),
    known("exclude", fields::list_shape(kCondition), "Parameters with values: points that have all of these are left out.")
        .or_else("`[]`"),
    known("seeds", fields::list_shape(kSeedShape), "Each point is run with each of them.").or_else("the base's"),
    known("repetitions", kRepetitionsShape, "Each is run this often, with seeds of its own.").or_else("1"),
};

}  // namespace

constexpr fields::Section kRangeSection{kRangeFields};
constexpr fields::Section kLogRangeSection{kLogRangeFields};
constexpr fields::Section kColumnSection{kColumnFields};
constexpr fields::Section kAxisSection{kAxisFields};
constexpr fields::Section kDerivedSection{kDerivedFields};
constexpr fields::Section kSweepSection{kSweepFields};

}  // namespace photonrail::sweep
