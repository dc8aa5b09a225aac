#include "json/file_text.hpp"

#include "photonrail/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace photonrail::json {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;
constexpr std::chrono::milliseconds kPoll{20};

[[noreturn]] void fail(const std::filesystem::path& file, std::string what, std::string hint = {}) {
  throw ConfigError(file.string(), std::move(what), std::move(hint));
}

[[noreturn]] void fail_to_open(const std::filesystem::path& file, int error) {
  if (error == ENOENT || error == ENOTDIR) fail(file, "no such file", "check the path");
  if (error == EACCES || error == EPERM) fail(file, "cannot be read", "check its permissions");
  fail(file, "cannot be read: " + std::generic_category().message(error));
}

// Without O_NONBLOCK, opening a named pipe would wait for a writer without end. Standard input is open already, and may be
// a socket, which has no path.
int open_to_read(const std::filesystem::path& file) {
  if (file == kStandardInput) return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  return ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& file) : file_(&file), descriptor_(open_to_read(file)) {
    if (descriptor_ < 0) fail_to_open(file, errno);
    if (::fstat(descriptor_, &state_) == 0) return;
    const int error = errno;
    ::close(descriptor_);
    fail_to_open(file, error);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }

  [[nodiscard]] bool is_folder() const { return S_ISDIR(state_.st_mode); }
  [[nodiscard]] bool is_regular() const { return S_ISREG(state_.st_mode); }
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(state_.st_size); }

  /// Bytes read; 0 at the end.
  std::size_t read(char* into, std::size_t most, std::chrono::milliseconds writer) {
    for (std::chrono::milliseconds waited{0};;) {
      const bool had_writer = hung_up();
      const ssize_t got = ::read(descriptor_, into, most);
      if (got > 0) return static_cast<std::size_t>(got);
      const bool at_end = got == 0;
      if (at_end && (had_writer || !S_ISFIFO(state_.st_mode))) return 0;
      if (!at_end && errno != EAGAIN && errno != EINTR) {
        fail(*file_, "cannot be read to its end: " + std::generic_category().message(errno));
      }
      waited = at_end ? waited + kPoll : std::chrono::milliseconds{0};  // without data, but with a writer: not at its end
      if (waited > writer) fail(*file_, "is a pipe that no program writes to");
      ::poll(nullptr, 0, static_cast<int>(kPoll.count()));
    }
  }

 private:
  // A pipe shows a hang-up once its last writer has closed it, and none before the first has opened it.
  [[nodiscard]] bool hung_up() const {
    pollfd poll{descriptor_, POLLIN, 0};
    return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLHUP) != 0;
  }

  const std::filesystem::path* file_;
  int descriptor_;
  struct stat state_ {};
};

}  // namespace

std::string file_text(const std::filesystem::path& file, const ReadLimits& limits) {
  OpenFile open(file);
  if (open.is_folder()) fail(file, "is a folder, not a file");
  const bool regular = open.is_regular();
  const std::uint64_t most = regular ? limits.file : std::min(limits.pipe, limits.file);
  if (regular && open.size() > most) fail(file, "is larger than " + std::to_string(most) + " bytes");
  std::string text;
  if (regular) text.reserve(open.size());
  std::string piece(kPiece, '\0');
  while (const std::size_t got = open.read(piece.data(), piece.size(), limits.writer)) {
    if (got > most - text.size()) {
      fail(file, regular ? "grows while it is read" : "is a pipe or device of more than " + std::to_string(most) + " bytes",
           regular ? "" : "write it into a file first if it ends");
    }
    text.append(piece, 0, got);
  }
  return text;
}

void require_regular(const std::filesystem::path& file) {
  std::error_code problem;
  const auto status = std::filesystem::status(file, problem);
  if (std::filesystem::is_directory(status)) fail(file, "is a folder, not a file");
  if (!std::filesystem::exists(status)) fail(file, "no such file", "check the path");
  if (!std::filesystem::is_regular_file(status)) {
    fail(file, "is a pipe or device, where a file is needed", "write its content into a file");
  }
}

}  // namespace photonrail::json
