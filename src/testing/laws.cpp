#include "photonrail/testing/laws.hpp"

#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/fuzz.hpp"
#include "testing/own_registries.hpp"
#include "testing/rail_life.hpp"

#include <ostream>

namespace photonrail::testing {

namespace {

constexpr std::uint64_t kLives = 60;      // of each setting
constexpr std::uint32_t kQuestions = 60;  // in a life
constexpr std::uint32_t kBounded = 120;   // jobs that are held against the bound

std::string place(const RailLife& life, std::uint64_t seed) {
  return describe(life.setting()) + ", life " + std::to_string(seed) + ", question " + std::to_string(life.asked()) + ": ";
}

// On a rail where circuits light, come into use and are given back by chance.
std::string answers_are_matchings(const PolicyUnderTest& subject) {
  for (const ControllerSpec& setting : subject.settings) {
    for (std::uint64_t seed = 1; seed <= kLives; ++seed) {
      RailLife life(subject, setting, seed);
      for (std::uint32_t q = 0; q < kQuestions; ++q) {
        const Answer answer = life.ask_and_go_on();
        if (!answer.problem().empty()) return place(life, seed) + answer.problem();
      }
    }
  }
  return "";
}

// A policy that has a twin, shown the same: nothing is shared between the two, nor left to chance or to addresses.
std::string twins_answer_alike(const PolicyUnderTest& subject) {
  for (const ControllerSpec& setting : subject.settings) {
    for (std::uint64_t seed = 1; seed <= kLives / 4; ++seed) {
      RailLife one(subject, setting, seed);
      RailLife other(subject, setting, seed);
      for (std::uint32_t q = 0; q < kQuestions; ++q) {
        const Answer a = one.ask_and_go_on();
        const Answer b = other.ask_and_go_on();
        if (a.connects != b.connects || a.darkens != b.darkens) return place(one, seed) + "its twin answers otherwise";
      }
    }
  }
  return "";
}

std::string first_problem(const PolicyUnderTest& subject, FuzzCase fuzz_case) {
  for (fuzz_case.setting = 0; fuzz_case.setting < subject.settings.size(); ++fuzz_case.setting) {
    if (const auto violation = check(subject, fuzz_case)) {
      return shrink(subject, fuzz_case, *violation).text();
    }
  }
  return "";
}

FuzzCase job(std::uint32_t servers, std::vector<FuzzCall> calls) {
  FuzzCase fuzz_case;
  fuzz_case.servers = servers;
  fuzz_case.switching = std::chrono::microseconds(100);
  fuzz_case.calls = std::move(calls);
  return fuzz_case;
}

std::string one_send_arrives(const PolicyUnderTest& subject) {
  return first_problem(subject, job(2, {{.op = CollectiveOp::kSend, .members = {0, 1}}}));
}

// Two groups, then across them, and again: each phase wants other circuits than the one before.
std::string phases_take_turns(const PolicyUnderTest& subject) {
  std::vector<FuzzCall> calls;
  for (int step = 0; step < 3; ++step) {
    calls.push_back({.op = CollectiveOp::kAllReduce, .members = {0, 1}, .compute_us = {50, 60}});
    calls.push_back({.op = CollectiveOp::kAllReduce, .members = {2, 3}, .compute_us = {70, 50}});
    calls.push_back({.op = CollectiveOp::kSend, .members = {0, 2}});
    calls.push_back({.op = CollectiveOp::kSend, .members = {1, 3}});
    calls.push_back({.op = CollectiveOp::kSend, .members = {2, 0}});
    calls.push_back({.op = CollectiveOp::kSend, .members = {3, 1}});
  }
  return first_problem(subject, job(4, std::move(calls)));
}

// All positions send to position 0 at once, which can receive from one at a time.
std::string a_crowd_is_served(const PolicyUnderTest& subject) {
  std::vector<FuzzCall> calls;
  for (std::uint32_t from = 1; from < 6; ++from) {
    calls.push_back({.op = CollectiveOp::kSend, .members = {from, 0}, .overlaps = true});
    calls.push_back({.op = CollectiveOp::kSend, .members = {0, from}, .overlaps = true});
  }
  return first_problem(subject, job(6, std::move(calls)));
}

const ControllerFactory& bound_factory(const ControllerRegistry& known) {
  for (const ControllerFactory& factory : known.all()) {
    if (factory.bound) return factory;
  }
  fail_check("a bound among the policies", __FILE__, __LINE__);
}

// The lower bound of any policy: of policies that forward, the one that allows for that.
Duration oracle_bound(const Scenario& scenario, bool forwards) {
  Scenario bounded = scenario;
  bounded.controller = ControllerSpec{};
  const ControllerRegistry known = ControllerRegistry::builtin();
  bounded.controller.name = bound_factory(known).name;
  bounded.controller.parameters.set("forwarding", forwards ? 1.0 : 0.0);
  bounded.controller.command = scenario.controller.command;
  bounded.controller.acknowledgement = scenario.controller.acknowledgement;
  return simulate(bounded).makespan;
}

std::string nothing_beats_the_bound(const PolicyUnderTest& subject) {
  return bound_problem(subject, [&subject](const Scenario& scenario) {
    return oracle_bound(scenario, subject.factory.needs_of(scenario.controller).hops > 0);
  });
}

std::string random_jobs_finish(const PolicyUnderTest& subject) {
  const FuzzReport report = fuzz(subject, {.seed = 7, .cases = 100});
  return report.found ? report.found->text() : "";
}

}  // namespace

std::string bound_problem(const PolicyUnderTest& subject, const std::function<Duration(const Scenario&)>& bound) {
  const Registries known = only_electrical_and(subject.factory);
  RandomStream random(11, "jobs that are held against a bound");
  for (std::uint32_t n = 0; n < kBounded; ++n) {
    const FuzzCase fuzz_case = draw_case(random);
    const Scenario scenario = under(subject, subject.settings[n % subject.settings.size()], scenario_of(fuzz_case));
    if (scenario.cluster.rail.kind != RailKind::kOptical) return "";
    Duration took{};
    try {
      took = simulate(scenario, {}, known).makespan;
    } catch (const std::exception&) {
      continue;  // other laws speak of that
    }
    const Duration least = bound(scenario);
    if (took >= least) continue;
    return "it takes " + std::to_string(to_seconds(took)) + " s, and the bound is " + std::to_string(to_seconds(least)) +
           " s\n" + to_json(fuzz_case, scenario, subject.factory);
  }
  return "";
}

std::vector<PolicyProperty> laws() {
  return {{"AnswersAreMatchings", "every answer is a matching that tears down nothing in use", answers_are_matchings},
          {"TwinsAnswerAlike", "the answer depends on what the policy was shown, and on nothing else", twins_answer_alike},
          {"OneSendArrives", "a single send gets its circuit", one_send_arrives},
          {"PhasesTakeTurns", "phases that want other circuits take turns until the job is done", phases_take_turns},
          {"ACrowdIsServed", "when many want one port, each gets it in the end", a_crowd_is_served},
          {"NothingBeatsTheBound", "no run is shorter than the lower bound of the job", nothing_beats_the_bound},
          {"RandomJobsFinish", "random small jobs finish, their books balance, and they repeat", random_jobs_finish}};
}

std::ostream& operator<<(std::ostream& out, const PolicyProperty& law) { return out << law.name; }

}  // namespace photonrail::testing
