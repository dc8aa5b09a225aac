#include "sweep/workers.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

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

}  // namespace

void Workers::run(const PointRunner& points, std::vector<Job> jobs, const std::function<void(const Record&)>& keep) const {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.estimate.work > b.estimate.work; });
  const std::size_t count = std::min<std::size_t>(threads, jobs.size());
  Queue queue(std::move(jobs), memory_bytes);
  std::atomic<bool> ended{false};
  std::mutex keeping;
  std::exception_ptr trouble;

  const Stop stopped = [&] { return ended || stop(); };
  const auto work = [&] {
    while (const Job* job = queue.take(stopped)) {
      try {
        const Record record = points.run(job->point, stopped);
        const std::lock_guard lock(keeping);
        if (!ended) keep(record);
      } catch (const Stopped&) {
      } catch (...) {
        const std::lock_guard lock(keeping);
        if (!trouble) trouble = std::current_exception();
        ended = true;
      }
      queue.give_back(*job);
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 0; i < count; ++i) helpers.emplace_back(work);
  }
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace photonrail::sweep
