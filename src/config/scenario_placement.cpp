// The "placement" section: which GPU runs which rank.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "core/counted.hpp"

#include <algorithm>

namespace photonrail::config {

namespace {

std::vector<std::string> read_names(const JsonReader& list) {
  std::vector<std::string> names;
  for (const JsonReader& entry : list.elements()) {
    names.push_back(entry.string());
    if (std::count(names.begin(), names.end(), names.back()) > 1) entry.fail("\"" + names.back() + "\" is there twice");
  }
  return names;
}

void check_names(const JsonReader& list, const std::vector<std::string>& names,
                 const std::map<std::string, std::uint32_t>& sizes) {
  if (names.size() == sizes.size() &&
      std::all_of(names.begin(), names.end(), [&](const std::string& n) { return sizes.contains(n); })) {
    return;
  }
  std::string known;
  for (const auto& [name, size] : sizes) known += (known.empty() ? "" : ", ") + name;
  list.fail("must name every dimension of \"sizes\" once", "they are: " + known);
}

}  // namespace

namespace {

using fields::Field;
using fields::Shape;

constexpr Shape kGpuNumber = fields::whole_shape(0, 4294967294.0);
constexpr Shape kName = fields::text_shape();
constexpr Shape kSize = fields::whole_shape(1, 1'000'000'000);
constexpr Field kPlacementFields[] = {
    fields::known("rank_to_gpu", fields::list_shape(kGpuNumber), "The GPU of each rank, none twice.")
        .by("")
        .or_else("of `rank_to_gpu` and `order` one is needed"),
    fields::known("order", fields::list_shape(kName),
                  "How GPUs are filled: dimensions, innermost first. A training workload takes it alone, a permutation of "
                  "`\"tp\"`, `\"cp\"`, `\"dp\"`, `\"pp\"` (those of size 1 may be left out): its ranks are numbered in "
                  "that order, and rank r runs on GPU r. Every other workload needs `rank_order` and `sizes` too."),
    fields::known("sizes", fields::map_shape(kSize), "The size of each dimension; their product is the number of ranks.")
        .only_if("order")
        .must_later("rank_order"),
    fields::known("rank_order", fields::list_shape(kName), "How the trace numbers its ranks: dimensions, innermost first.")
        .only_if("order")
        .must_later("sizes"),
};
constexpr Alias kPlacementAliases[] = {{"[]", "rank_to_gpu/[]"}};

}  // namespace

constexpr Section kPlacementSection{kPlacementFields, nullptr, kPlacementAliases};

Placement read_placement(JsonReader section) {
  Placement placement;
  placement.pointer = section.pointer();
  const auto list = section.optional("rank_to_gpu");
  const auto order = section.optional("order");
  if (list.has_value() == order.has_value()) {
    section.fail(list ? "\"order\" and \"rank_to_gpu\" exclude each other" : "needs \"order\" or \"rank_to_gpu\"",
                 list ? "keep one of them" : "without /placement, rank r runs on GPU r");
  }
  if (list) {
    placement.explicit_.emplace();
    for (const JsonReader& gpu : list->elements()) placement.explicit_->emplace_back(whole_of(gpu, kGpuNumber));
    section.finish();
    return placement;
  }
  placement.order = read_names(*order);
  const auto sizes = section.optional("sizes");
  const auto rank_order = section.optional("rank_order");
  section.finish();
  if (!sizes && !rank_order) return placement;
  if (!sizes) section.missing("sizes", "\"rank_order\" needs the size of each dimension");
  if (!rank_order) section.missing("rank_order", "\"sizes\" needs to know how the trace numbers its ranks");
  for (const auto& [name, size] : sizes->members()) {
    placement.sizes[name] = static_cast<std::uint32_t>(whole_of(size, kSize));
  }
  placement.rank_order = read_names(*rank_order);
  check_names(*order, placement.order, placement.sizes);
  check_names(*rank_order, placement.rank_order, placement.sizes);
  return placement;
}

std::vector<GpuId> place(const Placement& placement, std::size_t ranks, bool generated) {
  std::vector<GpuId> gpus;
  if (placement.explicit_) {
    if (placement.explicit_->size() != ranks) {
      throw ConfigError(placement.pointer + "/rank_to_gpu",
                        "has " + std::to_string(placement.explicit_->size()) + " entries, but the workload has " +
                            core::counted(ranks, "rank"),
                        "give one GPU for every rank");
    }
    return *placement.explicit_;
  }
  if (placement.order.empty() || generated) {
    for (std::size_t r = 0; r < ranks; ++r) gpus.emplace_back(r);
    return gpus;
  }
  if (placement.sizes.empty()) {
    throw ConfigError(placement.pointer, "\"order\" alone cannot place this workload: its dimensions are not known",
                      "add \"rank_order\" and \"sizes\", or use \"rank_to_gpu\"");
  }
  std::uint64_t product = 1;
  for (const auto& [name, size] : placement.sizes)
    product = std::min<std::uint64_t>(product * size, std::uint64_t{1} << 32);
  if (product != ranks) {
    throw ConfigError(placement.pointer + "/sizes", "the sizes multiply to " + std::to_string(product) +
                                                        ", but the workload has " + core::counted(ranks, "rank"));
  }
  std::map<std::string, std::uint64_t> stride;  // of a dimension among GPUs
  std::uint64_t next = 1;
  for (const std::string& dimension : placement.order) {
    stride[dimension] = next;
    next *= placement.sizes.at(dimension);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    std::uint64_t rest = r;
    std::uint64_t gpu = 0;
    for (const std::string& dimension : placement.rank_order) {
      const std::uint32_t size = placement.sizes.at(dimension);
      gpu += rest % size * stride.at(dimension);
      rest /= size;
    }
    gpus.emplace_back(gpu);
  }
  return gpus;
}

}  // namespace photonrail::config
