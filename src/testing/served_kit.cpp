// Searches small scenarios of served requests for one in which a scheduler of engines breaks a law, and makes it as small
// as it gets. A scenario is written as a file, so that the command repeats what was found.
#include "photonrail/config.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "testing/asked_twice.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::testing {

namespace {

/// Engines of one GPU on servers of one, and their requests.
struct ServedCase {
  std::uint64_t seed = 1;
  std::uint64_t servers = 2;
  std::uint64_t for_prompts = 0;  ///< servers whose engines compute prompts alone; 0: one pool
  std::uint64_t switching_us = 0;
  bool optical = false;
  bool fails = false;  ///< one of the engines, for a while
  struct Engine {
    std::uint64_t blocks = 30;
    std::uint64_t block_tokens = 8;
    std::uint64_t token_budget = 64;
    std::uint64_t max_sequences = 4;
    std::uint64_t long_prefill = 0;
    bool prefix_caching = true;
    bool swaps = false;

    friend bool operator==(const Engine&, const Engine&) = default;
  } engine{};
  std::uint64_t requests = 40;
  std::uint64_t concurrency = 0;  ///< 0: they come at random
  std::uint64_t turns = 1;
  std::uint64_t prefix = 0;  ///< tokens that half of them begin with
  std::uint64_t longest_prompt = 120;
  std::uint64_t longest_answer = 60;

