// Task graphs that were read from files, for callers that read many scenarios of the same few traces.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace photonrail::config {

/// Safe to use from several threads. A file that changes meanwhile is not noticed.
class GraphCache {
 public:
  /// A copy of what `read` gave for this key; the last few keys are remembered.
  [[nodiscard]] TaskGraph get(const std::string& key, const std::function<TaskGraph()>& read) { return *find(key, read); }

 private:
  static constexpr std::size_t kMaxGraphs = 8;

  // One thread reads at a time; the others most often wait for the very same files.
  std::shared_ptr<const TaskGraph> find(const std::string& key, const std::function<TaskGraph()>& read) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, graph] : graphs_) {
      if (known == key) return graph;
    }
    if (graphs_.size() == kMaxGraphs) graphs_.pop_front();
    return graphs_.emplace_back(key, std::make_shared<const TaskGraph>(read())).second;
  }

  std::mutex mutex_;
  std::deque<std::pair<std::string, std::shared_ptr<const TaskGraph>>> graphs_;  // oldest first
};

}  // namespace photonrail::config
