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

/// Keeps results one at a time, and none after the first error.
class Keeper {
 public:
  [[nodiscard]] bool failed() const { return failed_; }

  /// An error of `keep` is noted before another thread can have its turn.
  void take(const std::function<void()>& keep) {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    try {
      keep();
    } catch (const Stopped&) {
    } catch (...) {
      note_error();
    }
  }

  /// Of the exception in hand, where the work itself failed.
  void fail() {
    const std::lock_guard lock(mutex_);
    note_error();
  }

  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  void note_error() {
    if (!first_) first_ = std::current_exception();
    failed_ = true;
  }

  std::mutex mutex_;
  std::exception_ptr first_;
  std::atomic<bool> failed_{false};  // is read without the mutex too
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
  Keeper keeper;
  const Stop stopped = [&] { return keeper.failed() || stop(); };
  const auto take_turns = [&] {
    try {
      while (const PendingPoint* job = queue.take(stopped)) {
        const Lease lease(queue, *job);
        try {
          keeper.take(work(job->point, stopped));
        } catch (const Stopped&) {
        }
      }
    } catch (...) {
      keeper.fail();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(take_turns);
    take_turns();
  }
  keeper.rethrow();
}

}  // namespace photonrail::studies
