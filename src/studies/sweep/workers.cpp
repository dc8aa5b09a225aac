#include "studies/sweep/workers.hpp"

#include "studies/threads.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace photonrail::sweep {

namespace {

// What the threads share; every member under `mutex`.
class Queue {
 public:
  Queue(std::vector<Job> jobs, std::uint64_t room) : jobs_(std::move(jobs)), room_(room) {}

  // The next job, once it fits beside those in flight; null when there is none left.
  const Job* take(const Stop& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return stop() || next_ == jobs_.size() || in_flight_ == 0 || used_ + jobs_[next_].estimate.bytes <= room_;
    });
    if (stop() || next_ == jobs_.size()) return nullptr;
    const Job& job = jobs_[next_++];
    ++in_flight_;
    used_ += job.estimate.bytes;
    return &job;
  }

  void give_back(const Job& job) {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    used_ -= job.estimate.bytes;
    changed_.notify_all();
  }

 private:
  const std::vector<Job> jobs_;
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
  Lease(Queue& queue, const Job& job) : queue_(queue), job_(job) {}
  ~Lease() { queue_.give_back(job_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  Queue& queue_;
  const Job& job_;
};

}  // namespace

void Workers::run(const PointRunner& points, std::vector<Job> jobs, const std::function<void(const Record&)>& keep) const {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.estimate.work > b.estimate.work; });
  if (jobs.empty()) return;
  const std::size_t count = std::min<std::size_t>(std::max(threads, 1U), jobs.size());
  Queue queue(std::move(jobs), memory_bytes);
  std::mutex keeping;
  studies::run_in_threads(count, [&](const std::atomic<bool>& failed) {
    const Stop stopped = [&] { return failed || stop(); };
    while (const Job* job = queue.take(stopped)) {
      const Lease lease(queue, *job);
      try {
        const Record record = points.run(job->point, stopped);
        const std::lock_guard lock(keeping);
        if (!failed) keep(record);
      } catch (const Stopped&) {
      }
    }
  });
}

}  // namespace photonrail::sweep
