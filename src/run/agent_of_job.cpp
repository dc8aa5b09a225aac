#include "run/agent_of_job.hpp"

#include "core/field.hpp"
#include "core/guarded.hpp"
#include "photonrail/error.hpp"

#include <utility>

namespace photonrail::run {

namespace {

class AgentOfJob final : public WorkloadAgent {
 public:
  AgentOfJob(std::unique_ptr<WorkloadAgent> inner, std::size_t job, std::string name)
      : inner_(std::move(inner)), job_(job), name_(std::move(name)) {}

  void on(const WorkEvent& event, WorkSink& sink) override {
    try {
      core::guarded("its agent", "on()", [&] { inner_->on(event, sink); });
    } catch (const core::FieldError& error) {
      throw error.in(core::field("jobs[]", job_));
    } catch (const ConfigError& error) {
      throw core::FieldError(core::field("jobs[].graph", job_), error.what());
    } catch (const DeadlockError& error) {
      std::vector<std::string> lines = error.stuck();
      for (std::string& line : lines) line.insert(0, name_ + ": ");
      throw DeadlockError(std::move(lines));
    }
  }
  [[nodiscard]] bool finished() const override { return inner_->finished(); }
  [[nodiscard]] std::vector<std::string> waiting() const override { return inner_->waiting(); }
  [[nodiscard]] std::vector<std::string> kinds() const override { return inner_->kinds(); }
  [[nodiscard]] bool hears_ranks() const override { return inner_->hears_ranks(); }
  [[nodiscard]] bool announces() const override { return inner_->announces(); }
  [[nodiscard]] std::optional<KnownFuture> known_future() const override { return inner_->known_future(); }
  void report(RunResult& result) const override { inner_->report(result); }

 private:
  std::unique_ptr<WorkloadAgent> inner_;
  std::size_t job_;
  std::string name_;
};

}  // namespace

std::unique_ptr<WorkloadAgent> agent_of_job(std::unique_ptr<WorkloadAgent> agent, std::size_t job, std::string name) {
  return std::make_unique<AgentOfJob>(std::move(agent), job, std::move(name));
}

}  // namespace photonrail::run
