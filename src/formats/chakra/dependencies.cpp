#include "formats/chakra/dependencies.hpp"

#include <algorithm>

namespace photonrail::formats::chakra {

namespace {

// Strongly connected components, after Tarjan (1972), with the recursion as a stack of its own: nodes with the same number
// can reach each other.
class Components {
 public:
  explicit Components(const Dependencies& graph, std::size_t nodes) : graph_(graph), low_(nodes, 0), component_(nodes, 0) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (low_[n] == 0) visit(n);
    }
  }

  [[nodiscard]] bool same(std::size_t a, std::size_t b) const { return component_[a] == component_[b]; }

 private:
  struct Step {
    std::uint32_t node;
    std::uint32_t index;  // of the visit, from 1
    std::size_t next = 0;
  };

  void enter(std::uint32_t node) {
    low_[node] = ++visited_;
    open_.push_back(node);
    steps_.push_back({node, visited_});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      const auto targets = graph_.of(step.node);
      if (step.next < targets.size()) {
        const std::uint32_t target = targets[step.next++].value;
        if (low_[target] == 0) {
          enter(target);
        } else if (component_[target] == 0) {
          low_[step.node] = std::min(low_[step.node], low_[target]);
        }
        continue;
      }
      const Step done = step;
      steps_.pop_back();
      if (low_[done.node] == done.index) close(done.node);
      if (!steps_.empty() && component_[done.node] == 0) {
        low_[steps_.back().node] = std::min(low_[steps_.back().node], low_[done.node]);
      }
    }
  }

  void close(std::uint32_t root) {
    ++components_;
    for (std::uint32_t node = 0;;) {
      node = open_.back();
      open_.pop_back();
      component_[node] = components_;
      if (node == root) return;
    }
  }

  const Dependencies& graph_;
  std::vector<std::uint32_t> low_;        // the earliest visit known to be reachable; 0: not visited
  std::vector<std::uint32_t> component_;  // from 1; 0: not known
  std::vector<std::uint32_t> open_;       // visited, component not known
  std::vector<Step> steps_;
  std::uint32_t visited_ = 0;
  std::uint32_t components_ = 0;
};

}  // namespace

Dependencies::Dependencies(const Trace& trace, const std::string& file, TraceDiagnostics& doubts) {
  resolve(trace, file, doubts);
  if (waits_for_later_) break_cycles(trace, file, doubts);
}

void Dependencies::resolve(const Trace& trace, const std::string& file, TraceDiagnostics& doubts) {
  std::vector<std::uint64_t> ids;
  ids.reserve(trace.nodes.size());
  for (const TraceNode& n : trace.nodes) ids.push_back(n.id);
  const auto add = [&](const TraceNode& n, std::uint64_t id) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), id);
    if (id == n.id) {
      doubts.on_itself.add([&] { return file + ": " + trace.describe(n); });
    } else if (at == ids.end() || *at != id) {
      absent_.add([&] { return trace.describe(n) + " on node " + std::to_string(id); });
    } else {
      before_.emplace_back(static_cast<std::size_t>(at - ids.begin()));
    }
  };
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    const TraceNode& n = trace.nodes[i];
    for (const std::uint64_t id : trace.data(n)) add(n, id);
    first_control_.push_back(static_cast<std::uint32_t>(before_.size()));
    for (const std::uint64_t id : trace.control(n)) add(n, id);
    for (std::size_t k = first_control_.back(); k < before_.size(); ++k) waits_for_later_ |= before_[k].index() > i;
    offsets_.push_back(static_cast<std::uint32_t>(before_.size()));
  }
}

void Dependencies::break_cycles(const Trace& trace, const std::string& file, TraceDiagnostics& doubts) {
  const Components components(*this, trace.nodes.size());
  std::size_t kept = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    for (; k < offsets_[i + 1]; ++k) {
      const std::size_t before = before_[k].index();
      if (k >= first_control_[i] && before > i && components.same(before, i)) {
        doubts.in_cycles.add(
            [&] { return file + ": " + trace.describe(trace.nodes[i]) + " on " + trace.describe(trace.nodes[before]); });
      } else {
        before_[kept++] = before_[k];
      }
    }
    offsets_[i + 1] = static_cast<std::uint32_t>(kept);
  }
  before_.resize(kept);
}

}  // namespace photonrail::formats::chakra
