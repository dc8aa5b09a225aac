#include "photonrail/report.hpp"
#include "commands.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/work.hpp"
#include "report/page.hpp"
#include "work_limit.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

namespace photonrail::command {

namespace {

namespace fs = std::filesystem;

/// A folder of our own, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "photonrail-report-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw ConfigError(name, "cannot make the folder: " + std::generic_category().message(errno), "set TMPDIR to another");
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs a program that is found by its name; `hint`: what would do where it is not installed.
void run_program(const std::vector<std::string>& words, const std::string& hint) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error == ENOENT) throw ConfigError(words[0], "is not installed", hint);
  if (error != 0) throw ConfigError(words[0], "cannot be started: " + std::generic_category().message(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) throw ConfigError(words[0], "is not installed", hint);
  if (status != 0) throw InternalError(words[0] + " failed on the figures of the report");
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Draws into a folder of its own first, so that a failure leaves no half of the figures.
std::vector<fs::path> write_figures(const report::PageData& data, const std::string& format, const fs::path& out) {
  const TemporaryFolder temporary;
  const bool converted = format == "png" || format == "pdf";
  const fs::path program = temporary.path() / "figures.cjs";
  write_file(program, report::to_figures_program(data, converted ? "svg" : format));
  const fs::path drawn = temporary.path() / "figures";
  fs::create_directories(drawn);
  run_program(
      {"node", program.string(), drawn.string()},
      "figures as files are drawn by Node, version 18 or later (Debian: apt-get install nodejs); the page needs none");
  if (const fs::path problem = drawn / "error"; fs::exists(problem)) {
    std::ifstream text(problem);
    throw ConfigError("--figure", std::string(std::istreambuf_iterator<char>(text), {}));
  }
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw ConfigError(out.string(), "cannot make the folder: " + error.message(), "choose another for -o");
  std::vector<fs::path> written;
  for (const fs::path& figure : files_in(drawn)) {
    fs::path target = out / figure.filename();
    if (converted) {
      target.replace_extension("." + format);
      std::vector<std::string> words{"rsvg-convert", "--format=" + format, "--output", target.string(), figure.string()};
      if (format == "png") words.emplace_back("--zoom=2");
      run_program(words, "PNG and PDF need rsvg-convert (Debian: apt-get install librsvg2-bin); --format svg does not");
    } else {
      fs::copy_file(figure, target, fs::copy_options::overwrite_existing, error);
      if (error) throw ConfigError(target.string(), "cannot write: " + error.message(), "choose another folder for -o");
    }
    written.push_back(target);
  }
  return written;
}

// "name=value"; a value may have further equals signs.
std::pair<std::string, std::string> condition_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError("--where", "\"" + text + "\" is no condition", "NAME=VALUE, as in controller=oracle");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::uint32_t pixels(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long value = digits ? std::stoul(text) : 0;
  if (value < 100 || value > 20'000)
    throw ConfigError("--size", "\"" + text + "\" is no number of pixels from 100 to 20000",
                      "WIDTHxHEIGHT or WIDTH, as in 900x400");
  return static_cast<std::uint32_t>(value);
}

void read_size(const std::string& text, report::PageChoices& choices) {
  if (text.empty()) return;
  const std::size_t cross = text.find('x');
  choices.width = pixels(text.substr(0, cross));
  if (cross != std::string::npos) choices.height = pixels(text.substr(cross + 1));
}

}  // namespace

void report(const ReportOptions& options) {
  if (const std::string why = report::why_no_page(); !why.empty()) throw ConfigError("photonrail report", why);
  report::PageChoices choices = options.choices;
  for (const std::string& condition : options.where) choices.where.push_back(condition_of(condition));
  read_size(options.size, choices);
  admit(work_of_report(options.folder), options.folder.string(), options.work_limit_s);
  const report::PageData data = report::read_page_data(options.folder, choices);
  if (options.format == "html") {
    const fs::path out = options.out.empty() ? options.folder / "report.html" : options.out;
    write_file(out, report::to_html(data));
    std::cout << "wrote " << out.string() << '\n';
  } else {
    const fs::path out = options.out.empty() ? options.folder / "figures" : options.out;
    for (const fs::path& file : write_figures(data, options.format, out)) std::cout << "wrote " << file.string() << '\n';
  }
  for (const std::string& note : data.notes) std::cerr << "note: " << note << '\n';
}

}  // namespace photonrail::command
