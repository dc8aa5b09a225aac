#include "collective/refit/weight_map.hpp"

#include "core/field.hpp"
#include "photonrail/collective/send_plan.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace photonrail::collective {

namespace {

using core::field;

/// The part of a unit that a layout gives to some ranks: dense bytes by (stage, 0, tp rank), an expert's by (stage, ep
/// rank, etp rank).
struct LayoutPart {
  std::uint32_t stage = 0;
  std::uint32_t expert = 0;
  std::uint32_t tensor = 0;

  friend auto operator<=>(const LayoutPart&, const LayoutPart&) = default;
};

/// The beginning of part `index` of `parts`, as share() cuts.
std::int64_t weight_cut(Bytes total, std::uint32_t parts, std::uint32_t index) {
  const std::int64_t base = total.count / parts;
  return base * index + std::min<std::int64_t>(index, total.count % parts);
}

class WeightMapper {
 public:
  WeightMapper(std::span<const WeightUnit> units, const WeightLayout& training, const WeightLayout& engine, Member engines,
               Member first_engine)
      : units_(units), training_(training), engine_(engine), engines_(engines), first_engine_(first_engine) {}

  [[nodiscard]] WeightMap map() && {
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      const WeightUnit& unit = units_[u];
      const LayoutPart from{stage(training_, u), 0, 0};
      const LayoutPart to{stage(engine_, u), 0, 0};
      add(u, WeightRange::kDense, unit.dense, {from, training_.tp}, {to, engine_.tp});
      for (std::uint32_t e = 0; e < unit.experts; ++e) {
        const auto owner = [&](LayoutPart part, std::uint32_t ep) {
          part.expert = e / (unit.experts / ep);
          return part;
        };
        add(u, e, unit.expert, {owner(from, training_.ep), training_.etp}, {owner(to, engine_.ep), engine_.etp});
      }
    }
    return std::move(map_);
  }

 private:
  struct Cuts {
    LayoutPart part;  // its tensor rank is to be filled in
    std::uint32_t parts;
  };

  [[nodiscard]] std::uint32_t stage(const WeightLayout& layout, std::uint32_t unit) const {
    std::uint32_t stage = 0;
    while (unit >= weight_cut({static_cast<std::int64_t>(units_.size())}, layout.pp, stage + 1)) ++stage;
    return stage;
  }

  // Walks along both cuts of the same bytes at once.
  void add(std::uint32_t unit, std::uint32_t expert, Bytes total, Cuts from, Cuts to) {
    std::int64_t at = 0;
    while (at < total.count) {
      while (weight_cut(total, from.parts, from.part.tensor + 1) <= at) ++from.part.tensor;
      while (weight_cut(total, to.parts, to.part.tensor + 1) <= at) ++to.part.tensor;
      const std::int64_t end =
          std::min(weight_cut(total, from.parts, from.part.tensor + 1), weight_cut(total, to.parts, to.part.tensor + 1));
      const std::size_t shard = shard_of(expert != WeightRange::kDense, from.part, to.part);
      map_.shards[shard].bytes += Bytes{end - at};
      map_.ranges.push_back({unit, expert, Bytes{at}, Bytes{end - at}, shard});
      at = end;
    }
  }

  std::size_t shard_of(bool of_expert, const LayoutPart& from, const LayoutPart& to) {
    const auto [entry, fresh] = known_.try_emplace({of_expert, from, to}, map_.shards.size());
    if (!fresh) return entry->second;
    WeightShard& shard = map_.shards.emplace_back();
    append(shard.holders, training_, of_expert, from, 0);
    for (Member e = 0; e < engines_; ++e) append(shard.needers, engine_, of_expert, to, first_engine_ + e * engine_.ranks);
    return entry->second;
  }

  static void append(std::vector<Member>& into, const WeightLayout& layout, bool of_expert, const LayoutPart& part,
                     Member first) {
    const std::uint32_t stage = layout.stage_ranks();
    for (std::uint32_t p = 0; p < stage; ++p) {
      const bool has = of_expert ? p % layout.etp == part.tensor && p / layout.etp % layout.ep == part.expert
                                 : p % layout.tp == part.tensor;
      if (has) into.push_back(first + part.stage * stage + p);
    }
  }

  std::span<const WeightUnit> units_;
  const WeightLayout& training_;
  const WeightLayout& engine_;
  Member engines_;
  Member first_engine_;
  std::map<std::tuple<bool, LayoutPart, LayoutPart>, std::size_t> known_;
  WeightMap map_;
};

}  // namespace

void WeightLayout::validate(std::uint32_t experts) const {
  const auto divides = [&](std::uint32_t part, std::uint32_t whole, const char* name, const std::string& what) {
    require(part > 0 && whole % part == 0, field(name), "must divide " + what);
  };
  require(ranks > 0, field("ranks"), "must be at least 1");
  divides(pp, ranks, "pp", "the " + std::to_string(ranks) + " ranks");
  divides(tp, stage_ranks(), "tp", "the " + std::to_string(stage_ranks()) + " ranks of a stage");
  require(etp > 0 && ep > 0 && stage_ranks() % (std::uint64_t{ep} * etp) == 0, field("ep"),
          "times etp must divide the " + std::to_string(stage_ranks()) + " ranks of a stage");
  if (experts > 0) divides(ep, experts, "ep", "the " + std::to_string(experts) + " experts");
}

WeightMap map_weights(std::span<const WeightUnit> units, const WeightLayout& training, const WeightLayout& engine,
                      Member engines, Member first_engine) {
  return WeightMapper(units, training, engine, engines, first_engine).map();
}

}  // namespace photonrail::collective
