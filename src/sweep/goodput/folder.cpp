#include "sweep/goodput/folder.hpp"

#include "json/file_text.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace photonrail::sweep {

namespace {

using json::Json;
using json::JsonReader;
using reliability::History;
using reliability::LongTime;

[[noreturn]] void cannot_write_lines(const std::filesystem::path& path, int error) {
  throw ConfigError(path.string(), "cannot write: " + std::generic_category().message(error),
                    "the folder must exist, have room and be writable; what was recorded is kept");
}

}  // namespace

LineFile::LineFile(std::filesystem::path path, const std::string& head) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) cannot_write_lines(path_.parent_path(), error.value());
  std::string text;
  if (std::filesystem::exists(path_, error)) text = json::file_text(path_);
  std::size_t complete = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = complete = end + 1) {
    lines_.push_back(text.substr(at, end - at));
  }
  if (!lines_.empty() && lines_.front() != head) {
    throw ConfigError(path_.string(), "is of another scenario, or of another version of photonrail",
                      "choose another folder");
  }
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  // What follows the last complete line goes, so that the next line begins on its own.
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(complete)) != 0 || ::lseek(file_, 0, SEEK_END) < 0) {
    cannot_write_lines(path_, errno);
  }
  if (lines_.empty()) {
    add(head);
  } else {
    lines_.erase(lines_.begin());
  }
}

LineFile::~LineFile() {
  if (file_ >= 0) ::close(file_);
}

void LineFile::add(const std::string& line) {
  if (file_ < 0) return;
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(file_, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) cannot_write_lines(path_, errno);
    if (written > 0) at += static_cast<std::size_t>(written);
  }
}

std::string history_line(const RecordedHistory& recorded) {
  const History& history = recorded.history;
  Json line = Json::object();
  line.insert("seed", history.seed);
  line.insert("wall_ps", history.wall.picoseconds());
  for (std::size_t u = 0; u < reliability::kTimeUses; ++u) {
    line.insert(std::string(reliability::name(static_cast<reliability::TimeUse>(u))) + "_ps",
                history.books.of[u].picoseconds());
  }
  line.insert("steps", history.steps);
  line.insert("failures", history.failures);
  line.insert("interruptions", history.interruptions);
  line.insert("swaps", history.swaps);
  line.insert("drops", history.drops);
  Json sources = Json::array();
  for (const reliability::SourceTally& s : history.sources) {
    sources.push_back(Json{{"failures", s.failures}, {"on_job", s.on_job}, {"cost_ps", s.cost.picoseconds()}});
  }
  line.insert("sources", std::move(sources));
  line.insert("hash", history.hash);
  Json& configurations = line["configurations"] = Json::object();
  for (const auto& [text, step] : recorded.configurations)
    configurations[text] = step ? Json(step->count()) : Json(nullptr);
  return line.dump();
}

std::optional<RecordedHistory> history_of_line(const std::string& line) {
  const auto parsed = json::parse_if_json(line);
  if (!parsed) return std::nullopt;
  try {
    JsonReader at(*parsed);
    const auto natural = [](const JsonReader& value) {
      return value.json().is_natural() ? value.json().natural() : throw ConfigError("", "no count");
    };
    RecordedHistory recorded;
    History& history = recorded.history;
    history.seed = natural(at.child("seed"));
    history.wall = LongTime::parse(at.child("wall_ps").string());
    for (std::size_t u = 0; u < reliability::kTimeUses; ++u) {
      const std::string key = std::string(reliability::name(static_cast<reliability::TimeUse>(u))) + "_ps";
      history.books.of[u] = LongTime::parse(at.child(key).string());
    }
    history.steps = static_cast<std::int64_t>(natural(at.child("steps")));
    history.failures = natural(at.child("failures"));
    history.interruptions = natural(at.child("interruptions"));
    history.swaps = natural(at.child("swaps"));
    history.drops = natural(at.child("drops"));
    for (JsonReader s : at.child("sources").elements()) {
      history.sources.push_back(
          {natural(s.child("failures")), natural(s.child("on_job")), LongTime::parse(s.child("cost_ps").string())});
    }
    history.hash = natural(at.child("hash"));
    if (const auto configurations = at.optional("configurations")) {
      for (const auto& [text, step] : configurations->members()) {
        std::optional<Duration>& known = recorded.configurations[text];
        if (!step.json().is_null()) known = Duration{static_cast<std::int64_t>(natural(step))};
      }
    }
    at.finish();
    return recorded;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace photonrail::sweep
