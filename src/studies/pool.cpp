#include "studies/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace photonrail::studies {

namespace {

// What the threads share; every member under `mutex`.
class Queue {
 public:
  Queue(std::vector<PendingPoint> jobs, std::uint64_t room) : jobs_(std::move(jobs)), room_(room) {}

  // The next job, once it fits beside those in flight; null when there is none left.
  const PendingPoint* take(const Stop& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return stop() || next_ == jobs_.size() || in_flight_ == 0 || used_ + jobs_[next_].estimate.bytes <= room_;
    });
    if (stop() || next_ == jobs_.size()) return nullptr;
    const PendingPoint& job = jobs_[next_++];
    ++in_flight_;
    used_ += job.estimate.bytes;
    return &job;
  }

  void give_back(const PendingPoint& job) {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    used_ -= job.estimate.bytes;
    changed_.notify_all();
  }

 private:
  const std::vector<PendingPoint> jobs_;
  const std::uint64_t room_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t in_flight_ = 0;
  std::uint64_t used_ = 0;
};

/// Gives a job back whichever way its run ends.
class Lease {
 public:
  Lease(Queue& queue, const PendingPoint& job) : queue_(queue), job_(job) {}
  ~Lease() { queue_.give_back(job_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  Queue& queue_;
  const PendingPoint& job_;
};

}  // namespace

void Pool::run(std::vector<PendingPoint> points,
               const std::function<std::function<void()>(std::size_t point, const Stop& stop)>& work) const {
  if (points.empty()) return;
  std::stable_sort(points.begin(), points.end(),
                   [](const PendingPoint& a, const PendingPoint& b) { return a.estimate.work > b.estimate.work; });
  const std::size_t wanted = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::min(wanted, points.size());
  Queue queue(std::move(points), memory_bytes);
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  std::mutex keeping;  // of `first` too
  const Stop stopped = [&] { return failed || stop(); };
  const auto take_turns = [&] {
    try {
      while (const PendingPoint* job = queue.take(stopped)) {
        const Lease lease(queue, *job);
        try {
          const std::function<void()> keep = work(job->point, stopped);
          const std::lock_guard lock(keeping);
          if (!failed) keep();
        } catch (const Stopped&) {
        }
      }
    } catch (...) {
      const std::lock_guard lock(keeping);
      if (!first) first = std::current_exception();
      failed = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(take_turns);
    take_turns();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace photonrail::studies
