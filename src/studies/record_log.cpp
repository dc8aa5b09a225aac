#include "studies/record_log.hpp"

#include "json/file_text.hpp"
#include "json/seal.hpp"
#include "photonrail/error.hpp"
#include "report/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <ostream>
#include <system_error>
#include <utility>

namespace photonrail::studies {

namespace {

using json::SealCheck;

[[noreturn]] void cannot_write_log(const std::filesystem::path& path, int error) {
  throw ConfigError(path.string(), "cannot write: " + std::generic_category().message(error),
                    "the folder must exist, have room and be writable; what was recorded is kept");
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) cannot_write_log(folder, error.value());
}

// Goes through the lines of a log and keeps count of what is wrong with them.
class LogReader {
 public:
  LogReader(const std::filesystem::path& file, std::string_view key, const std::function<bool(const LogLine&)>& use)
      : file_(file), key_(key), use_(use) {}

  void line(std::string_view text) {
    ++number_;
    const SealCheck check = json::check_seal(text, key_);
    if (check.state == SealCheck::State::kAltered) return altered();
    const bool sealed = check.state == SealCheck::State::kWhole;
    if (!use_({check.object, number_, sealed})) return altered();
    if (sealed) count(check.number);
  }

  // A line without its end was cut off, unless it ends with a seal: then its line break was altered.
  void last(std::string_view text) {
    if (text.empty()) return;
    if (json::check_seal(text, key_).state == SealCheck::State::kWhole) return line(text);
    ++number_;
    if (json::check_seal(text.substr(0, text.size() - 1), key_).state != SealCheck::State::kUnsealed ||
        json::check_seal(text, key_).state == SealCheck::State::kAltered)
      altered();
  }

  [[nodiscard]] std::vector<std::string> damage() && { return std::move(damage_); }

 private:
  void altered() {
    damage_.push_back(file_.string() + ": line " + std::to_string(number_) + " was altered after it was written");
    is_numbered_ = false;
  }

  // An altered line may have been two, or a part of one, so that the number after it starts the count anew.
  void count(std::uint32_t number) {
    if (is_numbered_ && number != expected_)
      damage_.push_back(file_.string() + ": lines are missing before line " + std::to_string(number_));
    expected_ = number + 1;
    is_numbered_ = true;
  }

  const std::filesystem::path& file_;
  std::string_view key_;
  const std::function<bool(const LogLine&)>& use_;
  std::vector<std::string> damage_;
  std::size_t number_ = 0;
  std::uint32_t expected_ = 0;
  bool is_numbered_ = true;
};

}  // namespace

std::vector<std::string> read_log(const std::filesystem::path& file, std::string_view key,
                                  const std::function<bool(const LogLine&)>& use) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};  // nothing was recorded yet
  json::require_regular(file);
  LogReader reader(file, key, use);
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) in.eof() ? reader.last(line) : reader.line(line);
  return std::move(reader).damage();
}

RecordLog::RecordLog(std::filesystem::path file, const std::string& head) : path_(std::move(file)), key_(head) {
  if (path_.empty()) return;
  make_folder(path_.parent_path());
  read(head);
  if (rewrite_) {
    report::replace_file(path_, [&](std::ostream& out) {
      std::uint32_t number = 0;
      out << json::with_seal(head, number, key_) << '\n';
      for (const std::string& record : records_) out << json::with_seal(record, ++number, key_) << '\n';
    });
  }
  open(head);
}

void RecordLog::read(const std::string& head) {
  constexpr const char* kOther = "is of another scenario, or of another version of photonrail";
  constexpr const char* kHint = "choose another folder";
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored) || std::filesystem::file_size(path_, ignored) == 0) return;
  bool has_head = false;
  bool has_seals = true;
  damage_ = read_log(path_, key_, [&](const LogLine& line) {
    if (line.number == 1) {
      if (line.text != head) throw ConfigError(path_.string(), kOther, kHint);
      has_head = true;
      has_seals = line.sealed;
    } else if (line.sealed || !has_seals) {
      records_.push_back(line.text);
    }
    return line.number == 1 || line.sealed || !has_seals;
  });
  if (!damage_.empty() && !has_head && records_.empty())
    throw ConfigError(path_.string(), std::string(kOther) + ", or its first line was altered", kHint);
  std::ifstream in(path_, std::ios::binary);
  in.seekg(-1, std::ios::end);
  rewrite_ = !damage_.empty() || !has_seals || in.get() != '\n';
}

void RecordLog::open(const std::string& head) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) cannot_write_log(path_, errno);
  std::error_code ignored;
  if (std::filesystem::file_size(path_, ignored) == 0)
    add(head);
  else
    next_ = static_cast<std::uint32_t>(records_.size()) + 1;
}

RecordLog RecordLog::in_new_file(const std::filesystem::path& folder, const std::string& stem) {
  make_folder(folder);
  RecordLog log;
  for (int n = 1; log.file_ < 0; ++n) {
    log.path_ = folder / (stem + "." + std::to_string(n) + ".jsonl");
    log.file_ = ::open(log.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (log.file_ < 0 && errno != EEXIST) cannot_write_log(log.path_, errno);
  }
  return log;
}

RecordLog::RecordLog(RecordLog&& other) noexcept { *this = std::move(other); }

RecordLog& RecordLog::operator=(RecordLog&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(key_, other.key_);
  std::swap(records_, other.records_);
  std::swap(damage_, other.damage_);
  std::swap(next_, other.next_);
  std::swap(file_, other.file_);
  return *this;
}

RecordLog::~RecordLog() {
  if (file_ >= 0) ::close(file_);
}

void RecordLog::add(std::string_view object) {
  if (file_ < 0) return;
  const std::string text = json::with_seal(object, next_++, key_) + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(file_, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) cannot_write_log(path_, errno);
    if (written > 0) at += static_cast<std::size_t>(written);
  }
}

}  // namespace photonrail::studies
