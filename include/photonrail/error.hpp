// Two kinds of wrong: the caller's (ConfigError, DeadlockError, ControllerError) and ours (InternalError).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad input: where it is (a file, a JSON pointer, a line, a field), what is wrong, what would do. Exit status 2.
class ConfigError : public Error {
 public:
  /// `what`: what is wrong; `hint`: what would do, empty where there is nothing to say.
  ConfigError(std::string where, std::string what, std::string hint = {});

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }

  /// The same error in the context of a file: `file` is put before `where`.
  [[nodiscard]] ConfigError inside(std::string_view file) const;

 private:
  std::string where_;
  std::string problem_;
  std::string hint_;
};

/// A controller asked for something that no switch can do, or tore down a circuit that was in use. Exit status 2.
class ControllerError : public Error {
 public:
  using Error::Error;
};

/// The simulated job cannot finish. Each line names a rank, its task, its group and what it waits for. Exit status 3.
class DeadlockError : public Error {
 public:
  explicit DeadlockError(std::vector<std::string> stuck);

  /// A line for each rank that waits.
  [[nodiscard]] const std::vector<std::string>& stuck() const { return stuck_; }

 private:
  std::vector<std::string> stuck_;
};

/// A fault of ours. Exit status 1.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line);

/// Up to three of `known` that look like `word`, as a hint ("did you mean ...?"); the whole list when none does.
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace photonrail

/// A check of our own invariants, on in every build.
#define PHOTONRAIL_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::photonrail::fail_check(#condition, __FILE__, __LINE__))
