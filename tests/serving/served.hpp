// Runs of served requests without a cluster: what several tests run, and the books that every run keeps.
#pragma once

#include "serving/agent.hpp"
#include "serving/ideal_world.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace photonrail::serving {

inline constexpr Duration kMs{1'000'000'000};
inline constexpr Duration kUs{1'000'000};

inline PoolSpec pool(PoolRole role, std::size_t engines, std::size_t first_rank, const LinearLaw& law,
                     const EngineSpec& engine) {
  PoolSpec made;
  made.name = role == PoolRole::kMixed ? "mixed" : role == PoolRole::kPrefill ? "prefill" : "decode";
  made.role = role;
  made.engine = engine;
  for (std::size_t e = 0; e < engines; ++e) made.engines.push_back({RankId{first_rank + e}});
  made.times = std::make_shared<LinearStepTime>(law);
  return made;
}

inline EngineSpec plain_engine(std::uint64_t blocks = 100'000) {
  EngineSpec engine;
  engine.blocks = blocks;
  engine.prefix_caching = false;
  return engine;
}

inline ServingSpec one_pool(const LinearLaw& law, const EngineSpec& engine, std::size_t engines = 1) {
  ServingSpec spec;
  spec.pools.push_back(pool(PoolRole::kMixed, engines, 0, law, engine));
  return spec;
}

inline LengthLaw tokens(double n) { return {LengthLaw::Kind::kConstant, n}; }

inline ServingResult served(const ServingSpec& spec, Bandwidth link = {50e9}) {
  ServingAgent agent(spec);
  IdealWorld world(link);
  world.run(agent);
  return agent.result();
}

inline double ms_of(Duration time) { return to_seconds(time) * 1e3; }

inline void expect_books(const ServingResult& r) {
  EXPECT_EQ(r.offered, r.finished + r.refused + r.unfinished);
  for (const auto& e : r.engines) {
    EXPECT_EQ(e.prefill + e.decode + e.mixed + e.waiting + e.idle + e.off, r.makespan);
    EXPECT_LE(e.blocks.most, e.blocks.total);
  }
  for (const ServedRequest& q : r.requests) {
    EXPECT_LE(q.arrival, q.scheduled);
    EXPECT_LE(q.scheduled, q.prefilled);
    EXPECT_LE(q.prefilled, q.first);
    EXPECT_LE(q.first, q.last);
  }
}

}  // namespace photonrail::serving
