#include "report/replace_file.hpp"

#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

namespace photonrail {

namespace report {

namespace {

[[noreturn]] void cannot_write(const std::filesystem::path& file, const std::string& why) {
  throw ConfigError(file.string(), "cannot write: " + why, "the folder must exist, have room and be writable");
}

void write_directly(const std::filesystem::path& told, const std::filesystem::path& file,
                    const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (out) write(out);
  out.close();
  if (!out) cannot_write(told, errno != 0 ? std::generic_category().message(errno) : "the stream failed");
}

}  // namespace

void replace_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::is_directory(status)) cannot_write(file, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return write_directly(file, file, write);

  // Through a symbolic link, the file behind it is replaced and not the link.
  const auto target = std::filesystem::exists(status) ? std::filesystem::canonical(file) : file;
  auto temporary = target;
  temporary += ".partial-" + std::to_string(::getpid());
  try {
    write_directly(file, temporary, write);
    std::filesystem::rename(temporary, target, error);
    if (error) cannot_write(file, error.message());
  } catch (...) {
    std::filesystem::remove(temporary, error);
    throw;
  }
}

}  // namespace report

void write_file(const std::filesystem::path& file, std::string_view text) {
  report::replace_file(file, [text](std::ostream& out) { out << text; });
}

}  // namespace photonrail