  friend bool operator==(const ServedCase&, const ServedCase&) = default;
};

ServedCase drawn_case(std::uint64_t seed) {
  RandomStream draw(seed, "served cases");
  ServedCase c;
  c.seed = seed;
  c.servers = 1 + draw.below(4);
  if (c.servers > 1 && draw.below(2) == 0) c.for_prompts = 1 + draw.below(c.servers - 1);
  c.optical = c.for_prompts > 0 && draw.below(2) == 0;
  c.switching_us = draw.below(3) * draw.below(3'000);
  c.fails = c.servers > 1 && draw.below(4) == 0;
  c.engine.block_tokens = 1 + draw.below(12);
  c.longest_prompt = 1 + draw.below(120);
  c.longest_answer = 1 + draw.below(60);
  c.turns = draw.below(3) == 0 ? 3 : 1;
  const std::uint64_t longest = (c.longest_prompt + c.longest_answer) / c.engine.block_tokens + 1;
  c.engine.blocks = longest + draw.below(3 * longest);
  c.engine.token_budget = 1 + draw.below(100);
  c.engine.max_sequences = 1 + draw.below(8);
  c.engine.long_prefill = draw.below(3) == 0 ? 1 + draw.below(c.engine.token_budget) : 0;
  c.engine.prefix_caching = draw.below(3) > 0;
  c.engine.swaps = draw.below(4) == 0;
  c.concurrency = draw.below(2) * (1 + draw.below(12));
  c.prefix = draw.below(2) * (1 + draw.below(80));
  return c;
}

const char* word(bool value) { return value ? "true" : "false"; }

std::string text_of(const ServedCase& c, std::string_view scheduler) {
  std::ostringstream text;
  text << "{ \"schema\": \"photonrail.scenario/1\",\n  \"name\": \"a scheduler's case\",\n  \"cluster\": { \"servers\": "
       << c.servers << ", \"gpus_per_server\": 1, \"gpu\": \"h100\",\n    \"nic\": { \"port_gb_per_s\": 50 }, \"rail\": ";
  if (c.optical) {
    text << "{ \"kind\": \"optical\", \"switch\": { \"reconfiguration_us\": " << c.switching_us
         << " } } },\n  \"controller\": { \"name\": \"lru\" },\n";
  } else {
    text << "{ \"kind\": \"electrical\" } },\n";
  }
  if (c.fails) text << "  \"server_faults\": [{ \"server\": 0, \"at_ms\": 9, \"lasts_ms\": 20, \"detection_ms\": 2 }],\n";
  text << "  \"workload\": { \"serving\": { \"model\": \"llama3_8b\",\n    \"requests\": { ";
  if (c.concurrency > 0) {
    text << "\"concurrency\": " << c.concurrency;
  } else {
    text << "\"arrivals\": { \"per_s\": 400 }";
  }
  text << ", \"count\": " << c.requests << ", \"turns\": " << c.turns
       << ",\n      \"input\": { \"distribution\": \"uniform\", \"least\": 1, \"greatest\": " << c.longest_prompt
       << " },\n      \"output\": { \"distribution\": \"uniform\", \"least\": 1, \"greatest\": " << c.longest_answer
       << " }";
  if (c.prefix > 0) text << ",\n      \"prefix\": { \"groups\": 2, \"tokens\": " << c.prefix << " }";
  text << " },\n    \"times\": { \"law\": { \"fixed_us\": 1000, \"prefill_token_us\": 10, \"decode_us\": 20 } },\n";
  if (c.for_prompts > 0) {
    text << "    \"pools\": [{ \"role\": \"prefill\", \"servers\": [";
    for (std::uint64_t s = 0; s < c.for_prompts; ++s) text << (s == 0 ? "" : ", ") << s;
    text << "] }, { \"role\": \"decode\" }],\n";
  }
  text << "    \"engine\": { \"blocks\": " << c.engine.blocks << ", \"block_tokens\": " << c.engine.block_tokens
       << ", \"token_budget\": " << c.engine.token_budget << ", \"max_sequences\": " << c.engine.max_sequences
       << ", \"long_prefill_tokens\": " << c.engine.long_prefill
       << ",\n      \"prefix_caching\": " << word(c.engine.prefix_caching);
  if (c.engine.swaps) text << ", \"preemption\": \"swap\", \"swap_gb_per_s\": 20";
  text << ", \"scheduler\": \"" << scheduler << "\" } } },\n  \"run\": { \"seed\": " << c.seed << " } }";
  return text.str();
}

std::string problem_of(const RunResult& result) {
  const ServingResult& served = *result.serving;
  if (served.finished + served.refused != served.offered)
    return std::to_string(served.offered) + " requests came, " + std::to_string(served.finished) + " finished and " +
           std::to_string(served.refused) + " were refused";
  Duration parts{};
  for (const TimeSummary& part : served.parts) parts += part.mean;
  if (parts > served.ttft.mean || parts + Duration{kTtftPartCount} < served.ttft.mean)  // each mean is rounded down
    return "the parts of the time to the first token do not add up to it";
  for (const ServingResult::Engine& engine : served.engines) {
    if (engine.prefill + engine.decode + engine.mixed + engine.waiting + engine.idle + engine.off != served.makespan)
      return "the time of an engine does not add up to the makespan";
    if (engine.blocks.most > engine.blocks.total) return "an engine holds more blocks than it has";
  }
  std::int64_t moved = 0;
  for (const LaunchTotals& launches : result.launches) moved += launches.kind == "kv_transfer" ? launches.bytes.count : 0;
  return moved == static_cast<std::int64_t>(served.transfer_bytes) ? "" : "KV was sent that did not arrive";
}

/// Runs cases under one scheduler.
class ServedSearch {
 public:
  ServedSearch(const SchedulerRegistry& known, std::string_view name)
      : name_(name), policy_(known.make(name)), twice_(std::make_shared<AskedTwice>(*policy_)) {
    names_.schedulers = known;
  }

  [[nodiscard]] std::string problem(const ServedCase& c) const {
    try {
      const Scenario named = parse_scenario(text_of(c, name_), ".", "case", {}, names_);
      const Scenario scenario = with_scheduler(named, twice_);
      const RunResult first = simulate(scenario);
      if (std::string problem = problem_of(first); !problem.empty()) return problem;
      const RunResult second = simulate(scenario);
      const bool same = first.makespan == second.makespan && first.serving->ttft.mean == second.serving->ttft.mean;
      return same ? "" : "a second run of the same scenario is another";
    } catch (const DeadlockError& error) {
      return error.stuck().empty() ? error.what() : error.stuck().front();
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "it throws something that is no std::exception";
    }
  }

  /// The case without what its problem does not need.
  [[nodiscard]] ServedCase made_small(ServedCase c) const {
    for (bool smaller = true; std::exchange(smaller, false);) {
      for (const ServedCase& next : simpler(c)) {
        if (problem(next).empty()) continue;
        c = next;
        smaller = true;
        break;
      }
    }
    return c;
  }

  [[nodiscard]] std::string text(const ServedCase& c) const { return text_of(c, name_); }

 private:
  static std::vector<ServedCase> simpler(const ServedCase& c) {
    constexpr void (*kSimplify[])(ServedCase&) = {[](ServedCase& of) { of.requests = (of.requests + 1) / 2; },
                                                  [](ServedCase& of) { of.requests -= of.requests > 1 ? 1 : 0; },
                                                  [](ServedCase& of) { of.for_prompts = 0, of.optical = false; },
                                                  [](ServedCase& of) { of.optical = false; },
                                                  [](ServedCase& of) { of.fails = false; },
                                                  [](ServedCase& of) { of.turns = 1; },
                                                  [](ServedCase& of) { of.prefix = 0; },
                                                  [](ServedCase& of) { of.engine.swaps = false; },
                                                  [](ServedCase& of) { of.engine.prefix_caching = false; },
                                                  [](ServedCase& of) { of.engine.long_prefill = 0; },
                                                  [](ServedCase& of) {
                                                    if (of.for_prompts == 0 && !of.fails) of.servers = 1;
                                                  }};
    std::vector<ServedCase> cases;
    for (const auto simplify : kSimplify) {
      cases.push_back(c);
      simplify(cases.back());
      if (cases.back() == c) cases.pop_back();
    }
    return cases;
  }

  std::string name_;
  std::shared_ptr<const SchedulingPolicy> policy_;
  std::shared_ptr<const SchedulingPolicy> twice_;
  Registries names_{};
};

}  // namespace

SchedulerFinding fuzz_scheduler(const SchedulerRegistry& known, std::string_view name, std::uint32_t cases,
                                std::uint64_t seed) {
  const ServedSearch search(known, name);
  for (std::uint32_t c = 0; c < cases; ++c) {
    const ServedCase drawn = drawn_case(seed + c);
    if (search.problem(drawn).empty()) continue;
    const ServedCase small = search.made_small(drawn);
    return {search.problem(small), search.text(small)};
  }
  return {};
}

}  // namespace photonrail::testing
