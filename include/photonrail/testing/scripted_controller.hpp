// A controller with decisions that a test sets, for tests of everything but policies, and of a policy's adversaries.
#pragma once

#include "photonrail/controller.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace photonrail::testing {

/// Answers from a script, each line once, in turn; after the last it keeps everything.
///
///     ScriptedController script;
///     script.connect({{0, 1}}).keep().connect_at(Time{10ms}, {{1, 0}});
///     known.controllers.add(script.factory("script"));
class ScriptedController : public Controller {
 public:
  /// At the next question: circuits for these pairs, between the first ports that are free, else the first.
  ScriptedController& connect(std::vector<ServerPair> pairs) { return connect_at(Time{}, std::move(pairs)); }
  /// At the first question from `at` on; it asks to be asked then.
  ScriptedController& connect_at(Time at, std::vector<ServerPair> pairs);
  ScriptedController& disconnect(std::vector<ServerPair> pairs);
  ScriptedController& keep();
  /// Whatever else a decision can say.
  ScriptedController& answer(std::function<Decision(const FabricView&)> line);

  [[nodiscard]] Decision decide(const FabricView& view) override;

  /// Every rail gets a copy of the script as it is now.
  [[nodiscard]] ControllerFactory factory(std::string name) const;
  [[nodiscard]] std::size_t lines_left() const { return lines_.size() - next_; }

 private:
  struct Line {
    Time from{};
    std::function<Decision(const FabricView&)> answer;
  };
  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

}  // namespace photonrail::testing
