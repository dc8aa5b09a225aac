// An allocator that remembers what it refused: between two releases nothing that was refused fits.
#pragma once

#include "photonrail/study/slices/allocator.hpp"
#include "studies/slices/pods/job_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace photonrail::slices {

class AllocatorMemo {
 public:
  /// `factory` must outlive the memo. `empty`: the pod without jobs.
  AllocatorMemo(const AllocatorFactory& factory, Pod empty)
      : factory_(factory), allocator_(factory.make(empty.spec())), empty_(std::move(empty)) {}

  [[nodiscard]] SliceFabric fabric() const { return factory_.fabric; }
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }

  /// A refusal stays until forget().
  [[nodiscard]] SliceDecision decide(const Pod& pod, const SliceRequest& request) {
    const RequestKey key(request);
    if (const auto known = refused_.find(key); known != refused_.end()) return {std::nullopt, known->second};
    ++decisions_;
    SliceDecision decision = allocate(*allocator_, pod, request);
    if (!decision.placement) refused_.insert({key, decision.reason});
    return decision;
  }
  /// Of another state of the pod.
  [[nodiscard]] std::optional<Placement> try_in(const Pod& pod, const SliceRequest& request) const {
    return allocate(*allocator_, pod, request).placement;
  }
  [[nodiscard]] std::optional<RefusalReason> refusal(const RequestKey& key) const {
    const auto known = refused_.find(key);
    return known == refused_.end() ? std::nullopt : std::optional(known->second);
  }
  void forget() { refused_.clear(); }
  void forget(const RequestKey& key) { refused_.erase(key); }

  /// An empty pod refuses it.
  [[nodiscard]] bool never(const SliceRequest& request) {
    const auto [known, is_new] = never_.try_emplace(RequestKey(request), false);
    if (is_new) known->second = !try_in(empty_, request);
    return known->second;
  }
  /// It has a side longer than a torus without optical switches.
  [[nodiscard]] bool too_long(const SliceRequest& request) const {
    const auto longest = [](const Shape& s) { return *std::max_element(s.sides.begin(), s.sides.end()); };
    return factory_.fabric == SliceFabric::kTorus && request.shape &&
           longest(*request.shape) > longest(empty_.spec().torus);
  }

 private:
  const AllocatorFactory& factory_;
  std::unique_ptr<Allocator> allocator_;
  Pod empty_;
  std::map<RequestKey, RefusalReason> refused_;
  std::map<RequestKey, bool> never_;
  std::uint64_t decisions_ = 0;
};

}  // namespace photonrail::slices
