#include "worlds/sandbox.hpp"

#include "support/sanitizers.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace photonrail::worlds {

namespace {

constexpr bool kSanitized = PHOTONRAIL_SANITIZED != 0;

// A verdict goes through the pipe as one line of JSON.
std::string to_line(const Verdict& verdict) {
  const Json line{{"ending", static_cast<int>(verdict.ending)},
                  {"symptom", verdict.symptom},
                  {"detail", verdict.detail},
                  {"runs", verdict.runs},
                  {"laws", verdict.laws}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Verdict from_line(const std::string& text) {
  const Json line = Json::parse(text);
  return {static_cast<Ending>(line["ending"].get<int>()), line["symptom"], line["detail"], line["runs"], line["laws"]};
}

void limit_child(const Limits& limits) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (kSanitized) return;
  const rlimit memory{limits.memory_mb << 20, limits.memory_mb << 20};
  setrlimit(RLIMIT_AS, &memory);
}

// SIGVTALRM ends the child when one world has taken too much CPU, whatever else the machine does.
void set_timer(double cpu_s) {
  const double seconds = kSanitized ? 10 * cpu_s : cpu_s;
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(std::floor(seconds));
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

void write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) _exit(3);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void child(int fd, const std::vector<World>& worlds, std::size_t from, const Judge& judge,
                        const Limits& limits) {
  limit_child(limits);
  for (std::size_t i = from; i < worlds.size(); ++i) {
    set_timer(limits.cpu_s);
    write_all(fd, to_line(judge(worlds[i])));
  }
  _exit(0);
}

/// One child, its end of the pipe, and what has been read of a line.
class Child {
 public:
  Child(const std::vector<World>& worlds, std::size_t from, const Judge& judge, const Limits& limits) : limits_(limits) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (pid_ == 0) {
      close(ends[0]);
      child(ends[1], worlds, from, judge, limits);
    }
    close(ends[1]);
    fd_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!waited_) {
      kill(pid_, SIGKILL);
      static_cast<void>(wait());
    }
    close(fd_);
  }

  /// The next line; nothing when the child has died, or was ended because it took too long.
  std::optional<std::string> read_line() {
    while (true) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      pollfd waiting{fd_, POLLIN, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(limits_.wall_s * (kSanitized ? 10e3 : 1e3)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) {
        late_ = true;
        kill(pid_, SIGKILL);
        return std::nullopt;
      }
      char chunk[65536];
      const ssize_t got = read(fd_, chunk, sizeof chunk);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      buffer_.append(chunk, static_cast<std::size_t>(got));
    }
  }

  /// How it died.
  Verdict epitaph() {
    const int status = wait();
    Verdict verdict;
    verdict.runs = 1;
    if (late_ || (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM)) {
      verdict.symptom = "hang";
      verdict.detail = late_ ? "took too long" : "more than " + std::to_string(limits_.cpu_s) + " s of CPU";
    } else if (WIFSIGNALED(status)) {
      verdict.symptom = "signal";
      verdict.detail = strsignal(WTERMSIG(status));
    } else {
      verdict.symptom = "exit";
      verdict.detail = "the process ended by itself, status " + std::to_string(WEXITSTATUS(status));
    }
    return verdict;
  }

 private:
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    return status;
  }

  Limits limits_;
  pid_t pid_ = -1;
  int fd_ = -1;
  bool waited_ = false;
  bool late_ = false;
  std::string buffer_;
};

}  // namespace

void judge_apart(const std::vector<World>& worlds, const Judge& judge, const Limits& limits,
                 const std::function<void(const World&, const Verdict&)>& told) {
  for (std::size_t next = 0; next < worlds.size();) {
    Child child(worlds, next, judge, limits);
    while (next < worlds.size()) {
      const std::optional<std::string> line = child.read_line();
      told(worlds[next], line ? from_line(*line) : child.epitaph());
      ++next;
      if (!line) break;
    }
  }
}

void judge_apart(const std::vector<World>& worlds, const JudgeOptions& options, const Limits& limits,
                 const std::function<void(const World&, const Verdict&)>& told) {
  judge_apart(
      worlds, [&](const World& world) { return judge(world, options); }, limits, told);
}

Verdict judge_apart(const World& world, const JudgeOptions& options, const Limits& limits) {
  Verdict found;
  judge_apart({world}, options, limits, [&](const World&, const Verdict& verdict) { found = verdict; });
  return found;
}

}  // namespace photonrail::worlds
