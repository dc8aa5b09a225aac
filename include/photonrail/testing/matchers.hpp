// GoogleTest matchers for what a policy answers: one answer, or all those of a run. The only header of the kit, with
// conformance.hpp, that needs GoogleTest; the library does not.
//
//     EXPECT_THAT(ask(policy, rail.view()), AllOf(Connects(0, 2), NeverTearsDownBusyCircuits()));
//     EXPECT_THAT(transcript, KeepsMatching());
#pragma once

#include "photonrail/testing/policy_kit.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace photonrail::testing {

inline std::span<const Answer> answers_in(const Answer& answer) { return {&answer, 1}; }
inline std::span<const Answer> answers_in(const Transcript& transcript) { return transcript.changes; }

inline bool has_pair(const std::vector<ServerPair>& pairs, ServerPair pair) {
  return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
}

/// Writes the first complaint of `answers` to the test's log; true when there is none.
inline bool no_complaint(std::span<const Answer> answers, std::string Answer::*complaint,
                         ::testing::MatchResultListener& listener) {
  for (const Answer& answer : answers) {
    if ((answer.*complaint).empty()) continue;
    listener << "at " << answer.at.since_start().count() << " ps on rail " << answer.rail.value << ": "
             << answer.*complaint;
    return false;
  }
  return true;
}

/// Every plan is a matching: a fibre is in one circuit, and ports exist.
MATCHER(KeepsMatching, "is a matching on ports that exist") {
  return no_complaint(answers_in(arg), &Answer::no_matching, *result_listener);
}

/// No circuit in use goes dark, unless the policy said that it may.
MATCHER(NeverTearsDownBusyCircuits, "leaves circuits in use alone") {
  return no_complaint(answers_in(arg), &Answer::torn_down, *result_listener);
}

/// Wants a circuit from position `from` to position `to`; of a run: at some time.
MATCHER_P2(Connects, from, to, "connects " + ::testing::PrintToString(from) + " -> " + ::testing::PrintToString(to)) {
  const ServerPair pair{static_cast<ServerIndex>(from), static_cast<ServerIndex>(to)};
  for (const Answer& answer : answers_in(arg)) {
    if (has_pair(answer.connects, pair)) return true;
  }
  return false;
}

/// Takes a circuit from position `from` to position `to` away; of a run: at some time.
MATCHER_P2(Darkens, from, to, "darkens " + ::testing::PrintToString(from) + " -> " + ::testing::PrintToString(to)) {
  const ServerPair pair{static_cast<ServerIndex>(from), static_cast<ServerIndex>(to)};
  for (const Answer& answer : answers_in(arg)) {
    if (has_pair(answer.darkens, pair)) return true;
  }
  return false;
}

/// Changes nothing.
MATCHER(KeepsEverything, "keeps everything as it is") {
  const auto answers = answers_in(arg);
  return std::all_of(answers.begin(), answers.end(), [](const Answer& answer) { return answer.keeps; });
}

}  // namespace photonrail::testing

namespace photonrail {

/// GoogleTest prints pairs with it.
inline void PrintTo(const ServerPair& pair, std::ostream* out) { *out << pair.from << "->" << pair.to; }

namespace testing {
inline void PrintTo(const Answer& answer, std::ostream* out) {
  if (answer.keeps) *out << "keep";
  for (const ServerPair pair : answer.connects) *out << " +" << pair.from << "->" << pair.to;
  for (const ServerPair pair : answer.darkens) *out << " -" << pair.from << "->" << pair.to;
}
inline void PrintTo(const Transcript& transcript, std::ostream* out) {
  *out << transcript.changes.size() << " changes in " << transcript.asked << " answers";
}
}  // namespace testing

}  // namespace photonrail
