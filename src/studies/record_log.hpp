// An append-only file of records: an object of JSON a line, each with a seal (json/seal.hpp). A process may die at any
// moment, and a bit may flip later: what a reader gets is as it was written, and the lines that are not are named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::studies {

struct LogLine {
  std::string text;        ///< the object, without its seal
  std::size_t number = 0;  ///< from 1
  bool sealed = false;     ///< false: an earlier version wrote it
};

/// Gives `use` each line of the file that is whole, or has no seal; false: it is no record. Returns a sentence for each
/// line that was altered, is no record, or is missing. A last line that was cut off by the death of its process is left
/// out; a file that is not there has no lines.
[[nodiscard]] std::vector<std::string> read_log(const std::filesystem::path& file, std::string_view key,
                                                const std::function<bool(const LogLine&)>& use);

/// Writes one, and goes on with it.
class RecordLog {
 public:
  /// Nothing is written.
  RecordLog() = default;
  /// Goes on with a file whose first line is `head`, which is the key of its seals too; makes it where there is none.
  /// Lines that were altered are dropped, and lines of an earlier version are given seals. Throws ConfigError: it has
  /// another head, or cannot be written.
  RecordLog(std::filesystem::path file, const std::string& head);
  ~RecordLog();
  RecordLog(RecordLog&& other) noexcept;
  RecordLog& operator=(RecordLog&& other) noexcept;

  /// A new file without a head, `folder`/`stem`.N.jsonl with the first N that is free.
  [[nodiscard]] static RecordLog in_new_file(const std::filesystem::path& folder, const std::string& stem);

  [[nodiscard]] const std::vector<std::string>& records() const { return records_; }  ///< that were there, without the head
  [[nodiscard]] const std::vector<std::string>& damage() const {
    return damage_;
  }  ///< a sentence for each line that was dropped

  /// Throws ConfigError; lines that were added before stay.
  void add(std::string_view object);

 private:
  void read(const std::string& head);
  void open(const std::string& head);

  std::filesystem::path path_;
  std::string key_;
  std::vector<std::string> records_;
  std::vector<std::string> damage_;
  bool rewrite_ = false;    // the file has lines that are not to stay as they are
  std::uint32_t next_ = 0;  // number of the next line
  int file_ = -1;
};

}  // namespace photonrail::studies
